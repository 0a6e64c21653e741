//! Ways for lines around boxes: along rows and columns of a grid, never through a box, and never two on each other.
//!
//! One line after the other takes the cheapest way (Lee 1961) that the earlier ones leave. Lines of one group, which all
//! lead to the same box, may join on their way.

use crate::words::{Area, Point};

/// The distance of neighbouring lines.
const CELL: f64 = 8.0;
/// How far lines stay from boxes.
const CLEAR: f64 = 10.0;
/// How far the grid goes beyond the boxes.
const AROUND: f64 = 160.0;
/// More cells than this are not searched; such lines are straight.
const MOST_CELLS: usize = 1_000_000;

const TURN: usize = 5;
const CROSS: usize = 8;
const CROSS_LINK: usize = 3;
const ALONG_LINK: usize = 6;
/// How many points of a line that is joined are kept.
const ONWARD: usize = 16;
/// More than any step costs.
const BUCKETS: usize = 64;

/// A line to be drawn: from box to box.
pub(crate) struct Wish {
    pub from: usize,
    pub to: usize,
    /// Lines of one group lead to one box, and may join.
    pub group: usize,
}

/// The way of a line.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Way {
    /// Its ends and corners.
    pub points: Vec<Point>,
    /// If it ends on another line of its group, and not at the box: points where that line goes on.
    pub onward: Vec<Point>,
}

impl Way {
    /// Whether it ends on another line.
    pub fn joins(&self) -> bool {
        !self.onward.is_empty()
    }

    /// The same way, further to the right.
    pub fn shifted(mut self, by: f64) -> Way {
        self.points.iter_mut().chain(&mut self.onward).for_each(|point| point.0 += by);
        self
    }
}

/// The directions: right, down, left, up.
const STEPS: [(isize, isize); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];

#[derive(Clone, Default)]
struct Cell {
    is_blocked: bool,
    /// Whether a link passes, by axis: horizontally, vertically.
    links: [bool; 2],
    /// The group of the line that passes, by axis.
    lines: [Option<usize>; 2],
    /// The direction in which the line goes on.
    onward: usize,
}

/// A place at a box's side where lines begin or end: the point there, the cell before it, the direction away from the box.
#[derive(Clone, Copy, PartialEq)]
struct Door {
    at: Point,
    cell: usize,
    away: usize,
    extra: usize,
}

struct Grid {
    origin: Point,
    wide: usize,
    high: usize,
    cells: Vec<Cell>,
    taken: Vec<Door>,
}

/// Ways for all wishes, the shortest first, around these boxes and with few crossings of these links (as points close to
/// each other).
pub(crate) fn ways(boxes: &[Area], links: &[Vec<Point>], wishes: &[Wish]) -> Vec<Way> {
    let mut grid = Grid::new(boxes, links);
    let middle = |node: usize| ((boxes[node][0] + boxes[node][2]) / 2.0, (boxes[node][1] + boxes[node][3]) / 2.0);
    let far = |wish: &Wish| {
        let (from, to) = (middle(wish.from), middle(wish.to));
        (from.0 - to.0).abs() + (from.1 - to.1).abs()
    };
    let mut order: Vec<usize> = (0..wishes.len()).collect();
    order.sort_by(|a, b| far(&wishes[*a]).total_cmp(&far(&wishes[*b])));
    let mut ways = vec![Way { points: Vec::new(), onward: Vec::new() }; wishes.len()];
    for at in order {
        let wish = &wishes[at];
        let straight = || Way { points: vec![middle(wish.from), middle(wish.to)], onward: Vec::new() };
        ways[at] = grid.way(&boxes[wish.from], &boxes[wish.to], wish.group).unwrap_or_else(straight);
    }
    ways
}

impl Grid {
    fn new(boxes: &[Area], links: &[Vec<Point>]) -> Grid {
        let least = |of: usize| boxes.iter().map(|area| area[of]).fold(f64::MAX, f64::min);
        let most = |of: usize| boxes.iter().map(|area| area[of]).fold(f64::MIN, f64::max);
        // Above all boxes is the title.
        let origin = (least(0) - AROUND, least(1) - 2.0 * CELL);
        let cells = |length: f64| (length / CELL).ceil().max(0.0) as usize + 1;
        let (wide, high) = (cells(most(2) + AROUND - origin.0), cells(most(3) + 2.0 * CELL - origin.1));
        let count = if boxes.is_empty() { 0 } else { wide.saturating_mul(high) };
        let cells = vec![Cell::default(); if count > MOST_CELLS { 0 } else { count }];
        let mut grid = Grid { origin, wide, high, cells, taken: Vec::new() };
        for cell in 0..grid.cells.len() {
            let (x, y) = grid.point(cell);
            let is_near = |[left, top, right, bottom]: &Area| {
                x > left - CLEAR && x < right + CLEAR && y > top - CLEAR && y < bottom + CLEAR
            };
            grid.cells[cell].is_blocked = boxes.iter().any(is_near);
        }
        for pair in links.iter().flat_map(|link| link.windows(2)) {
            let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
            if let Some(cell) = grid.cell(pair[0]) {
                grid.cells[cell].links[usize::from(dy.abs() > dx.abs())] = true;
            }
        }
        grid
    }

    fn point(&self, cell: usize) -> Point {
        (self.origin.0 + (cell % self.wide) as f64 * CELL, self.origin.1 + (cell / self.wide) as f64 * CELL)
    }

    fn cell(&self, (x, y): Point) -> Option<usize> {
        let at = |value: f64, origin: f64, count: usize| {
            let at = ((value - origin) / CELL).round();
            (at >= 0.0 && (at as usize) < count).then_some(at as usize)
        };
        let (column, row) = (at(x, self.origin.0, self.wide)?, at(y, self.origin.1, self.high)?);
        Some(row * self.wide + column).filter(|cell| *cell < self.cells.len())
    }

    /// The cell one step on.
    fn next(&self, cell: usize, direction: usize) -> Option<usize> {
        let (dx, dy) = STEPS[direction];
        let column = (cell % self.wide).checked_add_signed(dx).filter(|column| *column < self.wide)?;
        let row = (cell / self.wide).checked_add_signed(dy).filter(|row| *row < self.high)?;
        Some(row * self.wide + column)
    }

    /// The free doors at both sides of a box.
    fn doors(&self, area: &Area) -> Vec<Door> {
        let [left, top, right, bottom] = *area;
        let mut doors = Vec::new();
        for (x, out, away) in [(right, CLEAR, 0), (left, -CLEAR, 2)] {
            let rows = 0..self.high;
            let within =
                rows.map(|row| self.origin.1 + row as f64 * CELL).filter(|y| *y > top + 6.0 && *y < bottom - 6.0);
            for y in within {
                let first = self.cell((x + out, y));
                let free = first.and_then(|first| match self.cells[first].is_blocked {
                    true => self.next(first, away).filter(|cell| !self.cells[*cell].is_blocked),
                    false => Some(first),
                });
                let extra = ((y - (top + bottom) / 2.0).abs() / CELL) as usize;
                doors.extend(free.map(|cell| Door { at: (x, y), cell, away, extra: extra.min(BUCKETS / 4) }));
            }
        }
        doors.retain(|door| !self.taken.iter().any(|taken| taken.at == door.at));
        doors
    }

    /// What it costs to come to a cell in a direction; `None` if that is not allowed.
    fn cost(&self, cell: usize, direction: usize) -> Option<usize> {
        let (of, axis) = (&self.cells[cell], direction % 2);
        if of.is_blocked || of.lines[axis].is_some() {
            return None;
        }
        let crossing = if of.lines[1 - axis].is_some() { CROSS } else { 0 };
        let along = if of.links[axis] { ALONG_LINK } else { 0 };
        Some(1 + crossing + along + if of.links[1 - axis] { CROSS_LINK } else { 0 })
    }

    /// Whether a line may turn in a cell.
    fn may_turn(&self, cell: usize) -> bool {
        self.cells[cell].lines == [None, None]
    }

    /// The cheapest way that is left, which is taken then.
    fn way(&mut self, from: &Area, to: &Area, group: usize) -> Option<Way> {
        let (begins, ends) = (self.doors(from), self.doors(to));
        let count = self.cells.len() * 4;
        let mut least = vec![u32::MAX; count];
        let mut before = vec![usize::MAX; count];
        let mut buckets: Vec<Vec<usize>> = vec![Vec::new(); BUCKETS];
        let mut waiting = 0_usize;
        for door in &begins {
            if self.cells[door.cell].lines[0].is_none() {
                let state = door.cell * 4 + door.away;
                if (door.extra as u32) < least[state] {
                    least[state] = door.extra as u32;
                    buckets[door.extra].push(state);
                    waiting += 1;
                }
            }
        }
        // The best end so far: its cost, its state, and its door; without a door it joins a line.
        let mut best: Option<(usize, usize, Option<Door>)> = None;
        let mut now = 0;
        while waiting > 0 && best.as_ref().is_none_or(|(cost, ..)| now < *cost) {
            let Some(state) = buckets[now % BUCKETS].pop() else {
                now += 1;
                continue;
            };
            waiting -= 1;
            if (least[state] as usize) != now {
                continue;
            }
            let (cell, direction) = (state / 4, state % 4);
            let mut found = |cost: usize, door: Option<Door>| {
                if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                    best = Some((cost, state, door));
                }
            };
            let here = &self.cells[cell];
            if here.lines.contains(&Some(group)) {
                found(now, None);
                continue;
            }
            for door in ends.iter().filter(|door| door.cell == cell) {
                let inwards = (door.away + 2) % 4;
                if direction == inwards {
                    found(now + door.extra, Some(*door));
                } else if direction % 2 == 1 && self.may_turn(cell) {
                    found(now + TURN + door.extra, Some(*door));
                }
            }
            for turned in (0..4).filter(|turned| *turned != (direction + 2) % 4) {
                if turned != direction && !self.may_turn(cell) {
                    continue;
                }
                let Some(next) = self.next(cell, turned) else { continue };
                let line = &self.cells[next];
                let step = match line.lines.contains(&Some(group)) {
                    // Not against the line that it joins, nor at a place that another line crosses.
                    true => {
                        let is_alone = line.lines.iter().flatten().all(|of| *of == group);
                        (is_alone && line.onward != (turned + 2) % 4).then_some(1)
                    }
                    false => self.cost(next, turned),
                };
                let Some(step) = step else { continue };
                let cost = now + step + if turned == direction { 0 } else { TURN };
                let (to, cost) = (next * 4 + turned, cost as u32);
                if cost < least[to] {
                    least[to] = cost;
                    before[to] = state;
                    buckets[cost as usize % BUCKETS].push(to);
                    waiting += 1;
                }
            }
        }
        let (_, last, door) = best?;
        let mut states = vec![last];
        while before[states[states.len() - 1]] != usize::MAX {
            states.push(before[states[states.len() - 1]]);
        }
        states.reverse();
        let begin = *begins.iter().find(|door| door.cell * 4 + door.away == states[0])?;
        Some(self.take(&states, begin, door, group))
    }

    /// Marks the cells of a way, and gives its corners.
    fn take(&mut self, states: &[usize], begin: Door, end: Option<Door>, group: usize) -> Way {
        let mut points = vec![begin.at];
        self.taken.push(begin);
        let door = end.map(|end| (end.away + 2) % 4);
        for (at, state) in states.iter().enumerate() {
            let (cell, came) = (state / 4, state % 4);
            let is_joint = end.is_none() && at + 1 == states.len();
            let goes = states.get(at + 1).map(|next| next % 4).or(door).unwrap_or(self.cells[cell].onward);
            if came != goes || is_joint {
                points.push(self.point(cell));
            }
            if is_joint {
                return self.joined(points, cell, group);
            }
            let of = &mut self.cells[cell];
            of.lines[came % 2] = Some(group);
            of.lines[goes % 2] = Some(group);
            of.onward = goes;
        }
        if let Some(end) = end {
            points.push(end.at);
            self.taken.push(end);
        }
        Way { points, onward: Vec::new() }
    }

    /// A way that ends on a line: its last piece shows where that goes.
    fn joined(&self, mut points: Vec<Point>, joint: usize, group: usize) -> Way {
        let mut onward = vec![self.point(joint)];
        let mut cell = joint;
        while onward.len() < ONWARD {
            match self.next(cell, self.cells[cell].onward) {
                Some(next) if self.cells[next].lines.contains(&Some(group)) => cell = next,
                _ => break,
            }
            onward.push(self.point(cell));
        }
        points.extend(onward.get(1));
        Way { points, onward }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOXES: [Area; 4] = [
        [200.0, 0.0, 300.0, 60.0],
        [150.0, 120.0, 350.0, 180.0],
        [200.0, 240.0, 300.0, 300.0],
        [180.0, 360.0, 320.0, 420.0],
    ];

    /// The pieces of a way, as areas without a width.
    fn pieces(way: &Way) -> Vec<Area> {
        let piece = |pair: &[Point]| {
            let ((a, b), (c, d)) = (pair[0], pair[1]);
            [a.min(c), b.min(d), a.max(c), b.max(d)]
        };
        way.points.windows(2).map(piece).collect()
    }

    fn found(wishes: &[(usize, usize, usize)]) -> Vec<Way> {
        let wishes: Vec<Wish> =
            wishes.iter().map(|(from, to, group)| Wish { from: *from, to: *to, group: *group }).collect();
        ways(&BOXES, &[], &wishes)
    }

    #[test]
    fn a_line_goes_around_the_boxes_by_right_angles() {
        for way in found(&[(0, 3, 0), (3, 0, 1), (2, 0, 2)]) {
            for [left, top, right, bottom] in pieces(&way) {
                assert!(left == right || top == bottom, "{way:?}");
                let through = |area: &&Area| left < area[2] && right > area[0] && top < area[3] && bottom > area[1];
                assert!(!BOXES.iter().any(|area| through(&area)), "{way:?}");
            }
        }
    }

    #[test]
    fn no_two_lines_lie_on_each_other() {
        let ways = found(&[(0, 3, 0), (3, 0, 1), (0, 2, 2), (2, 0, 3), (1, 3, 4), (3, 1, 5)]);
        for (at, one) in ways.iter().enumerate() {
            for other in &ways[at + 1..] {
                for a in pieces(one) {
                    for b in pieces(other) {
                        let (wide, high) = (a[2].min(b[2]) - a[0].max(b[0]), a[3].min(b[3]) - a[1].max(b[1]));
                        assert!(wide.max(high) <= 0.0 || wide.min(high) < 0.0, "{one:?} {other:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn lines_to_one_box_join() {
        let ways = found(&[(2, 0, 0), (3, 0, 0)]);
        assert!(!ways[0].joins() && ways[1].joins(), "{ways:?}");
        assert!(found(&[(2, 0, 0), (3, 0, 1)]).iter().all(|way| !way.joins()));
    }

    #[test]
    fn what_has_no_way_is_straight() {
        let boxes = [[0.0, 0.0, 10.0, 10.0], [5.0, 5.0, 15.0, 15.0]];
        let ways = ways(&boxes, &[], &[Wish { from: 0, to: 1, group: 0 }]);
        assert_eq!(ways[0].points, [(5.0, 5.0), (10.0, 10.0)]);
    }
}

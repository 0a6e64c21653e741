//! Places labels of lines: beside or on the line, where they overlap no box and no other label.

use crate::svg::width;

/// The font size, in pixels.
pub(crate) const SIZE: f64 = 11.0;

/// Left, top, right, bottom.
pub(crate) type Area = [f64; 4];

/// A point, in pixels.
pub(crate) type Point = (f64, f64);

/// What is on a picture already.
#[derive(Default)]
pub(crate) struct Taken {
    areas: Vec<Area>,
    lines: Vec<Area>,
}

/// How far apart along a line labels are tried.
const STEP: f64 = 8.0;
/// What an overlap costs, by its area: with a box or a label, with a line.
const OVER_AREA: f64 = 40.0;
const OVER_LINE: f64 = 1.0;
/// What it costs to be further from the line's beginning, or beyond the picture's edges, by the distance.
const FAR: f64 = 0.1;
const OUTSIDE: f64 = 400.0;

impl Taken {
    /// Marks an area as occupied.
    pub fn add(&mut self, area: Area) {
        self.areas.push(area);
    }

    /// Marks a line as drawn: labels avoid it where they can.
    pub fn add_line(&mut self, points: &[Point]) {
        let piece = |pair: &[Point]| {
            let ((a, b), (c, d)) = (pair[0], pair[1]);
            [a.min(c) - 1.0, b.min(d) - 1.0, a.max(c) + 1.0, b.max(d) + 1.0]
        };
        self.lines.extend(points.windows(2).map(piece));
    }

    /// The best baseline centre for the label of a line, within this width: near its beginning, beside or on it. Marks it
    /// as occupied.
    pub fn place(&mut self, words: &str, line: &[Point], within: f64) -> Point {
        let wide = width(words, SIZE);
        let area = |(x, y): Point| [x - wide / 2.0, y - SIZE, x + wide / 2.0, y + 4.0];
        let cost = |at: Point| {
            let [left, _, right, _] = area(at);
            let outside = (2.0 - left).max(0.0) + (right - within).max(0.0);
            let sum = |areas: &[Area]| areas.iter().map(|one| over(*one, area(at))).sum::<f64>();
            outside * OUTSIDE + sum(&self.areas) * OVER_AREA + sum(&self.lines) * OVER_LINE
        };
        let mut best = ((0.0, 0.0), f64::INFINITY);
        let mut passed = 0.0;
        for pair in line.windows(2) {
            let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
            let length = (x2 - x1).hypot(y2 - y1);
            let is_upright = (y2 - y1).abs() > (x2 - x1).abs();
            let mut along = STEP.min(length / 2.0);
            while along < length {
                let (x, y) = (x1 + (x2 - x1) * along / length, y1 + (y2 - y1) * along / length);
                let aside = wide / 2.0 + 7.0;
                let tried = match is_upright {
                    true => [(x + aside, y + 4.0), (x - aside, y + 4.0), (x, y + 4.0)],
                    false => [(x, y - 6.0), (x, y + 15.0), (x, y + 4.0)],
                };
                for at in tried {
                    let cost = cost(at) + (passed + along) * FAR;
                    if cost < best.1 {
                        best = (at, cost);
                    }
                }
                along += STEP;
            }
            passed += length;
        }
        self.add(area(best.0));
        best.0
    }
}

/// The area of overlap.
fn over(a: Area, b: Area) -> f64 {
    let wide = a[2].min(b[2]) - a[0].max(b[0]);
    let high = a[3].min(b[3]) - a[1].max(b[1]);
    if wide > 0.0 && high > 0.0 {
        wide * high
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: [Point; 2] = [(100.0, 0.0), (100.0, 300.0)];

    #[test]
    fn words_stand_beside_the_beginning_where_nothing_does() {
        let aside = width("says", SIZE) / 2.0 + 7.0;
        assert_eq!(Taken::default().place("says", &LINE, 500.0), (100.0 + aside, 12.0));
        let level = [(100.0, 50.0), (300.0, 50.0)];
        assert_eq!(Taken::default().place("says", &level, 500.0), (108.0, 44.0));
    }

    #[test]
    fn words_go_where_no_box_is() {
        let mut taken = Taken::default();
        taken.add([0.0, 0.0, 200.0, 200.0]);
        let at = taken.place("says", &LINE, 500.0);
        assert!(at.1 - SIZE >= 200.0, "{at:?}");
        let second = taken.place("says", &LINE, 500.0);
        assert!((second.1 - at.1).abs() >= SIZE || (second.0 - at.0).abs() >= width("says", SIZE), "{at:?} {second:?}");
    }

    #[test]
    fn words_avoid_lines_where_there_is_room() {
        let mut taken = Taken::default();
        taken.add_line(&[(120.0, 0.0), (120.0, 300.0)]);
        let at = taken.place("says", &LINE, 500.0);
        assert!(at.0 < 100.0, "{at:?}");
    }

    #[test]
    fn words_stay_in_the_picture() {
        let edge = [(3.0, 0.0), (3.0, 140.0)];
        let (x, _) = Taken::default().place("says a lot", &edge, 500.0);
        assert!(x - width("says a lot", SIZE) / 2.0 >= 2.0, "{x}");
    }
}

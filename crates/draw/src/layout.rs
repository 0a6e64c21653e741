//! Layout of small layered graphs: ranks, order within a rank, then positions.
//!
//! The usual method (Sugiyama, Tagawa and Toda 1981) for graphs of tens of nodes, without a library: the stack mostly
//! gives the ranks, and `rust-sugiyama` would bring petgraph for what are four short functions here.

/// The size of a box.
pub(crate) type Size = (f64, f64);

pub(crate) struct Placed {
    /// The centres of the boxes.
    pub at: Vec<(f64, f64)>,
    /// For each downward edge, the points between its ends that it should pass through.
    pub bends: Vec<Vec<(f64, f64)>>,
    pub size: Size,
}

const GAP: f64 = 44.0;
const RANK_GAP: f64 = 58.0;
const SWEEPS: usize = 12;

/// `down`: edges from the upper to the lower box. `beside`: boxes that should be adjacent.
pub(crate) fn place(sizes: &[Size], down: &[(usize, usize)], beside: &[(usize, usize)], beside_gap: f64) -> Placed {
    let ranks = ranks(sizes.len(), down, beside);
    let mut graph = Graph::new(sizes, down, beside, &ranks, beside_gap);
    graph.order();
    graph.assign_x();
    graph.straighten();
    graph.finish(sizes.len())
}

/// Longest paths from the top; then boxes without anything above move down to what they are over.
fn ranks(count: usize, down: &[(usize, usize)], beside: &[(usize, usize)]) -> Vec<usize> {
    let mut ranks = vec![0; count];
    for _ in 0..count {
        for &(from, to) in down {
            // A cycle cannot be ranked; the bound only stops its growth.
            ranks[to] = ranks[to].max(ranks[from] + 1).min(count);
        }
    }
    for node in 0..count {
        let lowest = down.iter().filter(|(from, _)| *from == node).map(|(_, to)| ranks[*to]).min();
        if let (Some(lowest), false) = (lowest, down.iter().any(|(_, to)| *to == node)) {
            ranks[node] = lowest.saturating_sub(1);
        }
    }
    for &(a, b) in beside {
        for (node, other) in [(a, b), (b, a)] {
            if !down.iter().any(|(from, to)| *from == node || *to == node) {
                ranks[node] = ranks[other];
            }
        }
    }
    ranks
}

struct Graph {
    /// Boxes, then the points where edges pass through ranks between their ends.
    nodes: Vec<Vertex>,
    rows: Vec<Vec<usize>>,
    bends: Vec<Vec<usize>>,
    beside_gap: f64,
}

struct Vertex {
    size: Size,
    rank: usize,
    x: f64,
    up: Vec<usize>,
    down: Vec<usize>,
    beside: Vec<usize>,
}

impl Graph {
    fn new(
        sizes: &[Size],
        down: &[(usize, usize)],
        beside: &[(usize, usize)],
        ranks: &[usize],
        beside_gap: f64,
    ) -> Graph {
        let vertex = |size, rank| Vertex { size, rank, x: 0.0, up: Vec::new(), down: Vec::new(), beside: Vec::new() };
        let nodes = sizes.iter().zip(ranks).map(|(size, rank)| vertex(*size, *rank)).collect();
        let mut graph = Graph { nodes, rows: Vec::new(), bends: Vec::new(), beside_gap };
        for &(from, to) in down {
            let mut last = from;
            let mut bends = Vec::new();
            for rank in ranks[from] + 1..ranks[to] {
                graph.nodes.push(vertex((8.0, 0.0), rank));
                bends.push(graph.nodes.len() - 1);
                graph.connect(last, graph.nodes.len() - 1);
                last = graph.nodes.len() - 1;
            }
            graph.connect(last, to);
            graph.bends.push(bends);
        }
        for &(a, b) in beside {
            graph.nodes[a].beside.push(b);
            graph.nodes[b].beside.push(a);
        }
        let deepest = graph.nodes.iter().map(|node| node.rank).max().unwrap_or(0);
        graph.rows = vec![Vec::new(); deepest + 1];
        for index in 0..graph.nodes.len() {
            graph.rows[graph.nodes[index].rank].push(index);
        }
        graph
    }

    fn connect(&mut self, from: usize, to: usize) {
        self.nodes[from].down.push(to);
        self.nodes[to].up.push(from);
    }

    /// Barycentre sweeps; keeps the order with the fewest crossings.
    fn order(&mut self) {
        let mut best = (self.crossings(), self.rows.clone());
        for sweep in 0..SWEEPS {
            let downwards = sweep % 2 == 0;
            let ranks: Vec<usize> =
                if downwards { (0..self.rows.len()).collect() } else { (0..self.rows.len()).rev().collect() };
            for rank in ranks {
                let position = self.positions();
                let row = &self.rows[rank];
                let key = |node: usize| {
                    let vertex = &self.nodes[node];
                    let near = if downwards { &vertex.up } else { &vertex.down };
                    let beside = vertex.beside.iter().filter(|other| self.nodes[**other].rank == rank);
                    mean(near.iter().chain(beside).map(|other| position[*other])).unwrap_or(position[node])
                };
                let mut keyed: Vec<(f64, usize)> = row.iter().map(|node| (key(*node), *node)).collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.rows[rank] = keyed.into_iter().map(|(_, node)| node).collect();
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
        }
        self.rows = best.1;
    }

    /// The position of each node in its row, from 0 to 1.
    fn positions(&self) -> Vec<f64> {
        let mut positions = vec![0.0; self.nodes.len()];
        for row in &self.rows {
            for (index, node) in row.iter().enumerate() {
                positions[*node] = (index as f64 + 0.5) / row.len() as f64;
            }
        }
        positions
    }

    /// Crossings of edges; `beside` pairs that are not adjacent count as well.
    fn crossings(&self) -> usize {
        let mut index = vec![0; self.nodes.len()];
        for row in &self.rows {
            for (at, node) in row.iter().enumerate() {
                index[*node] = at;
            }
        }
        let mut crossings = 0;
        for row in &self.rows {
            let edges: Vec<(usize, usize)> = row
                .iter()
                .flat_map(|from| self.nodes[*from].down.iter().map(|to| (index[*from], index[*to])))
                .collect();
            for (at, a) in edges.iter().enumerate() {
                crossings +=
                    edges[at + 1..].iter().filter(|b| (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1)).count() * 2;
            }
            for node in row {
                let others =
                    self.nodes[*node].beside.iter().filter(|other| self.nodes[**other].rank == self.nodes[*node].rank);
                crossings += others.map(|other| index[*other].abs_diff(index[*node]).saturating_sub(1)).sum::<usize>();
            }
        }
        crossings
    }

    /// The least distance between the centres of two neighbours.
    fn distance(&self, left: usize, right: usize) -> f64 {
        let gap = if self.nodes[left].beside.contains(&right) { self.beside_gap.max(GAP) } else { GAP };
        (self.nodes[left].size.0 + self.nodes[right].size.0) / 2.0 + gap
    }

    fn assign_x(&mut self) {
        for rank in 0..self.rows.len() {
            self.settle(rank, vec![0.0; self.rows[rank].len()]);
        }
        for sweep in 0..SWEEPS * 4 + 1 {
            for step in 0..self.rows.len() {
                let rank = if sweep % 2 == 0 { step } else { self.rows.len() - 1 - step };
                let wish = |node: &usize| {
                    let vertex = &self.nodes[*node];
                    mean(vertex.up.iter().chain(&vertex.down).map(|other| self.nodes[*other].x)).unwrap_or(vertex.x)
                };
                let wishes = self.rows[rank].iter().map(wish).collect();
                self.settle(rank, wishes);
            }
        }
    }

    /// As close to the wishes as order and distances allow: the mean of the leftmost and the rightmost solution.
    fn settle(&mut self, rank: usize, wishes: Vec<f64>) {
        let row = self.rows[rank].clone();
        let (mut from_left, mut from_right) = (wishes.clone(), wishes);
        for index in 1..row.len() {
            from_left[index] = from_left[index].max(from_left[index - 1] + self.distance(row[index - 1], row[index]));
        }
        for index in (1..row.len()).rev() {
            let limit = from_right[index] - self.distance(row[index - 1], row[index]);
            from_right[index - 1] = from_right[index - 1].min(limit);
        }
        for (index, node) in row.iter().enumerate() {
            self.nodes[*node].x = (from_left[index] + from_right[index]) / 2.0;
        }
    }

    /// Puts boxes that stand alone on each other into a straight column, and each column between those that it is joined
    /// with. Does nothing if columns cross.
    fn straighten(&mut self) {
        let columns = self.columns();
        let Some(order) = self.order_to_the_right(&columns) else { return };
        let count = order.len();
        let middle = |column: usize| {
            let own = (0..self.nodes.len()).filter(|node| columns[*node] == column).map(|node| self.nodes[node].x);
            mean(own).unwrap_or_default()
        };
        let mut x: Vec<f64> = (0..count).map(middle).collect();
        let least: Vec<(usize, usize, f64)> = self
            .rows
            .iter()
            .flat_map(|row| row.windows(2))
            .map(|pair| (columns[pair[0]], columns[pair[1]], self.distance(pair[0], pair[1])))
            .collect();
        for _ in 0..SWEEPS * 8 {
            let mut wishes = Vec::new();
            for column in 0..count {
                let own = (0..self.nodes.len()).filter(|node| columns[*node] == column);
                let near = own.flat_map(|node| self.nodes[node].up.iter().chain(&self.nodes[node].down));
                let others = near.map(|other| columns[*other]).filter(|other| *other != column);
                wishes.push(mean(others.map(|other| x[other])).unwrap_or(x[column]));
            }
            let (mut from_left, mut from_right) = (wishes.clone(), wishes);
            for at in &order {
                for (left, right, distance) in least.iter().filter(|(_, right, _)| right == at) {
                    from_left[*right] = from_left[*right].max(from_left[*left] + distance);
                }
            }
            for at in order.iter().rev() {
                for (left, right, distance) in least.iter().filter(|(left, _, _)| left == at) {
                    from_right[*left] = from_right[*left].min(from_right[*right] - distance);
                }
            }
            // Half of the way, as columns that wish to stand where the other stands would change places for ever.
            let there = from_left.iter().zip(&from_right).map(|(left, right)| (left + right) / 2.0);
            x = x.iter().zip(there).map(|(old, new)| (old + new) / 2.0).collect();
        }
        for (node, vertex) in self.nodes.iter_mut().enumerate() {
            vertex.x = x[columns[node]];
        }
    }

    /// The column of each node: that of the node over it, if each is the only one of the other.
    fn columns(&self) -> Vec<usize> {
        let mut columns = vec![usize::MAX; self.nodes.len()];
        let mut count = 0;
        for node in self.rows.iter().flatten() {
            let over = match self.nodes[*node].up.as_slice() {
                [over] if self.nodes[*over].down.len() == 1 && columns[*over] != usize::MAX => Some(columns[*over]),
                _ => None,
            };
            columns[*node] = over.unwrap_or(count);
            count += usize::from(over.is_none());
        }
        columns
    }

    /// The columns, each after those that are left of it in some row; `None` if there is no such order.
    fn order_to_the_right(&self, columns: &[usize]) -> Option<Vec<usize>> {
        let count = columns.iter().max().map_or(0, |last| last + 1);
        let mut left_of = vec![Vec::new(); count];
        let pairs = self.rows.iter().flat_map(|row| row.windows(2));
        pairs.for_each(|pair| left_of[columns[pair[1]]].push(columns[pair[0]]));
        let mut order: Vec<usize> = Vec::new();
        while order.len() < count {
            let is_next = |at: &usize| !order.contains(at) && left_of[*at].iter().all(|left| order.contains(left));
            order.push((0..count).find(is_next)?);
        }
        Some(order)
    }

    fn finish(self, boxes: usize) -> Placed {
        let left = self.nodes.iter().map(|node| node.x - node.size.0 / 2.0).fold(f64::MAX, f64::min).min(1e9);
        let right = self.nodes.iter().map(|node| node.x + node.size.0 / 2.0).fold(f64::MIN, f64::max).max(left);
        let mut y = vec![0.0; self.nodes.len()];
        let mut top = 0.0;
        for row in &self.rows {
            let height = row.iter().map(|node| self.nodes[*node].size.1).fold(0.0, f64::max);
            row.iter().for_each(|node| y[*node] = top + height / 2.0);
            top += height + RANK_GAP;
        }
        let at = |node: usize| (self.nodes[node].x - left, y[node]);
        Placed {
            at: (0..boxes).map(at).collect(),
            bends: self.bends.iter().map(|bends| bends.iter().map(|node| at(*node)).collect()).collect(),
            size: (right - left, (top - RANK_GAP).max(0.0)),
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_of_a_rank_do_not_overlap_and_upper_ones_are_higher() {
        let sizes = [(100.0, 40.0); 6];
        let down = [(0, 2), (1, 2), (2, 4), (3, 4), (0, 4), (4, 5)];
        let placed = place(&sizes, &down, &[(2, 3)], 80.0);
        for (from, to) in down {
            assert!(placed.at[from].1 + 40.0 < placed.at[to].1, "{from} is not over {to}");
        }
        for a in 0..6 {
            for b in a + 1..6 {
                let (dx, dy) = (placed.at[a].0 - placed.at[b].0, placed.at[a].1 - placed.at[b].1);
                assert!(dx.abs() >= 100.0 || dy.abs() >= 40.0, "{a} and {b} overlap");
            }
        }
        assert_eq!(placed.bends[4].len(), 1);
    }

    /// Two columns over a third: each is straight, and the lower one stands in the middle.
    #[test]
    fn boxes_that_stand_alone_on_each_other_are_a_straight_column() {
        let sizes =
            [(100.0, 40.0), (180.0, 40.0), (60.0, 40.0), (140.0, 40.0), (90.0, 40.0), (100.0, 40.0), (100.0, 40.0)];
        let down = [(0, 1), (1, 2), (3, 2), (2, 4), (4, 5), (5, 6)];
        let x: Vec<f64> = place(&sizes, &down, &[], 0.0).at.iter().map(|at| at.0).collect();
        assert!((x[0] - x[1]).abs() < 0.1 && [4, 5, 6].iter().all(|at| (x[*at] - x[2]).abs() < 0.1), "{x:?}");
        assert!(((x[1] + x[3]) / 2.0 - x[2]).abs() < 1.0, "{x:?}");
    }

    #[test]
    fn a_cycle_is_placed_somehow() {
        let placed = place(&[(10.0, 10.0); 2], &[(0, 1), (1, 0)], &[], 0.0);
        assert_eq!(placed.at.len(), 2);
        assert_eq!(place(&[], &[], &[], 0.0).at.len(), 0);
    }
}

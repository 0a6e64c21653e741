//! Orders of things that contain or call each other, without recursion: however long a chain is, no stack overflows.

/// A topological order: each node after those that it leads to. The edge that closes a cycle counts as missing;
/// `circles` has the first node found of each cycle.
pub struct Order {
    /// All nodes, each once.
    pub nodes: Vec<usize>,
    /// Nodes that close a cycle, each once.
    pub circles: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Depth first, from the lowest number on; `next[n]` are the nodes that `n` leads to.
pub fn order(next: &[Vec<usize>]) -> Order {
    let mut marks = vec![Mark::New; next.len()];
    let mut order = Order { nodes: Vec::with_capacity(next.len()), circles: Vec::new() };
    for start in 0..next.len() {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        let mut path = vec![(start, 0)];
        while let Some((node, at)) = path.last_mut() {
            let Some(to) = next[*node].get(*at).copied() else {
                marks[*node] = Mark::Done;
                order.nodes.push(*node);
                path.pop();
                continue;
            };
            *at += 1;
            match marks.get(to).copied() {
                Some(Mark::New) => {
                    marks[to] = Mark::Open;
                    path.push((to, 0));
                }
                Some(Mark::Open) if !order.circles.contains(&to) => order.circles.push(to),
                Some(Mark::Open | Mark::Done) | None => {}
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_led_to_stands_before_and_circles_are_found_once() {
        let found = order(&[vec![1, 2], vec![2], vec![], vec![4], vec![5], vec![4, 3]]);
        assert_eq!(found.nodes[..3], [2, 1, 0]);
        assert_eq!(found.circles, [4, 3]);
        let chain: Vec<Vec<usize>> = (1..=100_000).map(|next| vec![next]).chain([vec![]]).collect();
        assert_eq!(order(&chain).nodes.len(), 100_001);
    }
}

//! Dominators: which nodes every path to a node goes through.

/// The dominators of all nodes reachable from node 0, in nearly linear time (Georgiadis: Linear-Time Algorithms for
/// Dominators and Related Problems, 2005: semi-NCA).
#[derive(Clone, Debug)]
pub struct Dominators {
    /// The immediate dominator of each node; `None` for node 0 and for unreachable nodes.
    above: Vec<Option<usize>>,
    /// For each node: its preorder number in the dominator tree, and the size of its subtree, itself included; `None`
    /// if unreachable.
    places: Vec<Option<(usize, usize)>>,
}

/// A depth-first search; all lists but `places` are indexed by preorder number.
struct Walk {
    nodes: Vec<usize>,
    places: Vec<Option<usize>>,
    parents: Vec<usize>,
}

impl Dominators {
    /// Computes dominators from each node's successors.
    pub fn of(successors: &[Vec<usize>]) -> Dominators {
        let walk = Walk::of(successors);
        let closest = closest(&walk, semidominators(&walk, successors));
        let mut above = vec![None; successors.len()];
        for at in 1..walk.nodes.len() {
            above[walk.nodes[at]] = Some(walk.nodes[closest[at]]);
        }
        Dominators { above, places: places(&walk, &closest) }
    }

    /// The immediate dominator of a node; `None` for node 0 and for unreachable nodes.
    pub fn above(&self, node: usize) -> Option<usize> {
        self.above[node]
    }

    /// Whether the node is reachable from node 0.
    pub fn reaches(&self, node: usize) -> bool {
        self.places[node].is_some()
    }

    /// Whether every path to `node` goes through `over`, which may be the node itself; false if either is unreachable.
    pub fn dominates(&self, over: usize, node: usize) -> bool {
        let (Some((over, below)), Some((node, _))) = (self.places[over], self.places[node]) else { return false };
        (over..over + below).contains(&node)
    }
}

impl Walk {
    fn of(successors: &[Vec<usize>]) -> Walk {
        let mut walk = Walk { nodes: Vec::new(), places: vec![None; successors.len()], parents: Vec::new() };
        let mut open: Vec<(usize, std::slice::Iter<usize>)> = Vec::new();
        let mut enter = Some((0, 0)).filter(|_| !successors.is_empty());
        loop {
            if let Some((node, parent)) = enter.take() {
                walk.places[node] = Some(walk.nodes.len());
                walk.nodes.push(node);
                walk.parents.push(parent);
                open.push((node, successors[node].iter()));
            }
            let Some((node, rest)) = open.last_mut() else { return walk };
            match rest.next() {
                Some(next) if walk.places[*next].is_none() => enter = walk.places[*node].map(|parent| (*next, parent)),
                Some(_) => {}
                None => {
                    open.pop();
                }
            }
        }
    }
}

/// The semidominator of each preorder number: the least number with a path to here over later numbers only.
fn semidominators(walk: &Walk, successors: &[Vec<usize>]) -> Vec<usize> {
    let count = walk.nodes.len();
    let mut before = vec![Vec::new(); count];
    for (at, node) in walk.nodes.iter().enumerate() {
        successors[*node].iter().filter_map(|next| walk.places[*next]).for_each(|next| before[next].push(at));
    }
    let mut semi: Vec<usize> = (0..count).collect();
    let mut forest = Forest { parents: walk.parents.clone(), labels: semi.clone() };
    for at in (1..count).rev() {
        let found = before[at].iter().map(|from| semi[forest.least(*from, at + 1, &semi)]).min();
        semi[at] = found.map_or(walk.parents[at], |found| found.min(walk.parents[at]));
    }
    semi
}

/// Link-eval forest with path compression: for each node, the least semidominator on its way up.
struct Forest {
    parents: Vec<usize>,
    labels: Vec<usize>,
}

impl Forest {
    /// The number with the least semidominator between `at` and the last linked ancestor.
    fn least(&mut self, mut at: usize, linked: usize, semi: &[usize]) -> usize {
        let mut way = Vec::new();
        while self.parents[at] >= linked {
            way.push(at);
            at = self.parents[at];
        }
        while let Some(below) = way.pop() {
            self.parents[below] = self.parents[at];
            if semi[self.labels[at]] < semi[self.labels[below]] {
                self.labels[below] = self.labels[at];
            }
            at = below;
        }
        self.labels[at]
    }
}

/// The immediate dominator of each preorder number: the first ancestor that is not after the semidominator.
fn closest(walk: &Walk, semi: Vec<usize>) -> Vec<usize> {
    let mut closest = walk.parents.clone();
    for at in 1..closest.len() {
        let mut found = closest[at];
        while found > semi[at] {
            found = closest[found];
        }
        closest[at] = found;
    }
    closest
}

/// For each node: its preorder number in the dominator tree, and the size of its subtree.
fn places(walk: &Walk, closest: &[usize]) -> Vec<Option<(usize, usize)>> {
    let mut below = vec![1; closest.len()];
    for at in (1..closest.len()).rev() {
        below[closest[at]] += below[at];
    }
    let mut next: Vec<usize> = vec![1; closest.len()];
    let mut places = vec![None; walk.places.len()];
    for (at, node) in walk.nodes.iter().enumerate() {
        let place = match at {
            0 => 0,
            _ => next[closest[at]],
        };
        next[at] = place + 1;
        if at > 0 {
            next[closest[at]] += below[at];
        }
        places[*node] = Some((place, below[at]));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: a node dominates another if the other cannot be reached without it.
    fn plainly(successors: &[Vec<usize>], over: usize, node: usize) -> bool {
        let reached = |without: Option<usize>| {
            let mut seen = vec![false; successors.len()];
            let mut open = vec![0];
            while let Some(at) = open.pop() {
                if Some(at) != without && !std::mem::replace(&mut seen[at], true) {
                    open.extend(&successors[at]);
                }
            }
            seen
        };
        let all = reached(None);
        all[over] && all[node] && (over == node || !reached(Some(over))[node])
    }

    #[test]
    fn dominators_are_those_that_no_way_goes_round() {
        let mut random = 0x2545_f491_4f6c_dd1du64;
        let mut below = |most: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random as usize % most
        };
        for _ in 0..2000 {
            let count = 1 + below(9);
            let graph: Vec<Vec<usize>> = (0..count).map(|_| (0..below(4)).map(|_| below(count)).collect()).collect();
            let dominators = Dominators::of(&graph);
            for node in 0..count {
                for over in 0..count {
                    assert_eq!(
                        dominators.dominates(over, node),
                        plainly(&graph, over, node),
                        "{over} {node} {graph:?}"
                    );
                }
                let others = (0..count).filter(|over| *over != node && plainly(&graph, *over, node));
                let closest = others.max_by_key(|over| (0..count).filter(|far| plainly(&graph, *far, *over)).count());
                assert_eq!(dominators.above(node), closest, "{node} {graph:?}");
                assert_eq!(dominators.reaches(node), plainly(&graph, node, node));
            }
        }
    }

    #[test]
    fn nothing_dominates_nothing() {
        assert!(Dominators::of(&[]).above.is_empty());
    }
}

//! Branches that only choose values or cell contents become straight code: both sides are computed, and one is
//! selected.

use std::collections::{BTreeMap, BTreeSet};

use mokume_reaction::{Binary, BlockId, CellId, Op, OpKind, Operation, Target, Terminator, Type};

use crate::follow::Frame;
use crate::graph::Node;
use crate::passes::Pass;
use crate::region::{Given, Region};

/// The most operations that are computed although only one side is needed, not counting very cheap ones.
const MOST: usize = 24;
/// The most blocks that are searched for the place where the ways join.
const FAR: usize = 12;

/// A branch whose sides are computed.
struct Branch {
    join: BlockId,
    /// So many operations may still be computed.
    left: usize,
    /// So many cells were written before it.
    written: usize,
}

/// What one side of a branch passes on where the ways join, and the cells that it writes.
struct Side {
    passed: Vec<Node>,
    written: BTreeMap<(Node, CellId), Node>,
}

impl<'a> Region<'a> {
    /// The block where the ways of a branch join, and what is passed there, if all between is pure and small.
    pub(crate) fn chosen(
        &mut self,
        frame: &mut Frame<'a>,
        condition: Node,
        then: &Target,
        otherwise: &Target,
    ) -> Option<(BlockId, Vec<Node>)> {
        if !self.overview.passes.has(Pass::Choosing) {
            return None;
        }
        let near = |from: BlockId| {
            let mut seen = vec![from];
            let mut at = 0;
            while at < seen.len() && seen.len() < FAR {
                let targets = frame.body.blocks[seen[at].index()].terminator.targets();
                for target in targets {
                    if !seen.contains(&target.block) {
                        seen.push(target.block);
                    }
                }
                at += 1;
            }
            seen
        };
        let (here, there) = (near(then.block), near(otherwise.block));
        let meets = here.into_iter().filter(|block| there.contains(block));
        for join in meets.collect::<Vec<_>>() {
            let mut branch = Branch { join, left: MOST, written: self.written.len() };
            let one = self.side(frame, then, &mut branch);
            let other = one.as_ref().and_then(|_| self.side(frame, otherwise, &mut branch));
            if let (Some(one), Some(other)) = (one, other) {
                let meets = self.meet(condition, one, other)?;
                for ((object, cell), value) in meets.written {
                    self.set(object, cell, None, value);
                }
                return Some((join, meets.passed));
            }
        }
        None
    }

    /// A `select`; logical operators where that is possible.
    fn either(&mut self, condition: Node, a: Node, b: Node) -> Node {
        if self.graph.ty(a) == Type::Bool {
            match (self.graph.known(a), self.graph.known(b)) {
                (Some(1), _) => return self.graph.binary(Binary::Or, condition, b),
                (_, Some(0)) => return self.graph.binary(Binary::And, condition, a),
                (Some(0), _) => {
                    let not = self.graph.not(condition);
                    return self.graph.binary(Binary::And, not, b);
                }
                (_, Some(1)) => {
                    let not = self.graph.not(condition);
                    return self.graph.binary(Binary::Or, not, a);
                }
                _ => {}
            }
            // `if c { c } else { … }`
            if a == condition {
                return self.graph.binary(Binary::Or, condition, b);
            }
            if b == condition {
                return self.graph.binary(Binary::And, condition, a);
            }
        }
        self.graph.select(condition, a, b)
    }

    /// Merges the two sides.
    fn meet(&mut self, condition: Node, one: Side, other: Side) -> Option<Side> {
        let passed = one.passed.iter().zip(&other.passed).map(|(a, b)| self.either(condition, *a, *b)).collect();
        let cells: BTreeSet<_> = one.written.keys().chain(other.written.keys()).copied().collect();
        // What one side writes must not be what the other side writes by another name.
        for (a, b) in one.written.keys().flat_map(|a| other.written.keys().map(move |b| (*a, *b))) {
            if self.is_by_two_names(a, b)? {
                return None;
            }
        }
        let mut written = BTreeMap::new();
        for place @ (object, cell) in cells {
            let (a, b) = (one.written.get(&place).copied(), other.written.get(&place).copied());
            let ty = self.graph.ty(a.or(b)?);
            let old = self.get(object, cell, ty).ok()?;
            let value = self.either(condition, a.unwrap_or(old), b.unwrap_or(old));
            written.insert(place, value);
        }
        Some(Side { passed, written })
    }

    /// Whether the two are one cell of one object that has two names; `None` if that cannot be asked.
    fn is_by_two_names(&mut self, (object, cell): (Node, CellId), (other, of): (Node, CellId)) -> Option<bool> {
        let may_be = object != other && (self.class(object), cell) == (self.class(other), of);
        Some(may_be && self.is_one(object, other).ok()?)
    }

    /// What an edge passes on at the place where the ways join; `None` if the way does more than compute and write
    /// cells, writes one by two names, or asks a question.
    fn side(&mut self, frame: &mut Frame<'a>, edge: &Target, branch: &mut Branch) -> Option<Side> {
        let before = self.written.len();
        let side = self.passed(frame, edge, branch);
        self.written.truncate(before);
        side
    }

    fn passed(&mut self, frame: &mut Frame<'a>, edge: &Target, branch: &mut Branch) -> Option<Side> {
        let args: Vec<Node> = edge.args.iter().map(|arg| frame.node(*arg)).collect::<Option<_>>()?;
        if edge.block == branch.join {
            return Some(Side { passed: args, written: BTreeMap::new() });
        }
        let body = frame.body;
        let block = &body.blocks[edge.block.index()];
        if block.bound.is_some() || block.params.len() != args.len() {
            return None;
        }
        for (param, arg) in block.params.iter().zip(args) {
            frame.set(*param, Given::Node(arg));
        }
        let mut written = BTreeMap::new();
        for op in &block.ops {
            let is_free = matches!(op.kind, OpKind::Const { .. } | OpKind::Cast { .. } | OpKind::Now {});
            branch.left = branch.left.checked_sub(usize::from(!is_free))?;
            if let OpKind::Set { object, cell, value } = &op.kind {
                let (object, value) = (frame.node(*object)?, frame.node(*value)?);
                // The order of writes by two names is not kept.
                for at in branch.written..self.written.len() {
                    let (other, _, of, ..) = self.written[at];
                    if self.is_by_two_names((object, *cell), (other, of))? {
                        return None;
                    }
                }
                // Fails if it may be written by another name before: then the old content is unknown.
                self.get(object, *cell, self.graph.ty(value)).ok()?;
                self.written.push((object, self.class(object), *cell, None, value));
                written.insert((object, *cell), value);
                continue;
            }
            if !self.is_pure(frame, op) {
                return None;
            }
            let (steps, source) = (self.steps.len(), self.source);
            self.operation(frame, op).ok()?;
            self.source = source;
            if self.steps.len() > steps {
                // Its question would be asked on this side only.
                debug_assert!(false, "a pure operation asks for something");
                return None;
            }
        }
        let rest = match &block.terminator {
            Terminator::Jump { to } => self.passed(frame, to, branch)?,
            Terminator::Branch { condition, then, otherwise, .. } => {
                let condition = frame.node(*condition)?;
                let one = self.side(frame, then, branch)?;
                let other = self.side(frame, otherwise, branch)?;
                self.meet(condition, one, other)?
            }
            _ => return None,
        };
        // Later writes count.
        written.extend(rest.written);
        Some(Side { passed: rest.passed, written })
    }

    /// Whether it only computes, and reports nothing whatever its operands are.
    fn is_pure(&self, frame: &Frame, op: &Op) -> bool {
        let messages = op.kind.operands().iter().any(|value| frame.is_message(*value));
        match &op.kind {
            OpKind::Binary { op, a, b } if op.may_report() => match (frame.node(*a), frame.node(*b)) {
                (Some(a), Some(b)) => self.never_reports(*op, a, b),
                _ => false,
            },
            OpKind::Const { .. }
            | OpKind::Null { .. }
            | OpKind::Binary { .. }
            | OpKind::Compare { .. }
            | OpKind::Not { .. }
            | OpKind::Select { .. }
            | OpKind::Cast { .. }
            | OpKind::Param { .. }
            | OpKind::Now {}
            | OpKind::Unique { .. }
            | OpKind::Get { .. }
            | OpKind::Fold16 { .. } => !messages,
            OpKind::Size { .. } | OpKind::GetAttribute { .. } => true,
            _ => false,
        }
    }
}

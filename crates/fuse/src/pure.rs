//! Branches that only choose between values: both sides are computed, and one is selected.

use mokume_reaction::{Binary, BlockId, Op, OpKind, Operation, Target, Terminator, Type};

use crate::follow::Frame;
use crate::graph::Node;
use crate::region::{Given, Region};

/// Operations that are computed though only one side is needed.
const MOST: usize = 24;
/// Blocks that are looked at for the place where the ways meet.
const FAR: usize = 12;

impl<'a> Region<'a> {
    /// Where the ways of a branch meet, and what is passed there, if all between is pure and small.
    pub(crate) fn chosen(
        &mut self,
        frame: &mut Frame<'a>,
        condition: Node,
        then: &Target,
        otherwise: &Target,
    ) -> Option<(BlockId, Vec<Node>)> {
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
            let mut left = MOST;
            let one = self.passed(frame, then, join, &mut left);
            let other = one.as_ref().and_then(|_| self.passed(frame, otherwise, join, &mut left));
            if let (Some(one), Some(other)) = (one, other) {
                let values = one.into_iter().zip(other).map(|(a, b)| self.either(condition, a, b)).collect();
                return Some((join, values));
            }
        }
        None
    }

    /// `select`, as logic where it is logic.
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

    /// What an edge leads to at the place where the ways meet; none if something is done on the way, or asked for.
    fn passed(&mut self, frame: &mut Frame<'a>, edge: &Target, join: BlockId, left: &mut usize) -> Option<Vec<Node>> {
        let args: Vec<Node> = edge.args.iter().map(|arg| frame.node(*arg)).collect::<Option<_>>()?;
        if edge.block == join {
            return Some(args);
        }
        let body = frame.body;
        let block = &body.blocks[edge.block.index()];
        if block.bound.is_some() || block.params.len() != args.len() {
            return None;
        }
        for (param, arg) in block.params.iter().zip(args) {
            frame.set(*param, Given::Node(arg));
        }
        for op in &block.ops {
            *left = left.checked_sub(1)?;
            if !self.is_pure(frame, op) {
                return None;
            }
            let (steps, source) = (self.steps.len(), self.source);
            self.operation(frame, op).ok()?;
            self.source = source;
            if self.steps.len() > steps {
                // What it asked for holds on this side alone.
                debug_assert!(false, "a pure operation asks for something");
                return None;
            }
        }
        match &block.terminator {
            Terminator::Jump { to } => self.passed(frame, to, join, left),
            Terminator::Branch { condition, then, otherwise, .. } => {
                let condition = frame.node(*condition)?;
                let one = self.passed(frame, then, join, left)?;
                let other = self.passed(frame, otherwise, join, left)?;
                Some(one.into_iter().zip(other).map(|(a, b)| self.either(condition, a, b)).collect())
            }
            _ => None,
        }
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

//! Ways that differ only in what a memo says are one: the memo says it of either way in the same places (paper `001`, common tails).
//!
//! Where the source parts, and what comes behind it is written by the same operations (a datagram for a neighbour, and one for the gateway), the ways of a path
//! differ only in the results of the memo that tells them apart.
//!
//! It must keep: each way asks and does what it did, from the same places of the source.

use std::collections::HashMap;

use mokume_reaction::{BlockId, Body, Fallible, Function, OpKind, Operation, Target, Terminator, Value};

/// Makes one of such ways. `memos` are the functions from number `first` on.
pub(super) fn alike(body: &mut Body, memos: &mut [Function], first: usize) {
    for (memo, told) in recalled(body) {
        while let Some((kept, other, places)) = pair(body, told) {
            if !says_in(&mut memos[memo - first], other, &places) {
                break;
            }
            lead_elsewhere(body, told, kept, other);
        }
    }
    mokume_analyse::straighten(body);
    let uses = mokume_analyse::uses(body);
    for (memo, told) in recalled(body) {
        let params = &mut body.blocks[told.index()].params;
        let is_read: Vec<bool> = params.iter().map(|param| uses[param.index()] > 0).collect();
        let memo = &mut memos[memo - first];
        keep(params, &is_read);
        keep(&mut memo.results, &is_read);
        for block in &mut memo.body.blocks {
            if let Terminator::Yield { values } = &mut block.terminator {
                keep(values, &is_read);
            }
        }
    }
}

fn keep<T>(of: &mut Vec<T>, is_kept: &[bool]) {
    let mut is_kept = is_kept.iter();
    of.retain(|_| is_kept.next() == Some(&true));
}

/// The memos of a body, and where it goes on with what they say.
fn recalled(body: &Body) -> Vec<(usize, BlockId)> {
    let recall = |terminator: &Terminator| match terminator {
        Terminator::Try { op: Fallible::Recall { memo, .. }, then, .. } => Some((memo.index(), then.block)),
        _ => None,
    };
    body.blocks.iter().filter_map(|block| recall(&block.terminator)).collect()
}

/// Where ways part behind a memo: the numbers of the ways, the blocks that they lead to.
fn ways(body: &Body, told: BlockId) -> Option<(Value, Vec<(u64, &Target)>)> {
    let block = &body.blocks[told.index()];
    let Terminator::Switch { value, cases, default } = &block.terminator else { return None };
    let is_way = block.ops.is_empty() && block.params.first() == Some(value);
    let others = cases.iter().map(|(way, target)| (*way, target));
    is_way.then(|| (*value, std::iter::once((0, default)).chain(others).collect()))
}

/// Two ways that do the same, and where the second finds what the first finds elsewhere, by the memo's results.
fn pair(body: &Body, told: BlockId) -> Option<(u64, u64, Vec<(usize, usize)>)> {
    let (way, ways) = ways(body, told)?;
    let results = &body.blocks[told.index()].params;
    for (at, (kept, one)) in ways.iter().enumerate() {
        for (other, two) in &ways[at + 1..] {
            let mut same = Same { body, results, is: HashMap::from([(way, way)]), blocks: HashMap::new() };
            if same.target(one, two) {
                let place = |value: &Value| results.iter().position(|result| result == value);
                let places = same.is.iter().filter_map(|(two, one)| Some((place(two)?, place(one)?)));
                return Some((*kept, *other, places.filter(|(two, one)| two != one).collect()));
            }
        }
    }
    None
}

/// Two pieces of a body, side by side.
struct Same<'a> {
    body: &'a Body,
    /// What the memo says.
    results: &'a [Value],
    /// What stands in the first piece for a value of the second.
    is: HashMap<Value, Value>,
    blocks: HashMap<BlockId, BlockId>,
}

impl Same<'_> {
    fn target(&mut self, one: &Target, two: &Target) -> bool {
        one.args.len() == two.args.len()
            && one.args.iter().zip(&two.args).all(|(one, two)| self.value(*one, *two))
            && self.block(one.block, two.block)
    }

    fn block(&mut self, one: BlockId, two: BlockId) -> bool {
        if let Some(known) = self.blocks.get(&two) {
            return *known == one;
        }
        self.blocks.insert(two, one);
        if one == two {
            return true;
        }
        let [one, two] = [one, two].map(|block| &self.body.blocks[block.index()]);
        let marks = [one, two].map(|block| block.mark.map(|mark| mark.source));
        if one.bound != two.bound || marks[0] != marks[1] || !self.made(&one.params, &two.params) {
            return false;
        }
        let ops = one.ops.len() == two.ops.len()
            && one.ops.iter().zip(&two.ops).all(|(one, two)| {
                one.source == two.source
                    && self.operation(&one.kind, &two.kind)
                    && self.made(&one.results, &two.results)
            });
        ops && self.terminator(&one.terminator, &two.terminator)
    }

    /// What is made at the same place of both.
    fn made(&mut self, one: &[Value], two: &[Value]) -> bool {
        let is_alike = |(one, two): (&Value, &Value)| {
            self.body.values[one.index()].ty == self.body.values[two.index()].ty && self.is.insert(*two, *one).is_none()
        };
        one.len() == two.len() && one.iter().zip(two).all(is_alike)
    }

    /// Whether a value stands for another: what the memo says may stand in any place, but in one only.
    fn value(&mut self, one: Value, two: Value) -> bool {
        if let Some(known) = self.is.get(&two) {
            return *known == one;
        }
        let [is_said, is_other_said] = [one, two].map(|value| self.results.contains(&value));
        let types = [one, two].map(|value| self.body.values[value.index()].ty);
        let may_be = match is_said && is_other_said {
            true => types[0] == types[1] && !self.is.iter().any(|(from, to)| *to == one && self.results.contains(from)),
            false => one == two,
        };
        may_be && self.is.insert(two, one).is_none()
    }

    fn operation(&mut self, one: &OpKind, two: &OpKind) -> bool {
        let (ours, theirs) = (one.operands(), two.operands());
        let mut turned = two.clone();
        let mut own = ours.iter();
        turned.for_each_operand_mut(&mut |operand| *operand = own.next().copied().unwrap_or(*operand));
        turned == *one
            && ours.len() == theirs.len()
            && ours.into_iter().zip(theirs).all(|(one, two)| self.value(one, two))
    }

    fn terminator(&mut self, one: &Terminator, two: &Terminator) -> bool {
        let (ours, theirs) = (one.operands(), two.operands());
        let (mut turned, mut own) = (two.clone(), ours.iter());
        turned.for_each_operand_mut(|operand| *operand = own.next().copied().unwrap_or(*operand));
        let mut places = one.targets().into_iter();
        turned.for_each_target_mut(|target| {
            if let Some(place) = places.next() {
                *target = place.clone();
            }
        });
        let (these, those) = (one.targets(), two.targets());
        turned == *one
            && (ours.len(), these.len()) == (theirs.len(), those.len())
            && ours.into_iter().zip(theirs).all(|(one, two)| self.value(one, two))
            && these.into_iter().zip(those).all(|(one, two)| self.target(one, two))
    }
}

/// The memo says what it says of a way in other places. False if it does not say which way it is of.
fn says_in(memo: &mut Function, other: u64, places: &[(usize, usize)]) -> bool {
    let constants = memo.body.ops().filter_map(|op| match op.kind {
        OpKind::Const { value, .. } => Some((op.results[0], value)),
        _ => None,
    });
    let constants: HashMap<Value, u64> = constants.collect();
    let way = |terminator: &Terminator| match terminator {
        Terminator::Yield { values } => Some(values.first().and_then(|way| constants.get(way)).copied()),
        _ => None,
    };
    if memo.body.blocks.iter().any(|block| way(&block.terminator) == Some(None)) {
        return false;
    }
    for block in memo.body.blocks.iter_mut().filter(|block| way(&block.terminator) == Some(Some(other))) {
        if let Terminator::Yield { values } = &mut block.terminator {
            let old = values.clone();
            places.iter().for_each(|(from, to)| values[*to] = old[*from]);
        }
    }
    true
}

/// A way leads where the other one leads.
fn lead_elsewhere(body: &mut Body, told: BlockId, kept: u64, other: u64) {
    let block = &mut body.blocks[told.index()];
    let Terminator::Switch { cases, default, .. } = &mut block.terminator else { return };
    let place = cases.iter().find(|(way, _)| *way == kept).map(|(_, target)| target.clone());
    match place {
        Some(place) => {
            cases.iter_mut().filter(|(way, _)| *way == other).for_each(|(_, target)| *target = place.clone())
        }
        None => cases.retain(|(way, _)| *way != other),
    }
    if cases.is_empty() {
        block.terminator = Terminator::Jump { to: default.clone() };
    }
}

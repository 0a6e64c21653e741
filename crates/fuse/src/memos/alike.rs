//! Merges ways that differ only in a memo's results: the memo returns the results of both ways in the same places
//! (paper `001`, common tails).
//!
//! If the source parts, and the same operations follow on both sides (a datagram for a neighbour, and one for the
//! gateway), the path's ways differ only in the results of the memo that selects the way.
//!
//! It must keep: each way asks and does what it did, from the same places of the source.

use rustc_hash::FxHashMap as HashMap;

use mokume_reaction::{BlockId, Body, Fallible, Function, OpKind, Operation, Target, Terminator, Value};

/// Merges such ways. `memos` are the functions from number `first` on.
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

/// The memos that a body recalls, each with the block where it continues with the results.
pub(super) fn recalled(body: &Body) -> Vec<(usize, BlockId)> {
    let recall = |terminator: &Terminator| match terminator {
        Terminator::Try { op: Fallible::Recall { memo, .. }, then, .. } => Some((memo.index(), then.block)),
        _ => None,
    };
    body.blocks.iter().filter_map(|block| recall(&block.terminator)).collect()
}

/// The parting of ways by a memo's result: that result, and the number and target of each way. `None` if the block does
/// not part so.
fn ways(body: &Body, told: BlockId) -> Option<(Value, Vec<(u64, &Target)>)> {
    let block = &body.blocks[told.index()];
    let Terminator::Switch { value, cases, default } = &block.terminator else { return None };
    let is_way = block.ops.is_empty() && block.params.first() == Some(value);
    let others = cases.iter().map(|(way, target)| (*way, target));
    is_way.then(|| (*value, std::iter::once((0, default)).chain(others).collect()))
}

/// The places of a memo's results that a way must have moved, from and to.
type Moved = Vec<(usize, usize)>;

/// Two ways that do the same: their numbers, and what the second must have moved.
fn pair(body: &Body, told: BlockId) -> Option<(u64, u64, Moved)> {
    let (way, ways) = ways(body, told)?;
    let results = &body.blocks[told.index()].params;
    let sizes: Vec<(usize, usize)> = ways.iter().map(|(_, target)| size(body, target.block)).collect();
    for (at, (kept, one)) in ways.iter().enumerate() {
        for (behind, (other, two)) in ways.iter().enumerate().skip(at + 1) {
            // Most ways differ in size: then nothing else is compared.
            if sizes[at] != sizes[behind] || one == two {
                continue;
            }
            let mut same = Same::new(body, results);
            same.is.insert(way, way);
            if same.target(one, two) {
                let place = |value: &Value| same.said[value.index()];
                let places = same.is.iter().filter_map(|(two, one)| Some((place(two)?, place(one)?)));
                return Some((*kept, *other, places.filter(|(two, one)| two != one).collect()));
            }
        }
    }
    None
}

/// The number of blocks and of operations that a block leads to.
fn size(body: &Body, from: BlockId) -> (usize, usize) {
    let mut seen = vec![false; body.blocks.len()];
    let (mut open, mut blocks, mut ops) = (vec![from], 0, 0);
    while let Some(block) = open.pop() {
        if std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        let block = &body.blocks[block.index()];
        (blocks, ops) = (blocks + 1, ops + block.ops.len());
        open.extend(block.terminator.targets().into_iter().map(|target| target.block));
    }
    (blocks, ops)
}

/// The comparison of two pieces of a body.
struct Same<'a> {
    body: &'a Body,
    /// By value, its place among the memo's results.
    said: Vec<Option<usize>>,
    /// By place among the memo's results, whether some result stands there for it in the second piece.
    taken: Vec<bool>,
    /// By value of the second piece, the equivalent value of the first.
    is: HashMap<Value, Value>,
    blocks: HashMap<BlockId, BlockId>,
}

impl<'a> Same<'a> {
    fn new(body: &'a Body, results: &[Value]) -> Self {
        let mut said = vec![None; body.values.len()];
        results.iter().enumerate().for_each(|(place, result)| said[result.index()] = Some(place));
        Same { body, said, taken: vec![false; results.len()], is: HashMap::default(), blocks: HashMap::default() }
    }

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

    /// Records values that are made at the same place of both; false if their types or numbers differ.
    fn made(&mut self, one: &[Value], two: &[Value]) -> bool {
        let is_alike = |(one, two): (&Value, &Value)| {
            self.body.values[one.index()].ty == self.body.values[two.index()].ty && self.is.insert(*two, *one).is_none()
        };
        one.len() == two.len() && one.iter().zip(two).all(is_alike)
    }

    /// Whether a value of the second piece is equivalent to one of the first: a result of the memo may replace any
    /// other result, but only one.
    fn value(&mut self, one: Value, two: Value) -> bool {
        if let Some(known) = self.is.get(&two) {
            return *known == one;
        }
        let types = [one, two].map(|value| self.body.values[value.index()].ty);
        let may_be = match (self.said[one.index()], self.said[two.index()]) {
            (Some(place), Some(_)) => types[0] == types[1] && !std::mem::replace(&mut self.taken[place], true),
            _ => one == two,
        };
        may_be && self.is.insert(two, one).is_none()
    }

    fn operation(&mut self, one: &OpKind, two: &OpKind) -> bool {
        if std::mem::discriminant(one) != std::mem::discriminant(two) {
            return false;
        }
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

/// Moves a way's results in the memo to other places. Returns false if the memo does not return the way's number as a
/// constant.
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

/// Lets one way lead where another one does.
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

//! Groups still values where they are mixed with values that change with each message, so that memos return larger
//! units: in sums, and in the octets in front of a message.

use mokume_reaction::{Binary, Body, Endian, OctetField, Op, OpKind, Operation, SourceId, Type, Value, ValueInfo};

use super::still::Still;

const U64: Type = Type::U(64);
/// Octets of a word.
const WORD: u64 = 8;

/// The body with sums and octets grouped; `still` refers to the old body.
pub(super) fn gathered(still: &Still) -> Body {
    let mut body = still.old.clone();
    let is_part = parts(still);
    for block in 0..body.blocks.len() {
        sums(&mut body, block, still, &is_part);
        fronts(&mut body, block, still);
    }
    body
}

/// Operations that are inserted at one place.
struct Added<'b> {
    body: &'b mut Body,
    ops: Vec<Op>,
    source: Option<SourceId>,
}

impl Added<'_> {
    fn value(&mut self, ty: Type, kind: OpKind) -> Value {
        self.body.values.push(ValueInfo { ty, name: String::new() });
        let value = Value(self.body.values.len() as u32 - 1);
        self.ops.push(Op { kind, results: vec![value], source: self.source });
        value
    }

    fn constant(&mut self, ty: Type, value: u64) -> Value {
        self.value(ty, OpKind::Const { ty, value })
    }

    fn binary(&mut self, op: Binary, a: Value, b: Value) -> Value {
        let ty = self.body.values[a.index()].ty;
        self.value(ty, OpKind::Binary { op, a, b })
    }
}

// -- sums

/// By value: whether it is a sum that is not still, and is only used as a part of one other such sum.
fn parts(still: &Still) -> Vec<bool> {
    let is_sum = |op: &&Op| matches!(op.kind, OpKind::Binary { op: Binary::AddWrap, .. }) && !still.is_made(op);
    let uses = mokume_analyse::uses(still.old);
    let mut parts = vec![false; still.old.values.len()];
    for op in still.old.ops().filter(is_sum) {
        op.kind.for_each_operand(&mut |operand| {
            parts[operand.index()] = uses[operand.index()] == 1 && still.made(operand).as_ref().is_some_and(is_sum);
        });
    }
    parts
}

/// `(a + s) + t` becomes `a + (s + t)`, if `s` and `t` are still.
fn sums(body: &mut Body, block: usize, still: &Still, is_part: &[bool]) {
    let old = std::mem::take(&mut body.blocks[block].ops);
    let mut ops = Vec::new();
    for op in old {
        let is_sum = matches!(op.kind, OpKind::Binary { op: Binary::AddWrap, .. });
        let mut parts = Vec::new();
        if is_sum && !still.is_made(&op) && !is_part[op.results[0].index()] {
            flatten(&op, still, is_part, &mut parts);
        }
        let (fixed, moving): (Vec<Value>, Vec<Value>) = parts.into_iter().partition(|part| still.is(*part));
        let kept = fixed.iter().filter(|part| still.constant(**part).is_none()).count();
        if kept < 2 || moving.is_empty() {
            ops.push(op);
            continue;
        }
        let mut added = Added { body, ops: Vec::new(), source: op.source };
        let mut sum = |parts: &[Value]| {
            let first = parts[0];
            parts[1..].iter().fold(first, |sum, part| added.binary(Binary::AddWrap, sum, *part))
        };
        let (b, a) = (sum(&fixed), sum(&moving));
        ops.append(&mut added.ops);
        ops.push(Op { kind: OpKind::Binary { op: Binary::AddWrap, a, b }, ..op });
    }
    body.blocks[block].ops = ops;
}

fn flatten(op: &Op, still: &Still, is_part: &[bool], parts: &mut Vec<Value>) {
    for operand in op.kind.operands() {
        match still.made(operand).filter(|_| is_part[operand.index()]) {
            Some(inner) => flatten(inner, still, is_part, parts),
            None => parts.push(operand),
        }
    }
}

// -- octets in front of a message

/// A number that is put in front, with its place and field.
struct Put {
    at: u64,
    field: OctetField,
    value: Value,
    /// The index of the operation.
    op: usize,
}

impl Put {
    fn end(&self) -> u64 {
        self.at + u64::from(self.field.width / 8)
    }
}

/// Groups still octets in front of a message into words of eight.
fn fronts(body: &mut Body, block: usize, still: &Still) {
    let ops = &body.blocks[block].ops;
    let Some(front) = ops.iter().position(|op| matches!(op.kind, OpKind::Front { .. })) else { return };
    let OpKind::Front { octets, .. } = &ops[front].kind else { return };
    let (octets, mut at_hand) = (octets.clone(), ops[front].results[0]);
    let length = octets.len() as u64;
    let (mut puts, mut moving, mut written) = (Vec::new(), vec![false; octets.len()], vec![false; octets.len()]);
    for (place, op) in ops.iter().enumerate().skip(front + 1) {
        let OpKind::Store { field, message, at, value } = op.kind else { continue };
        if message != at_hand {
            break;
        }
        let at = if at.index() < still.old.values.len() { still.constant(at) } else { None };
        let Some(at) = at else { return };
        at_hand = op.results[0];
        let put = Put { at, field, value, op: place };
        if put.end() > length {
            return;
        }
        let place = at as usize..put.end() as usize;
        if written[place.clone()].contains(&true) {
            return;
        }
        written[place.clone()].fill(true);
        match still.is(value) {
            true => puts.push(put),
            false => moving[place].fill(true),
        }
    }
    if length < WORD || puts.is_empty() {
        return;
    }
    let mut starts: Vec<u64> = (0..length / WORD).map(|word| word * WORD).collect();
    if !length.is_multiple_of(WORD) {
        starts.push(length - WORD);
    }
    let worth = |start: &u64| {
        let own = puts.iter().filter(|put| put.at < start + WORD && put.end() > *start).count();
        let covered = |at: u64| puts.iter().any(|put| (put.at..put.end()).contains(&at)) || moving[at as usize];
        let constants = (*start..start + WORD).filter(|at| !covered(*at)).count();
        own > 0 && own + usize::from(constants > 0) > 1
    };
    let words: Vec<u64> = starts.into_iter().filter(worth).collect();
    if words.is_empty() {
        return;
    }
    let is_covered =
        |put: &Put| (put.at..put.end()).all(|at| words.iter().any(|word| (*word..word + WORD).contains(&at)));
    let gone: Vec<usize> = puts.iter().filter(|put| is_covered(put)).map(|put| put.op).collect();
    let big = puts.iter().filter(|put| put.field.endian == Endian::Big).count() * 2 >= puts.len();
    let endian = if big { Endian::Big } else { Endian::Little };
    let found = ops[front].clone();
    let rest: Vec<Op> = ops[front + 1..].to_vec();
    let mut added = Added { body, ops: Vec::new(), source: found.source };
    let values: Vec<Value> = words.iter().map(|start| word(&mut added, *start, &octets, &puts, endian)).collect();
    added.ops.push(found.clone());
    let mut message = found.results[0];
    for (start, value) in words.iter().zip(values) {
        let at = added.constant(Type::U(32), *start);
        let kind = OpKind::Store { field: OctetField { width: 64, endian }, message, at, value };
        message = added.value(Type::Msg, kind);
    }
    let mut place = front;
    let mut renamed = std::collections::HashMap::from([(found.results[0], message)]);
    for mut op in rest {
        place += 1;
        if gone.contains(&place) {
            if let OpKind::Store { message, .. } = op.kind {
                let now = renamed.get(&message).copied().unwrap_or(message);
                renamed.insert(op.results[0], now);
            }
            continue;
        }
        op.kind.for_each_operand_mut(&mut |operand| *operand = renamed.get(operand).copied().unwrap_or(*operand));
        added.ops.push(op);
    }
    let ops = added.ops;
    body.blocks[block].ops.truncate(front);
    body.blocks[block].ops.extend(ops);
    let terminator = &mut body.blocks[block].terminator;
    terminator.for_each_operand_mut(|operand| *operand = renamed.get(operand).copied().unwrap_or(*operand));
}

/// The eight octets from a place on, as a number.
fn word(added: &mut Added, start: u64, octets: &[u8], puts: &[Put], endian: Endian) -> Value {
    let end = start + WORD;
    let covered = |at: u64| puts.iter().any(|put| (put.at..put.end()).contains(&at));
    // The distance of an octet from the low end of the word.
    let shift = |at: u64| if endian == Endian::Big { 8 * (end - 1 - at) } else { 8 * (at - start) };
    let constant = (start..end).filter(|at| !covered(*at)).map(|at| u64::from(octets[at as usize]) << shift(at)).sum();
    let mut sum = added.constant(U64, constant);
    for put in puts.iter().filter(|put| put.at < end && put.end() > start) {
        let long = match added.body.values[put.value.index()].ty {
            U64 => put.value,
            _ => added.value(U64, OpKind::Cast { a: put.value, to: U64 }),
        };
        let (first, last) = (put.at.max(start), put.end().min(end));
        // Whole runs if the byte orders are the same, else octet by octet.
        let same = put.field.endian == endian;
        let runs: Vec<(u64, u64)> =
            if same { vec![(first, last)] } else { (first..last).map(|at| (at, at + 1)).collect() };
        for (first, last) in runs {
            let low = if put.field.endian == Endian::Big { 8 * (put.end() - last) } else { 8 * (first - put.at) };
            let mut part = long;
            if low > 0 {
                let by = added.constant(U64, low);
                part = added.binary(Binary::Shr, part, by);
            }
            let ones = added.constant(U64, mokume_interpret::mask((8 * (last - first)) as u8));
            part = added.binary(Binary::And, part, ones);
            let by = if endian == Endian::Big { shift(last - 1) } else { shift(first) };
            if by > 0 {
                let by = added.constant(U64, by);
                part = added.binary(Binary::Shl, part, by);
            }
            sum = added.binary(Binary::Or, sum, part);
        }
    }
    sum
}

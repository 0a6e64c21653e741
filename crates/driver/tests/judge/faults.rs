//! Faults that are planted in optimised automata: one change each, in a path or in a memo that a path recalls.

use std::fmt;

use mokume_base::Random;
use mokume_reaction::{
    AttributeId, Automaton, Binary, Block, Body, CellId, CellKind, ClassId, Compare, Endian, Fallible, FunctionId,
    OpKind, Operation, ParamId, ReasonId, Terminator, Type, Value,
};

/// The owner of the changed body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    Path(usize),
    Memo(usize),
    Handler(usize),
}

/// The kind of a change.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    Number(u64),
    Operator(Binary),
    Comparison(Compare),
    /// An operand is another value of its type.
    Operand(usize, Value),
    /// Two operands are swapped.
    Exchanged(usize, usize),
    /// It is skipped; its results are its operands.
    NotDone,
    Twice,
    /// The next operation is done first.
    Later,
    Cell(CellId),
    Reason(ReasonId),
    /// Consumed instead of dropped, or the other way round.
    OtherEnd,
    /// An octet is changed.
    Octet(usize),
    /// An octet is removed.
    Shorter,
    Endian,
    Attribute(AttributeId),
    Param(ParamId),
    /// The likely answer is taken without asking.
    NotAsked,
    /// The other answer is taken.
    Turned,
    /// A case is treated like all others.
    Case(usize),
    /// An argument of the target with this number is another value of its type.
    Given(usize, usize, Value),
}

/// A change, and its place: the operation; `None`: the block's terminator.
#[derive(Clone, PartialEq, Debug)]
pub struct Fault {
    pub home: Home,
    pub block: usize,
    pub op: Option<usize>,
    pub change: Change,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { home, block, op, change } = self;
        let place = op.map_or("end".to_owned(), |op| format!("operation {op}"));
        write!(f, "{home:?}, block {block}, {place}: {change:?}")
    }
}

impl Change {
    /// The kind of it, for figures.
    pub fn kind(&self) -> &'static str {
        match self {
            Change::Number(_) | Change::Octet(_) | Change::Shorter => "another number",
            Change::Operator(_) | Change::Comparison(_) | Change::Endian => "another operator",
            Change::Operand(..) | Change::Exchanged(..) | Change::Given(..) => "another value",
            Change::Cell(_) | Change::Attribute(_) | Change::Param(_) => "another cell, attribute or parameter",
            Change::NotDone => "not done",
            Change::Twice => "done twice",
            Change::Later => "another order",
            Change::Reason(_) | Change::OtherEnd => "another end of a message",
            Change::NotAsked => "a guard not asked",
            Change::Turned | Change::Case(_) => "a guard turned round",
        }
    }
}

/// The body of a home.
fn body_of(automaton: &Automaton, home: Home) -> &Body {
    match home {
        Home::Path(path) => &automaton.paths[path].body,
        Home::Memo(memo) => &automaton.functions[memo].body,
        Home::Handler(handler) => &automaton.handlers[handler].body,
    }
}

/// All faults of an automaton with paths, in the order of its bodies. The seed chooses the replacing values.
pub fn all(automaton: &Automaton, seed: u64) -> Vec<Fault> {
    let paths = (0..automaton.paths.len()).map(Home::Path);
    let memos = (0..automaton.functions.len()).filter(|memo| automaton.functions[*memo].is_memo()).map(Home::Memo);
    of_homes(automaton, paths.chain(memos), seed)
}

/// All faults of handlers.
pub fn of_handlers(automaton: &Automaton, seed: u64) -> Vec<Fault> {
    of_homes(automaton, (0..automaton.handlers.len()).map(Home::Handler), seed)
}

fn of_homes(automaton: &Automaton, homes: impl Iterator<Item = Home>, seed: u64) -> Vec<Fault> {
    let mut random = Random::new(seed);
    let mut faults = Vec::new();
    for home in homes {
        let body = body_of(automaton, home);
        for (b, block) in body.blocks.iter().enumerate() {
            for (o, op) in block.ops.iter().enumerate() {
                let next = block.ops.get(o + 1).map(|op| &op.kind);
                let mut changes = Vec::new();
                of_operation((automaton, body), &op.kind, next, &mut changes, &mut random);
                faults.extend(changes.into_iter().map(|change| Fault { home, block: b, op: Some(o), change }));
            }
            let mut changes = Vec::new();
            of_end(automaton, body, block, &mut changes, &mut random);
            faults.extend(changes.into_iter().map(|change| Fault { home, block: b, op: None, change }));
        }
    }
    faults
}

/// Another value of the same type; the verifier checks whether it is defined there.
fn other(body: &Body, value: Value, random: &mut Random) -> Option<Value> {
    let ty = body.values[value.index()].ty;
    let same: Vec<usize> =
        (0..body.values.len()).filter(|other| *other != value.index() && body.values[*other].ty == ty).collect();
    // A nearby one, since values that are defined far behind are not known yet.
    let near: Vec<usize> = same.iter().copied().filter(|other| *other < value.index()).collect();
    let list = if near.is_empty() { &same } else { &near };
    random.pick(list).map(|other| Value(*other as u32))
}

fn operands(operation: &impl Operation) -> Vec<Value> {
    let mut all = Vec::new();
    operation.for_each_operand(&mut |value| all.push(value));
    all
}

fn of_operands(
    body: &Body,
    (operands, is_symmetric): (&[Value], bool),
    changes: &mut Vec<Change>,
    random: &mut Random,
) {
    let ty = |value: &Value| body.values[value.index()].ty;
    for (nth, value) in operands.iter().enumerate() {
        changes.extend(other(body, *value, random).map(|other| Change::Operand(nth, other)));
        for (later, with) in operands.iter().enumerate().skip(nth + 1) {
            if !is_symmetric && ty(value) == ty(with) && value != with {
                changes.push(Change::Exchanged(nth, later));
            }
        }
    }
}

/// A cell of the same class with content of the same kind.
fn other_cell(automaton: &Automaton, class: ClassId, cell: CellId) -> Option<CellId> {
    let cells = &automaton.class(class).cells;
    let kind = |cell: &CellKind| match cell {
        CellKind::Scalar { ty, .. } => (0, Some(*ty)),
        CellKind::Array { ty, .. } => (1, Some(*ty)),
        CellKind::Timer => (2, None),
        CellKind::Counter => (3, None),
        CellKind::Quota { .. } => (4, None),
        CellKind::Messages { .. } => (5, None),
        CellKind::Map { .. } => (6, None),
    };
    let own = kind(&cells[cell.index()].kind);
    let same = |place: &usize| *place != cell.index() && kind(&cells[*place].kind) == own && own.0 != 6;
    (0..cells.len()).find(same).map(CellId::from)
}

fn of_operation(
    (automaton, body): (&Automaton, &Body),
    kind: &OpKind,
    next: Option<&OpKind>,
    changes: &mut Vec<Change>,
    random: &mut Random,
) {
    use OpKind as K;
    // If order does not matter, a swap is no fault.
    let is_symmetric = matches!(
        kind,
        K::Compare { op: Compare::Eq | Compare::Ne, .. }
            | K::Binary {
                op: Binary::Add
                    | Binary::AddWrap
                    | Binary::Mul
                    | Binary::MulWrap
                    | Binary::And
                    | Binary::Or
                    | Binary::Xor
                    | Binary::Min
                    | Binary::Max,
                ..
            }
    );
    of_operands(body, (&operands(kind), is_symmetric), changes, random);
    let class_of = |object: &Value| match body.values[object.index()].ty {
        Type::Ref(class) => Some(class),
        _ => None,
    };
    match kind {
        K::Const { ty, value } => {
            let width = ty.width(automaton).max(1);
            let high = 1u64 << (width - 1);
            let numbers = [value ^ 1, value.wrapping_add(1), value.wrapping_sub(1), value ^ high, 0];
            let mask = u64::MAX >> (64 - u32::from(width));
            let mut numbers: Vec<u64> = numbers.iter().map(|number| number & mask).filter(|n| n != value).collect();
            numbers.sort_unstable();
            numbers.dedup();
            changes.extend(numbers.into_iter().map(Change::Number));
        }
        K::Binary { op, .. } => {
            let other = match op {
                Binary::AddWrap => Binary::SubWrap,
                Binary::SubWrap => Binary::AddWrap,
                Binary::Add => Binary::Sub,
                Binary::Sub => Binary::Add,
                Binary::And => Binary::Or,
                Binary::Or => Binary::Xor,
                Binary::Xor => Binary::Or,
                Binary::Shl => Binary::Shr,
                Binary::Shr => Binary::Shl,
                Binary::Min => Binary::Max,
                Binary::Max => Binary::Min,
                Binary::Mul => Binary::MulWrap,
                Binary::MulWrap => Binary::AddWrap,
                Binary::Div => Binary::Rem,
                Binary::Rem => Binary::Div,
                Binary::Within => Binary::Min,
            };
            changes.push(Change::Operator(other));
        }
        K::Compare { op, .. } => {
            let others: &[Compare] = match op {
                Compare::Eq => &[Compare::Ne],
                Compare::Ne => &[Compare::Eq],
                Compare::Lt => &[Compare::Le, Compare::Ge],
                Compare::Le => &[Compare::Lt, Compare::Gt],
                Compare::Gt => &[Compare::Ge, Compare::Le],
                Compare::Ge => &[Compare::Gt, Compare::Lt],
            };
            changes.extend(others.iter().map(|other| Change::Comparison(*other)));
        }
        K::Get { object, cell } => {
            let class = class_of(object);
            changes.extend(class.and_then(|class| other_cell(automaton, class, *cell)).map(Change::Cell));
        }
        K::Set { object, cell, .. }
        | K::SetAt { object, cell, .. }
        | K::Arm { object, cell, .. }
        | K::Disarm { object, cell }
        | K::Count { object, cell, .. }
        | K::Spend { object, cell, .. }
        | K::Give { object, cell, .. } => {
            let class = class_of(object);
            changes.extend(class.and_then(|class| other_cell(automaton, class, *cell)).map(Change::Cell));
            changes.extend([Change::NotDone, Change::Twice]);
        }
        K::ConsumeHeld { .. } => changes.push(Change::NotDone),
        K::Defer { args, .. } if args.iter().all(|arg| body.values[arg.index()].ty != Type::Msg) => {
            changes.extend([Change::NotDone, Change::Twice]);
        }
        K::Drop { reason, .. } | K::Consume { reason, .. } => {
            let reasons = automaton.reasons.len();
            if reasons > 1 {
                changes.push(Change::Reason(ReasonId::from((reason.index() + 1) % reasons)));
            }
            changes.push(Change::OtherEnd);
        }
        K::Front { octets, .. } => {
            changes.extend((0..octets.len()).map(Change::Octet));
            changes.push(Change::Shorter);
        }
        K::Load { field, .. } | K::Store { field, .. } if field.width > 8 => changes.push(Change::Endian),
        K::GetAttribute { attribute, .. } | K::SetAttribute { attribute, .. } => {
            let attributes = &automaton.attributes;
            let ty = attributes[attribute.index()].ty;
            let same = |place: &usize| *place != attribute.index() && attributes[*place].ty == ty;
            changes.extend((0..attributes.len()).find(same).map(|place| Change::Attribute(place.into())));
        }
        K::Param { param } => {
            let params = &automaton.params;
            let same = |place: &usize| *place != param.index() && params[*place].ty == params[param.index()].ty;
            changes.extend((0..params.len()).find(same).map(|place| Change::Param(place.into())));
        }
        _ => {}
    }
    // For operations that change a message, skipping passes the message on.
    if matches!(
        kind,
        K::Front { .. } | K::Store { .. } | K::Trim { .. } | K::Skip { .. } | K::SetAttribute { .. } | K::Meet { .. }
    ) {
        changes.push(Change::NotDone);
    }
    let moves = |kind: &OpKind| !kind.effects().is_empty() && !matches!(kind, K::Binary { .. });
    if next.is_some_and(|next| moves(kind) && moves(next)) {
        changes.push(Change::Later);
    }
}

fn of_end(automaton: &Automaton, body: &Body, block: &Block, changes: &mut Vec<Change>, random: &mut Random) {
    match &block.terminator {
        Terminator::Branch { .. } => {
            changes.extend([Change::NotAsked, Change::Turned]);
        }
        Terminator::Switch { cases, .. } => changes.extend((0..cases.len()).map(Change::Case)),
        Terminator::Try { op, .. } => {
            of_operands(body, (&operands(op), false), changes, random);
            let cell = match op {
                Fallible::TakeOut { object, cell, .. } | Fallible::ShareHeld { object, cell, .. } => {
                    Some((*object, *cell))
                }
                _ => None,
            };
            if let Some((object, cell)) = cell {
                if let Type::Ref(class) = body.values[object.index()].ty {
                    changes.extend(other_cell(automaton, class, cell).map(Change::Cell));
                }
            }
        }
        Terminator::Yield { values } => of_operands(body, (values, false), changes, random),
        Terminator::Return | Terminator::Refuse { .. } | Terminator::Jump { .. } | Terminator::Match { .. } => {}
    }
    for (place, target) in block.terminator.targets().into_iter().enumerate() {
        for (nth, value) in target.args.iter().enumerate() {
            changes.extend(other(body, *value, random).map(|with| Change::Given(place, nth, with)));
        }
    }
}

impl Fault {
    /// The automaton with the fault.
    pub fn planted(&self, automaton: &Automaton) -> Automaton {
        let mut faulty = automaton.clone();
        let body = match self.home {
            Home::Path(path) => &mut faulty.paths[path].body,
            Home::Memo(memo) => &mut faulty.functions[memo].body,
            Home::Handler(handler) => &mut faulty.handlers[handler].body,
        };
        match self.op {
            Some(op) => self.in_operation(body, op),
            None => self.at_end(&mut body.blocks[self.block].terminator),
        }
        faulty
    }

    fn in_operation(&self, body: &mut Body, place: usize) {
        let ops = &mut body.blocks[self.block].ops;
        match &self.change {
            Change::Twice => {
                let again = ops[place].clone();
                return ops.insert(place, again);
            }
            Change::Later => return ops.swap(place, place + 1),
            Change::NotDone => {
                let op = ops.remove(place);
                if let (Some(result), Some(given)) = (op.results.first(), operands(&op.kind).first()) {
                    replace(body, *result, *given);
                }
                return;
            }
            _ => {}
        }
        let kind = &mut ops[place].kind;
        change_operands(&self.change, kind);
        match (&self.change, kind) {
            (Change::Number(number), OpKind::Const { value, .. }) => *value = *number,
            (Change::Operator(other), OpKind::Binary { op, .. }) => *op = *other,
            (Change::Comparison(other), OpKind::Compare { op, .. }) => *op = *other,
            (
                Change::Cell(other),
                OpKind::Get { cell, .. }
                | OpKind::Set { cell, .. }
                | OpKind::SetAt { cell, .. }
                | OpKind::Arm { cell, .. }
                | OpKind::Disarm { cell, .. }
                | OpKind::Count { cell, .. }
                | OpKind::Spend { cell, .. }
                | OpKind::Give { cell, .. },
            ) => *cell = *other,
            (Change::Reason(other), OpKind::Drop { reason, .. } | OpKind::Consume { reason, .. }) => *reason = *other,
            (Change::OtherEnd, kind) => {
                *kind = match kind.clone() {
                    OpKind::Drop { message, reason } => OpKind::Consume { message, reason },
                    OpKind::Consume { message, reason } => OpKind::Drop { message, reason },
                    kind => kind,
                };
            }
            (Change::Octet(at), OpKind::Front { octets, .. }) => octets[*at] ^= 1,
            (Change::Shorter, OpKind::Front { octets, .. }) => drop(octets.pop()),
            (Change::Endian, OpKind::Load { field, .. } | OpKind::Store { field, .. }) => {
                field.endian = if field.endian == Endian::Big { Endian::Little } else { Endian::Big };
            }
            (
                Change::Attribute(other),
                OpKind::GetAttribute { attribute, .. } | OpKind::SetAttribute { attribute, .. },
            ) => *attribute = *other,
            (Change::Param(other), OpKind::Param { param }) => *param = *other,
            _ => {}
        }
    }

    fn at_end(&self, end: &mut Terminator) {
        match (&self.change, &mut *end) {
            (Change::NotAsked, Terminator::Branch { then, otherwise, likely, .. }) => {
                let to = if likely.unwrap_or(1.0) > 0.5 { then.clone() } else { otherwise.clone() };
                *end = Terminator::Jump { to };
            }
            (Change::Turned, Terminator::Branch { then, otherwise, .. }) => std::mem::swap(then, otherwise),
            (Change::Case(nth), Terminator::Switch { cases, .. }) => drop(cases.remove(*nth)),
            (Change::Given(which, nth, with), end) => {
                let mut at = 0;
                end.for_each_target_mut(|target| {
                    if at == *which {
                        target.args[*nth] = *with;
                    }
                    at += 1;
                });
            }
            (change, Terminator::Try { op, .. }) => {
                change_operands(change, op);
                if let (Change::Cell(other), Fallible::TakeOut { cell, .. } | Fallible::ShareHeld { cell, .. }) =
                    (change, op)
                {
                    *cell = *other;
                }
            }
            (Change::Operand(nth, with), Terminator::Yield { values }) => values[*nth] = *with,
            (Change::Exchanged(a, b), Terminator::Yield { values }) => values.swap(*a, *b),
            _ => {}
        }
    }
}

fn change_operands(change: &Change, operation: &mut impl Operation) {
    let mut values = operands(operation);
    match change {
        Change::Operand(nth, with) => values[*nth] = *with,
        Change::Exchanged(a, b) => values.swap(*a, *b),
        _ => return,
    }
    let mut values = values.into_iter();
    operation.for_each_operand_mut(&mut |value| *value = values.next().unwrap_or(*value));
}

/// Replaces a value by another wherever it is used.
fn replace(body: &mut Body, value: Value, with: Value) {
    let mut same = |other: &mut Value| {
        if *other == value {
            *other = with;
        }
    };
    for block in &mut body.blocks {
        block.ops.iter_mut().for_each(|op| op.kind.for_each_operand_mut(&mut same));
        match &mut block.terminator {
            Terminator::Try { op, .. } => op.for_each_operand_mut(&mut same),
            Terminator::Yield { values } | Terminator::Refuse { values } => values.iter_mut().for_each(&mut same),
            Terminator::Branch { condition, .. } => same(condition),
            Terminator::Switch { value, .. } => same(value),
            Terminator::Match { message, .. } => same(message),
            Terminator::Return | Terminator::Jump { .. } => {}
        }
        block.terminator.for_each_target_mut(|target| target.args.iter_mut().for_each(&mut same));
    }
}

/// The paths that a fault affects: its own, or those that recall the memo.
pub fn concerned(automaton: &Automaton, home: Home) -> Vec<usize> {
    let recalls = |body: &Body, memo: FunctionId| {
        let is_it = |block: &Block| matches!(&block.terminator, Terminator::Try { op: Fallible::Recall { memo: other, .. }, .. } if *other == memo);
        body.blocks.iter().any(is_it)
    };
    match home {
        Home::Handler(_) => Vec::new(),
        Home::Path(path) => vec![path],
        Home::Memo(memo) => {
            let memo = FunctionId::from(memo);
            (0..automaton.paths.len()).filter(|path| recalls(&automaton.paths[*path].body, memo)).collect()
        }
    }
}

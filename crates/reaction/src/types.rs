//! Types of the operands and results of operations: one table for the parser, the builder and the verifier.
//!
//! Total: an index that refers to nothing, or an object of a wrong kind, gives `None` and never panics.

use crate::*;

/// What the types of an operation are worked out from.
#[derive(Clone, Copy)]
pub struct Typing<'a> {
    pub automaton: &'a Automaton,
    pub values: &'a [ValueInfo],
    /// Values whose types are not known yet: literals of the text form.
    pub pending: &'a [Value],
}

const U16: Type = Type::U(16);
const U32: Type = Type::U(32);
const U64: Type = Type::U(64);

impl<'a> Typing<'a> {
    pub fn new(automaton: &'a Automaton, values: &'a [ValueInfo]) -> Self {
        Typing { automaton, values, pending: &[] }
    }

    pub fn type_of(&self, value: Value) -> Option<Type> {
        if self.pending.contains(&value) {
            return None;
        }
        self.values.get(value.index()).map(|info| info.ty)
    }

    /// The class that a reference refers to.
    pub fn class_of(&self, object: Value) -> Option<ClassId> {
        match self.type_of(object)? {
            Type::Ref(class) if class.index() < self.automaton.classes.len() => Some(class),
            _ => None,
        }
    }

    /// What a cell of an object holds.
    pub fn kind_of(&self, object: Value, cell: CellId) -> Option<&'a CellKind> {
        let class = self.automaton.classes.get(self.class_of(object)?.index())?;
        class.cells.get(cell.index()).map(|cell| &cell.kind)
    }

    fn variant(&self, header: HeaderId, variant: VariantId) -> Option<&'a Variant> {
        self.automaton.headers.get(header.index())?.variants.get(variant.index())
    }

    fn element(&self, object: Value, cell: CellId) -> Option<Type> {
        match self.kind_of(object, cell)? {
            CellKind::Scalar { ty, .. } | CellKind::Array { ty, .. } => Some(*ty),
            _ => None,
        }
    }

    fn map(&self, object: Value, cell: CellId) -> Option<(&'a [Type], &'a [Type])> {
        match self.kind_of(object, cell)? {
            CellKind::Map { key, value, .. } => Some((key, value)),
            _ => None,
        }
    }

    fn event_params(&self, target: Value, event: &str) -> Option<Vec<Type>> {
        let trigger = Trigger::Event(event.to_owned());
        let handler = self.automaton.handler_of(self.class_of(target)?, &trigger)?;
        Some(types(&self.automaton.handler(handler).params))
    }

    /// The types of an operation's results; `None` if its operands make no sense.
    pub fn results(&self, kind: &OpKind) -> Option<Vec<Type>> {
        let one = |ty: Type| Some(vec![ty]);
        match kind {
            OpKind::Const { ty, .. } | OpKind::Cast { to: ty, .. } => one(*ty),
            OpKind::Draw { ty, .. } | OpKind::Load { ty, .. } => one(*ty),
            OpKind::Null { class } | OpKind::Unique { class } => one(Type::Ref(*class)),
            OpKind::Binary { a, .. } | OpKind::Not { a } => one(self.type_of(*a)?),
            OpKind::Compare { .. } | OpKind::IsArmed { .. } | OpKind::Holds { .. } => one(Type::Bool),
            OpKind::Select { a, .. } => one(self.type_of(*a)?),
            OpKind::Param { param } => one(self.automaton.params.get(param.index())?.ty),
            OpKind::Now => one(U64),
            OpKind::Call { function, .. } => Some(self.automaton.functions.get(function.index())?.results.clone()),
            OpKind::Parent { object } => one(Type::Ref(self.automaton.class(self.class_of(*object)?).parent?)),
            OpKind::Get { object, cell } | OpKind::GetAt { object, cell, .. } => one(self.element(*object, *cell)?),
            OpKind::Left { .. } | OpKind::Size { .. } | OpKind::Sum16 { .. } => one(U32),
            OpKind::Fold16 { .. } => one(U16),
            OpKind::Pop { header, variant, .. } => {
                Some([vec![Type::Msg], types(&self.variant(*header, *variant)?.fields)].concat())
            }
            OpKind::GetAttribute { attribute, .. } => one(self.automaton.attributes.get(attribute.index())?.ty),
            OpKind::Split { .. } => Some(vec![Type::Msg, Type::Msg]),
            OpKind::Native { message, result, .. } => Some(message.iter().map(|_| Type::Msg).chain(*result).collect()),
            OpKind::NewMessage { .. }
            | OpKind::Push { .. }
            | OpKind::Encode { .. }
            | OpKind::Trim { .. }
            | OpKind::Skip { .. }
            | OpKind::Join { .. }
            | OpKind::Share { .. }
            | OpKind::Received { .. }
            | OpKind::Store { .. }
            | OpKind::SetAttribute { .. } => one(Type::Msg),
            OpKind::Set { .. }
            | OpKind::SetAt { .. }
            | OpKind::Arm { .. }
            | OpKind::Disarm { .. }
            | OpKind::Count { .. }
            | OpKind::Give { .. }
            | OpKind::Keep { .. }
            | OpKind::Release { .. }
            | OpKind::Again { .. }
            | OpKind::Emit { .. }
            | OpKind::Out { .. }
            | OpKind::Drop { .. }
            | OpKind::Consume { .. } => Some(Vec::new()),
        }
    }

    /// The types that an operation asks of its operands, in their order; `None` where any of a kind will do.
    pub fn operands(&self, kind: &OpKind) -> Vec<Option<Type>> {
        let message = Some(Type::Msg);
        match kind {
            OpKind::Const { .. }
            | OpKind::Null { .. }
            | OpKind::Param { .. }
            | OpKind::Now
            | OpKind::Unique { .. }
            | OpKind::NewMessage { .. } => Vec::new(),
            OpKind::Binary { a, b, .. } | OpKind::Compare { a, b, .. } => vec![self.type_of(*b), self.type_of(*a)],
            OpKind::Select { a, b, .. } => vec![Some(Type::Bool), self.type_of(*b), self.type_of(*a)],
            OpKind::Fold16 { .. } => vec![Some(U32)],
            OpKind::Call { function, args } => {
                let function = self.automaton.functions.get(function.index());
                exactly(args.len(), function.map(|function| types(&function.params)))
            }
            OpKind::Native { args, message, .. } => {
                args.iter().map(|_| None).chain(message.iter().map(|_| Some(Type::Msg))).collect()
            }
            OpKind::Not { .. }
            | OpKind::Cast { .. }
            | OpKind::Draw { .. }
            | OpKind::Parent { .. }
            | OpKind::Get { .. }
            | OpKind::Disarm { .. }
            | OpKind::IsArmed { .. }
            | OpKind::Left { .. }
            | OpKind::Release { .. }
            | OpKind::Again { .. } => vec![None],
            OpKind::Set { object, cell, .. } => vec![None, self.element(*object, *cell)],
            OpKind::GetAt { .. } => vec![None, None],
            OpKind::SetAt { object, cell, .. } => vec![None, None, self.element(*object, *cell)],
            OpKind::Arm { .. } => vec![None, Some(U64)],
            OpKind::Count { .. } => vec![None, None],
            OpKind::Give { .. } | OpKind::Holds { .. } => vec![None, Some(U32)],
            OpKind::Keep { .. } => vec![None, Some(U32), message],
            OpKind::Push { header, variant, fields, .. } => {
                let variant = self.variant(*header, *variant).map(|variant| types(&variant.fields));
                [vec![message], exactly(fields.len(), variant)].concat()
            }
            OpKind::Pop { .. }
            | OpKind::Encode { .. }
            | OpKind::Size { .. }
            | OpKind::Share { .. }
            | OpKind::Received { .. }
            | OpKind::Sum16 { .. }
            | OpKind::GetAttribute { .. }
            | OpKind::Consume { .. } => vec![message],
            OpKind::Trim { .. } | OpKind::Skip { .. } | OpKind::Split { .. } | OpKind::Load { .. } => {
                vec![message, Some(U32)]
            }
            OpKind::Join { .. } => vec![message, message],
            OpKind::Store { .. } => vec![message, Some(U32), None],
            OpKind::SetAttribute { attribute, .. } => {
                vec![message, self.automaton.attributes.get(attribute.index()).map(|attribute| attribute.ty)]
            }
            OpKind::Emit { target, event, args } => {
                [vec![None], exactly(args.len(), self.event_params(*target, event))].concat()
            }
            OpKind::Out { port, event, args } => {
                let port = self.automaton.ports.get(port.index());
                let event = port.and_then(|port| port.outputs.get(*event as usize));
                exactly(args.len(), event.map(|event| types(&event.params)))
            }
            OpKind::Drop { reason: DropReason::Known(_), .. } => vec![message],
            OpKind::Drop { reason: DropReason::Value(_), .. } => vec![message, Some(Type::Reason)],
        }
    }

    /// The types of literals among the operands: [`Self::operands`], and u32 for amounts and indices.
    pub fn literals(&self, kind: &OpKind) -> Vec<Option<Type>> {
        let mut types = self.operands(kind);
        let of_any_width = matches!(kind, OpKind::Count { .. } | OpKind::GetAt { .. } | OpKind::SetAt { .. });
        if let (true, Some(second)) = (of_any_width, types.get_mut(1)) {
            *second = Some(U32);
        }
        types
    }

    /// The types that a terminator asks of its own operands (not of its targets' arguments).
    pub fn end_operands(&self, end: &Terminator, results: &[Type]) -> Vec<Option<Type>> {
        match end {
            Terminator::Return | Terminator::Jump { .. } => Vec::new(),
            Terminator::Yield { values } => exactly(values.len(), Some(results.to_vec())),
            Terminator::Branch { .. } => vec![Some(Type::Bool)],
            Terminator::Switch { .. } | Terminator::Next { .. } => vec![None],
            Terminator::PopSwitch { .. } | Terminator::Decode { .. } | Terminator::Vet { .. } => vec![Some(Type::Msg)],
            Terminator::Find { object, cell, key, .. } | Terminator::Remove { object, cell, key, .. } => {
                let types = self.map(*object, *cell).map(|(key, _)| key.to_vec());
                [vec![None], exactly(key.len(), types)].concat()
            }
            Terminator::Insert { object, cell, key, values, .. } => {
                let types = self.map(*object, *cell);
                let keys = exactly(key.len(), types.map(|(key, _)| key.to_vec()));
                [vec![None], keys, exactly(values.len(), types.map(|(_, value)| value.to_vec()))].concat()
            }
            Terminator::New { class, parent, .. } | Terminator::First { class, parent, .. } => {
                let wanted = self.automaton.classes.get(class.index()).and_then(|class| class.parent);
                parent.map_or(Vec::new(), |_| vec![wanted.map(Type::Ref)])
            }
            Terminator::Take { .. } | Terminator::TakeOut { .. } | Terminator::ShareHeld { .. } => {
                vec![None, Some(U32)]
            }
            Terminator::Later { target, event, args, .. } => {
                [vec![None], exactly(args.len(), self.event_params(*target, event))].concat()
            }
        }
    }

    /// For each target, in order, the types of the results that come before its own arguments; `None` as in [`Self::results`].
    pub fn target_results(&self, end: &Terminator) -> Vec<Option<Vec<Type>>> {
        let branch = |then: Option<Vec<Type>>| vec![then, Some(Vec::new())];
        match end {
            Terminator::Return | Terminator::Yield { .. } => Vec::new(),
            Terminator::Jump { .. } => vec![Some(Vec::new())],
            Terminator::Switch { cases, .. } => vec![Some(Vec::new()); cases.len() + 1],
            Terminator::PopSwitch { header, cases, .. } => cases
                .iter()
                .map(|(variant, _)| Some([vec![Type::Msg], types(&self.variant(*header, *variant)?.fields)].concat()))
                .collect(),
            Terminator::Decode { .. } | Terminator::Vet { .. } => {
                vec![Some(vec![Type::Msg]), Some(vec![Type::Msg, Type::Reason])]
            }
            Terminator::Branch { .. } | Terminator::Insert { .. } => branch(Some(Vec::new())),
            Terminator::Take { .. } | Terminator::Later { .. } => branch(Some(Vec::new())),
            Terminator::Find { object, cell, .. } | Terminator::Remove { object, cell, .. } => {
                branch(self.map(*object, *cell).map(|(_, value)| value.to_vec()))
            }
            Terminator::New { class, .. } | Terminator::First { class, .. } => branch(Some(vec![Type::Ref(*class)])),
            Terminator::Next { object, .. } => branch(self.class_of(*object).map(|class| vec![Type::Ref(class)])),
            Terminator::TakeOut { .. } | Terminator::ShareHeld { .. } => branch(Some(vec![Type::Msg])),
        }
    }
}

/// The types of named, typed things.
pub fn types(named: &[(String, Type)]) -> Vec<Type> {
    named.iter().map(|(_, ty)| *ty).collect()
}

/// `count` expectations: what is known, and `None` beyond it.
fn exactly(count: usize, types: Option<Vec<Type>>) -> Vec<Option<Type>> {
    let types = types.unwrap_or_default();
    (0..count).map(|index| types.get(index).copied()).collect()
}

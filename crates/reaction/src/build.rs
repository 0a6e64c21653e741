//! A builder of bodies, and find-or-add for the tables that grow while bodies are built.
//!
//! The text parser and the lowering share it. [`Typing`] gives every result its type, never the caller.

use crate::*;

/// A body under construction: operations go to the end of the current block.
#[derive(Debug, Default)]
pub struct BodyBuilder {
    body: Body,
    current: Option<BlockId>,
    ended: Vec<bool>,
    source: Option<SourceId>,
    /// How many terminators with several targets were built since the source was set.
    marked: u32,
}

impl BodyBuilder {
    /// A body with its entry block, which becomes current. The parameters are those of the entry block.
    pub fn new(params: &[(String, Type)]) -> Self {
        let mut builder = BodyBuilder::default();
        let entry = builder.block("entry", params);
        builder.select(entry);
        builder
    }

    /// A new block with typed parameters. The current block stays current.
    pub fn block(&mut self, label: impl Into<String>, params: &[(String, Type)]) -> BlockId {
        let params = params.iter().map(|(name, ty)| self.new_value(*ty, name.clone())).collect();
        let label = label.into();
        let block = Block { label, params, ops: Vec::new(), terminator: Terminator::Return, mark: None, bound: None };
        self.body.blocks.push(block);
        self.ended.push(false);
        BlockId(self.body.blocks.len() as u32 - 1)
    }

    /// Adds a parameter to a block, after the others; its predecessors must pass it.
    pub fn add_param(&mut self, block: BlockId, name: impl Into<String>, ty: Type) -> Value {
        let value = self.new_value(ty, name.into());
        self.body.blocks[block.index()].params.push(value);
        value
    }

    /// The block's parameters, in order. Panics at a block of another body.
    pub fn params(&self, block: BlockId) -> &[Value] {
        &self.body.blocks[block.index()].params
    }

    /// Makes the block a loop head, entered at most `bound` times before it is left.
    pub fn set_bound(&mut self, block: BlockId, bound: u32) {
        self.body.blocks[block.index()].bound = Some(bound);
    }

    /// Labels the current block, for people.
    pub fn set_label(&mut self, label: &str) {
        if let Some(block) = self.current {
            self.body.blocks[block.index()].label = label.to_owned();
        }
    }

    /// Makes this block the current one, to which operations go.
    pub fn select(&mut self, block: BlockId) {
        self.current = Some(block);
    }

    /// The current block; `None` after a terminator.
    pub fn current(&self) -> Option<BlockId> {
        self.current
    }

    /// Sets the source of the operations and terminators that follow; terminators are numbered from 0.
    pub fn set_source(&mut self, source: Option<SourceId>) {
        self.resume((source, 0));
    }

    /// The current source and its count of terminators, for [`Self::resume`].
    pub fn pause(&self) -> (Option<SourceId>, u32) {
        (self.source, self.marked)
    }

    /// Returns to a source that was paused.
    pub fn resume(&mut self, paused: (Option<SourceId>, u32)) {
        (self.source, self.marked) = paused;
    }

    /// The source of the next operation.
    pub fn source(&self) -> Option<SourceId> {
        self.source
    }

    /// A value without a definition; for callers that place the definition themselves.
    pub fn new_value(&mut self, ty: Type, name: impl Into<String>) -> Value {
        self.body.values.push(ValueInfo { ty, name: name.into() });
        Value(self.body.values.len() as u32 - 1)
    }

    /// Names a value, for people. Names need not be unique: printing makes them so.
    pub fn set_name(&mut self, value: Value, name: impl Into<String>) {
        self.body.values[value.index()].name = name.into();
    }

    /// Changes the type of a value. Operations that were added before are not checked again.
    pub fn set_type(&mut self, value: Value, ty: Type) {
        self.body.values[value.index()].ty = ty;
    }

    /// The operation that defines a value in the body so far; `None` for parameters.
    pub fn defined_by(&self, value: Value) -> Option<&OpKind> {
        let mut ops = self.body.blocks.iter().flat_map(|block| &block.ops);
        ops.find(|op| op.results.contains(&value)).map(|op| &op.kind)
    }

    /// The type of a value. Panics at a value of another body.
    pub fn type_of(&self, value: Value) -> Type {
        self.body.values[value.index()].ty
    }

    /// The types of operations in the body so far.
    pub fn typing<'a>(&'a self, automaton: &'a Automaton) -> Typing<'a> {
        Typing::new(automaton, &self.body.values)
    }

    /// Appends an operation and returns its results. `None`, and nothing is appended, if its operands make no sense or
    /// no block is current.
    pub fn try_op(&mut self, automaton: &Automaton, kind: OpKind) -> Option<Vec<Value>> {
        self.current?;
        let types = self.typing(automaton).results(&kind)?;
        let results: Vec<Value> = types.into_iter().map(|ty| self.new_value(ty, "")).collect();
        self.push(Op { kind, results: results.clone(), source: self.source });
        Some(results)
    }

    /// Appends an operation and returns its results. Panics if its operands make no sense or no block is current.
    pub fn op(&mut self, automaton: &Automaton, kind: OpKind) -> Vec<Value> {
        let shown = format!("{kind:?}");
        self.try_op(automaton, kind).unwrap_or_else(|| panic!("an operation that makes no sense: {shown}"))
    }

    /// Appends an operation that has one result.
    pub fn value(&mut self, automaton: &Automaton, kind: OpKind) -> Value {
        self.op(automaton, kind)[0]
    }

    /// [`Self::value`], with a name for people.
    pub fn named(&mut self, automaton: &Automaton, name: &str, kind: OpKind) -> Value {
        let value = self.value(automaton, kind);
        self.set_name(value, name);
        value
    }

    /// A constant. A constant without a name is printed where it is used.
    pub fn constant(&mut self, automaton: &Automaton, ty: Type, value: u64) -> Value {
        self.value(automaton, OpKind::Const { ty, value })
    }

    /// Appends an operation whose result values exist already.
    pub fn push(&mut self, op: Op) {
        if let Some(block) = self.current {
            self.body.blocks[block.index()].ops.push(op);
        }
    }

    /// Ends the current block; no block is current afterwards.
    pub fn end(&mut self, terminator: Terminator) {
        let source = self.source.filter(|_| self.current.is_some() && terminator.targets().len() > 1);
        let mark = source.map(|source| Mark { source, nth: self.marked });
        self.marked += u32::from(mark.is_some());
        self.end_at(terminator, mark);
    }

    /// [`Self::end`] with a mark that the caller gives.
    pub fn end_at(&mut self, terminator: Terminator, mark: Option<Mark>) {
        if let Some(block) = self.current.take() {
            self.body.blocks[block.index()].terminator = terminator;
            self.body.blocks[block.index()].mark = mark;
            self.ended[block.index()] = true;
        }
    }

    /// Leaves the current block without ending it; no block is current. The caller ends it later.
    pub fn unselect(&mut self) {
        self.current = None;
    }

    /// Ends the current block, if there is one, with an operation that may refuse. Returns the blocks of success and of
    /// refusal, whose parameters are the operation's results; `labels` name them.
    pub fn attempt(&mut self, automaton: &Automaton, op: Fallible, labels: [&str; 2]) -> [BlockId; 2] {
        let typing = self.typing(automaton);
        let types = typing.results(&op).zip(typing.refusal(&op));
        let Some((results, refusal)) = types else { panic!("an operation that makes no sense: {op:?}") };
        let named = |label: &str, types: Vec<Type>| -> Vec<(String, Type)> {
            let name = |ty: &Type| match ty {
                Type::Msg => "msg",
                Type::Reason => "why",
                Type::Ref(_) => label,
                _ => "",
            };
            types.into_iter().map(|ty| (name(&ty).to_owned(), ty)).collect()
        };
        let then = self.block(labels[0], &named(labels[0], results));
        let otherwise = self.block(labels[1], &named(labels[1], refusal));
        self.end(Terminator::Try { op, then: to(then, []), otherwise: to(otherwise, []) });
        [then, otherwise]
    }

    /// Whether the block has a terminator.
    pub fn is_ended(&self, block: BlockId) -> bool {
        self.ended[block.index()]
    }

    /// The finished body; blocks without a terminator return.
    pub fn finish(self) -> Body {
        self.body
    }

    /// The body so far; blocks may still lack terminators.
    pub fn body(&self) -> &Body {
        &self.body
    }
}

/// A target: a block and its arguments.
pub fn to(block: BlockId, args: impl Into<Vec<Value>>) -> Target {
    Target { block, args: args.into() }
}

/// The types of an operation's results, as [`Typing::results`].
pub fn result_types(automaton: &Automaton, body: &Body, kind: &OpKind) -> Option<Vec<Type>> {
    Typing::new(automaton, &body.values).results(kind)
}

impl Automaton {
    /// The reason with this name, added if it is new.
    pub fn reason(&mut self, name: &str) -> ReasonId {
        let found = self.reasons.iter().position(|reason| reason.name == name);
        let index = found.unwrap_or_else(|| {
            self.reasons.push(Reason { name: name.to_owned() });
            self.reasons.len() - 1
        });
        ReasonId::from(index)
    }

    /// The source at this place, added if it is new.
    pub fn source(&mut self, file: &str, line: u32, column: u32) -> SourceId {
        let wanted = |source: &Source| source.line == line && source.column == column && source.file == file;
        // Neighbouring operations share places, so the search starts with the newest.
        let index = self.sources.iter().rposition(wanted).unwrap_or_else(|| {
            self.sources.push(Source { file: file.to_owned(), line, column });
            self.sources.len() - 1
        });
        SourceId::from(index)
    }

    /// The layer instance with this name.
    pub fn layer_named(&self, name: &str) -> Option<LayerId> {
        self.layers.iter().position(|layer| layer.name == name).map(LayerId::from)
    }

    /// The class with this name, such as `tcp.Session`.
    pub fn class_named(&self, name: &str) -> Option<ClassId> {
        self.classes.iter().position(|class| class.name == name).map(ClassId::from)
    }

    /// The cell with this name in the class.
    pub fn cell_named(&self, class: ClassId, name: &str) -> Option<CellId> {
        self.class(class).cells.iter().position(|cell| cell.name == name).map(CellId::from)
    }

    /// The header with this name, such as `tcp.Segment`.
    pub fn header_named(&self, name: &str) -> Option<HeaderId> {
        self.headers.iter().position(|header| header.name == name).map(HeaderId::from)
    }

    /// The wire with this name.
    pub fn wire_named(&self, name: &str) -> Option<WireId> {
        self.wires.iter().position(|wire| wire.name == name).map(WireId::from)
    }

    /// The applications' inputs, by port and number, that drop messages beyond their credit, each with the reason of
    /// the drop.
    pub fn within_credit(&self) -> Vec<(PortId, u32, ReasonId)> {
        self.turned_down("no_credit")
    }

    /// The applications' inputs, by port and number, that drop messages that are too long for any packet, each with the
    /// reason of the drop.
    pub fn within_length(&self) -> Vec<(PortId, u32, ReasonId)> {
        self.turned_down("too_big")
    }

    fn turned_down(&self, why: &str) -> Vec<(PortId, u32, ReasonId)> {
        let mut found = Vec::new();
        for (number, port) in self.ports.iter().enumerate().filter(|(_, port)| port.kind == PortKind::Application) {
            let name = format!("{}.application.{why}", port.name);
            let Some(reason) = self.reasons.iter().position(|reason| reason.name == name) else { continue };
            let sends = |(_, input): &(usize, &PortInput)| matches!(input.event.as_str(), "send" | "send_to");
            let inputs = port.inputs.iter().enumerate().filter(sends);
            found.extend(inputs.map(|(event, _)| (PortId::from(number), event as u32, ReasonId::from(reason))));
        }
        found
    }

    /// The port with this name.
    pub fn port_named(&self, name: &str) -> Option<PortId> {
        self.ports.iter().position(|port| port.name == name).map(PortId::from)
    }

    /// The function with this name; for a published value, its class comes first.
    pub fn function_named(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().position(|function| function.name == name).map(FunctionId::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_cell() -> Automaton {
        let cell = Cell {
            name: "next".into(),
            kind: CellKind::Scalar { ty: Type::Seq(32), init: 1 },
            fixed: false,
            source: None,
        };
        let class = Class {
            name: "seq.E".into(),
            layer: LayerId(0),
            capacity: 1,
            parent: None,
            cells: vec![cell],
            settle_limit: None,
            source: None,
        };
        Automaton { classes: vec![class], ..Automaton::default() }
    }

    #[test]
    fn results_are_typed_by_their_operation() {
        let automaton = one_cell();
        let mut builder = BodyBuilder::new(&[("e".into(), Type::Ref(ClassId(0)))]);
        let e = builder.params(BlockId(0))[0];
        let next = builder.named(&automaton, "next", OpKind::Get { object: e, cell: CellId(0) });
        let one = builder.constant(&automaton, Type::Seq(32), 1);
        let sum = builder.value(&automaton, OpKind::Binary { op: Binary::AddWrap, a: next, b: one });
        builder.op(&automaton, OpKind::Set { object: e, cell: CellId(0), value: sum });
        builder.end(Terminator::Return);
        assert_eq!(builder.type_of(sum), Type::Seq(32));
        assert_eq!(builder.finish().blocks[0].ops.len(), 4);
    }

    #[test]
    fn an_operation_without_sense_is_refused() {
        let automaton = one_cell();
        let mut builder = BodyBuilder::new(&[("n".into(), Type::U(8))]);
        let n = builder.params(BlockId(0))[0];
        assert_eq!(builder.try_op(&automaton, OpKind::Get { object: n, cell: CellId(0) }), None);
        assert_eq!(builder.try_op(&automaton, OpKind::Parent { object: n }), None);
        assert_eq!(builder.try_op(&automaton, OpKind::Not { a: Value(99) }), None);
        assert!(builder.finish().blocks[0].ops.is_empty());
    }

    #[test]
    fn tables_grow_only_by_what_is_new() {
        let mut automaton = Automaton::default();
        assert_eq!(automaton.reason("seq.stale"), automaton.reason("seq.stale"));
        assert_ne!(automaton.source("a.mok", 1, 2), automaton.source("a.mok", 1, 3));
        assert_eq!(automaton.source("a.mok", 1, 2), SourceId(0));
    }
}

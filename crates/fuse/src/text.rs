//! Writes a path's values as operations of a body: each where it is first needed.

use rustc_hash::FxHashMap as HashMap;

use mokume_reaction::{Automaton, BlockId, Body, BodyBuilder, OpKind, Terminator, Type, Value};

use crate::graph::{Graph, Kind, Node};

/// A body under construction, at a place.
pub struct Text<'r> {
    pub automaton: &'r Automaton,
    pub builder: &'r mut BodyBuilder,
    /// The body's parameters.
    pub params: &'r [Value],
    /// What is known at this place.
    pub values: HashMap<Node, Value>,
    /// Whether a value was needed that no look-up has given.
    pub is_lost: bool,
}

impl Text<'_> {
    /// Adds an operation with one result.
    pub fn op(&mut self, kind: OpKind) -> Value {
        self.builder.value(self.automaton, kind)
    }

    /// A message among the parameters.
    pub fn message(&self, param: u32) -> Value {
        self.params[param as usize]
    }

    /// The value of a node here; it is computed where it is first needed.
    pub fn value(&mut self, graph: &Graph, node: Node) -> Value {
        if let Some(value) = self.values.get(&node) {
            return *value;
        }
        let ty = graph.ty(node);
        let value = match graph.kind(node).clone() {
            Kind::Constant(value) => self.op(OpKind::Const { ty, value }),
            Kind::Null => match ty {
                Type::Ref(class) => self.op(OpKind::Null { class }),
                _ => self.op(OpKind::Const { ty, value: 0 }),
            },
            Kind::Entry(param) => self.params[param as usize],
            // Written with its look-up, which comes first.
            Kind::Found(..) | Kind::Header(..) => {
                self.is_lost = true;
                self.op(OpKind::Const { ty, value: 0 })
            }
            Kind::Attribute(param, attribute) => {
                self.op(OpKind::GetAttribute { message: self.message(param), attribute })
            }
            Kind::Param(param) => self.op(OpKind::Param { param }),
            Kind::Now => self.op(OpKind::Now {}),
            Kind::Unique(class) => match self.builder.type_of(self.params[0]) == Type::Ref(class) {
                true => self.params[0],
                false => self.op(OpKind::Unique { class }),
            },
            Kind::Parent(object) => {
                let object = self.value(graph, object);
                self.op(OpKind::Parent { object })
            }
            Kind::Lives(object) => {
                let object = self.value(graph, object);
                self.op(OpKind::Lives { object })
            }
            Kind::Get(object, cell) => {
                let object = self.value(graph, object);
                self.op(OpKind::Get { object, cell })
            }
            Kind::GetAt(object, cell, index) => {
                let (object, index) = (self.value(graph, object), self.value(graph, index));
                self.op(OpKind::GetAt { object, cell, index })
            }
            Kind::Armed(object, cell) => {
                let object = self.value(graph, object);
                self.op(OpKind::IsArmed { object, cell })
            }
            Kind::Waiting(target, handler) => {
                let target = self.value(graph, target);
                self.op(OpKind::Waiting { target, event: self.automaton.event_of(handler).to_owned() })
            }
            Kind::Left(object, cell) => {
                let object = self.value(graph, object);
                self.op(OpKind::Left { object, cell })
            }
            Kind::Holds(object, cell, index) => {
                let (object, index) = (self.value(graph, object), self.value(graph, index));
                self.op(OpKind::Holds { object, cell, index })
            }
            Kind::Binary(op, a, b) => {
                let (a, b) = (self.value(graph, a), self.value(graph, b));
                self.op(OpKind::Binary { op, a, b })
            }
            Kind::Compare(op, a, b) => {
                let (a, b) = (self.value(graph, a), self.value(graph, b));
                self.op(OpKind::Compare { op, a, b })
            }
            Kind::Not(a) => {
                let a = self.value(graph, a);
                self.op(OpKind::Not { a })
            }
            Kind::Select(c, a, b) => {
                let (c, a, b) = (self.value(graph, c), self.value(graph, a), self.value(graph, b));
                self.op(OpKind::Select { c, a, b })
            }
            Kind::Cast(a) => {
                let a = self.value(graph, a);
                self.op(OpKind::Cast { a, to: ty })
            }
            Kind::Size(param) => self.op(OpKind::Size { message: self.message(param) }),
            Kind::Load(param, field, at) => {
                let at = self.value(graph, at);
                self.op(OpKind::Load { field, message: self.message(param), at })
            }
            Kind::Sum(param, at, size) => {
                let (at, size) = (self.value(graph, at), self.value(graph, size));
                self.op(OpKind::SumPart { message: self.message(param), at, size })
            }
            Kind::Fold(a) => {
                let a = self.value(graph, a);
                self.op(OpKind::Fold16 { a })
            }
        };
        self.values.insert(node, value);
        value
    }
}

/// Ends the block where a path refuses: it gives back the messages among its parameters.
pub fn refuse(builder: &mut BodyBuilder, exit: BlockId, params: &[Value]) {
    builder.select(exit);
    builder.set_source(None);
    let messages = params.iter().copied().filter(|param| builder.type_of(*param) == Type::Msg).collect();
    builder.end(Terminator::Refuse { values: messages });
}

/// The finished body.
pub fn finished(builder: BodyBuilder) -> Body {
    let mut body = builder.finish();
    mokume_analyse::straighten(&mut body);
    body
}

//! A body as steps that can be followed without the layers' state: what an operation computes from a packet, and for
//! everything else only which messages it uses.

use mokume_reaction::{
    Addressee, AttributeId, Automaton, Binary, Body, CellId, ClassId, Compare, Effects, Endian, Fallible, HeaderId, Op,
    OpKind, Operation, ReasonId, SourceId, Terminator, Type, Value, VariantId, WireId,
};

use crate::reasons::origins;

/// A body, block by block.
#[derive(Clone, Debug)]
pub struct Routine {
    /// The blocks; the parameters of the first are the handler's, the object first.
    pub blocks: Vec<Block>,
    /// The number of values.
    pub values: usize,
}

/// Steps in order, and the successors.
#[derive(Clone, Debug)]
pub struct Block {
    pub params: Vec<Value>,
    pub steps: Vec<Step>,
    pub end: End,
}

/// A block, and the arguments after the results of the terminator.
#[derive(Clone, Debug)]
pub struct Target {
    pub block: usize,
    pub args: Vec<Value>,
}

/// A type for arithmetic: a boolean has one bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    pub width: u8,
    /// Whether it is compared circularly.
    pub circular: bool,
}

/// A step. A value that no step defines is unknown.
#[derive(Clone, Debug)]
pub enum Step {
    Constant {
        to: Value,
        value: u64,
        width: u8,
    },
    Binary {
        to: Value,
        op: Binary,
        of: Number,
        a: Value,
        b: Value,
    },
    Compare {
        to: Value,
        op: Compare,
        of: Number,
        a: Value,
        b: Value,
    },
    Not {
        to: Value,
        of: Number,
        a: Value,
    },
    Select {
        to: Value,
        c: Value,
        a: Value,
        b: Value,
    },
    Cast {
        to: Value,
        width: u8,
        a: Value,
    },
    Fold {
        to: Value,
        a: Value,
    },

    /// Takes a header off, and gives its fields.
    Pop {
        to: Value,
        message: Value,
        header: HeaderId,
        variant: VariantId,
        fields: Vec<Value>,
    },
    Size {
        to: Value,
        message: Value,
    },
    /// The sum of octets from a position on, or of all.
    Sum {
        to: Value,
        message: Value,
        part: Option<(Value, Value)>,
    },
    Load {
        to: Value,
        message: Value,
        at: Value,
        octets: u8,
        endian: Endian,
    },
    Trim {
        to: Value,
        message: Value,
        size: Value,
    },
    Skip {
        to: Value,
        message: Value,
        size: Value,
    },
    Split {
        first: Value,
        rest: Value,
        message: Value,
        at: Value,
    },
    GetAttribute {
        to: Value,
        message: Value,
        attribute: AttributeId,
    },
    SetAttribute {
        to: Value,
        message: Value,
        attribute: AttributeId,
        value: Value,
    },
    /// The same message under another name.
    Same {
        to: Value,
        message: Value,
    },
    /// A copy of the message.
    Share {
        to: Value,
        message: Value,
    },
    /// The packet as its wire met it, as a message of its own.
    Quote {
        to: Value,
        message: Value,
        wire: WireId,
    },
    /// The message continues with other octets.
    Changed {
        to: Value,
        message: Value,
    },

    /// An event for an object of another layer.
    Emit {
        class: ClassId,
        event: String,
        args: Vec<Value>,
    },
    /// The message is dropped.
    Drop {
        message: Value,
        reason: Cause,
        source: Option<SourceId>,
    },
    /// The message waits for a session that it begins, and then continues upwards.
    Held {
        message: Value,
    },
    /// The message is kept, sent, consumed or given away: it has not been rejected. `kept`: its fate is decided later.
    Used {
        message: Value,
        kept: bool,
    },
}

/// How a block ends. A target's parameters beyond its arguments are given by the terminator.
#[derive(Clone, Debug)]
pub enum End {
    /// The end of the handler.
    Return,
    Jump(Target),
    Branch {
        condition: Value,
        then: Target,
        otherwise: Target,
    },
    Switch {
        value: Value,
        width: u8,
        cases: Vec<(u64, Target)>,
        default: Target,
    },
    Match {
        message: Value,
        header: HeaderId,
        cases: Vec<(VariantId, Target)>,
    },
    /// Gives the message, or on rejection, the message and the reason.
    Decode {
        message: Value,
        wire: WireId,
        then: Target,
        otherwise: Target,
    },
    /// The same, but the message stays octets.
    Validate {
        message: Value,
        wire: WireId,
        then: Target,
        otherwise: Target,
    },
    /// Gives the fields of the top header.
    Peek {
        message: Value,
        header: HeaderId,
        variant: VariantId,
        then: Target,
        otherwise: Target,
    },
    /// The state decides; the messages among the operands are used.
    Either {
        used: Vec<Value>,
        then: Target,
        otherwise: Target,
    },
}

/// Why a message is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    Named(ReasonId),
    /// A wire gives the reason, which is read within the message.
    Wire,
    /// The reason is a value of the handler's.
    Decided,
}

impl Cause {
    /// The reason's name, or in words where it comes from.
    pub fn text(self, automaton: &Automaton) -> &str {
        match self {
            Cause::Named(reason) => &automaton.reasons[reason.index()].name,
            Cause::Wire => "a wire within",
            Cause::Decided => "a reason that is decided there",
        }
    }
}

impl Routine {
    /// The steps of a body.
    pub fn of(automaton: &Automaton, body: &Body) -> Routine {
        let reader = Reader { automaton, body };
        let block = |block: &mokume_reaction::Block| Block {
            params: block.params.clone(),
            steps: block.ops.iter().flat_map(|op| reader.step(op)).collect(),
            end: reader.end(&block.terminator),
        };
        Routine { blocks: body.blocks.iter().map(block).collect(), values: body.values.len() }
    }
}

struct Reader<'a> {
    automaton: &'a Automaton,
    body: &'a Body,
}

impl Reader<'_> {
    fn ty(&self, value: Value) -> Option<Type> {
        self.body.values.get(value.index()).map(|info| info.ty)
    }

    fn is_message(&self, value: Value) -> bool {
        self.ty(value) == Some(Type::Msg)
    }

    /// `None` for types without a width: references, reasons, arrays.
    fn number(&self, value: Value) -> Option<Number> {
        let ty = self.ty(value)?;
        let width = ty.width(self.automaton);
        (width > 0).then_some(Number { width, circular: matches!(ty, Type::Seq(_)) })
    }

    /// A table: an arm for each operation of which something is known; the others only use up their messages.
    fn step(&self, op: &Op) -> Vec<Step> {
        let result = op.results.first().copied();
        let known = match (&op.kind, result) {
            (OpKind::Const { ty, value }, Some(to)) => {
                let width = ty.width(self.automaton);
                (width > 0).then(|| Step::Constant { to, value: value & mokume_interpret::mask(width), width })
            }
            (OpKind::Binary { op, a, b }, Some(to)) => {
                self.number(*a).map(|of| Step::Binary { to, op: *op, of, a: *a, b: *b })
            }
            (OpKind::Compare { op, a, b }, Some(to)) => {
                self.number(*a).map(|of| Step::Compare { to, op: *op, of, a: *a, b: *b })
            }
            (OpKind::Not { a }, Some(to)) => self.number(*a).map(|of| Step::Not { to, of, a: *a }),
            (OpKind::Select { c, a, b }, Some(to)) => self.number(*a).map(|_| Step::Select { to, c: *c, a: *a, b: *b }),
            (OpKind::Cast { a, to: ty }, Some(to)) => {
                self.number(*a).map(|_| Step::Cast { to, width: ty.width(self.automaton), a: *a })
            }
            (OpKind::Fold16 { a }, Some(to)) => Some(Step::Fold { to, a: *a }),
            (OpKind::Pop { message, header, variant }, Some(to)) => {
                let fields = op.results[1..].to_vec();
                Some(Step::Pop { to, message: *message, header: *header, variant: *variant, fields })
            }
            (OpKind::Size { message }, Some(to)) => Some(Step::Size { to, message: *message }),
            (OpKind::Sum16 { message }, Some(to)) => Some(Step::Sum { to, message: *message, part: None }),
            (OpKind::SumPart { message, at, size }, Some(to)) => {
                Some(Step::Sum { to, message: *message, part: Some((*at, *size)) })
            }
            (OpKind::Load { field, message, at }, Some(to)) => {
                let (octets, endian) = (field.width / 8, field.endian);
                Some(Step::Load { to, message: *message, at: *at, octets, endian })
            }
            (OpKind::Trim { message, size }, Some(to)) => Some(Step::Trim { to, message: *message, size: *size }),
            (OpKind::Skip { message, size }, Some(to)) => Some(Step::Skip { to, message: *message, size: *size }),
            (OpKind::Split { message, at }, Some(first)) => {
                let rest = op.results.get(1).copied();
                rest.map(|rest| Step::Split { first, rest, message: *message, at: *at })
            }
            (OpKind::GetAttribute { message, attribute }, Some(to)) => {
                Some(Step::GetAttribute { to, message: *message, attribute: *attribute })
            }
            (OpKind::SetAttribute { message, attribute, value }, Some(to)) => {
                Some(Step::SetAttribute { to, message: *message, attribute: *attribute, value: *value })
            }
            (OpKind::Meet { message, wire: _ }, Some(to)) => Some(Step::Same { to, message: *message }),
            (OpKind::Share { message }, Some(to)) => Some(Step::Share { to, message: *message }),
            (OpKind::Received { message, wire }, Some(to)) => Some(Step::Quote { to, message: *message, wire: *wire }),
            (
                OpKind::Store { message, .. }
                | OpKind::Front { message, .. }
                | OpKind::Push { message, .. }
                | OpKind::Encode { message, .. }
                | OpKind::Native { message: Some(message), .. },
                Some(to),
            ) if self.is_message(to) => Some(Step::Changed { to, message: *message }),
            (OpKind::Join { first, second }, Some(to)) => {
                return vec![Step::Used { message: *second, kept: true }, Step::Changed { to, message: *first }];
            }
            (OpKind::Emit { target, event, args }, _) => self.emit(Addressee::Object(*target), event, args),
            (OpKind::EmitBy { object, cell, event, args }, _) => {
                self.emit(Addressee::Linked { object: *object, cell: *cell }, event, args)
            }
            (OpKind::Drop { message, reason }, _) => {
                Some(Step::Drop { message: *message, reason: Cause::Named(*reason), source: op.source })
            }
            (OpKind::DropFor { message, reason }, _) => {
                let found = origins(self.body, *reason);
                let mut named = found.named.iter();
                let reason = match (found.wire, named.next(), named.next()) {
                    (true, ..) => Cause::Wire,
                    (false, Some(only), None) if !found.other => Cause::Named(*only),
                    (false, ..) => Cause::Decided,
                };
                Some(Step::Drop { message: *message, reason, source: op.source })
            }
            (OpKind::Keep { object, cell, message, .. }, _) if self.is_nobodys(*object, *cell) => {
                Some(Step::Held { message: *message })
            }
            _ => None,
        };
        match known {
            Some(step) => vec![step],
            None => {
                let kept = op.kind.effects().contains(Effects::WRITES) && !op.kind.effects().contains(Effects::COUNTS);
                self.messages(&op.kind).into_iter().map(|message| Step::Used { message, kept }).collect()
            }
        }
    }

    /// Whether no layer has declared this cell.
    fn is_nobodys(&self, object: Value, cell: CellId) -> bool {
        let Some(class) = self.body.class_of(object) else { return false };
        self.automaton.class(class).cells.get(cell.index()).is_some_and(|cell| cell.source.is_none())
    }

    fn emit(&self, to: Addressee, event: &str, args: &[Value]) -> Option<Step> {
        let class = self.automaton.class_for(self.body, to)?;
        Some(Step::Emit { class, event: event.to_string(), args: args.to_vec() })
    }

    /// The messages that are used up.
    fn messages(&self, op: &dyn Operation) -> Vec<Value> {
        let borrowed = op.borrowed();
        op.operands().into_iter().filter(|value| self.is_message(*value) && Some(*value) != borrowed).collect()
    }

    fn end(&self, terminator: &Terminator) -> End {
        match terminator {
            Terminator::Return | Terminator::Yield { .. } | Terminator::Refuse { .. } => End::Return,
            Terminator::Jump { to } => End::Jump(target(to)),
            Terminator::Branch { condition, then, otherwise, likely: _ } => {
                End::Branch { condition: *condition, then: target(then), otherwise: target(otherwise) }
            }
            Terminator::Switch { value, cases, default } => {
                let cases = cases.iter().map(|(value, to)| (*value, target(to))).collect();
                let width = self.number(*value).map_or(64, |number| number.width);
                End::Switch { value: *value, width, cases, default: target(default) }
            }
            Terminator::Match { message, header, cases } => {
                let cases = cases.iter().map(|(variant, to)| (*variant, target(to))).collect();
                End::Match { message: *message, header: *header, cases }
            }
            Terminator::Try { op, then, otherwise } => {
                let (then, otherwise) = (target(then), target(otherwise));
                match op {
                    Fallible::Decode { message, wire } => {
                        End::Decode { message: *message, wire: *wire, then, otherwise }
                    }
                    Fallible::Validate { message, wire } => {
                        End::Validate { message: *message, wire: *wire, then, otherwise }
                    }
                    Fallible::Peek { message, header, variant } => {
                        End::Peek { message: *message, header: *header, variant: *variant, then, otherwise }
                    }
                    other => End::Either { used: self.messages(other), then, otherwise },
                }
            }
        }
    }
}

fn target(target: &mokume_reaction::Target) -> Target {
    Target { block: target.block.index(), args: target.args.clone() }
}

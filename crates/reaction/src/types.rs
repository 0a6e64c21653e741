//! Types of the operands and results of operations: one table for the parser, the builder and the verifier.
//!
//! Total: an index that refers to nothing, or an object of a wrong kind, gives `None` and never panics.

use crate::operation::{Given, Kind, Slot};
use crate::*;

/// What the types of an operation follow from.
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
    /// Types for a body whose values are all known.
    pub fn new(automaton: &'a Automaton, values: &'a [ValueInfo]) -> Self {
        Typing { automaton, values, pending: &[] }
    }

    /// The type of a value; `None` if it is pending or of another body.
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

    /// The types of an operation's results; `None` if its operands make no sense. For a fallible operation, those of
    /// its success.
    pub fn results(&self, op: &dyn Operation) -> Option<Vec<Type>> {
        self.given(op, op.row().results)
    }

    /// The types that a fallible operation gives when it refuses; `None` as in [`Self::results`].
    pub fn refusal(&self, op: &Fallible) -> Option<Vec<Type>> {
        self.given(op, op.row().otherwise)
    }

    fn given(&self, op: &dyn Operation, given: &[Given]) -> Option<Vec<Type>> {
        let fixed = |one: &Given| {
            Some(match one {
                Given::Truth => Type::Bool,
                Given::Word16 => U16,
                Given::Word32 => U32,
                Given::Word64 => U64,
                Given::Message => Type::Msg,
                Given::Reason => Type::Reason,
                _ => return None,
            })
        };
        // Most types do not depend on the operation.
        if let Some(types) = given.iter().map(fixed).collect() {
            return Some(types);
        }
        let slots = op.slots();
        let mut types = Vec::new();
        for one in given {
            match fixed(one) {
                Some(ty) => types.push(ty),
                None => self.add_given(op, &slots, *one, &mut types)?,
            }
        }
        Some(types)
    }

    fn add_given(&self, op: &dyn Operation, slots: &[Slot], given: Given, types: &mut Vec<Type>) -> Option<()> {
        let object = || self.class_of(slots.iter().find_map(Slot::value)?);
        let cell = || self.kind_of(slots.iter().find_map(Slot::value)?, slots.iter().find_map(Slot::cell)?);
        types.push(match given {
            Given::Named => slots.iter().find_map(Slot::ty)?,
            Given::First => self.type_of(slots.iter().find_map(Slot::value)?)?,
            Given::Alike => self.type_of(op.values_of(Kind::Alike)?)?,
            Given::Truth | Given::Word16 | Given::Word32 | Given::Word64 | Given::Message | Given::Reason => {
                return None
            }
            Given::Element => element(cell()?)?,
            Given::Whole => whole(cell()?)?,
            Given::Item => self.type_of(slots.iter().find_map(Slot::value)?)?.array()?.0,
            Given::Reference => Type::Ref(slots.iter().find_map(Slot::class)?),
            Given::Fellow => Type::Ref(object()?),
            Given::Enclosing => Type::Ref(self.automaton.class(object()?).parent?),
            Given::Param => self.named(slots).param?.ty,
            Given::Attribute => self.named(slots).attribute?.ty,
            Given::Field => self.named(slots).field?.ty(),
            Given::Results => {
                types.extend(&self.named(slots).function?.results);
                return Some(());
            }
            Given::Refused => {
                types.extend(self.named(slots).function?.refused());
                return Some(());
            }
            Given::Fields => {
                types.extend(self.named(slots).variant?.fields.iter().map(|(_, ty)| *ty));
                return Some(());
            }
            Given::Values => {
                types.extend(map(cell()?)?.1);
                return Some(());
            }
            Given::Native => {
                types.extend(slots.iter().filter_map(|slot| match slot {
                    Slot::Perhaps(message) => message.map(|_| Type::Msg),
                    Slot::PerhapsType(result) => *result,
                    _ => None,
                }));
                return Some(());
            }
        });
        Some(())
    }

    /// Resolves the names among the fields.
    fn named(&self, slots: &[Slot]) -> Named<'a> {
        let a = self.automaton;
        let mut named = Named::default();
        let (mut header, mut port) = (None, None);
        for slot in slots {
            match slot {
                Slot::Param(id) => named.param = a.params.get(id.index()),
                Slot::Attribute(id) => named.attribute = a.attributes.get(id.index()),
                Slot::Function(id) => named.function = a.functions.get(id.index()),
                Slot::Field(field) => named.field = Some(*field),
                Slot::Header(id) => header = a.headers.get(id.index()),
                Slot::Variant(id) => named.variant = header.and_then(|header: &Header| header.variants.get(id.index())),
                Slot::Port(id) => port = a.ports.get(id.index()),
                Slot::Number(event) => {
                    named.output = port.and_then(|port: &Port| port.outputs.get(usize::try_from(*event).ok()?));
                }
                Slot::Name(event) => named.event = self.handler_for(slots, event),
                _ => {}
            }
        }
        named
    }

    /// The class of the object that an operation's event is for: the object that it names first, or the one that its
    /// cell refers to.
    pub fn target(&self, slots: &[Slot]) -> Option<ClassId> {
        let object = slots.iter().find_map(Slot::value)?;
        match slots.iter().find_map(Slot::cell) {
            None => self.class_of(object),
            Some(cell) => {
                self.automaton.classes.get(self.class_of(object)?.index())?.cells.get(cell.index())?.refers_to()
            }
        }
    }

    fn handler_for(&self, slots: &[Slot], event: &str) -> Option<&'a Handler> {
        let trigger = Trigger::Event(event.to_owned());
        let handler = self.automaton.handler_of(self.target(slots)?, &trigger)?;
        Some(self.automaton.handler(handler))
    }

    /// The types that an operation needs for its operands, in order; `None` where several types of a kind are allowed.
    pub fn operands(&self, op: &dyn Operation) -> Vec<Option<Type>> {
        let slots = op.slots();
        let named = self.named(&slots);
        let mut wanted = Vec::new();
        for ((_, kind), slot) in op.row().fields.iter().zip(&slots) {
            for (place, value) in slot.values().into_iter().enumerate() {
                wanted.push(self.wanted(&slots, &named, *kind, (place, value)));
            }
        }
        wanted
    }

    /// The type that a field needs for a value in it: an arm for each kind of field.
    fn wanted(&self, slots: &[Slot], named: &Named, kind: Kind, (place, value): (usize, Value)) -> Option<Type> {
        let object = || slots.iter().find_map(Slot::value);
        let cell = || self.kind_of(object()?, slots.iter().find_map(Slot::cell)?);
        let nth = |params: &[(String, Type)]| params.get(place).map(|(_, ty)| *ty);
        match kind {
            Kind::Truth => Some(Type::Bool),
            Kind::Word32 => Some(U32),
            Kind::Word64 => Some(U64),
            Kind::Reason => Some(Type::Reason),
            Kind::Message | Kind::Borrowed | Kind::PerhapsMessage => Some(Type::Msg),
            // The type of the other operand.
            Kind::Alike | Kind::Operand | Kind::Compared => {
                let values: Vec<Value> = slots.iter().rev().filter_map(Slot::value).take(2).collect();
                let other = values.iter().find(|other| **other != value).unwrap_or(&value);
                self.type_of(*other)
            }
            Kind::Content => Some(named.field?.ty()),
            Kind::Element => element(cell()?),
            Kind::Whole => whole(cell()?),
            Kind::Item => Some(self.type_of(slots.iter().find_map(Slot::value)?)?.array()?.0),
            Kind::Items => Some(slots.iter().find_map(Slot::ty)?.array()?.0),
            Kind::AttributeValue => Some(named.attribute?.ty),
            Kind::Arguments => nth(&named.function?.params),
            Kind::EventArguments => nth(&named.event?.params),
            Kind::OutputArguments => nth(&named.output?.params),
            Kind::Fields => nth(&named.variant?.fields),
            Kind::Key => map(cell()?)?.0.get(place).copied(),
            Kind::MapValues => map(cell()?)?.1.get(place).copied(),
            Kind::Parent => {
                let class = self.automaton.classes.get(slots.iter().find_map(Slot::class)?.index())?;
                class.parent.map(Type::Ref)
            }
            // The verifier checks these.
            Kind::Scalar | Kind::Bits | Kind::Count | Kind::Numbers | Kind::Array => None,
            Kind::Object | Kind::Own | Kind::Settling | Kind::Neighbour => None,
            // These hold no values.
            Kind::ConstantType | Kind::ScalarType | Kind::ArrayType | Kind::PerhapsType => None,
            Kind::Number | Kind::Growth => None,
            Kind::Class | Kind::UniqueClass | Kind::OwnClass => None,
            Kind::ScalarCell | Kind::LinkCell | Kind::ArrayCell | Kind::TimerCell | Kind::CounterCell => None,
            Kind::QuotaCell | Kind::MessagesCell | Kind::MapCell => None,
            Kind::Function | Kind::Procedure | Kind::Refusing | Kind::Memo => None,
            Kind::Param | Kind::Header | Kind::Variant | Kind::Wire | Kind::Attribute => None,
            Kind::ReasonName | Kind::Port | Kind::Output | Kind::Event | Kind::QueuedEvent => None,
            Kind::Symbol | Kind::Octets | Kind::Field | Kind::Arithmetic | Kind::Comparison => None,
        }
    }

    /// For each list among the fields, in order: how many values it should hold, and what to call them.
    pub fn counts(&self, op: &dyn Operation) -> Vec<(usize, &'static str)> {
        let slots = op.slots();
        let object = || slots.iter().find_map(Slot::value);
        let cell = || self.kind_of(object()?, slots.iter().find_map(Slot::cell)?);
        let named = self.named(&slots);
        let mut counts = Vec::new();
        for (_, kind) in op.row().fields {
            let (count, what) = match kind {
                Kind::Arguments => (named.function.map(|found| found.params.len()), "arguments"),
                Kind::EventArguments => (named.event.map(|found| found.params.len()), "arguments"),
                Kind::OutputArguments => (named.output.map(|found| found.params.len()), "arguments"),
                Kind::Fields => (named.variant.map(|found| found.fields.len()), "fields"),
                Kind::Key => (cell().and_then(map).map(|found| found.0.len()), "parts of the key"),
                Kind::MapValues => (cell().and_then(map).map(|found| found.1.len()), "values"),
                _ => continue,
            };
            counts.extend(count.map(|count| (count, what)));
        }
        counts
    }

    /// The types of literals among the operands: [`Self::operands`], and u32 for numbers of any width.
    pub fn literals(&self, op: &dyn Operation) -> Vec<Option<Type>> {
        let slots = op.slots();
        let fields = op.row().fields.iter().zip(&slots);
        let kinds = fields.flat_map(|((_, kind), slot)| slot.values().into_iter().map(|_| *kind));
        let count = |(kind, wanted): (Kind, Option<Type>)| if kind == Kind::Count { Some(U32) } else { wanted };
        kinds.zip(self.operands(op)).map(count).collect()
    }

    /// The types that a terminator needs for its own operands (not for its targets' arguments), in a body with these
    /// results, and these types to give back when it refuses.
    pub fn terminator_operands(
        &self,
        terminator: &Terminator,
        (results, refused): (&[Type], &[Type]),
    ) -> Vec<Option<Type>> {
        match terminator {
            Terminator::Return | Terminator::Jump { .. } => Vec::new(),
            Terminator::Yield { values } => exactly(values.len(), Some(results.to_vec())),
            Terminator::Refuse { values } => exactly(values.len(), Some(refused.to_vec())),
            Terminator::Branch { .. } => vec![Some(Type::Bool)],
            Terminator::Switch { .. } => vec![None],
            Terminator::Match { .. } => vec![Some(Type::Msg)],
            Terminator::Try { op, .. } => self.operands(op),
        }
    }

    /// For each target, in order, the types of the results that come before its own arguments; `None` as in [`Self::results`].
    pub fn target_results(&self, terminator: &Terminator) -> Vec<Option<Vec<Type>>> {
        match terminator {
            Terminator::Return | Terminator::Yield { .. } | Terminator::Refuse { .. } => Vec::new(),
            Terminator::Jump { .. } => vec![Some(Vec::new())],
            Terminator::Branch { .. } => vec![Some(Vec::new()); 2],
            Terminator::Switch { cases, .. } => vec![Some(Vec::new()); cases.len() + 1],
            Terminator::Match { header, cases, .. } => cases
                .iter()
                .map(|(variant, _)| Some([vec![Type::Msg], types(&self.variant(*header, *variant)?.fields)].concat()))
                .collect(),
            Terminator::Try { op, .. } => vec![self.results(op), self.refusal(op)],
        }
    }
}

/// The things that the names among an operation's fields stand for.
#[derive(Default)]
struct Named<'a> {
    param: Option<&'a Param>,
    attribute: Option<&'a Attribute>,
    function: Option<&'a Function>,
    variant: Option<&'a Variant>,
    output: Option<&'a PortOutput>,
    event: Option<&'a Handler>,
    field: Option<OctetField>,
}

fn element(kind: &CellKind) -> Option<Type> {
    match kind {
        CellKind::Scalar { ty, .. } | CellKind::Array { ty, .. } => Some(*ty),
        CellKind::Messages { .. }
        | CellKind::Map { .. }
        | CellKind::Timer
        | CellKind::Quota { .. }
        | CellKind::Counter => None,
    }
}

/// The type of all that an array holds.
fn whole(kind: &CellKind) -> Option<Type> {
    match kind {
        CellKind::Array { ty, size, .. } => Some(Type::Array(ty.as_item()?, *size)),
        CellKind::Scalar { .. }
        | CellKind::Messages { .. }
        | CellKind::Map { .. }
        | CellKind::Timer
        | CellKind::Quota { .. }
        | CellKind::Counter => None,
    }
}

/// The types of a map's key and values.
fn map(kind: &CellKind) -> Option<(&[Type], &[Type])> {
    match kind {
        CellKind::Map { key, value, .. } => Some((key, value)),
        CellKind::Scalar { .. }
        | CellKind::Array { .. }
        | CellKind::Messages { .. }
        | CellKind::Timer
        | CellKind::Quota { .. }
        | CellKind::Counter => None,
    }
}

/// The types of a list of names with types.
pub fn types(named: &[(String, Type)]) -> Vec<Type> {
    named.iter().map(|(_, ty)| *ty).collect()
}

/// `count` expectations: the known types, then `None`.
fn exactly(count: usize, types: Option<Vec<Type>>) -> Vec<Option<Type>> {
    let types = types.unwrap_or_default();
    (0..count).map(|index| types.get(index).copied()).collect()
}

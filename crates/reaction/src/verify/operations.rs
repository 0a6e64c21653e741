//! Types and counts of operands, results and block arguments; kinds of cells; the types that operations are defined on.

use rustc_hash::FxHashSet as HashSet;

use super::context::{Context, Faults};
use crate::operation::{Kind, Slot};
use crate::*;

/// Checks one body. Later checks may rely on the types of operands.
pub fn check(context: &Context, faults: &mut Faults) {
    check_entry(context, faults);
    for (index, block) in context.body.blocks.iter().enumerate() {
        for (op, found) in block.ops.iter().enumerate() {
            let place = context.op(index, op);
            if check_operation(context, &found.kind, place, faults) {
                check_results(context, found, place, faults);
                check_constant(context, &found.kind, place, faults);
            }
        }
        check_terminator(context, index, faults);
    }
}

fn check_entry(context: &Context, faults: &mut Faults) {
    let wanted = match context.unit {
        Unit::Function(id) => types(&context.automaton.functions[id.index()].params),
        Unit::Handler(_) | Unit::Path(_) => {
            let handler = match context.unit {
                Unit::Path(id) => context.automaton.handler(context.automaton.paths[id.index()].handler),
                Unit::Handler(id) => context.automaton.handler(id),
                Unit::Function(_) => return,
            };
            [vec![Type::Ref(handler.class)], types(&handler.params)].concat()
        }
    };
    let found: Vec<Type> =
        context.body.blocks[0].params.iter().map(|value| context.body.values[value.index()].ty).collect();
    if wanted != found {
        let message = "the parameters of the entry are not those of the signature";
        faults.add(codes::COUNT, Place::Unit(context.unit), message);
    }
}

/// Checks the fields of an operation. Returns whether its objects and cells are valid enough to check the rest.
fn check_operation(context: &Context, op: &dyn Operation, place: Place, faults: &mut Faults) -> bool {
    let before = faults.0.len();
    let slots = op.slots();
    let fields = || op.row().fields.iter().map(|(_, kind)| *kind).zip(&slots);
    for (kind, slot) in fields() {
        check_reference(context, kind, slot, &slots, place, faults);
    }
    if faults.0.len() > before {
        return false;
    }
    check_operands(context, &op.operands(), &context.typing().operands(op), place, faults);
    let lists = fields().filter_map(|(_, slot)| match slot {
        Slot::Values(values) => Some(values.len()),
        _ => None,
    });
    for (found, (wanted, what)) in lists.zip(context.typing().counts(op)) {
        check_count(found, wanted, what, place, faults);
    }
    for (kind, slot) in fields() {
        check_fit(context, op, kind, slot, place, faults);
    }
    true
}

/// Objects, cells, classes and events: what they must be for the operation to make sense.
fn check_reference(context: &Context, kind: Kind, slot: &Slot, all: &[Slot], place: Place, faults: &mut Faults) {
    let object = || all.iter().find_map(Slot::value);
    match (kind, slot) {
        (Kind::Object | Kind::Own | Kind::Settling | Kind::Neighbour, Slot::Value(object)) => {
            check_is_object(context, *object, place, faults);
        }
        (kind, Slot::Cell(cell)) => {
            if let Some(object) = object() {
                check_cell(context, object, *cell, cell_wanted(kind), place, faults);
                if kind == Kind::LinkCell && context.typing().target(all).is_none() {
                    faults.add(codes::OBJECT, place, "an event is for an object, and the cell refers to none");
                }
            }
        }
        (Kind::UniqueClass, Slot::Class(class)) if !context.automaton.is_unique(*class) => {
            let name = &context.automaton.class(*class).name;
            let message = format!("there is not one object of class `{name}` that exists from the start");
            faults.add(codes::OBJECT, place, message).help("only a class of capacity 1 without a parent has one");
        }
        (Kind::Event | Kind::QueuedEvent, Slot::Name(event)) => {
            if let Some(class) = context.typing().target(all) {
                check_event(context, class, event, place, faults);
            }
        }
        (Kind::Parent, Slot::Perhaps(parent)) => {
            let class = all.iter().find_map(Slot::class);
            class.into_iter().for_each(|class| check_parent(context, class, *parent, place, faults));
        }
        _ => {}
    }
}

/// The kind of cell that a field needs.
fn cell_wanted(kind: Kind) -> &'static str {
    match kind {
        Kind::ScalarCell | Kind::LinkCell => "one value",
        Kind::ArrayCell => "an array",
        Kind::TimerCell => "a timer",
        Kind::CounterCell => "a counter",
        Kind::QuotaCell => "a quota",
        Kind::MessagesCell => "messages",
        Kind::MapCell => "a map",
        // A kind without cells fits none.
        _ => "no cell",
    }
}

fn kind_name(kind: &CellKind) -> &'static str {
    match kind {
        CellKind::Scalar { .. } => "one value",
        CellKind::Array { .. } => "an array",
        CellKind::Messages { .. } => "messages",
        CellKind::Map { .. } => "a map",
        CellKind::Timer => "a timer",
        CellKind::Quota { .. } => "a quota",
        CellKind::Counter => "a counter",
    }
}

fn check_cell(context: &Context, object: Value, id: CellId, wanted: &str, place: Place, faults: &mut Faults) {
    let typing = context.typing();
    // It was already reported that this is not an object.
    let Some(class) = typing.class_of(object) else { return };
    let Some(kind) = typing.kind_of(object, id) else {
        let message = format!("`{}` is no object with a cell {}", context.name(object), id.0);
        faults.add(codes::OBJECT, place, message);
        return;
    };
    if kind_name(kind) != wanted {
        let name = &context.automaton.cell(class, id).name;
        let message = format!("the operation works on {wanted}, and the cell `{name}` is {}", kind_name(kind));
        faults.add(codes::KIND, place, message);
    }
}

fn check_is_object(context: &Context, object: Value, place: Place, faults: &mut Faults) {
    if context.typing().class_of(object).is_none() {
        let shown = context.show(context.body.values[object.index()].ty);
        let message = format!("`{}` is {shown}, and an object belongs here", context.name(object));
        faults.add(codes::OBJECT, place, message);
    }
}

fn check_event(context: &Context, class: ClassId, event: &str, place: Place, faults: &mut Faults) {
    let automaton = context.automaton;
    if automaton.handler_of(class, &Trigger::Event(event.to_owned())).is_some() {
        return;
    }
    let events = automaton.handlers.iter().filter(|handler| handler.class == class);
    let known = events.filter_map(|handler| match &handler.trigger {
        Trigger::Event(event) => Some(event.as_str()),
        _ => None,
    });
    let nearest = mokume_base::did_you_mean(event, known);
    let message = format!("`{}` has no handler of an event `{event}`", automaton.class(class).name);
    let fault = faults.add(codes::NO_HANDLER, place, message);
    if let Some(nearest) = nearest {
        fault.help(format!("did you mean `{nearest}`?"));
    }
}

fn check_operands(context: &Context, operands: &[Value], wanted: &[Option<Type>], place: Place, faults: &mut Faults) {
    let mut told = false;
    for (value, wanted) in operands.iter().zip(wanted) {
        let found = context.body.values[value.index()].ty;
        if let Some(wanted) = wanted.filter(|wanted| *wanted != found && !told) {
            let (name, found, wanted) = (context.name(*value), context.show(found), context.show(wanted));
            let message = format!("`{name}` is {found}, and {wanted} belongs here");
            faults.add(codes::TYPE, place, message).help("`cast` converts between numbers");
            told = true;
        }
    }
}

fn check_count(found: usize, wanted: usize, what: &str, place: Place, faults: &mut Faults) {
    if found != wanted {
        faults.add(codes::COUNT, place, format!("{wanted} {what} belong here, and there are {found}"));
    }
}

fn check_results(context: &Context, op: &Op, place: Place, faults: &mut Faults) {
    let Some(wanted) = context.typing().results(&op.kind) else {
        faults.add(codes::OBJECT, place, "the operands of this operation make no sense");
        return;
    };
    let found: Vec<Type> = op.results.iter().map(|value| context.body.values[value.index()].ty).collect();
    check_count(found.len(), wanted.len(), "results", place, faults);
    if let Some((wanted, found)) = wanted.iter().zip(&found).find(|(wanted, found)| wanted != found) {
        let message = format!("the result is {}, and is taken for {}", context.show(*wanted), context.show(*found));
        faults.add(codes::TYPE, place, message);
    }
}

fn is_number(ty: Type) -> bool {
    matches!(ty, Type::U(_) | Type::Seq(_))
}

fn is_scalar(ty: Type) -> bool {
    matches!(ty, Type::Bool | Type::U(_) | Type::Seq(_) | Type::Enum(_))
}

/// Checks operands that may have more than one type, and types that are named.
fn check_fit(context: &Context, op: &dyn Operation, kind: Kind, slot: &Slot, place: Place, faults: &mut Faults) {
    let ty = match slot {
        Slot::Value(value) => context.body.values[value.index()].ty,
        Slot::Values(values) if kind == Kind::Numbers => {
            let types = values.iter().map(|value| context.body.values[value.index()].ty);
            match types.into_iter().find(|ty| ty.array().is_some()) {
                Some(array) => array,
                None => return,
            }
        }
        Slot::Type(ty) | Slot::PerhapsType(Some(ty)) => *ty,
        Slot::Field(field) if !field.is_whole() => field.ty(),
        _ => return,
    };
    let fits = match kind {
        Kind::Scalar | Kind::ScalarType => is_scalar(ty),
        Kind::Bits => is_number(ty) || ty == Type::Bool,
        Kind::Count => matches!(ty, Type::U(_)),
        Kind::Alike => ty != Type::Msg,
        Kind::ConstantType => !matches!(ty, Type::Msg | Type::Ref(_) | Type::Array(..)),
        Kind::PerhapsType => ty.array().is_none(),
        Kind::Array => ty.array().is_some() && are_of_one_item(context, op),
        Kind::ArrayType => ty.array().is_some() && (holds_all(op, ty) && are_of_one_item(context, op)),
        Kind::Operand | Kind::Compared => op.slots().iter().all(|slot| match slot {
            Slot::Binary(op) => op.is_defined_on(ty),
            Slot::Compare(op) => op.is_defined_on(ty),
            _ => true,
        }),
        Kind::Field => false,
        // These have exactly one type, which was already compared.
        Kind::Truth | Kind::Word32 | Kind::Word64 | Kind::Content | Kind::Reason => true,
        Kind::Message | Kind::Borrowed | Kind::Element | Kind::AttributeValue => true,
        Kind::Item | Kind::Whole => true,
        Kind::Object | Kind::Own | Kind::Settling | Kind::Neighbour => true,
        // A slot of one value or type has no other kind, and numbers are not arrays.
        _ => false,
    };
    if !fits && !faults.0.last().is_some_and(|fault| fault.place == place) {
        let word = op.row().text.split([' ', '.']).next().unwrap_or_default();
        let word = if word.starts_with('{') { "arithmetic" } else { word };
        let message = format!("`{word}` is not defined on {}", context.show(ty));
        faults.add(codes::NOT_DEFINED, place, message);
    }
}

/// Whether all arrays of an operation, including the type that it names, have the same item type.
fn are_of_one_item(context: &Context, op: &dyn Operation) -> bool {
    let operands = op.operands().into_iter().map(|value| context.body.values[value.index()].ty);
    let named = op.slots().into_iter().filter_map(|slot| slot.ty());
    let mut items = operands.chain(named).filter_map(|ty| ty.array()).map(|(item, _)| item);
    let first = items.next();
    items.all(|item| Some(item) == first)
}

/// Whether an array of the type has room for the values that it is made of.
fn holds_all(op: &dyn Operation, ty: Type) -> bool {
    let fields = op.row().fields.iter().zip(op.slots());
    let given =
        fields.filter(|((_, kind), _)| *kind == Kind::Items).map(|(_, slot)| slot.values().len()).sum::<usize>();
    ty.array().is_some_and(|(_, count)| given <= count as usize)
}

fn check_constant(context: &Context, kind: &OpKind, place: Place, faults: &mut Faults) {
    if let OpKind::Const { ty, value } = kind {
        let scalar = !matches!(ty, Type::Reason | Type::Msg | Type::Ref(_) | Type::Array(..));
        if scalar && !fits(*value, ty.width(context.automaton)) {
            faults.add(codes::NUMBER, place, format!("{value} does not fit into {}", context.show(*ty)));
        }
    }
}

/// Whether a number fits in `width` bits, which may be 64.
pub fn fits(value: u64, width: u8) -> bool {
    width >= 64 || value >> width == 0
}

// -- terminators

fn check_terminator(context: &Context, index: usize, faults: &mut Faults) {
    let terminator = &context.body.blocks[index].terminator;
    let place = context.terminator(index);
    let function = match context.unit {
        Unit::Function(id) => Some(&context.automaton.functions[id.index()]),
        Unit::Handler(_) | Unit::Path(_) => None,
    };
    let given_back = match context.unit {
        Unit::Path(id) => context.automaton.given_back(&context.automaton.paths[id.index()]),
        Unit::Handler(_) | Unit::Function(_) => Vec::new(),
    };
    let results = function.map_or(&[][..], |function| &function.results);
    let refused = function.map_or(&given_back[..], Function::refused);
    match terminator {
        Terminator::Try { op, .. } => {
            if !check_operation(context, op, place, faults) {
                return;
            }
        }
        Terminator::Return
        | Terminator::Yield { .. }
        | Terminator::Refuse { .. }
        | Terminator::Jump { .. }
        | Terminator::Branch { .. }
        | Terminator::Switch { .. }
        | Terminator::Match { .. } => {
            let wanted = context.typing().terminator_operands(terminator, (results, refused));
            check_operands(context, &terminator.operands(), &wanted, place, faults);
        }
    }
    match (terminator, context.unit) {
        (Terminator::Yield { values }, Unit::Function(_)) => {
            check_count(values.len(), results.len(), "results", place, faults);
        }
        // Whether this body may refuse at all is checked with the effects.
        (Terminator::Refuse { values }, Unit::Function(_) | Unit::Path(_)) if !refused.is_empty() => {
            check_count(values.len(), refused.len(), "values that it gives back", place, faults);
        }
        _ => {}
    }
    check_cases(context, terminator, place, faults);
    check_targets(context, terminator, place, faults);
}

fn check_parent(context: &Context, class: ClassId, parent: Option<Value>, place: Place, faults: &mut Faults) {
    let found = context.automaton.class(class);
    if found.parent.is_some() != parent.is_some() {
        let message = match parent {
            Some(_) => format!("class `{}` has no parent: leave out `in`", found.name),
            None => format!("an object of class `{}` is in a parent: write `in parent`", found.name),
        };
        faults.add(codes::COUNT, place, message);
    }
}

fn check_cases(context: &Context, terminator: &Terminator, place: Place, faults: &mut Faults) {
    match terminator {
        Terminator::Branch { likely: Some(likely), .. } if !(0.0..=1.0).contains(likely) => {
            faults.add(codes::SIZE, place, format!("{likely} is no probability")).help("it is from 0 to 1");
        }
        Terminator::Switch { value, cases, .. } => {
            let ty = context.body.values[value.index()].ty;
            if !is_scalar(ty) {
                let message = format!("`switch` is not defined on {}", context.show(ty));
                faults.add(codes::NOT_DEFINED, place, message);
                return;
            }
            let mut seen = HashSet::default();
            for (number, _) in cases {
                if !fits(*number, ty.width(context.automaton)) {
                    faults.add(codes::NUMBER, place, format!("case {number} does not fit into {}", context.show(ty)));
                }
                if !seen.insert(*number) {
                    faults.add(codes::CASES, place, format!("case {number} is there twice"));
                }
            }
        }
        Terminator::Match { header, cases, .. } => {
            let header = &context.automaton.headers[header.index()];
            for (index, variant) in header.variants.iter().enumerate() {
                let count = cases.iter().filter(|(id, _)| id.index() == index).count();
                if count != 1 {
                    let message = format!("variant `{}` of `{}` has {count} cases", variant.name, header.name);
                    faults.add(codes::CASES, place, message).help("every variant has one case");
                }
            }
        }
        Terminator::Branch { .. }
        | Terminator::Return
        | Terminator::Yield { .. }
        | Terminator::Refuse { .. }
        | Terminator::Jump { .. }
        | Terminator::Try { .. } => {}
    }
}

fn check_targets(context: &Context, terminator: &Terminator, place: Place, faults: &mut Faults) {
    for (target, results) in terminator.targets().into_iter().zip(context.typing().target_results(terminator)) {
        let Some(mut given) = results else {
            faults.add(codes::OBJECT, place, "the operands of this operation make no sense");
            continue;
        };
        given.extend(target.args.iter().map(|value| context.body.values[value.index()].ty));
        let block = &context.body.blocks[target.block.index()];
        let wanted: Vec<Type> = block.params.iter().map(|value| context.body.values[value.index()].ty).collect();
        let label = context.label(target.block.index());
        if given.len() != wanted.len() {
            let message = format!("block {label} has {} parameters, and is given {}", wanted.len(), given.len());
            faults.add(codes::COUNT, place, message);
            continue;
        }
        if let Some((given, wanted)) = given.iter().zip(&wanted).find(|(given, wanted)| given != wanted) {
            let (given, wanted) = (context.show(*given), context.show(*wanted));
            faults.add(codes::TYPE, place, format!("block {label} is given {given} where {wanted} belongs"));
        }
    }
}

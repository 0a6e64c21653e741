//! Types and numbers of operands, results and block arguments; kinds of cells; what an operation is defined on.

use std::collections::HashSet;

use super::{Context, Faults};
use crate::*;

pub fn check(context: &Context, faults: &mut Faults) {
    check_entry(context, faults);
    for (index, block) in context.body.blocks.iter().enumerate() {
        for (op, found) in block.ops.iter().enumerate() {
            let place = context.op(index, op);
            let before = faults.0.len();
            check_object(context, &found.kind, place, faults);
            if faults.0.len() > before {
                continue;
            }
            check_operands(context, &found.kind.operands(), &context.typing().operands(&found.kind), place, faults);
            check_counts(context, &found.kind, place, faults);
            check_results(context, found, place, faults);
            check_sense(context, &found.kind, place, faults);
        }
        check_end(context, index, faults);
    }
}

fn check_entry(context: &Context, faults: &mut Faults) {
    let wanted = match context.unit {
        Unit::Function(id) => types(&context.automaton.functions[id.index()].params),
        Unit::Handler(id) => {
            let handler = context.automaton.handler(id);
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

/// What kind of cell an operation works on.
fn cell_of(kind: &OpKind) -> Option<(Value, CellId, &'static str)> {
    match kind {
        OpKind::Get { object, cell } | OpKind::Set { object, cell, .. } => Some((*object, *cell, "one value")),
        OpKind::GetAt { object, cell, .. } | OpKind::SetAt { object, cell, .. } => Some((*object, *cell, "an array")),
        OpKind::Arm { object, cell, .. } | OpKind::Disarm { object, cell } | OpKind::IsArmed { object, cell } => {
            Some((*object, *cell, "a timer"))
        }
        OpKind::Count { object, cell, .. } => Some((*object, *cell, "a counter")),
        OpKind::Give { object, cell, .. } | OpKind::Left { object, cell } => Some((*object, *cell, "a quota")),
        OpKind::Keep { object, cell, .. } | OpKind::Holds { object, cell, .. } => Some((*object, *cell, "messages")),
        _ => None,
    }
}

fn end_cell_of(end: &Terminator) -> Option<(Value, CellId, &'static str)> {
    match end {
        Terminator::Find { object, cell, .. }
        | Terminator::Insert { object, cell, .. }
        | Terminator::Remove { object, cell, .. } => Some((*object, *cell, "a map")),
        Terminator::Take { object, cell, .. } => Some((*object, *cell, "a quota")),
        Terminator::TakeOut { object, cell, .. } | Terminator::ShareHeld { object, cell, .. } => {
            Some((*object, *cell, "messages"))
        }
        _ => None,
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

fn check_cell(context: &Context, cell: Option<(Value, CellId, &str)>, place: Place, faults: &mut Faults) {
    let Some((object, id, wanted)) = cell else { return };
    let typing = context.typing();
    let Some(kind) = typing.kind_of(object, id) else {
        let message = format!("`{}` is no object with a cell {}", context.name(object), id.0);
        faults.add(codes::OBJECT, place, message);
        return;
    };
    if kind_name(kind) != wanted {
        let name = typing.class_of(object).map_or("", |class| &context.automaton.cell(class, id).name);
        let message = format!("the operation works on {wanted}, and the cell `{name}` is {}", kind_name(kind));
        faults.add(codes::KIND, place, message);
    }
}

fn check_is_object(context: &Context, object: Value, place: Place, faults: &mut Faults) -> Option<ClassId> {
    let class = context.typing().class_of(object);
    if class.is_none() {
        let shown = context.show(context.body.values[object.index()].ty);
        let message = format!("`{}` is {shown}, and an object belongs here", context.name(object));
        faults.add(codes::OBJECT, place, message);
    }
    class
}

fn check_object(context: &Context, kind: &OpKind, place: Place, faults: &mut Faults) {
    check_cell(context, cell_of(kind), place, faults);
    match kind {
        OpKind::Draw { object, .. } | OpKind::Release { object } | OpKind::Again { object } => {
            check_is_object(context, *object, place, faults);
        }
        OpKind::Parent { object } => {
            let class = check_is_object(context, *object, place, faults);
            if class.is_some_and(|class| context.automaton.class(class).parent.is_none()) {
                let message = format!("the class of `{}` has no parent", context.name(*object));
                faults.add(codes::OBJECT, place, message);
            }
        }
        OpKind::Emit { target, event, .. } => check_event(context, *target, event, place, faults),
        OpKind::Unique { class } if !context.automaton.is_unique(*class) => {
            let name = &context.automaton.class(*class).name;
            let message = format!("there is not one object of class `{name}` that exists from the start");
            faults.add(codes::OBJECT, place, message).help("only a class of capacity 1 without a parent has one");
        }
        _ => {}
    }
}

fn check_event(context: &Context, target: Value, event: &str, place: Place, faults: &mut Faults) {
    let Some(class) = check_is_object(context, target, place, faults) else { return };
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

fn event_params(context: &Context, target: Value, event: &str) -> Option<usize> {
    let class = context.typing().class_of(target)?;
    let handler = context.automaton.handler_of(class, &Trigger::Event(event.to_owned()))?;
    Some(context.automaton.handler(handler).params.len())
}

fn check_counts(context: &Context, kind: &OpKind, place: Place, faults: &mut Faults) {
    let automaton = context.automaton;
    match kind {
        OpKind::Call { function, args } => {
            let wanted = automaton.functions[function.index()].params.len();
            check_count(args.len(), wanted, "arguments", place, faults);
        }
        OpKind::Push { header, variant, fields, .. } => {
            let wanted = automaton.headers[header.index()].variants[variant.index()].fields.len();
            check_count(fields.len(), wanted, "fields", place, faults);
        }
        OpKind::Emit { target, event, args } => {
            if let Some(wanted) = event_params(context, *target, event) {
                check_count(args.len(), wanted, "arguments", place, faults);
            }
        }
        OpKind::Out { port, event, args } => {
            let wanted = automaton.ports[port.index()].outputs[*event as usize].params.len();
            check_count(args.len(), wanted, "arguments", place, faults);
        }
        _ => {}
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

/// What the tables of types cannot say.
fn check_sense(context: &Context, kind: &OpKind, place: Place, faults: &mut Faults) {
    let ty = |value: &Value| context.body.values[value.index()].ty;
    let mut undefined = |what: &str, on: Type| {
        let message = format!("`{what}` is not defined on {}", context.show(on));
        faults.add(codes::NOT_DEFINED, place, message);
    };
    match kind {
        OpKind::Const { ty, .. } if matches!(ty, Type::Msg | Type::Ref(_)) => undefined("const", *ty),
        OpKind::Const { ty, value } if *ty != Type::Reason && !fits(*value, ty.width(context.automaton)) => {
            faults.add(codes::NUMBER, place, format!("{value} does not fit into {}", context.show(*ty)));
        }
        OpKind::Binary { op: Binary::And | Binary::Or | Binary::Xor, a, .. } if ty(a) == Type::Bool => {}
        OpKind::Binary { a, .. } if !is_number(ty(a)) => undefined("arithmetic", ty(a)),
        OpKind::Compare { a, .. } if ty(a) == Type::Msg => undefined("comparison", ty(a)),
        OpKind::Compare { op, a, .. } if !is_number(ty(a)) && !matches!(op, Compare::Eq | Compare::Ne) => {
            undefined("order", ty(a));
        }
        OpKind::Not { a } if !is_number(ty(a)) && ty(a) != Type::Bool => undefined("not", ty(a)),
        OpKind::Select { a, .. } if ty(a) == Type::Msg => undefined("select", ty(a)),
        OpKind::Cast { a, .. } if !is_scalar(ty(a)) => undefined("cast", ty(a)),
        OpKind::Cast { to, .. } | OpKind::Draw { ty: to, .. } if !is_scalar(*to) => undefined("cast or draw", *to),
        OpKind::GetAt { index, .. } | OpKind::SetAt { index, .. } if !matches!(ty(index), Type::U(_)) => {
            undefined("an index", ty(index));
        }
        OpKind::Count { amount, .. } if !matches!(ty(amount), Type::U(_)) => undefined("count", ty(amount)),
        OpKind::Load { ty, .. } if !is_field(*ty) => undefined("load", *ty),
        OpKind::Store { value, .. } if !is_field(ty(value)) => undefined("store", ty(value)),
        _ => {}
    }
}

fn is_field(ty: Type) -> bool {
    matches!(ty, Type::U(8 | 16 | 24 | 32 | 48 | 64))
}

pub fn fits(value: u64, width: u8) -> bool {
    width >= 64 || value >> width == 0
}

// -- ends of blocks

fn check_end(context: &Context, index: usize, faults: &mut Faults) {
    let end = &context.body.blocks[index].end;
    let place = context.end(index);
    let before = faults.0.len();
    check_cell(context, end_cell_of(end), place, faults);
    match end {
        Terminator::Next { object, .. } => {
            check_is_object(context, *object, place, faults);
        }
        Terminator::Later { target, event, .. } => check_event(context, *target, event, place, faults),
        Terminator::New { class, parent, .. } | Terminator::First { class, parent, .. } => {
            check_parent(context, *class, *parent, place, faults);
        }
        _ => {}
    }
    if faults.0.len() > before {
        return;
    }
    let results = match context.unit {
        Unit::Function(id) => &context.automaton.functions[id.index()].results[..],
        Unit::Handler(_) => &[],
    };
    let wanted = context.typing().end_operands(end, results);
    check_operands(context, &end.operands(), &wanted, place, faults);
    check_end_counts(context, end, results.len(), place, faults);
    check_cases(context, end, place, faults);
    check_targets(context, end, place, faults);
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

fn check_end_counts(context: &Context, end: &Terminator, results: usize, place: Place, faults: &mut Faults) {
    let map = |object: &Value, cell: &CellId| match context.typing().kind_of(*object, *cell) {
        Some(CellKind::Map { key, value, .. }) => (key.len(), value.len()),
        _ => (0, 0),
    };
    match end {
        Terminator::Yield { values } if matches!(context.unit, Unit::Function(_)) => {
            check_count(values.len(), results, "results", place, faults);
        }
        Terminator::Find { object, cell, key, .. } | Terminator::Remove { object, cell, key, .. } => {
            check_count(key.len(), map(object, cell).0, "parts of the key", place, faults);
        }
        Terminator::Insert { object, cell, key, values, .. } => {
            check_count(key.len(), map(object, cell).0, "parts of the key", place, faults);
            check_count(values.len(), map(object, cell).1, "values", place, faults);
        }
        Terminator::Later { target, event, args, .. } => {
            if let Some(wanted) = event_params(context, *target, event) {
                check_count(args.len(), wanted, "arguments", place, faults);
            }
        }
        _ => {}
    }
}

fn check_cases(context: &Context, end: &Terminator, place: Place, faults: &mut Faults) {
    match end {
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
            let mut seen = HashSet::new();
            for (number, _) in cases {
                if !fits(*number, ty.width(context.automaton)) {
                    faults.add(codes::NUMBER, place, format!("case {number} does not fit into {}", context.show(ty)));
                }
                if !seen.insert(*number) {
                    faults.add(codes::CASES, place, format!("case {number} is there twice"));
                }
            }
        }
        Terminator::PopSwitch { header, cases, .. } => {
            let header = &context.automaton.headers[header.index()];
            for (index, variant) in header.variants.iter().enumerate() {
                let count = cases.iter().filter(|(id, _)| id.index() == index).count();
                if count != 1 {
                    let message = format!("variant `{}` of `{}` has {count} cases", variant.name, header.name);
                    faults.add(codes::CASES, place, message).help("every variant has one case");
                }
            }
        }
        _ => {}
    }
}

fn check_targets(context: &Context, end: &Terminator, place: Place, faults: &mut Faults) {
    for (target, results) in end.targets().into_iter().zip(context.typing().target_results(end)) {
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

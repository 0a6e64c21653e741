//! Tables, classes, cells, links, ports, signatures and the composition.

use rustc_hash::FxHashSet as HashSet;

use super::context::Faults;
use super::operations::fits;
use crate::*;

/// Checks everything but bodies and wires. The identifiers must be checked already.
pub fn check(automaton: &Automaton, faults: &mut Faults) {
    if automaton.tick == 0 {
        faults.add(codes::SIZE, Place::Automaton, "a tick of 0 nanoseconds").help("the smallest tick is 1");
    }
    check_names(automaton, faults);
    check_scalars(automaton, faults);
    for (index, class) in automaton.classes.iter().enumerate() {
        check_class(automaton, ClassId::from(index), class, faults);
    }
    automaton.links.iter().enumerate().for_each(|(index, link)| check_link(automaton, index, link, faults));
    automaton.ports.iter().enumerate().for_each(|(index, port)| check_port(automaton, index.into(), port, faults));
    for (index, function) in automaton.functions.iter().enumerate() {
        check_function(Place::Unit(Unit::Function(index.into())), function, faults);
    }
    for (index, handler) in automaton.handlers.iter().enumerate() {
        check_handler(automaton, Place::Unit(Unit::Handler(index.into())), handler, faults);
    }
    check_composition(automaton, faults);
}

fn check_unique<'a>(names: impl Iterator<Item = (Place, &'a str)>, what: &str, faults: &mut Faults) {
    let mut seen = HashSet::default();
    for (place, name) in names {
        if !seen.insert(name) {
            faults.add(codes::TWICE, place, format!("there is a {what} `{name}` already"));
        }
    }
}

fn check_names(a: &Automaton, faults: &mut Faults) {
    macro_rules! unique {
        ($table:ident, $place:expr, $what:literal) => {
            let names = a.$table.iter().enumerate();
            check_unique(names.map(|(index, found)| ($place(index.into()), found.name.as_str())), $what, faults);
        };
    }
    unique!(params, Place::Param, "param");
    unique!(enums, Place::Enum, "enum");
    unique!(attributes, Place::Attribute, "attribute");
    unique!(headers, Place::Header, "header");
    unique!(reasons, Place::Reason, "reason");
    unique!(layers, Place::Layer, "layer");
    unique!(classes, Place::Class, "class");
    unique!(ports, Place::Port, "port");
    unique!(wires, Place::Wire, "wire");
    unique!(functions, |id| Place::Unit(Unit::Function(id)), "function");
    for (index, class) in a.classes.iter().enumerate() {
        let cells = class.cells.iter().enumerate();
        let cells = cells.map(|(cell, found)| (Place::Cell(index.into(), cell.into()), found.name.as_str()));
        check_unique(cells, "cell", faults);
    }
    let mut triggers = HashSet::default();
    for (index, handler) in a.handlers.iter().enumerate() {
        if !triggers.insert((handler.class, &handler.trigger)) {
            let place = Place::Unit(Unit::Handler(index.into()));
            faults.add(codes::TWICE, place, "there is a handler for this already");
        }
    }
}

fn is_scalar(ty: Type) -> bool {
    matches!(ty, Type::Bool | Type::U(_) | Type::Seq(_) | Type::Enum(_))
}

fn check_value(a: &Automaton, ty: Type, value: u64, place: Place, faults: &mut Faults) {
    let width = if matches!(ty, Type::Ref(_)) { 64 } else { ty.width(a) };
    if !fits(value, width) {
        faults.add(codes::NUMBER, place, format!("{value} does not fit into {width} bits"));
    }
}

fn check_scalars(a: &Automaton, faults: &mut Faults) {
    for (index, found) in a.enums.iter().enumerate() {
        let place = Place::Enum(index.into());
        if !(1..=64).contains(&found.width) {
            faults.add(codes::SIZE, place, format!("an enumeration of {} bits: there are 1 to 64", found.width));
        }
        let (mut names, mut values) = (HashSet::default(), HashSet::default());
        for (name, value) in &found.names {
            if !names.insert(name) || !values.insert(*value) {
                faults.add(codes::TWICE, place, format!("`{name}` or its value {value} is there twice"));
            }
            if !fits(*value, found.width) {
                faults.add(codes::NUMBER, place, format!("{value} does not fit into {} bits", found.width));
            }
        }
    }
    for (index, param) in a.params.iter().enumerate() {
        let place = Place::Param(index.into());
        scalar_only(param.ty, "a parameter of the stack", place, faults);
        param.default.iter().for_each(|value| check_value(a, param.ty, *value, place, faults));
    }
    for (index, attribute) in a.attributes.iter().enumerate() {
        let place = Place::Attribute(index.into());
        scalar_only(attribute.ty, "an attribute", place, faults);
        check_value(a, attribute.ty, attribute.default, place, faults);
    }
    for (index, header) in a.headers.iter().enumerate() {
        check_header(Place::Header(index.into()), header, faults);
    }
}

fn scalar_only(ty: Type, what: &str, place: Place, faults: &mut Faults) {
    if !is_scalar(ty) {
        faults.add(codes::NOT_DEFINED, place, format!("{what} is a boolean, a number or an enumeration"));
    }
}

fn no_arrays<'t>(types: impl IntoIterator<Item = &'t Type>, what: &str, place: Place, faults: &mut Faults) {
    if types.into_iter().any(|ty| ty.array().is_some()) {
        faults
            .add(codes::NOT_DEFINED, place, format!("{what} is no array"))
            .help("arrays are values within a body: hand the items on one by one, or keep them in a cell `[8] u16`");
    }
}

fn check_header(place: Place, header: &Header, faults: &mut Faults) {
    if header.variants.is_empty() {
        faults.add(codes::SIZE, place, "a header without variants");
    }
    check_unique(header.variants.iter().map(|variant| (place, variant.name.as_str())), "variant", faults);
    for variant in &header.variants {
        check_unique(variant.fields.iter().map(|(name, _)| (place, name.as_str())), "field", faults);
        variant.fields.iter().for_each(|(_, ty)| scalar_only(*ty, "a field of a header", place, faults));
    }
}

// -- classes

fn check_class(a: &Automaton, id: ClassId, class: &Class, faults: &mut Faults) {
    let place = Place::Class(id);
    if class.capacity == 0 {
        faults.add(codes::SIZE, place, "a class without objects").help("a capacity is at least 1");
    }
    check_parents(a, id, faults);
    let settles = a.handler_of(id, &Trigger::Settle).is_some();
    match class.settle_limit {
        Some(0) => {
            faults.add(codes::SIZE, place, "a settle limit of 0").help("a settle limit is at least 1");
        }
        None if settles => {
            faults
                .add(codes::SIZE, place, "a class that settles has a limit")
                .help("write `settle n` behind the capacity");
        }
        Some(_) if !settles => {
            faults.add(codes::NO_HANDLER, place, "a settle limit, and no `settle` of the class");
        }
        _ => {}
    }
    for (index, cell) in class.cells.iter().enumerate() {
        check_cell(a, id, CellId::from(index), cell, faults);
    }
}

/// A parent is of the same layer, and no class is its own ancestor.
fn check_parents(a: &Automaton, id: ClassId, faults: &mut Faults) {
    let class = a.class(id);
    if class.parent.is_some_and(|parent| a.class(parent).layer != class.layer) {
        let message = "the parent is of another layer";
        faults
            .add(codes::PARENT, Place::Class(id), message)
            .help("an object ends with its parent: use a link between layers");
    }
    let mut seen = HashSet::from_iter([id]);
    let mut at = class.parent;
    while let Some(parent) = at {
        if !seen.insert(parent) {
            faults.add(codes::PARENT, Place::Class(id), "the parents of this class go round");
            return;
        }
        at = a.class(parent).parent;
    }
}

fn check_cell(a: &Automaton, class: ClassId, id: CellId, cell: &Cell, faults: &mut Faults) {
    let place = Place::Cell(class, id);
    let mut size = |count: u32, what: &str| {
        if count == 0 {
            faults.add(codes::SIZE, place, format!("{what} of size 0"));
        }
    };
    match &cell.kind {
        CellKind::Array { size: count, .. } => size(*count, "an array"),
        CellKind::Messages { size: count, .. } => size(*count, "a cell for messages"),
        CellKind::Map { capacity, .. } => size(*capacity, "a map"),
        CellKind::Quota { amount } => size(*amount, "a quota"),
        _ => {}
    }
    match &cell.kind {
        CellKind::Scalar { ty, init } | CellKind::Array { ty, init, .. } => check_one(a, *ty, *init, place, faults),
        CellKind::Map { key, value, by, .. } => {
            check_map(key, value, place, faults);
            if !by.is_empty() {
                check_key_cells(a, class, (key, value, by), place, faults);
            }
        }
        CellKind::Messages { quota: Some((owner, quota)), .. } => check_quota(a, class, *owner, *quota, place, faults),
        CellKind::Timer if a.handler_of(class, &Trigger::Expiry(id)).is_none() => {
            faults.add(codes::NO_HANDLER, place, "a timer that nothing handles").help("write `expiry` for it");
        }
        _ => {}
    }
}

/// What a cell of one value, or each place of an array, may hold.
fn check_one(a: &Automaton, ty: Type, init: u64, place: Place, faults: &mut Faults) {
    if ty.array().is_some() {
        no_arrays([&ty], "a cell of one value", place, faults);
    } else if ty == Type::Msg {
        let message = "a message is not held by a cell of one value";
        faults.add(codes::NOT_DEFINED, place, message).help("write `[1] msg`");
    } else if ty == Type::Reason && init as usize >= a.reasons.len().max(1) {
        faults.add(codes::NUMBER, place, format!("there is no reason {init}"));
    } else if ty != Type::Reason {
        check_value(a, ty, init, place, faults);
    }
}

fn check_map(key: &[Type], value: &[Type], place: Place, faults: &mut Faults) {
    if key.is_empty() || key.iter().any(|ty| !is_scalar(*ty) && !matches!(ty, Type::Ref(_))) {
        let message = "a key is made of booleans, numbers, enumerations and references, at least one";
        faults.add(codes::NOT_DEFINED, place, message);
    }
    no_arrays(value, "a value of a map", place, faults);
    if value.contains(&Type::Msg) {
        faults.add(codes::NOT_DEFINED, place, "a map holds no messages").help("hold them in objects, by reference");
    }
}

/// The cells that hold the key of a map's objects: fixed, one value each, and of the key's types.
fn check_key_cells(
    a: &Automaton,
    class: ClassId,
    (key, value, by): (&[Type], &[Type], &[CellId]),
    place: Place,
    faults: &mut Faults,
) {
    let [Type::Ref(of)] = *value else {
        faults.add(codes::KIND, place, "`by` belongs behind a map of objects").help("write `-> (@layer.Class)`");
        return;
    };
    if !a.is_unique(class) || a.class(of).layer != a.class(class).layer {
        let message = "a map finds by their cells what its own layer has, and only one object has such a map";
        faults.add(codes::KIND, place, message).help("leave `by` out");
    }
    let holds = |cell: &Cell| match cell.kind {
        CellKind::Scalar { ty, .. } if cell.fixed => Some(ty),
        _ => None,
    };
    let cells: Vec<Option<Type>> = by.iter().map(|id| holds(a.cell(of, *id))).collect();
    if cells.len() != key.len() || cells.iter().zip(key).any(|(cell, key)| *cell != Some(*key)) {
        let message =
            "the cells behind `by` are not the key: `fixed` ones of one value each, of its types, in its order";
        faults.add(codes::KIND, place, message).help("name a cell for each part of the key");
    }
}

fn check_quota(a: &Automaton, class: ClassId, owner: ClassId, quota: CellId, place: Place, faults: &mut Faults) {
    if !matches!(a.cell(owner, quota).kind, CellKind::Quota { .. }) {
        faults.add(codes::KIND, place, format!("`{}` is no quota", a.cell(owner, quota).name));
    }
    let mut at = Some(class);
    // At most as many steps as there are classes: parents may form a cycle, which is reported elsewhere.
    for _ in 0..=a.classes.len() {
        if at == Some(owner) {
            return;
        }
        at = at.and_then(|class| a.class(class).parent);
    }
    faults.add(codes::PARENT, place, "the quota is neither of this class nor of one around it");
}

// -- links and ports

fn check_link(a: &Automaton, index: usize, link: &Link, faults: &mut Faults) {
    let place = Place::Link(index as u32);
    if a.class(link.above.0).layer == a.class(link.below.0).layer {
        faults.add(codes::LINK, place, "a link is between two layers");
    }
    let between_entities = a.is_unique(link.above.0) && a.is_unique(link.below.0);
    if link.above.1.is_none() && link.below.1.is_none() && !between_entities {
        faults.add(codes::LINK, place, "neither side of the link refers to the other");
    }
    if link.kind == LinkKind::ManyToOne && link.below.1.is_some() {
        faults.add(codes::LINK, place, "only of one above can the one below know it by a cell").help("write `1:1`");
    }
    for ((class, cell), other) in [(link.above, link.below.0), (link.below, link.above.0)] {
        let Some(cell) = cell else { continue };
        let found = a.cell(class, cell);
        if !matches!(found.kind, CellKind::Scalar { ty: Type::Ref(to), .. } if to == other) {
            let message = format!("`{}` does not refer to `{}`", found.name, a.class(other).name);
            faults.add(codes::LINK, place, message);
        }
    }
}

fn check_port(a: &Automaton, id: PortId, port: &Port, faults: &mut Faults) {
    let place = Place::Port(id);
    let params = port.inputs.iter().flat_map(|input| &input.params);
    let params = params.chain(port.outputs.iter().flat_map(|output| &output.params));
    no_arrays(params.map(|(_, ty)| ty), "a parameter of a port", place, faults);
    check_unique(port.inputs.iter().map(|input| (place, input.event.as_str())), "input", faults);
    check_unique(port.outputs.iter().map(|output| (place, output.event.as_str())), "output", faults);
    for input in &port.inputs {
        let name = &a.class(input.class).name;
        let Some(handler) = a.handler_of(input.class, &Trigger::Event(input.handler.clone())) else {
            let message = format!("`{name}` has no handler of an event `{}`", input.handler);
            faults.add(codes::NO_HANDLER, place, message);
            continue;
        };
        let object = if a.is_unique(input.class) { vec![] } else { vec![Type::Ref(input.class)] };
        let wanted = [object, types(&a.handler(handler).params)].concat();
        if types(&input.params) != wanted {
            let wanted: Vec<String> = wanted.iter().map(|ty| crate::text::show_type(a, *ty)).collect();
            let message = format!("`{}` has other parameters than `{name}.{}`", input.event, input.handler);
            faults.add(codes::PORT, place, message).help(format!("they are ({})", wanted.join(", ")));
        }
        let without = input.params.len().checked_sub(input.defaults.len());
        let numbers = |(_, ty): &(String, Type)| !matches!(ty, Type::Msg | Type::Ref(_));
        if !without.is_some_and(|without| input.params[without..].iter().all(numbers)) {
            let message = format!("`{}` has defaults for what is no number, or is not there", input.event);
            faults.add(codes::PORT, place, message).help("they are the values of the last parameters");
        }
    }
}

// -- signatures

fn check_function(place: Place, function: &Function, faults: &mut Faults) {
    let all = function.params.iter().map(|(_, ty)| ty).chain(&function.results);
    no_arrays(all.clone(), "a parameter or result of a function", place, faults);
    no_arrays(function.refused().iter(), "what a procedure gives back", place, faults);
    if function.procedure().is_none() && all.clone().any(|ty| *ty == Type::Msg) {
        faults.add(codes::EFFECT, place, "a function has no messages").help("pass what it needs to know of them");
    }
    if let Some(class) = function.published() {
        if function.params.first().map(|(_, ty)| *ty) != Some(Type::Ref(class)) {
            faults.add(codes::COUNT, place, "the first parameter of a published value is its object");
        }
    }
}

fn check_handler(a: &Automaton, place: Place, handler: &Handler, faults: &mut Faults) {
    no_arrays(handler.params.iter().map(|(_, ty)| ty), "a parameter of an event", place, faults);
    match &handler.trigger {
        Trigger::Event(_) => return,
        Trigger::Expiry(cell) if a.cell(handler.class, *cell).kind != CellKind::Timer => {
            let name = &a.cell(handler.class, *cell).name;
            faults.add(codes::KIND, place, format!("`{name}` is no timer"));
        }
        Trigger::Start if !a.is_unique(handler.class) => {
            let message = format!("class `{}` has no object at the start", a.class(handler.class).name);
            faults.add(codes::OBJECT, place, message).help("only a class of capacity 1 without a parent has one");
        }
        _ => {}
    }
    if !handler.params.is_empty() {
        faults.add(codes::COUNT, place, "only events have parameters");
    }
    if handler.later_capacity != 0 {
        faults.add(codes::LATER, place, "only events come `later`");
    }
}

fn check_composition(a: &Automaton, faults: &mut Faults) {
    let Some(composition) = &a.composition else { return };
    let place = Place::Composition;
    if !composition.queued.is_sorted() || !composition.queued_outputs.is_sorted() {
        faults.add(codes::COMPOSITION, place, "queued channels are sorted");
    }
    let mut seen = HashSet::default();
    for merged in &composition.merged {
        for class in merged {
            if !seen.insert(*class) {
                faults.add(codes::COMPOSITION, place, format!("`{}` is merged twice", a.class(*class).name));
            }
        }
        for pair in merged.windows(2) {
            let linked =
                |link: &Link| (link.above.0, link.below.0) == (pair[0], pair[1]) && link.kind == LinkKind::OneToOne;
            if !a.links.iter().any(linked) {
                let (above, below) = (&a.class(pair[0]).name, &a.class(pair[1]).name);
                let message = format!("`{above}` and `{below}` are merged, and no link makes them one object");
                faults.add(codes::COMPOSITION, place, message).help("merged classes are linked 1:1, from above down");
            }
        }
    }
}

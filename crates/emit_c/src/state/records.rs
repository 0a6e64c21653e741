//! The data of a generated stack: header records, the cells of each class, the instance.

use std::collections::BTreeSet;

use mokume_reaction::*;

use super::numbers;
use super::octets::{aligned_to, places, places_by};
use super::stored::Stored;
use crate::plan::heads::Beside;
use crate::plan::keys;
use crate::plan::Plan;
use crate::text::Text;
use crate::types::{array_type, c_type, declare, stored_octets};
use crate::{kept, memos};

/// Writes the structs of header records, the shapes of maps, the structs of cells, and the instance. `doors`: members of it that say who gets outputs.
pub(crate) fn write(plan: &Plan, doors: &str, text: &mut Text) {
    arrays(plan, text);
    headers(plan, text);
    for index in 0..plan.automaton.classes.len() {
        text.line(format!("struct {};", plan.names.classes[index]));
    }
    text.line("");
    memos::structs(plan, text);
    kept::structs(plan, text);
    for (index, class) in plan.automaton.classes.iter().enumerate() {
        shapes(plan, ClassId::from(index), class, text);
        cells(plan, ClassId::from(index), class, text);
    }
    constants(plan, text);
    instance(plan, doors, text);
}

/// The structs of arrays that occur as values.
fn arrays(plan: &Plan, text: &mut Text) {
    let types = plan.automaton.bodies().flat_map(|body| &body.values).map(|info| info.ty);
    let shape = |ty: Type| Some((array_type(plan.automaton, ty), c_type(plan.automaton, ty), ty.array()?.1));
    let shapes: BTreeSet<_> = types.filter_map(shape).collect();
    for (name, item, count) in shapes {
        text.open(name);
        text.line(format!("{};", declare(item, &format!("at[{count}]"))));
        text.close(";");
        text.line("");
    }
}

fn headers(plan: &Plan, text: &mut Text) {
    for (h, header) in plan.automaton.headers.iter().enumerate() {
        for (v, variant) in header.variants.iter().enumerate() {
            text.open(format!("struct {}", plan.names.variants[h][v]));
            text.line("_Alignas(8) uint32_t kind;");
            for (name, (_, ty)) in plan.names.fields[h][v].iter().zip(&variant.fields) {
                text.line(format!("{};", declare(c_type(plan.automaton, *ty), name)));
            }
            text.close(";");
            text.line("");
        }
    }
}

fn sizes(plan: &Plan, key: &[Type], value: &[Type]) -> (u32, u32) {
    let sum = |types: &[Type]| types.iter().map(|ty| stored_octets(plan.automaton, *ty)).sum();
    (sum(key), sum(value))
}

fn shapes(plan: &Plan, id: ClassId, class: &Class, text: &mut Text) {
    for (cell, name) in class.cells.iter().zip(&plan.names.cells[id.index()]) {
        let CellKind::Map { key, value, capacity, .. } = &cell.kind else { continue };
        if numbers::class_of(&cell.kind).is_some() {
            continue;
        }
        let (key, value) = sizes(plan, key, value);
        let class = &plan.names.classes[id.index()];
        text.line(format!("/* {}: at most {capacity} entries. */", cell.name));
        text.line(format!(
            "static MK_UNUSED const mk_map_shape shape_{class}_{name} = {{{capacity}, {}, {key}, {value}}};",
            places(*capacity)
        ));
        text.line("");
    }
}

fn cells(plan: &Plan, id: ClassId, class: &Class, text: &mut Text) {
    text.line(match plan.place(class.source) {
        Some(place) => format!("/* {}: {place} */", class.name),
        None => format!("/* {} */", class.name),
    });
    text.open(format!("struct {}", plan.names.classes[id.index()]));
    let cells = class.cells.iter().zip(&plan.names.cells[id.index()]).enumerate();
    let of_cell = |(at, (cell, name)): (usize, (&Cell, &String))| members(plan, (id, at.into()), cell, name);
    let mut members: Vec<_> = cells.flat_map(of_cell).collect();
    let kept = memos::all(plan, Some(id)).map(|memo| memos::name(plan, memo));
    members.extend(kept.map(|name| (8, format!("struct {name} {name};"))));
    // The widest first, bits last: then there is no padding between them.
    members.sort_by_key(|(align, _)| std::cmp::Reverse(*align));
    if members.is_empty() {
        text.line("uint8_t unused;");
    }
    members.iter().for_each(|(_, member)| text.line(member));
    text.close(";");
    text.line("");
}

/// The members of the record that a cell becomes, each with its alignment; bits with 0.
fn members(plan: &Plan, place: (ClassId, CellId), cell: &Cell, name: &str) -> Vec<(u64, String)> {
    let class = plan.automaton.class(place.0);
    match &cell.kind {
        CellKind::Scalar { ty, .. } => {
            let stored = Stored::of(plan.automaton, class, *ty);
            let align = stored.octets(plan.automaton, *ty).map_or(0, |(align, _)| align);
            vec![(align, stored.member(plan.automaton, *ty, name))]
        }
        CellKind::Array { ty, size, .. } => {
            let items = format!("{name}[{}]", (*size).max(1));
            vec![(aligned_to(plan.automaton, *ty), format!("{};", declare(c_type(plan.automaton, *ty), &items)))]
        }
        CellKind::Messages { size, .. } => vec![(4, format!("mk_held {name}[{}];", (*size).max(1)))],
        CellKind::Map { key, value, capacity, .. } => {
            let entries = match numbers::class_of(&cell.kind) {
                Some(of) => {
                    let number = numbers::number_type(plan.automaton, of);
                    let align = numbers::number_octets(plan.automaton, of);
                    (align, format!("{number} {name}_entries[{}];", places_by(*capacity)))
                }
                None => {
                    let (key, value) = sizes(plan, key, value);
                    let entries = u64::from((*capacity).max(1)) * u64::from(key + value);
                    let index = format!("MK_MAP_INDEX({capacity}, {}, {key})", places(*capacity));
                    (4, format!("_Alignas(4) uint8_t {name}_entries[{index} + {entries}];"))
                }
            };
            let mut members = vec![(4, format!("mk_map {name};")), entries];
            if let (Some(of), Some(words)) = (numbers::class_of(&cell.kind), plan.keys.get(&place)) {
                let objects = plan.automaton.class(of).capacity.max(1);
                let declared = |(at, word)| format!("{} word{at};", keys::c_type(word));
                let words_of: Vec<String> = words.iter().enumerate().map(declared).collect();
                let item = format!("struct {{ {} }}", words_of.join(" "));
                members.push((keys::kept(words).0, format!("{item} {name}_keys[{objects}]; /* by object */")));
            }
            members
        }
        CellKind::Timer => vec![(8, format!("mk_timer {name};"))],
        CellKind::Quota { amount } => vec![(4, format!("uint32_t {name}; /* left of {amount} */"))],
        CellKind::Counter => Vec::new(),
    }
}

fn parents(plan: &Plan, class: &Class) -> u32 {
    class.parent.map_or(1, |parent| plan.automaton.class(parent).capacity)
}

/// Numbers of classes and of the headers' variants.
fn constants(plan: &Plan, text: &mut Text) {
    let (automaton, names) = (plan.automaton, &plan.names);
    text.open("enum");
    for class in (0..automaton.classes.len()).map(ClassId::from) {
        text.line(format!("{} = {},", plan.class_constant(class), class.0));
    }
    text.line(format!("CLASSES = {}", automaton.classes.len()));
    text.close(";");
    text.line("");
    text.open("enum");
    for (h, kinds) in names.kinds.iter().enumerate() {
        for (v, kind) in kinds.iter().enumerate() {
            text.line(format!("{kind} = {},", h << 16 | v));
        }
    }
    text.line("KINDS");
    text.close(";");
    text.line("");
}

fn instance(plan: &Plan, doors: &str, text: &mut Text) {
    let (automaton, names) = (plan.automaton, &plan.names);
    text.line("/* One running stack. The one place of each class beyond its capacity means nobody, and is zero; the only object of a class has");
    text.line(" * the only record. */");
    text.open(format!("struct {}", names.stack));
    text.line("mk_core core;");
    text.line(format!("struct {}_ports ports;", names.stack));
    text.lines(doors);
    if !automaton.params.is_empty() {
        text.line(format!("struct {}_params params;", names.stack));
    }
    text.line(format!("mk_class classes[{}];", automaton.classes.len().max(1)));
    for (index, (class, name)) in automaton.classes.iter().zip(&names.classes).enumerate() {
        let places = class.capacity + 1;
        let records = places - u32::from(plan.is_sole(ClassId::from(index)));
        text.line(format!("struct {name} {name}[{records}];"));
        for beside in plan.heads.all(ClassId::from(index)) {
            text.line(format!("{} {name}_{}[{places}];", beside.item(), beside.name()));
        }
        if plan.heads.has(ClassId::from(index), Beside::Kin) {
            text.line(format!("mk_family {name}_families[{}];", parents(plan, class).max(1)));
        }
        text.line(format!("uint64_t {name}_free[MK_FREE_WORDS({})];", class.capacity.max(1)));
        if plan.mortal.contains(&ClassId::from(index)) {
            text.line(format!("uint64_t {name}_ended[MK_FREE_WORDS({})];", class.capacity.max(1)));
        }
    }
    if !plan.automaton.paths.is_empty() {
        text.line(format!("mk_asked asked[{}]; /* of paths */", plan.automaton.paths.len()));
    }
    if plan.automaton.functions.iter().any(Function::is_memo) {
        text.line("uint64_t memos; /* how often something has changed that memos read */");
    }
    for name in memos::all(plan, None).map(|memo| memos::name(plan, memo)) {
        text.line(format!("struct {name} {name};"));
    }
    kept::members(plan, text);
    text.line(format!("mk_timers timers[{}];", plan.timers.len().max(1)));
    text.line(format!("mk_channel channels[{}];", plan.channels.len().max(1)));
    text.line(format!("uint64_t counters[{}];", plan.counters.len().max(1)));
    text.line(format!("uint64_t dropped[{}], consumed[{0}];", automaton.reasons.len().max(1)));
    for (handler, name) in automaton.handlers.iter().zip(&names.handlers) {
        if handler.later_capacity > 0 {
            text.line(format!("uint32_t later_{name};"));
        }
    }
    if plan.coverage {
        text.line(format!("uint64_t coverage[{}];", plan.branches.len().max(1)));
    }
    text.close(";");
    text.line("");
}

//! Lenses and paths as text.

use super::names::{self, ident, path};
use super::print_term::{octets, TermPrinter};
use crate::terms::TermContext;
use crate::*;

pub fn lens(automaton: &Automaton, id: LensId, lens: &Lens) -> String {
    let printer = TermPrinter { context: TermContext::of_lens(automaton, id), in_lens: true };
    let classes: Vec<String> = lens.classes.iter().map(|class| names::class(automaton, *class)).collect();
    let around = lens.around.and_then(|around| automaton.lenses.get(around.index()));
    let around = around.map_or(String::new(), |around| format!(" around {}", ident(&around.name)));
    let mut out = format!("lens {} for {}{around} {{\n", ident(&lens.name), classes.join(", "));
    for cell in &lens.cells {
        let heat = match cell.heat {
            Heat::Hot => "hot",
            Heat::Cold => "cold",
        };
        let kind = match &cell.kind {
            LensCellKind::Scalar { width, init } => format!("u{width} = {init}"),
            LensCellKind::Template { init } => format!("octets {}", octets(init)),
        };
        out += &format!("  {heat} {}: {kind}\n", ident(&cell.name));
    }
    for view in &lens.views {
        let width = cell_width(automaton, view.class, view.cell);
        let get = printer.term(&view.get, width);
        out +=
            &format!("  view {} = {get}{}\n", cell_name(automaton, view.class, view.cell), puts(&printer, &view.put));
    }
    for invariant in &lens.invariants {
        out += &format!("  invariant {}\n", printer.term(invariant, Some(1)));
    }
    for update in &lens.refresh {
        out += &format!("  refresh {}\n", lens_update(&printer, update));
    }
    out + "}\n"
}

pub fn cell_width(automaton: &Automaton, class: ClassId, cell: CellId) -> Option<u8> {
    match automaton.classes.get(class.index())?.cells.get(cell.index())?.kind {
        CellKind::Scalar { ty, .. } | CellKind::Array { ty, .. } => Some(ty.width(automaton)),
        _ => None,
    }
}

fn cell_name(automaton: &Automaton, class: ClassId, cell: CellId) -> String {
    let found = automaton.classes.get(class.index()).and_then(|class| class.cells.get(cell.index()));
    format!("{}.{}", names::class(automaton, class), found.map_or("?".to_owned(), |cell| ident(&cell.name)))
}

fn puts(printer: &TermPrinter, updates: &[LensUpdate]) -> String {
    if updates.is_empty() {
        return String::new();
    }
    let updates: Vec<String> = updates.iter().map(|update| lens_update(printer, update)).collect();
    format!(" put {}", updates.join(", "))
}

fn lens_update(printer: &TermPrinter, update: &LensUpdate) -> String {
    let name = printer.lens_cell(PathObjectId(0), update.cell);
    format!("{name} := {}", lens_value(printer, PathObjectId(0), update.cell, &update.value))
}

fn lens_value(printer: &TermPrinter, object: PathObjectId, cell: LensCellId, value: &LensValue) -> String {
    let width = match printer.context.lens_cell(object, cell).map(|cell| &cell.kind) {
        Some(LensCellKind::Scalar { width, .. }) => Some(*width),
        _ => None,
    };
    match value {
        LensValue::Term(term) => printer.term(term, width),
        LensValue::Octets(pieces) => format!("octets {}", printer.pieces(pieces)),
    }
}

pub fn path_item(automaton: &Automaton, found: &Path) -> String {
    let port = automaton.ports.get(found.port.index());
    let event = port.and_then(|port| port.inputs.get(found.event as usize));
    let event = event.map_or("?".to_owned(), |input| ident(&input.event));
    let port = port.map_or("?".to_owned(), |port| ident(&port.name));
    let mut out = format!("path {} on {port}.{event} {{\n", ident(&found.name));
    let context = TermContext::of_path(automaton, found.port, found.event);
    let mut printer = TermPrinter { context, in_lens: false };
    for step in &found.steps {
        out += &format!("  {}\n", step_line(automaton, &printer, step));
        printer.context.step(step);
    }
    for effect in &found.commit {
        out += &format!("  {}\n", effect_line(automaton, &printer, effect));
    }
    for sent in &found.outs {
        out += &format!("  {}\n", out_line(automaton, &printer, sent));
    }
    out + "}\n"
}

fn step_line(automaton: &Automaton, printer: &TermPrinter, step: &Step) -> String {
    match step {
        Step::Object { name, lens, from } => {
            let lens = automaton.lenses.get(lens.index()).map_or("?".to_owned(), |lens| ident(&lens.name));
            format!("object {}: {lens} = {}", ident(name), object_source(automaton, printer, from))
        }
        Step::Let { name, width, term } => {
            format!("let {}: u{width} = {}", ident(name), printer.term(term, Some(*width)))
        }
        Step::Guard { condition, refresh } => {
            let refresh = refresh.map_or(String::new(), |object| format!(" refresh {}", printer.object(object)));
            format!("guard {}{refresh}", printer.term(condition, Some(1)))
        }
    }
}

fn object_source(automaton: &Automaton, printer: &TermPrinter, from: &ObjectSource) -> String {
    match from {
        ObjectSource::Param(index) => {
            let name = printer.context.params.get(*index as usize).map_or("?".to_owned(), |(name, _)| ident(name));
            format!("param {name}")
        }
        ObjectSource::Unique(class) => format!("unique {}", names::class(automaton, *class)),
        ObjectSource::Parent(object, class) => {
            format!("parent {} as {}", printer.object(*object), names::class(automaton, *class))
        }
        ObjectSource::Cell(object, class, cell) => printer.cell(*object, *class, *cell),
        ObjectSource::Find { object, class, cell, key, value } => {
            let types = match automaton.classes.get(class.index()).and_then(|c| c.cells.get(cell.index())) {
                Some(Cell { kind: CellKind::Map { key, .. }, .. }) => &key[..],
                _ => &[],
            };
            let width = |index: usize| types.get(index).map(|ty| ty.width(automaton));
            let key: Vec<String> =
                key.iter().enumerate().map(|(index, term)| printer.term(term, width(index))).collect();
            format!("find {}[{}].{value}", printer.cell(*object, *class, *cell), key.join(", "))
        }
    }
}

fn effect_line(automaton: &Automaton, printer: &TermPrinter, effect: &Effect) -> String {
    let cell = |object: &PathObjectId, class: &ClassId, cell: &CellId| printer.cell(*object, *class, *cell);
    let reason = |id: &ReasonId| names::reason(automaton, *id);
    let param = |index: &u32| printer.term(&Term::Param(*index), None);
    match effect {
        Effect::SetLens { object, cell, value } => {
            let name = printer.lens_cell(*object, *cell);
            format!("set {name} := {}", lens_value(printer, *object, *cell, value))
        }
        Effect::Set { object, class, cell: id, value } => {
            let width = cell_width(automaton, *class, *id);
            format!("set {} := {}", cell(object, class, id), printer.term(value, width))
        }
        Effect::SetAt { object, class, cell: id, index, value } => {
            let width = cell_width(automaton, *class, *id);
            let (index, value) = (printer.term(index, None), printer.term(value, width));
            format!("set {}[{index}] := {value}", cell(object, class, id))
        }
        Effect::Arm { object, class, cell: id, deadline } => {
            format!("arm {}, {}", cell(object, class, id), printer.term(deadline, Some(64)))
        }
        Effect::Disarm { object, class, cell: id } => format!("disarm {}", cell(object, class, id)),
        Effect::Count { object, class, cell: id, amount } => {
            format!("count {}, {}", cell(object, class, id), printer.term(amount, None))
        }
        Effect::Take { object, class, cell: id, amount } => {
            format!("take {}, {}", cell(object, class, id), printer.term(amount, Some(32)))
        }
        Effect::Give { object, class, cell: id, amount } => {
            format!("give {}, {}", cell(object, class, id), printer.term(amount, Some(32)))
        }
        Effect::Keep { object, class, cell: id, index, message } => {
            let index = printer.term(index, Some(32));
            format!("keep {}[{index}], {}", cell(object, class, id), printer.message(message))
        }
        Effect::Drop { message, reason: why } => format!("drop {}, {}", param(message), reason(why)),
        Effect::Consume { message, reason: why } => format!("consume {}, {}", param(message), reason(why)),
    }
}

fn out_line(automaton: &Automaton, printer: &TermPrinter, sent: &PathOut) -> String {
    let port = automaton.ports.get(sent.port.index());
    let output = port.and_then(|port| port.outputs.get(sent.event as usize));
    let params = output.map_or(&[][..], |output| &output.params);
    let args: Vec<String> = sent
        .args
        .iter()
        .enumerate()
        .map(|(index, arg)| match arg {
            PathArg::Term(term) => printer.term(term, params.get(index).map(|(_, ty)| ty.width(automaton))),
            PathArg::Object(object, class) => {
                format!("{} as {}", printer.object(*object), names::class(automaton, *class))
            }
            PathArg::Message(message) => printer.message(message),
        })
        .collect();
    let event = output.map_or("?".to_owned(), |output| ident(&output.event));
    format!("out {}.{event}({})", path(port.map_or("?", |port| &port.name)), args.join(", "))
}

//! Automata as text: the declarations. Bodies are in `print_body`, wires in `print_wire`.

use super::names::{self, ident, path, quoted};
use super::{print_body, print_wire};
use crate::*;

/// The text of an automaton, in canonical form.
pub fn print(automaton: &Automaton) -> String {
    let automaton = &automaton.canonical();
    let mut out = format!("automaton {}\n", ident(&automaton.name));
    if automaton.tick != 0 {
        out += &format!("tick {}\n", automaton.tick);
    }
    if automaton.pool != 0 {
        out += &format!("pool {}\n", automaton.pool);
    }
    if automaton.outputs != 0 {
        out += &format!("outputs {}\n", automaton.outputs);
    }
    section(&mut out, automaton.params.iter().map(|found| param(automaton, found)));
    section(&mut out, automaton.enums.iter().map(enumeration));
    section(&mut out, automaton.attributes.iter().map(|found| attribute(automaton, found)));
    section(&mut out, automaton.headers.iter().map(|found| header(automaton, found)));
    section(&mut out, automaton.reasons.iter().map(|found| format!("reason {}\n", path(&found.name))));
    section(&mut out, automaton.layers.iter().map(layer));
    sections(&mut out, automaton.classes.iter().map(|found| class(automaton, found)));
    section(&mut out, automaton.links.iter().map(|found| link(automaton, found)));
    sections(&mut out, automaton.ports.iter().enumerate().map(|(index, found)| port(automaton, index, found)));
    sections(&mut out, automaton.wires.iter().map(|found| print_wire::wire(automaton, found)));
    sections(&mut out, automaton.functions.iter().map(|found| function(automaton, found)));
    sections(&mut out, automaton.handlers.iter().map(|found| handler(automaton, found)));
    sections(&mut out, automaton.paths.iter().map(|found| way(automaton, found)));
    sections(&mut out, automaton.composition.iter().map(|found| composition(automaton, found)));
    section(&mut out, automaton.sources.iter().enumerate().map(|(index, found)| source(index, found)));
    out
}

/// Prints items without empty lines between them.
fn section(out: &mut String, items: impl Iterator<Item = String>) {
    let before = out.len();
    out.push('\n');
    let start = out.len();
    out.extend(items);
    if out.len() == start {
        out.truncate(before);
    }
}

/// Prints items with an empty line before each.
fn sections(out: &mut String, items: impl Iterator<Item = String>) {
    for item in items {
        out.push('\n');
        out.push_str(&item);
    }
}

fn param(automaton: &Automaton, param: &Param) -> String {
    let ty = names::ty(automaton, param.ty);
    let default = param.default.map_or(String::new(), |v| format!(" = {}", names::value(automaton, param.ty, v)));
    format!("param {}: {ty}{default}\n", path(&param.name))
}

pub(super) fn enumeration(found: &Enum) -> String {
    let mut next = 0u64;
    let mut shown = Vec::new();
    for (name, value) in &found.names {
        shown.push(if *value == next { ident(name) } else { format!("{} = {value}", ident(name)) });
        next = value.wrapping_add(1);
    }
    let open = if found.open { " open" } else { "" };
    format!("enum {}: u{}{open} {{ {} }}\n", path(&found.name), found.width, shown.join(", "))
}

fn attribute(automaton: &Automaton, found: &Attribute) -> String {
    let (ty, default) = (names::ty(automaton, found.ty), names::value(automaton, found.ty, found.default));
    format!("attribute {}: {ty} = {default}\n", path(&found.name))
}

pub(super) fn header(automaton: &Automaton, header: &Header) -> String {
    let name = path(&header.name);
    if let [only] = &header.variants[..] {
        if only.name.is_empty() {
            return format!("header {name} {{ {} }}\n", names::params(automaton, &only.fields));
        }
    }
    let mut out = format!("header {name} {{\n");
    for variant in &header.variants {
        out += &format!("  {}{{{}}}\n", ident(&variant.name), names::params(automaton, &variant.fields));
    }
    out + "}\n"
}

fn layer(layer: &Layer) -> String {
    let of = if layer.of.is_empty() { String::new() } else { format!(" of {}", path(&layer.of)) };
    let shape = if layer.shape.is_empty() { String::new() } else { format!(" shape {}", ident(&layer.shape)) };
    format!("layer {}{of}{shape}\n", path(&layer.name))
}

fn class(automaton: &Automaton, class: &Class) -> String {
    let layer = automaton.layers.get(class.layer.index()).map_or("?", |layer| layer.name.as_str());
    let mut out = format!("class {}", path(&class.name));
    if class.name.rsplit_once('.').map(|(prefix, _)| prefix) != Some(layer) {
        out += &format!(" of {}", path(layer));
    }
    out += &format!(" capacity {}", class.capacity);
    if let Some(parent) = class.parent {
        out += &format!(" in {}", names::class(automaton, parent));
    }
    if let Some(limit) = class.settle_limit {
        out += &format!(" settle {limit}");
    }
    out += &format!("{} {{\n", names::source_mark(class.source));
    for found in &class.cells {
        out += &format!("  {}\n", cell(automaton, found));
    }
    out + "}\n"
}

fn cell(automaton: &Automaton, cell: &Cell) -> String {
    let fixed = if cell.fixed { "fixed " } else { "" };
    let kind = cell_kind(automaton, &cell.kind);
    format!("{fixed}{}: {kind}{}", ident(&cell.name), names::source_mark(cell.source))
}

fn cell_kind(automaton: &Automaton, kind: &CellKind) -> String {
    let list = |types: &[Type]| types.iter().map(|ty| names::ty(automaton, *ty)).collect::<Vec<_>>().join(", ");
    let init = |ty: &Type, init: &u64| match init {
        0 => String::new(),
        _ => format!(" = {}", names::value(automaton, *ty, *init)),
    };
    match kind {
        CellKind::Scalar { ty, init: value } => format!("{}{}", names::ty(automaton, *ty), init(ty, value)),
        CellKind::Array { ty, size, init: value } => {
            format!("[{size}] {}{}", names::ty(automaton, *ty), init(ty, value))
        }
        CellKind::Messages { size, quota } => {
            let quota =
                quota.map_or(String::new(), |(class, cell)| format!(" quota {}", cell_path(automaton, class, cell)));
            format!("[{size}] msg{quota}")
        }
        CellKind::Map { key, value, capacity, by } => {
            format!("map {capacity} ({}) -> ({}){}", list(key), list(value), key_cells(automaton, value, by))
        }
        CellKind::Timer => "timer".to_owned(),
        CellKind::Quota { amount } => format!("quota {amount}"),
        CellKind::Counter => "counter".to_owned(),
    }
}

/// ` by a, b`: the cells that hold the keys of a map of objects.
fn key_cells(automaton: &Automaton, value: &[Type], by: &[CellId]) -> String {
    let (Some(Type::Ref(of)), false) = (value.first(), by.is_empty()) else { return String::new() };
    let cell = |id: &CellId| automaton.classes.get(of.index()).and_then(|class| class.cells.get(id.index()));
    let name = |id: &CellId| cell(id).map_or("?".to_owned(), |cell| ident(&cell.name));
    format!(" by {}", by.iter().map(name).collect::<Vec<_>>().join(", "))
}

fn cell_path(automaton: &Automaton, class: ClassId, cell: CellId) -> String {
    let name = automaton.classes.get(class.index()).and_then(|class| class.cells.get(cell.index()));
    format!("{}.{}", names::class(automaton, class), name.map_or("?".to_owned(), |cell| ident(&cell.name)))
}

fn link(automaton: &Automaton, link: &Link) -> String {
    let end = |(class, cell): (ClassId, Option<CellId>)| match cell {
        Some(cell) => cell_path(automaton, class, cell),
        None => names::class(automaton, class),
    };
    let kind = match link.kind {
        LinkKind::OneToOne => "1:1",
        LinkKind::ManyToOne => "n:1",
    };
    format!("link {} = {} {kind}\n", end(link.above), end(link.below))
}

fn port(automaton: &Automaton, index: usize, port: &Port) -> String {
    let kind = match port.kind {
        PortKind::Device => "device",
        PortKind::Application => "application",
    };
    let group = if port.group as usize == index { String::new() } else { format!(" group {}", port.group) };
    let mut out = format!("port {} {kind}{group} {{\n", ident(&port.name));
    for input in &port.inputs {
        let (params, class) = (names::params(automaton, &input.params), names::class(automaton, input.class));
        let defaults: Vec<String> = input.defaults.iter().map(u64::to_string).collect();
        let defaults = if defaults.is_empty() { String::new() } else { format!(" default ({})", defaults.join(", ")) };
        out += &format!("  in {}({params}){defaults} -> {class}.{}\n", ident(&input.event), ident(&input.handler));
    }
    for output in &port.outputs {
        out += &format!("  out {}({})\n", ident(&output.event), names::params(automaton, &output.params));
    }
    out + "}\n"
}

fn function(automaton: &Automaton, function: &Function) -> String {
    let given = (&function.results[..], function.refused());
    format!("{} {{\n{}}}\n", function_head(automaton, function), print_body::body(automaton, &function.body, given))
}

fn function_head(automaton: &Automaton, function: &Function) -> String {
    let types = |types: &[Type]| types.iter().map(|ty| names::ty(automaton, *ty)).collect::<Vec<_>>().join(", ");
    let (word, of, otherwise) = match &function.role {
        Role::Pure => ("function", String::new(), String::new()),
        Role::Published(_) => ("publish", String::new(), String::new()),
        Role::Memo => ("memo", String::new(), String::new()),
        Role::Procedure { layer, refused } => {
            let otherwise = refused.as_ref().map_or(String::new(), |refused| format!(" else ({})", types(refused)));
            (
                "procedure",
                format!(
                    " of {}",
                    automaton.layers.get(layer.index()).map_or("?".to_owned(), |layer| path(&layer.name))
                ),
                otherwise,
            )
        }
    };
    let params = names::params(automaton, &function.params);
    format!("{word} {}{of}({params}) -> ({}){otherwise}", path(&function.name), types(&function.results))
}

fn handler(automaton: &Automaton, handler: &Handler) -> String {
    let class = names::class(automaton, handler.class);
    let head = match &handler.trigger {
        Trigger::Event(event) => format!("handler {class}.{}", ident(event)),
        Trigger::Start => format!("start {class}"),
        Trigger::Settle => format!("settle {class}"),
        Trigger::Expiry(cell) => format!("expiry {}", cell_path(automaton, handler.class, *cell)),
    };
    let object = handler.body.blocks.first().and_then(|entry| entry.params.first());
    let object = object.and_then(|value| handler.body.values.get(value.index())).map_or("?", |info| &info.name);
    let params = names::params(automaton, &handler.params);
    let comma = if params.is_empty() { "" } else { ", " };
    let later = if handler.later_capacity == 0 { String::new() } else { format!(" later {}", handler.later_capacity) };
    let head = format!("{head}({}{comma}{params}){later}{}", ident(object), names::source_mark(handler.source));
    format!("{head} {{\n{}}}\n", print_body::body(automaton, &handler.body, (&[], &[])))
}

/// The text of one handler, function or path, as in [`print`].
pub fn unit(automaton: &Automaton, unit: Unit) -> String {
    match unit {
        Unit::Handler(id) => handler(automaton, automaton.handler(id)),
        Unit::Function(id) => function(automaton, &automaton.functions[id.index()]),
        Unit::Path(id) => way(automaton, &automaton.paths[id.index()]),
    }
}

/// The text of one wire, as in [`print`].
pub fn wire(automaton: &Automaton, id: WireId) -> String {
    print_wire::wire(automaton, &automaton.wires[id.index()])
}

/// A line of a path or a memo as in [`print`], without its source mark.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeLine {
    pub text: String,
    /// Its place in the program.
    pub source: Option<SourceId>,
    pub part: print_body::Part,
}

/// The lines of one path.
pub fn path_code(automaton: &Automaton, way: &Path) -> Vec<CodeLine> {
    let body = crate::canonical::canonical_body(&way.body);
    let way = &Path { handler: way.handler, body };
    let results = automaton.given_back(way);
    framed(way_head(automaton, way), print_body::lines(automaton, &way.body, (&[], &results)))
}

/// The lines of a function.
pub fn function_code(automaton: &Automaton, function: &Function) -> Vec<CodeLine> {
    let body = crate::canonical::canonical_body(&function.body);
    let mut params = function.params.clone();
    crate::canonical::name_params(&mut params, &body, 0);
    let function = Function { body, params, ..function.clone() };
    let lines = print_body::lines(automaton, &function.body, (&function.results, function.refused()));
    framed(format!("{} {{", function_head(automaton, &function)), lines)
}

fn framed(head: String, lines: Vec<print_body::Line>) -> Vec<CodeLine> {
    let frame = |text| CodeLine { text, source: None, part: print_body::Part::Frame };
    let inner = lines.into_iter().map(|line| CodeLine { text: line.text, source: line.source, part: line.part });
    [frame(head)].into_iter().chain(inner).chain([frame("}".to_owned())]).collect()
}

/// The lines of one path, each with its place in the program.
pub fn path_lines(automaton: &Automaton, way: &Path) -> Vec<(String, Option<SourceId>)> {
    path_code(automaton, way).into_iter().map(|line| (line.text, line.source)).collect()
}

fn way(automaton: &Automaton, way: &Path) -> String {
    let body = print_body::body(automaton, &way.body, (&[], &automaton.given_back(way)));
    format!("{}\n{body}}}\n", way_head(automaton, way))
}

fn way_head(automaton: &Automaton, way: &Path) -> String {
    let Some(handler) = automaton.handlers.get(way.handler.index()) else { return "path ? {".to_owned() };
    let class = names::class(automaton, handler.class);
    let of = match &handler.trigger {
        Trigger::Event(event) => format!("{class}.{}", ident(event)),
        Trigger::Expiry(cell) => format!("expiry {}", cell_path(automaton, handler.class, *cell)),
        Trigger::Start | Trigger::Settle => format!("{class}.?"),
    };
    let entry = way.body.blocks.first().map_or(&[][..], |entry| &entry.params);
    let values: Vec<&ValueInfo> = entry.iter().filter_map(|value| way.body.values.get(value.index())).collect();
    let object = values.first().map_or("?", |info| &info.name);
    let others: Vec<(String, Type)> = values.iter().skip(1).map(|info| (info.name.clone(), info.ty)).collect();
    let comma = if others.is_empty() { "" } else { ", " };
    format!("path {of}({}{comma}{}) {{", ident(object), names::params(automaton, &others))
}

fn composition(automaton: &Automaton, composition: &Composition) -> String {
    let layer = |id: LayerId| automaton.layers.get(id.index()).map_or("?".to_owned(), |layer| path(&layer.name));
    let mut out = format!("composed peak {} outputs {} {{\n", composition.peak, composition.outputs);
    for (from, to) in &composition.queued {
        out += &format!("  queued {} -> {}\n", layer(*from), layer(*to));
    }
    for (from, to) in &composition.queued_outputs {
        let port = automaton.ports.get(to.index()).map_or("?".to_owned(), |port| ident(&port.name));
        out += &format!("  queued {} -> port {port}\n", layer(*from));
    }
    for merged in &composition.merged {
        let classes: Vec<String> = merged.iter().map(|id| names::class(automaton, *id)).collect();
        out += &format!("  merged {}\n", classes.join(", "));
    }
    out + "}\n"
}

fn source(index: usize, source: &Source) -> String {
    format!("source {index} {} {}:{}\n", quoted(&source.file), source.line, source.column)
}

//! Puts two automata over one list of declarations, so that equal names mean the same thing in both. Then only
//! behaviour can distinguish what is compared.
//!
//! This works on the text form, where declarations are referred to by name only. If a declaration of one name differs
//! between the two, they are *apart*, and cannot be compared. Cells that only one of them has are recorded
//! ([`Pair::alone`]); no relation is demanded of these.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::FileId;
use mokume_reaction::operation::Slot;
use mokume_reaction::{
    text, Automaton, CellId, CellKind, Class, ClassId, Fallible, Function, FunctionId, Handler, HandlerId, OpKind,
    Operation, Role, Trigger, Type, Unit, Value, ValueInfo, WireId,
};

/// Two automata with the same numbering of declarations.
#[derive(Clone, Debug)]
pub struct Pair {
    pub first: Automaton,
    pub second: Automaton,
    /// Cells that only one of them has.
    pub alone: BTreeSet<(ClassId, CellId)>,
    /// Wires of one name that differ, by their numbers in either automaton; includes wires that only one of them has.
    pub other_wires: BTreeSet<WireId>,
}

/// A handler of a class, in one automaton or in both.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Both {
    pub class: ClassId,
    pub trigger: Trigger,
    pub first: Option<HandlerId>,
    pub second: Option<HandlerId>,
}

impl Both {
    /// The function that this stands for; `None` for a handler.
    pub fn function(&self) -> Option<&str> {
        match &self.trigger {
            Trigger::Event(name) => name.strip_prefix(AS_HANDLER),
            _ => None,
        }
    }
}

/// Operations that treat an object that has ended in this reaction like one that lives: none on timers, places, quotas
/// or events.
const OF_ANYBODY: [&str; 38] = [
    "Const",
    "Null",
    "Binary",
    "Compare",
    "Not",
    "Select",
    "Cast",
    "Param",
    "Now",
    "Call",
    "Run",
    "Pack",
    "Item",
    "SetItem",
    "Slice",
    "Splice",
    "Get",
    "Set",
    "GetAt",
    "SetAt",
    "Count",
    "NewMessage",
    "Front",
    "Push",
    "Pop",
    "Encode",
    "Size",
    "Trim",
    "Skip",
    "Share",
    "Load",
    "Store",
    "Sum16",
    "SumPart",
    "Fold16",
    "GetAttribute",
    "SetAttribute",
    "Drop",
];

/// Whether a function does the same alone as where it runs. It must get only objects whose handlers run it, which
/// exist, and must do nothing that depends on whether they have ended.
fn is_read_alone(automaton: &Automaton, id: FunctionId) -> bool {
    let function = &automaton.functions[id.index()];
    if matches!(function.role, Role::Published(_) | Role::Memo) {
        return false;
    }
    let objects = (0..function.params.len()).filter(|place| matches!(function.params[*place].1, Type::Ref(_)));
    objects.into_iter().all(|place| is_own(automaton, (id, place), &mut Vec::new()))
        && is_of_anybody(automaton, id, &mut Vec::new())
}

fn is_of_anybody(automaton: &Automaton, id: FunctionId, seen: &mut Vec<FunctionId>) -> bool {
    if seen.contains(&id) {
        return true;
    }
    seen.push(id);
    let body = &automaton.functions[id.index()].body;
    let attempts = body.attempts().all(|op| matches!(op, Fallible::TryRun { .. }));
    let ops = body.ops().all(|op| OF_ANYBODY.contains(&op.kind.row().name));
    let slots = body.ops().flat_map(|op| op.kind.slots()).chain(body.attempts().flat_map(|op| op.slots()));
    let named: Vec<FunctionId> =
        slots.filter_map(|slot| if let Slot::Function(id) = slot { Some(id) } else { None }).collect();
    attempts && ops && named.into_iter().all(|id| is_of_anybody(automaton, id, seen))
}

/// Whether every caller of a procedure passes, as this parameter, the object of its handler, or one that contains it.
fn is_own(automaton: &Automaton, asked: (FunctionId, usize), open: &mut Vec<(FunctionId, usize)>) -> bool {
    if open.contains(&asked) {
        return true;
    }
    open.push(asked);
    let (id, place) = asked;
    let handlers = automaton.handlers.iter().map(|handler| (None, &handler.body));
    let functions =
        automaton.functions.iter().enumerate().map(|(id, function)| (Some(FunctionId::from(id)), &function.body));
    for (runner, body) in handlers.chain(functions) {
        let runs = body.ops().filter_map(|op| match &op.kind {
            OpKind::Run { procedure, args } if *procedure == id => Some(args),
            _ => None,
        });
        let tries = body.attempts().filter_map(|op| match op {
            Fallible::TryRun { procedure, args, .. } if *procedure == id => Some(args),
            _ => None,
        });
        for args in runs.chain(tries) {
            let Some(given) = args.get(place) else { return false };
            let param = body.blocks[0].params.iter().position(|param| param == given);
            let is_around = body.ops().any(|op| {
                op.results.first() == Some(given)
                    && match &op.kind {
                        OpKind::Unique { .. } => true,
                        OpKind::Parent { object } => body.blocks[0].params.first() == Some(object) && runner.is_none(),
                        _ => false,
                    }
            });
            let is_its_own = match (runner, param) {
                (None, Some(param)) => param == 0,
                (Some(runner), Some(param)) => is_own(automaton, (runner, param), open),
                (_, None) => is_around,
            };
            if !is_its_own {
                return false;
            }
        }
    }
    true
}

/// The kind of a function, regardless of its class or layer.
fn kind(role: &Role) -> u8 {
    match role {
        Role::Pure => 0,
        Role::Published(_) => 1,
        Role::Procedure { .. } => 2,
        Role::Memo => 3,
    }
}

/// A function as a handler of its first parameter; of the first class, if that is not an object.
fn as_handler(automaton: &Automaton, name: &str) -> Option<Handler> {
    let function = automaton.functions.iter().find(|function| function.name == name)?;
    let (mut params, mut body) = (function.params.clone(), function.body.clone());
    let class = match params.first() {
        Some((_, Type::Ref(class))) => {
            let class = *class;
            params.remove(0);
            class
        }
        _ => {
            let class = ClassId::from(0);
            body.values.push(ValueInfo { name: "nobody".to_owned(), ty: Type::Ref(class) });
            let value = Value((body.values.len() - 1) as u32);
            body.blocks.first_mut()?.params.insert(0, value);
            class
        }
    };
    let trigger = Trigger::Event(format!("{AS_HANDLER}{name}"));
    Some(Handler { class, trigger, params, body, later_capacity: 0, source: None })
}

/// The first words of lines in the text form that declare something.
const DECLARED: [&str; 7] = ["param", "enum", "attribute", "header", "reason", "layer", "port"];

/// A part of the text form: the lines of one item.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Item {
    word: String,
    /// The name that it declares, or its first line.
    name: String,
    text: String,
}

/// Puts two automata over one list of declarations. `Err` lists what is apart, a line each.
pub fn pair(first: &Automaton, second: &Automaton) -> Result<Pair, Vec<String>> {
    let [a, b] = [first, second].map(|automaton| {
        let bare =
            Automaton { composition: None, paths: Vec::new(), name: "same".to_owned(), ..automaton.without_places() };
        items(&text::print(&bare))
    });
    let mut apart = Vec::new();
    let declared = declarations(&a, &b, &mut apart);
    // What starts, and which timer runs first, depends on the order of declaration (docs/semantics.md, R7, T3).
    let starts = |automaton: &Automaton| -> Vec<String> {
        let classes = 0..automaton.classes.len();
        let starts = classes.filter(|class| automaton.handler_of(ClassId::from(*class), &Trigger::Start).is_some());
        starts.map(|class| automaton.classes[class].name.clone()).collect()
    };
    let timers = |automaton: &Automaton| -> Vec<String> {
        let of = |class: &Class| {
            let timers = class.cells.iter().filter(|cell| matches!(cell.kind, CellKind::Timer));
            timers.map(|cell| format!("{}.{}", class.name, cell.name)).collect::<Vec<_>>()
        };
        automaton.classes.iter().flat_map(of).collect()
    };
    let order =
        |all: &[String], of: &[String]| all.iter().filter(|name| of.contains(name)).cloned().collect::<Vec<_>>();
    for (what, one, other) in [
        ("objects start", starts(first), starts(second)),
        ("timers of one deadline run", timers(first), timers(second)),
    ] {
        let (one, other) = (order(&one, &other), order(&other, &one));
        if one != other {
            apart.push(format!("the order in which {what}: {}; {}", one.join(", "), other.join(", ")));
        }
    }
    if !apart.is_empty() {
        return Err(apart);
    }
    let whole = |items: &[Item]| {
        let own = items.iter().filter(|item| !DECLARED.contains(&item.word.as_str()) && item.word != "class");
        declared.iter().chain(own.map(|item| &item.text)).map(|text| format!("{text}\n")).collect::<String>()
    };
    let read = |items: &[Item]| read(&whole(items)).map_err(|why| vec![why]);
    let (over_first, over_second) = (read(&a)?, read(&b)?);
    let alone = cells_of_one(&over_first, first, second);
    let wires = |automaton: &Automaton| -> Vec<String> {
        (0..automaton.wires.len()).map(|wire| text::wire(automaton, WireId::from(wire))).collect()
    };
    let (one, other) = (wires(&over_first), wires(&over_second));
    let differ = (0..one.len().max(other.len())).filter(|wire| one.get(*wire) != other.get(*wire));
    let other_wires = differ.map(WireId::from).collect();
    Ok(Pair { first: over_first, second: over_second, alone, other_wires })
}

fn read(text: &str) -> Result<Automaton, String> {
    let parsed = text::parse(FileId(0), text);
    match parsed.diagnostics.first() {
        Some(diagnostic) => Err(format!("they do not go together: {}", diagnostic.message)),
        None => Ok(parsed.automaton),
    }
}

fn items(text: &str) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match items.last_mut() {
            Some(item) if line.starts_with([' ', '}']) => {
                item.text.push('\n');
                item.text.push_str(line);
            }
            _ => {
                let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
                let is_named = DECLARED.contains(&word) || word == "class";
                let name = if is_named { named(rest) } else { line };
                items.push(Item { word: word.to_owned(), name: name.to_owned(), text: line.to_owned() });
            }
        }
    }
    items
}

/// The name at the beginning of a declaration; quoted parts are kept whole.
fn named(rest: &str) -> &str {
    let mut is_quoted = false;
    let end = rest.find(|letter| {
        is_quoted ^= letter == '`';
        !is_quoted && matches!(letter, ' ' | ':' | '{' | '(')
    });
    &rest[..end.unwrap_or(rest.len())]
}

/// The declarations of both, those of the first automaton first.
fn declarations(a: &[Item], b: &[Item], apart: &mut Vec<String>) -> Vec<String> {
    let find = |of: &[Item], item: &Item| {
        of.iter().find(|other| (&other.word, &other.name) == (&item.word, &item.name)).cloned()
    };
    let heads = |items: &[Item]| {
        let of = |item: &&Item| matches!(item.word.as_str(), "tick" | "outputs");
        items.iter().filter(of).map(|item| item.text.clone()).collect::<Vec<_>>()
    };
    if heads(a) != heads(b) {
        apart.push(format!("`{}` and `{}`", heads(a).join(", "), heads(b).join(", ")));
    }
    // Port numbers define which outputs keep their relative order.
    let ports = |items: &[Item]| -> Vec<String> {
        items.iter().filter(|item| item.word == "port").map(|item| item.name.clone()).collect()
    };
    let (one, other) = (ports(a), ports(b));
    if one != other && one.iter().collect::<BTreeSet<_>>() == other.iter().collect::<BTreeSet<_>>() {
        apart.push(format!("the order of ports: {}; {}", one.join(", "), other.join(", ")));
    }
    let mut declared = Vec::new();
    for word in DECLARED.into_iter().chain(["class"]) {
        let of = |items: &[Item]| items.iter().filter(|item| item.word == word).cloned().collect::<Vec<_>>();
        for item in of(a) {
            declared.push(match (word, find(b, &item)) {
                (_, None) if word == "port" => {
                    apart.push(format!("port `{}` is there only in the first", item.name));
                    item.text
                }
                (_, None) => item.text,
                ("class", Some(other)) => class(&item, &other, apart),
                // The definition that an instance is of does not matter.
                ("layer", Some(_)) => item.text,
                (_, Some(other)) if other.text == item.text => item.text,
                (_, Some(other)) => {
                    let (one, another) = first_difference(&item.text, &other.text);
                    apart.push(format!("{word} `{}`: `{one}` and `{another}`", item.name));
                    item.text
                }
            });
        }
        for item in of(b).into_iter().filter(|item| find(a, item).is_none()) {
            if word == "port" {
                apart.push(format!("port `{}` is there only in the second", item.name));
            }
            declared.push(item.text);
        }
    }
    declared
}

fn first_difference<'t>(a: &'t str, b: &'t str) -> (&'t str, &'t str) {
    let (mut a, mut b) = (a.lines(), b.lines());
    loop {
        match (a.next(), b.next()) {
            (Some(one), Some(other)) if one == other => {}
            (one, other) => return (one.unwrap_or("").trim(), other.unwrap_or("").trim()),
        }
    }
}

/// The cells of both, those of the first automaton first.
fn class(a: &Item, b: &Item, apart: &mut Vec<String>) -> String {
    let (head, other) = (a.text.lines().next().unwrap_or(""), b.text.lines().next().unwrap_or(""));
    if head != other {
        apart.push(format!("`{}` and `{}`", head.trim_end_matches(" {"), other.trim_end_matches(" {")));
    }
    let (mine, theirs) = (cells(a), cells(b));
    let mut lines = vec![head.to_owned()];
    for (name, line) in &mine {
        if let Some((_, other)) = theirs.iter().find(|(other, _)| other == name).filter(|(_, other)| other != line) {
            apart.push(format!("state of `{}`: `{}` and `{}`", a.name, line.trim(), other.trim()));
        }
        lines.push((*line).to_owned());
    }
    let more = theirs.iter().filter(|(name, _)| !mine.iter().any(|(other, _)| other == name));
    lines.extend(more.map(|(_, line)| (*line).to_owned()));
    lines.push("}".to_owned());
    lines.join("\n")
}

fn cells(class: &Item) -> Vec<(&str, &str)> {
    let lines = class.text.lines().skip(1).filter(|line| line.starts_with(' '));
    lines.map(|line| (named(line.trim_start().trim_start_matches("fixed ")), line)).collect()
}

fn cells_of_one(both: &Automaton, first: &Automaton, second: &Automaton) -> BTreeSet<(ClassId, CellId)> {
    let mut alone = BTreeSet::new();
    for (c, class) in both.classes.iter().enumerate() {
        for (place, cell) in class.cells.iter().enumerate() {
            let has = |of: &Automaton| {
                let mut cells =
                    of.classes.iter().filter(|other| other.name == class.name).flat_map(|other| &other.cells);
                cells.any(|other| other.name == cell.name)
            };
            if !(has(first) && has(second)) {
                alone.insert((ClassId::from(c), CellId::from(place)));
            }
        }
    }
    alone
}

/// The prefix of the trigger of a function that is read as a handler.
const AS_HANDLER: &str = "function ";

impl Pair {
    /// The same pair with additional handlers: one for each common function whose text differs; [`Both::function`]
    /// identifies them. If procedures are inlined later, these handlers are read with all that they run. A function
    /// becomes a handler of its first parameter, if that is an object.
    pub fn with_functions(&self) -> Pair {
        let mut pair = self.clone();
        for name in self.functions_apart() {
            let heads = [&self.first, &self.second].map(|automaton| as_handler(automaton, &name));
            let [Some(first), Some(second)] = heads else { continue };
            pair.first.handlers.push(first);
            pair.second.handlers.push(second);
        }
        pair
    }

    /// Functions with the same name and signature in both whose own text differs.
    fn functions_apart(&self) -> Vec<String> {
        let mut apart = Vec::new();
        for (place, function) in self.first.functions.iter().enumerate() {
            let Some(other) = self.second.functions.iter().position(|other| other.name == function.name) else {
                continue;
            };
            let described = &self.second.functions[other];
            let types = |function: &Function| function.params.iter().map(|(_, ty)| *ty).collect::<Vec<_>>();
            let head = |function: &Function| (types(function), function.results.clone(), function.refused().to_vec());
            let is_alike = head(function) == head(described) && kind(&function.role) == kind(&described.role);
            let [a, b] = [(&self.first, place), (&self.second, other)];
            let text = |(automaton, place): (&Automaton, usize)| text::unit(automaton, Unit::Function(place.into()));
            let are_read = is_read_alone(&self.first, place.into()) && is_read_alone(&self.second, other.into());
            if is_alike && are_read && text(a) != text(b) {
                apart.push(function.name.clone());
            }
        }
        apart
    }

    /// The handlers of both automata, paired by class and trigger.
    pub fn handlers(&self) -> Vec<Both> {
        let mut all: Vec<Both> = Vec::new();
        for handler in self.first.handlers.iter().chain(&self.second.handlers) {
            let (class, trigger) = (handler.class, handler.trigger.clone());
            if !all.iter().any(|known| known.class == class && known.trigger == trigger) {
                let [first, second] =
                    [&self.first, &self.second].map(|automaton| automaton.handler_of(class, &trigger));
                all.push(Both { class, trigger, first, second });
            }
        }
        all
    }

    /// Whether a handler has the same code in both, including all functions and wires that it names. Functions in
    /// `known`, which are known to do the same, are not compared.
    pub fn is_same_code(&self, both: &Both, known: &BTreeSet<String>) -> bool {
        let (Some(first), Some(second)) = (both.first, both.second) else { return false };
        let codes = (Code::of(&self.first, first, known), Code::of(&self.second, second, known));
        matches!(codes, (Some(one), Some(other)) if one == other)
    }
}

/// The code of a handler, as text.
#[derive(PartialEq, Eq)]
struct Code {
    handler: String,
    functions: BTreeMap<String, String>,
    wires: BTreeMap<String, String>,
}

impl Code {
    /// `None` if it calls functions in C, of which only the names are known.
    fn of(automaton: &Automaton, handler: HandlerId, known: &BTreeSet<String>) -> Option<Code> {
        let mut code = Code {
            handler: text::unit(automaton, Unit::Handler(handler)),
            functions: BTreeMap::new(),
            wires: BTreeMap::new(),
        };
        let mut open = vec![&automaton.handler(handler).body];
        while let Some(body) = open.pop() {
            let plain = body.ops().map(|op| (op.kind.row().name, op.kind.slots()));
            for (name, slots) in plain.chain(body.attempts().map(|op| (op.row().name, op.slots()))) {
                if name == "Native" {
                    return None;
                }
                for slot in slots {
                    match slot {
                        Slot::Function(FunctionId(id)) => {
                            let function = &automaton.functions[id as usize];
                            if known.contains(&function.name) {
                                continue;
                            }
                            let text = text::unit(automaton, Unit::Function(FunctionId(id)));
                            if code.functions.insert(function.name.clone(), text).is_none() {
                                open.push(&function.body);
                            }
                        }
                        Slot::Wire(WireId(id)) => {
                            let text = text::wire(automaton, WireId(id));
                            code.wires.insert(automaton.wires[id as usize].name.clone(), text);
                        }
                        _ => {}
                    }
                }
            }
        }
        Some(code)
    }
}

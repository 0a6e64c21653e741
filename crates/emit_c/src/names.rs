//! C names for everything that an automaton names: readable, legal, and unique.

use rustc_hash::FxHashSet as HashSet;

use mokume_reaction::{Automaton, CellKind, Trigger};

/// The names of one generated stack; each list is indexed like what it names.
#[derive(Debug)]
pub struct Names {
    /// The prefix of every public name.
    pub stack: String,
    pub classes: Vec<String>,
    /// By class, by cell.
    pub cells: Vec<Vec<String>>,
    pub handlers: Vec<String>,
    pub functions: Vec<String>,
    pub wires: Vec<String>,
    /// By header, by variant: the struct's tag.
    pub variants: Vec<Vec<String>>,
    /// By header, by variant: the constant at the beginning of its records.
    pub kinds: Vec<Vec<String>>,
    /// Names in the header, for programs: by reason; by enumeration and index in it.
    pub reasons: Vec<String>,
    pub enums: Vec<Vec<String>>,
    /// By enumeration: its tag, without the stack's name.
    pub enum_tags: Vec<String>,
    /// The constants for what a call returns: no output; by port, by event.
    pub nothing_returned: String,
    pub returned: Vec<Vec<String>>,
    /// By header, by variant, by field.
    pub fields: Vec<Vec<Vec<String>>>,
    /// By port, by event.
    pub inputs: Vec<Vec<String>>,
    pub outputs: Vec<Vec<String>>,
    pub params: Vec<String>,
}

/// The words of C that name no function, up to C23, and `main`, which is the program's own.
const WORDS_OF_C: &[&str] = &[
    "alignas",
    "alignof",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "main",
    "nullptr",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "thread_local",
    "true",
    "typedef",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "NULL",
    "errno",
];

/// Names that compilers and C's headers have taken before: macros and types; and words that the generated text uses.
const TAKEN: &str =
    "unix linux kind unused offsetof and and_eq bitand bitor compl complex imaginary math_errhandling noreturn not \
    not_eq or or_eq stderr stdin stdout xor xor_eq int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t \
    intptr_t uintptr_t intmax_t uintmax_t ptrdiff_t size_t wchar_t max_align_t";

/// Names that every generated file has.
const OWN: &[&str] = &[
    "deliver",
    "expire",
    "settle",
    "clear",
    "leave",
    "carry_later",
    "end_behind",
    "end_quiet",
    "program",
    "has_room",
    "input",
    "message_shape",
    "attribute_defaults",
    "counter_names",
    "reason_names",
    "sources",
    "any_init",
    "any_start",
    "any_advance",
    "any_next_deadline",
    "any_core",
    "any_counters",
    "any_coverage",
    "core",
    "ports",
    "params",
    "classes",
    "channels",
    "counters",
    "dropped",
    "consumed",
    "coverage",
    "k",
];

/// What a stack's header declares of every stack, behind its name: functions and data, and tags.
const PUBLIC: &[&str] = &[
    "size",
    "init",
    "start",
    "advance",
    "next_deadline",
    "accounts",
    "core",
    "interface",
    "defaults",
    "default_params",
];
const TAGS: &[&str] = &["params", "ports", "reason", "returned"];

/// Names of files that a stack's own would hide, or that would hide its own: the runtime's, and headers of C and POSIX that
/// programs include. In small letters: some file systems do not tell letters by their size.
const FILES: &[&str] = &[
    "mokume",
    "unit",
    "alloca",
    "assert",
    "complex",
    "ctype",
    "dirent",
    "endian",
    "errno",
    "fcntl",
    "features",
    "fenv",
    "float",
    "inttypes",
    "limits",
    "locale",
    "malloc",
    "math",
    "memory",
    "netdb",
    "poll",
    "pthread",
    "sched",
    "setjmp",
    "signal",
    "stdalign",
    "stdarg",
    "stdatomic",
    "stdbool",
    "stddef",
    "stdint",
    "stdio",
    "stdlib",
    "stdnoreturn",
    "string",
    "strings",
    "syslog",
    "termios",
    "tgmath",
    "threads",
    "time",
    "uchar",
    "unistd",
    "values",
    "wchar",
    "wctype",
];

/// In front of the names of functions in C where they are compiled to be called here, by any number of stacks.
pub const FUNCTIONS: &str = "mk_fn_";

/// In front of the names of functions in C that a stack, by the prefix of its names, has for itself. `fn` is a keyword, so
/// nothing else of the stack is called so.
pub fn functions_of(stack: &str) -> String {
    format!("{stack}_fn_")
}

/// The prefix of a stack's public names, which is the name of its files, too: a legal identifier.
pub fn stack_identifier(name: &str) -> String {
    let text = identifier(name);
    let small = text.to_ascii_lowercase();
    match FILES.contains(&small.as_str()) || small == "mk" || small.starts_with("mk_") {
        true => format!("{text}_"),
        false => text,
    }
}

/// A legal C identifier that resembles `name`.
pub fn identifier(name: &str) -> String {
    let mut text: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, 'n');
    }
    // Names that begin with an underscore are reserved.
    let text = text.trim_start_matches('_').to_string();
    let text = if text.is_empty() { "n".to_string() } else { text };
    let is_taken = is_limit(&text) || WORDS_OF_C.contains(&text.as_str()) || TAKEN.split(' ').any(|word| word == text);
    if is_taken || text.starts_with("mk_") || text.starts_with("MK_") {
        return format!("{text}_");
    }
    text
}

/// Whether `<stdint.h>` has a macro of this name: `UINT32_MAX`, `SIZE_MAX`, `INT_LEAST8_C`.
fn is_limit(name: &str) -> bool {
    let Some((of, "MAX" | "MIN" | "C" | "WIDTH")) = name.rsplit_once('_') else { return false };
    let of = of.strip_prefix('U').unwrap_or(of);
    let of_width = |of: &str| {
        let of = of.strip_prefix("_LEAST").or(of.strip_prefix("_FAST")).unwrap_or(of);
        matches!(of, "8" | "16" | "32" | "64")
    };
    matches!(of, "SIZE" | "PTRDIFF" | "SIG_ATOMIC" | "WCHAR" | "WINT" | "INTPTR" | "INTMAX")
        || of.strip_prefix("INT").is_some_and(of_width)
}

/// The same for what stands in the header without the stack's name, where the macros of other headers are seen: `EOF`, `BIG_ENDIAN`, `I`. C's and
/// POSIX's are many, and in capitals.
pub(crate) fn bare_identifier(name: &str) -> String {
    let text = identifier(name);
    match text.contains(|c: char| c.is_ascii_uppercase())
        && !text.contains(|c: char| c.is_ascii_lowercase())
        && !text.ends_with('_')
    {
        true => format!("{text}_"),
        false => text,
    }
}

/// Why no function of the user's in C can have this name; `None` if one can.
pub fn why_taken(name: &str) -> Option<&'static str> {
    match name {
        "main" => Some("is where a program in C begins"),
        // In C as it is read by the preprocessor.
        "defined" => Some("is a word of C"),
        _ if WORDS_OF_C.contains(&name) => Some("is a word of C"),
        _ if name.starts_with("mk_") || name.starts_with("MK_") => Some("begins as the names of the runtime do"),
        _ => (identifier(name) != name).then_some("is taken by C's headers"),
    }
}

/// A set of names that must differ from each other.
#[derive(Default)]
pub(crate) struct Scope(HashSet<String>);

impl Scope {
    /// Marks the name as used.
    pub fn take(&mut self, name: &str) {
        if !self.0.contains(name) {
            self.0.insert(name.into());
        }
    }

    /// Frees the name again.
    pub fn leave(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// A new name that resembles the wanted one; a number is appended on a collision.
    pub fn name(&mut self, wanted: &str) -> String {
        self.differing(identifier(wanted))
    }

    /// The same for what [`bare_identifier`] is for.
    pub fn bare(&mut self, wanted: &str) -> String {
        self.differing(bare_identifier(wanted))
    }

    fn differing(&mut self, base: String) -> String {
        let mut name = base.clone();
        let mut number = 2;
        while !self.0.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    }
}

impl Names {
    /// The names of an automaton's stack; `stack` is the prefix of public names.
    pub fn new(automaton: &Automaton, stack: &str) -> Names {
        // One scope for all that is visible in the whole file; members of structs have one each.
        let mut file = Scope::default();
        OWN.iter().for_each(|name| drop(file.name(name)));
        let stack = stack_identifier(stack);
        let classes: Vec<String> = automaton.classes.iter().map(|class| file.name(&class.name)).collect();
        let handlers = automaton.handlers.iter().map(|handler| file.name(&handler_name(automaton, handler))).collect();
        let functions = automaton.functions.iter().map(|f| file.name(&format!("fn_{}", f.name))).collect();
        let wires = automaton.wires.iter().map(|wire| file.name(&wire.name)).collect();
        let variants = tags(automaton);
        let kind = |tag: &String| format!("KIND_{}", tag.trim_start_matches("header_"));
        let kinds = variants.iter().map(|tags| tags.iter().map(kind).collect()).collect();
        let mut constants = Scope::default();
        constants.take(&format!("{stack}_H"));
        let mut constant = |name: &str| constants.name(&format!("{stack}_{}", identifier(name).to_uppercase()));
        let reasons = automaton.reasons.iter().map(|reason| constant(&reason.name)).collect();
        let of_enum = |one: &mokume_reaction::Enum| {
            one.names.iter().map(|(name, _)| constant(&format!("{}_{name}", one.name))).collect()
        };
        let enums = automaton.enums.iter().map(of_enum).collect();
        let outputs = port_names(automaton, &mut Scope::default(), |port| {
            port.outputs.iter().map(|output| output.event.clone()).collect()
        });
        let nothing_returned = constant("returned_nothing");
        let returned = outputs
            .iter()
            .map(|port| port.iter().map(|name| constant(&format!("returned_{name}"))).collect())
            .collect();
        let mut params = Scope::default();
        let mut public = Scope::default();
        PUBLIC.iter().for_each(|name| public.take(name));
        let inputs = port_names(automaton, &mut public, |port| port.inputs.iter().map(|i| i.event.clone()).collect());
        let mut tags = Scope::default();
        TAGS.iter().for_each(|name| tags.take(name));
        inputs.iter().flatten().for_each(|name| tags.take(&format!("{name}_call")));
        Names {
            enum_tags: automaton.enums.iter().map(|one| tags.name(&one.name)).collect(),
            cells: automaton.classes.iter().map(cells).collect(),
            fields: automaton.headers.iter().map(|h| h.variants.iter().map(fields).collect()).collect(),
            inputs,
            outputs,
            nothing_returned,
            returned,
            params: automaton.params.iter().map(|param| params.bare(&param.name)).collect(),
            stack,
            classes,
            handlers,
            functions,
            wires,
            variants,
            kinds,
            reasons,
            enums,
        }
    }
}

fn handler_name(automaton: &Automaton, handler: &mokume_reaction::Handler) -> String {
    let class = &automaton.classes[handler.class.index()];
    let event = match &handler.trigger {
        Trigger::Event(event) => event.clone(),
        Trigger::Start => "at_start".into(),
        Trigger::Expiry(cell) => format!("expiry_{}", class.cells[cell.index()].name),
        Trigger::Settle => "settle".into(),
    };
    format!("{}_{event}", class.name)
}

/// The struct names of the headers' variants.
fn tags(automaton: &Automaton) -> Vec<Vec<String>> {
    let mut tags = Scope::default();
    let of_header = |header: &mokume_reaction::Header| {
        let tag = |variant: &mokume_reaction::Variant| {
            tags.name(&match header.variants.len() {
                1 => format!("header_{}", header.name),
                _ => format!("header_{}_{}", header.name, variant.name),
            })
        };
        header.variants.iter().map(tag).collect()
    };
    automaton.headers.iter().map(of_header).collect()
}

fn port_names(
    automaton: &Automaton,
    scope: &mut Scope,
    events: impl Fn(&mokume_reaction::Port) -> Vec<String>,
) -> Vec<Vec<String>> {
    let port = |port: &mokume_reaction::Port| {
        events(port).iter().map(|event| scope.name(&format!("{}_{event}", port.name))).collect()
    };
    automaton.ports.iter().map(port).collect()
}

fn cells(class: &mokume_reaction::Class) -> Vec<String> {
    let mut scope = Scope::default();
    let name = |cell: &mokume_reaction::Cell| match cell.kind {
        CellKind::Map { .. } => scope.name(&format!("{}_map", cell.name)),
        _ => scope.name(&cell.name),
    };
    class.cells.iter().map(name).collect()
}

fn fields(variant: &mokume_reaction::Variant) -> Vec<String> {
    let mut scope = Scope::default();
    variant.fields.iter().map(|(name, _)| scope.name(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_legal() {
        assert_eq!(identifier("seq.S"), "seq_S");
        assert_eq!(identifier("int"), "int_");
        assert_eq!((identifier("typeof"), identifier("uint32_t")), ("typeof_".into(), "uint32_t_".into()));
        assert_eq!(
            (bare_identifier("EOF"), bare_identifier("Eof"), bare_identifier("NULL")),
            ("EOF_".into(), "Eof".into(), "NULL_".into())
        );
        for limit in ["UINT32_MAX", "INT_LEAST8_C", "SIZE_MAX", "INTPTR_MIN", "INT64_WIDTH", "UINTMAX_MAX"] {
            assert_eq!(identifier(limit), format!("{limit}_"));
        }
        assert_eq!((identifier("INT12_MAX"), identifier("MAX")), ("INT12_MAX".into(), "MAX".into()));
        assert_eq!(identifier("3way"), "n3way");
        assert_eq!(identifier("__x"), "x");
        assert_eq!(identifier("é"), "n");
        assert_eq!((stack_identifier("mk"), stack_identifier("Mokume")), ("mk_".into(), "Mokume_".into()));
    }

    #[test]
    fn names_differ() {
        let mut scope = Scope::default();
        assert_eq!((scope.name("a.b"), scope.name("a_b")), ("a_b".into(), "a_b_2".into()));
    }
}

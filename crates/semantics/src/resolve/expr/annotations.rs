//! Types in the text. The bound of a vector is an expression, so types are resolved in this room.

use mokume_base::{Diagnostic, FileId, Notation};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::{type_of, Context, Item, Lazy};
use crate::resolve::expr::fixed;
use crate::{codes, limits, lost, suggest, tree, types};

/// Resolves a type; `Unknown` after a report.
pub fn read(cx: &mut Context, file: FileId, ty: Option<ast::Type>) -> Type {
    use mokume_syntax::ast::AstNode;
    match ty {
        None => Type::Unknown,
        Some(ast::Type::Named(ty)) => match ty.name() {
            Some(name) => named(cx, file, &tree::name(file, &name)),
            None => Type::Unknown,
        },
        Some(ast::Type::Vector(ty)) => vector(cx, file, &ty),
        Some(ast::Type::Fn(ty)) => {
            let help = "let the layer have it: `worker Route(pick: fn(u32) -> u8)`";
            let span = ty.span(file);
            cx.error(codes::HIGHER_PARAMETER, "only layers and bundles take functions", span, "a function", help);
            Type::Unknown
        }
        Some(other) => {
            let span = other.span(file);
            cx.error(
                codes::NO_SCALAR,
                "a collection is no value",
                span,
                "only state can be one",
                "declare it in a scope: `array a: [u32; 8]`, `map m: [u32 -> u48; 64]`; a value of several is `[u32; ..8]`, of 0 to 8 elements",
            );
            Type::Unknown
        }
    }
}

fn named(cx: &mut Context, file: FileId, name: &Name) -> Type {
    if let Some(given) = cx.types.iter().find(|given| given.name == name.text) {
        return given.ty;
    }
    if let Some(ty) = type_of(&name.text) {
        return ty;
    }
    match cx.item_at(file, name) {
        Some(Item::Record(id)) => Type::Record(id),
        Some(Item::Enum(id)) => cx.program.enums[id.index()].data.map_or(Type::Enum(id), Type::Record),
        Some(Item::Alias(index)) => alias(cx, index, name),
        _ => {
            unknown(cx, file, name);
            Type::Unknown
        }
    }
}

/// Our type for a type of other languages.
fn of_other_languages(name: &str) -> Option<&'static str> {
    Some(match name {
        "int" | "unsigned" | "uint" | "long" | "short" | "size_t" | "usize" | "number" | "integer" => {
            "a number says how many bits it has: `u32`, `u16`, from `u1` to `u64`"
        }
        "byte" | "octet" | "char" | "uint8_t" => "write `u8`",
        "uint16_t" => "write `u16`",
        "uint32_t" => "write `u32`",
        "uint64_t" => "write `u64`",
        "int8_t" | "int16_t" | "int32_t" | "int64_t" | "isize" => {
            "numbers have no sign here: `u32`; what wraps is `seq32`"
        }
        "float" | "double" | "f32" | "f64" => "numbers are whole here; a share is two numbers, a time a `Duration`",
        "string" | "String" | "str" | "text" => {
            "texts are octets of messages; what has few values is an `enum`, why something is lost a `Reason`"
        }
        "boolean" | "Bool" | "bit" | "flag" => "write `bool`, or `u1` in a wire",
        "u16be" | "u32be" | "u64be" | "be16" | "be32" | "u16_be" | "u32_be" => {
            "a header, a wire or a field says the order of octets: `wire W big { … }`, `n: u16 big = …`"
        }
        "u16le" | "u32le" | "u64le" | "le16" | "le32" | "u16_le" | "u32_le" => {
            "a header, a wire or a field says the order of octets: `wire W little { … }`, `n: u16 little = …`"
        }
        "bytes" | "Bytes" | "buffer" | "Buffer" | "packet" | "Packet" => {
            "octets are in messages: `Message`; a few numbers are `[u8; ..8]`; three octets of a wire that hold nothing are `pad: u24 = 0`"
        }
        "time" | "Time" | "timestamp" | "Timestamp" => {
            "write `Instant` for a moment, `Duration` for a time between two"
        }
        "Option" | "Optional" | "Vec" | "vec" | "list" | "List" => {
            "a bounded vector is `[u32; ..8]`, with none or some elements"
        }
        _ => return None,
    })
}

fn unknown(cx: &mut Context, file: FileId, name: &Name) {
    let width = name.text.trim_start_matches(|c: char| c.is_ascii_lowercase()).parse::<u32>();
    let number = name.text.starts_with(['u', 'i']) || name.text.starts_with("seq") || name.text.starts_with("int");
    // `uint16_t`
    let signless = name.text.strip_prefix("uint").map(|rest| rest.trim_start_matches('_').trim_end_matches("_t"));
    if let Some(width) = signless.and_then(|rest| rest.parse::<u32>().ok()).filter(|width| (1..=64).contains(width)) {
        let text = format!("there is no type `{}`", name.text);
        let help = format!("write `u{width}`");
        return cx.error(codes::UNKNOWN_TYPE, text, name.span, "of another language", &help);
    }
    if let (Ok(width), true) = (width, number && !name.text.starts_with(char::is_uppercase)) {
        let help = match name.text.starts_with('i') {
            true => format!("numbers have no sign here: `u{}`", width.clamp(1, 64)),
            false => "widths go from 1 to 64".to_string(),
        };
        return cx.error(
            codes::UNKNOWN_TYPE,
            format!("there is no type `{}`", name.text),
            name.span,
            "no such type",
            &help,
        );
    }
    if let Some(ours) = of_other_languages(&name.text) {
        let text = format!("there is no type `{}`", name.text);
        return cx.error(codes::UNKNOWN_TYPE, text, name.span, "of another language", ours);
    }
    let is_type = |item| matches!(item, Item::Record(_) | Item::Enum(_) | Item::Alias(_));
    let builtin = ["bool", "u8", "u16", "u32", "u64", "seq32", "Duration", "Instant", "Message"];
    if let Some(near) = suggest::nearest(&name.text, builtin) {
        let help = format!("did you mean `{near}`?");
        return cx.error(
            codes::UNKNOWN_TYPE,
            format!("there is no type `{}`", name.text),
            name.span,
            "no such type",
            &help,
        );
    }
    cx.unknown(codes::UNKNOWN_TYPE, "a type", name, file, is_type);
    // Its values may be written as no other type's.
    if let Some(last) = cx.out.last_mut() {
        last.loses.push(lost::notations(file));
    }
}

/// The notation of a type in the text, if it is a scalar with one; for a container's type parameter, that of the type given for it.
pub fn notation(cx: &Context, file: FileId, ty: Option<ast::Type>) -> Option<Notation> {
    let named = match ty? {
        ast::Type::Named(named) => named,
        ast::Type::Vector(vector) => return notation(cx, file, vector.element()),
        _ => return None,
    };
    let name = named.name()?.text();
    if let Some(given) = cx.types.iter().find(|given| given.name == name) {
        return given.written;
    }
    match cx.item(file, &name)? {
        Item::Alias(index) => cx.notations.of_aliases.get(index).copied().flatten(),
        _ => None,
    }
}

/// The type of an alias; reports a cycle.
pub fn alias(cx: &mut Context, index: usize, name: &Name) -> Type {
    match std::mem::replace(&mut cx.aliases[index], Lazy::Busy) {
        Lazy::Done(ty) => {
            cx.aliases[index] = Lazy::Done(ty);
            ty
        }
        Lazy::Busy => {
            let text = format!("the type `{}` stands for itself", name.text);
            cx.error(codes::CIRCLE, text, name.span, "leads back here", "name another type");
            cx.aliases[index] = Lazy::Done(Type::Unknown);
            Type::Unknown
        }
        Lazy::Waiting(file, alias) => {
            let ty = cx.deeper(name.span, |cx| read(cx, file, alias.ty())).unwrap_or(Type::Unknown);
            cx.aliases[index] = Lazy::Done(ty);
            ty
        }
    }
}

/// At boundaries (headers, events, published values) each element is its own scalars, so there can be only few.
pub(super) const MOST_ELEMENTS: u64 = 64;

/// `[T; ..8]`: one record for each `T` and bound.
fn vector(cx: &mut Context, file: FileId, ty: &ast::VectorType) -> Type {
    let span = ty.span(file);
    let element = stored(cx, file, ty.element());
    let bound = ty.bound().and_then(|bound| fixed::number(cx, file, &bound, Type::UInt(32)));
    let Some(bound) = bound else { return Type::Unknown };
    if bound == 0 || bound > MOST_ELEMENTS {
        let text = format!("a vector has from 1 to {MOST_ELEMENTS} elements at most, not {bound}");
        let help = if bound == 0 {
            "write how many there are at most: `[T; ..8]`"
        } else {
            "many are kept in a container, `vector<T> all(1000)` of `use containers`; in a packet they are octets of the message"
        };
        cx.error(codes::VECTOR_BOUND, text, span, "its bound", help);
        return Type::Unknown;
    }
    if element == Type::Unknown {
        return Type::Unknown;
    }
    let vector = Vector { element, bound: bound as u32 };
    if let Some(known) = cx.program.records.iter().position(|record| record.vector == Some(vector)) {
        return Type::Record(RecordId(known as u32));
    }
    // Those in records are checked with the records.
    let scalars = if cx.types_are_known { types::scalars(&cx.program, element).saturating_mul(bound) } else { 0 };
    if scalars > limits::SCALARS {
        let text = format!("this vector has {scalars} numbers in it, and {} is the most", limits::SCALARS);
        let help = "keep many things in the state, in arrays, maps or objects: each has a size of its own";
        cx.error(codes::TYPE_TOO_LARGE, text, span, "too large", help);
        return Type::Unknown;
    }
    let name = |text: String| Name { text, span };
    let mut fields =
        vec![Field { name: name("length".into()), ty: Type::UInt(8), big: None, common: None, written: None }];
    fields.extend((0..bound).map(|place| Field {
        name: name(place.to_string()),
        ty: element,
        big: None,
        common: None,
        written: None,
    }));
    let title = format!("[{}; ..{bound}]", cx.show(element));
    cx.program.records.push(Record { name: name(title), fields, vector: Some(vector), written: None });
    Type::Record(RecordId(cx.program.records.len() as u32 - 1))
}

/// Resolves the type of a field of a header: a scalar or a bounded vector, which may have a name.
pub fn of_header(cx: &mut Context, file: FileId, ty: Option<ast::Type>) -> Type {
    scalar_or(cx, file, ty, |cx, ty| cx.program.vector(ty).is_some())
}

/// Resolves a scalar type, for keys and elements.
pub fn scalar(cx: &mut Context, file: FileId, ty: Option<ast::Type>) -> Type {
    scalar_or(cx, file, ty, |_, _| false)
}

/// Resolves a scalar type, or one that is right here, too.
fn scalar_or(cx: &mut Context, file: FileId, ty: Option<ast::Type>, or: impl Fn(&Context, Type) -> bool) -> Type {
    use mokume_syntax::ast::AstNode;
    let span = ty.as_ref().map(|ty| ty.span(file));
    let ty = read(cx, file, ty);
    match span {
        Some(span) if !types::is_scalar(ty) && !or(cx, ty) => {
            let text = format!("{} is no scalar", cx.show(ty));
            let help = "write its parts one by one: `bool`, `uN`, `seqN`, `Duration`, `Instant` or an enum each";
            cx.error(codes::NO_SCALAR, text, span, "expected a scalar", help);
            Type::Unknown
        }
        _ => ty,
    }
}

/// Resolves a type that can be stored: a scalar or a record.
pub fn stored(cx: &mut Context, file: FileId, ty: Option<ast::Type>) -> Type {
    let span = ty.as_ref().map(|ty| ty.span(file));
    let ty = read(cx, file, ty);
    match (ty, span) {
        (Type::Message, Some(span)) => {
            let help = "messages are kept in places: `messages waiting: 8 from kept`";
            cx.error(codes::MESSAGE_STORED, "a message is no value that can be stored", span, "linear", help);
            Type::Unknown
        }
        (Type::Flow(_), Some(span)) => {
            let diagnostic =
                Diagnostic::error(codes::NO_SCALAR, "a flow is kept in a variable or in a map, and not in this")
                    .at(span, "how large it is depends on the stack");
            cx.report(
                diagnostic
                    .help("keep flows as the keys of a map, or of objects: `map who: [Flow -> u8; 4]`, `object Known[of: Flow] …`")
                    .help("or keep the parts that are wanted, each a number: `flow.remote.part`"),
            );
            Type::Unknown
        }
        _ => ty,
    }
}

/// Resolves a type of the keys of objects: what can be stored, or a flow, without vectors, of which a part is there or not.
pub fn of_key(cx: &mut Context, file: FileId, ty: Option<ast::Type>) -> Type {
    use mokume_syntax::ast::AstNode;
    let span = ty.as_ref().map(|ty| ty.span(file));
    let ty = of_state(cx, file, ty);
    match span.filter(|_| holds_vector(&cx.program, ty)) {
        Some(span) => {
            let text = "objects are found by numbers and records, and not by a vector";
            let help = "let a map find a number for it, and the object have the number: `map known: [Name -> u16; 8]`, `object Entry[id: u16]`";
            cx.error(codes::NO_SCALAR, text, span, "a vector is in it", help);
            Type::Unknown
        }
        None => ty,
    }
}

/// Whether a type is a bounded vector, or a record with one in it.
fn holds_vector(program: &Program, ty: Type) -> bool {
    let Type::Record(id) = ty else { return false };
    let Some(record) = program.records.get(id.index()) else { return false };
    record.vector.is_some() || record.fields.iter().any(|field| holds_vector(program, field.ty))
}

/// Resolves a type of state, or of maps: what can be stored, or a flow.
pub fn of_state(cx: &mut Context, file: FileId, ty: Option<ast::Type>) -> Type {
    match is_flow(&ty) {
        true => read(cx, file, ty),
        false => stored(cx, file, ty),
    }
}

fn is_flow(ty: &Option<ast::Type>) -> bool {
    let Some(ast::Type::Named(named)) = ty else { return false };
    named.name().is_some_and(|name| matches!(name.text().as_str(), "Flow" | "LowerFlow"))
}

/// Resolves the type of a parameter, which is required.
pub fn of_param(cx: &mut Context, file: FileId, name: &Name, ty: Option<ast::Type>) -> Type {
    if ty.is_none() {
        let text = format!("parameter `{}` has no type", name.text);
        cx.error(
            codes::NO_TYPE,
            text,
            name.span,
            "expected `: Type` behind it",
            &format!("write `{}: u32`", name.text),
        );
    }
    read(cx, file, ty)
}

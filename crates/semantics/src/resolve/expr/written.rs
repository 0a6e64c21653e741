//! Literals in the notation of a type: `10.0.0.1/24`, `2001:db8::1`. The expected type decides, or else there must be
//! only one type with that notation.

use mokume_base::{Diagnostic, FileId, Span};

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::context::Context;
use crate::{codes, lost};

/// A type that can read the text, by its index in [`Program::written`], and the value that it reads.
struct Reading {
    of: usize,
    words: Vec<u64>,
}

/// A literal, perhaps with an expected type.
pub(super) fn literal(body: &mut Body, text: &str, span: Span, want: Option<Type>) -> Expr {
    match want {
        Some(Type::Unknown) => unknown(span),
        Some(ty @ Type::Record(_)) => wanted_record(body, text, span, ty),
        _ => {
            let all = readings(body.cx, text);
            let numbers = all.iter().filter(|reading| is_number(body.cx, reading)).count();
            let wants_number = want.is_some() && numbers > 0;
            let all = all.into_iter().filter(|reading| !wants_number || is_number(body.cx, reading)).collect();
            let meaning = |cx: &Context, reading: &Reading| (cx.program.written[reading.of].ty, reading.words.clone());
            match chosen(body.cx, (body.file, want), text, span, all, meaning) {
                Some((Type::UInt(natural), words)) => number(&words, natural, span, want),
                Some((ty, words)) => value(body.cx, ty, &mut words.into_iter(), span),
                None => unknown(span),
            }
        }
    }
}

/// The scalars of a literal without an expected type, as in the steps of tests; `None` after a report.
pub fn words(cx: &mut Context, file: FileId, text: &str, span: Span) -> Option<Vec<u64>> {
    let all = readings(cx, text);
    chosen(cx, (file, None), text, span, all, |_, reading| reading.words.clone())
}

fn is_number(cx: &Context, reading: &Reading) -> bool {
    matches!(cx.program.written[reading.of].ty, Type::UInt(_))
}

fn number(words: &[u64], natural: u8, span: Span, want: Option<Type>) -> Expr {
    let ty = match want {
        Some(ty @ Type::UInt(width)) if width >= natural => ty,
        _ => Type::UInt(natural),
    };
    make(ExprKind::Number(words.first().copied().unwrap_or(0)), ty, span)
}

fn wanted_record(body: &mut Body, text: &str, span: Span, ty: Type) -> Expr {
    let form = body.cx.program.form(ty, None);
    if let Some(words) = form.as_ref().and_then(|form| form.read(text)) {
        return value(body.cx, ty, &mut words.into_iter(), span);
    }
    let name = body.show(ty);
    let exceeds = form.as_ref().and_then(|form| form.exceeds(text));
    let help = match form {
        Some(_) if exceeds.is_some() => most_bits(exceeds),
        Some(form) => format!("it is written as in `{}`", form.example()),
        None => format!("write its parts, `{name} {{ … }}`, or say at its declaration how it is written"),
    };
    body.error(codes::NOT_WRITTEN_SO, format!("`{text}` is no `{name}`"), span, "not written so", &help);
    unknown(span)
}

/// A value of a type from its scalars.
fn value(cx: &Context, ty: Type, words: &mut impl Iterator<Item = u64>, span: Span) -> Expr {
    let Type::Record(record) = ty else {
        return make(ExprKind::Number(words.next().unwrap_or(0)), ty, span);
    };
    let fields = cx.program.records.get(record.index()).map_or(&[][..], |record| &record.fields);
    let fields = fields.iter().map(|field| value(cx, field.ty, words, span)).collect();
    make(ExprKind::Record { record, fields }, ty, span)
}

fn readings(cx: &Context, text: &str) -> Vec<Reading> {
    let all = cx.program.written.iter().enumerate();
    all.filter_map(|(of, written)| Some(Reading { of, words: written.form.read(text)? })).collect()
}

/// The single meaning of all readings; or of those by types that the file sees, and of these, by types as wide as
/// expected; else the same among the types that the used files see.
fn chosen<M: PartialEq>(
    cx: &mut Context,
    (file, want): (FileId, Option<Type>),
    text: &str,
    span: Span,
    all: Vec<Reading>,
    meaning: impl Fn(&Context, &Reading) -> M,
) -> Option<M> {
    if all.is_empty() {
        let diagnostic = unread(cx, text, span);
        cx.report(diagnostic);
        return None;
    }
    let is_seen = |reading: &&Reading| {
        let name = &cx.program.written[reading.of].name.text;
        cx.item(file, name) == cx.notations.items.get(reading.of).copied()
    };
    let seen: Vec<&Reading> = all.iter().filter(is_seen).collect();
    let one = |readings: &[&Reading]| {
        let first = meaning(cx, readings.first()?);
        readings.iter().all(|reading| meaning(cx, reading) == first).then_some(first)
    };
    let wide = |reading: &&&Reading| Some(cx.program.written[reading.of].ty) == want;
    let fitting: Vec<&Reading> = seen.iter().filter(wide).copied().collect();
    let is_reached = |reading: &&Reading| cx.names.reaches(file, cx.program.written[reading.of].name.span.file);
    let reached: Vec<&Reading> = all.iter().filter(is_reached).collect();
    let wide_reached: Vec<&Reading> = reached.iter().filter(wide).copied().collect();
    let ways = [&all.iter().collect::<Vec<_>>(), &seen, &fitting, &reached, &wide_reached];
    let found = ways.into_iter().find_map(|readings| one(readings));
    if found.is_none() {
        let mut names: Vec<String> =
            all.iter().map(|reading| format!("`{}`", cx.program.written[reading.of].name.text)).collect();
        names.sort();
        names.dedup();
        let message = format!("`{text}` may be of several types: {}", names.join(", "));
        let help = "say which: `let x: T = …`, or `use` one only";
        cx.error(codes::NOT_WRITTEN_SO, message, span, "of which?", help);
    }
    found
}

fn most_bits(most: Option<u32>) -> String {
    format!("behind `/` stands how many bits of the address are the network's: {} at most", most.unwrap_or_default())
}

/// The part of a number in parts that alone keeps it from being one: `300` in `224.0.0.300`.
fn too_large<'t>(cx: &Context, text: &'t str) -> Option<&'t str> {
    let is_read = |text: &str| cx.program.written.iter().any(|written| written.form.read(text).is_some());
    let parts: Vec<&str> = text.split('.').collect();
    let without = |at: usize| {
        let parts: Vec<&str> = parts.iter().enumerate().map(|(own, part)| if own == at { "0" } else { part }).collect();
        parts.join(".")
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|octet| octet.is_ascii_digit());
    let mut wrong = (0..parts.len()).filter(|at| is_number(parts[*at]) && is_read(&without(*at)));
    wrong.next().map(|at| parts[at])
}

/// Reports that no type has this notation.
fn unread(cx: &Context, text: &str, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(codes::NOT_WRITTEN_SO, format!("`{text}` is no value of any type here"))
        .needs(lost::notations(span.file));
    if text.split('.').count() == 2 && !text.contains('/') {
        return diagnostic
            .at(span, "a decimal point")
            .note("numbers are whole")
            .help("use a smaller unit (`1500 us` for 1.5 ms), multiply and divide (`x * 3 / 2` for 1.5 x), or write `a .. b` with blanks for a range");
    }
    let with_colons = text.replace('-', ":");
    if with_colons != text && cx.program.written.iter().any(|written| written.form.read(&with_colons).is_some()) {
        return diagnostic.at(span, "no type is written so").help(format!("write `{with_colons}`"));
    }
    let padded: Vec<String> = text.split(':').map(|part| format!("{part:0>2}")).collect();
    let padded = padded.join(":");
    if padded != text && cx.program.written.iter().any(|written| written.form.read(&padded).is_some()) {
        return diagnostic.at(span, "a part has two digits").help(format!("write `{padded}`"));
    }
    let exceeds = cx.program.written.iter().find_map(|written| written.form.exceeds(text));
    if exceeds.is_some() {
        return diagnostic.at(span, "too many bits behind `/`").help(most_bits(exceeds));
    }
    if let Some(part) = too_large(cx, text) {
        let help = format!("the other parts are right; `{part}` is more than such a part holds");
        return diagnostic.at(span, "a part is too large").help(help);
    }
    let shape = |text: &str| (text.contains('.'), text.contains('/'));
    let alike = cx.program.written.iter().map(|written| (&written.name.text, written.form.example()));
    let mut alike: Vec<String> = alike
        .filter(|(_, example)| shape(example) == shape(text))
        .map(|(name, example)| format!("as `{example}` is, of `{name}`"))
        .collect();
    alike.dedup();
    let help = match alike.is_empty() {
        true => "say of a type that it is written so, as in `type Address = u32 written dotted(8)`, or `use` the \
                 module that does"
            .to_string(),
        false => format!("write it {}", alike.join(", or ")),
    };
    diagnostic.at(span, "no type is written so").help(help)
}

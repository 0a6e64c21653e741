//! `below.send(…)`: the message, and the fields of the layer's own header or of an alternative.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::unknown;
use crate::resolve::body::Body;
use crate::resolve::context::Item;
use crate::resolve::emit::clauses::Clauses;
use crate::resolve::expr;
use crate::resolve::expr::{messages, records};
use crate::{codes, lost, suggest, tree};

/// Fields as given: name and value; in the short form the name is the value.
type Given = Vec<(Name, Option<Tree>)>;

/// `below.send(msg, seq: next) to flow`
pub(super) fn send(body: &mut Body, args: &[ast::Arg], clauses: &Clauses, span: Span) -> Emission {
    let header = body.this_layer().and_then(|layer| layer.header.clone());
    let owner = body.this_layer().map_or(String::new(), |layer| layer.name.text.clone());
    let mut said = Said::default();
    for arg in args {
        said.read(body, (header.as_ref(), &owner), arg);
    }
    let Said { mut message, chosen, mut given, misspelt } = said;
    if misspelt {
        return Emission::Send { message, fields: None, to: None };
    }
    let goes_alone =
        chosen.as_ref().and_then(|(at, ..)| header.as_ref()?.variants.get(*at as usize)).filter(|of| !of.with_message);
    let attributes = match goes_alone {
        Some(_) if message.is_none() => given.extract_if(.., |(name, _)| is_attribute(body, name)).collect(),
        _ => Vec::new(),
    };
    let fields = send_fields(body, header.as_ref(), &owner, chosen, given, span);
    if let (Some(fields), Some(header)) = (&fields, &header) {
        alone(body, &header.variants[fields.variant as usize], message.as_ref(), span);
        if !attributes.is_empty() {
            message = Some(with_attributes(body, attributes, span));
        }
    } else if message.is_none() {
        body.error(codes::MISSING_ARGUMENT, "`send` needs a message", span, "missing here", "write `below.send(msg)`");
    }
    says_which(body, clauses.to.is_some(), span);
    let to = clauses.to.as_ref().map(|to| expr::value(body, to, Type::Flow(Side::Below)));
    Emission::Send { message, fields, to }
}

fn is_attribute(body: &Body, name: &Name) -> bool {
    let is_named = |id: &AttributeId| body.cx.program.attributes[id.index()].name.text == name.text;
    body.this_layer().is_some_and(|layer| layer.writes.iter().any(is_named))
}

/// The empty message for an alternative without a message, with attributes: `below.send(Ask { from }, dest: 1)`.
fn with_attributes(body: &mut Body, attributes: Given, span: Span) -> Expr {
    let made = Expr { kind: ExprKind::NewMessage { octets: Vec::new() }, ty: Type::Message, span };
    let made = body.bound_in_front(made);
    let ExprKind::Give(message) = made.kind else { return made };
    let written: Vec<AttributeId> = attributes.iter().filter_map(|(name, _)| messages::attribute(body, name)).collect();
    let of = |id: &AttributeId| {
        let known = &body.cx.program.attributes[id.index()];
        Field { name: known.name.clone(), ty: known.ty, big: None, common: None, written: None }
    };
    let fields: Vec<Field> = written.iter().map(of).collect();
    let values = records::values(body, "message", "an empty", &fields, attributes, span);
    for (attribute, value) in written.into_iter().zip(values) {
        body.before.push(Stmt { kind: StmtKind::SetAttribute { message, attribute, value }, span });
    }
    made
}

/// The arguments of a send.
#[derive(Default)]
struct Said {
    message: Option<Expr>,
    /// An alternative by its number, with its fields' values.
    chosen: Option<(u32, Vec<Expr>, Span)>,
    /// Fields by name.
    given: Given,
    /// An unknown alternative was reported.
    misspelt: bool,
}

impl Said {
    fn read(&mut self, body: &mut Body, (header, owner): (Option<&Header>, &str), arg: &ast::Arg) {
        let Some(value) = arg.value() else { return };
        let place = body.span(arg);
        if let Some(label) = arg.name() {
            self.given.push((tree::path(body.file, &label), Some(value)));
        } else if let Some((name, fields)) = alternative(body, &value, header) {
            match header.and_then(|header| header.variant(&name.text)) {
                Some((index, variant)) => {
                    body.cx.mention(&name, variant.name.span);
                    let values = records::values(body, &name.text, "alternative", &variant.fields, fields, place);
                    if let Some((.., first)) = self.chosen.replace((index, values, place)) {
                        body.cx.given_twice("what the header says", place, first);
                    }
                }
                None => {
                    no_alternative(body, owner, header, &name);
                    self.misspelt = true;
                }
            }
        } else if let Some(first) = &self.message {
            let diagnostic = Diagnostic::error(codes::WRONG_COUNT, "`send` takes one message");
            let diagnostic = diagnostic.at(place, "the second").label(first.span, "the first");
            let fields = header.filter(|header| header.is_single()).map(|header| &header.variants[0].fields);
            let named: Vec<String> =
                fields.into_iter().flatten().map(|field| format!("{}: …", field.name.text)).collect();
            // It was meant for a field, too: reports about missing fields are consequences.
            self.misspelt = true;
            let thing = lost::arguments(first.span);
            let variant = header.and_then(|header| called_as(body, &value, header));
            body.report(diagnostic.lacks(thing).help(match named.is_empty() {
                true if variant.is_some() => variant.unwrap_or_default(),
                true => "name a header's field: `seq: next`".to_string(),
                false => format!("fields of the header have names: `below.send(msg, {})`", named.join(", ")),
            }));
        } else if let Some(field) = field_alone(body, &value, header) {
            let text = format!("`{0}` is a field of the header, and no message", field.text);
            let help = format!("a field is given by its name: `{0}: {0}`", field.text);
            body.error(codes::NO_MESSAGE, text, field.span, "expected a message, or `name: value`", &help);
            // It is not missing.
            self.misspelt = true;
        } else {
            self.message = Some(messages::given(body, &value));
        }
    }
}

/// `below.send(id)`: a name of a value that is called as a field of the header.
fn field_alone(body: &Body, value: &Tree, header: Option<&Header>) -> Option<Name> {
    let name = tree::name_expr(body.file, value)?;
    let fields = &header.filter(|header| header.is_single())?.variants[0].fields;
    let is_message = body.locals.find(&name.text).is_some_and(|local| body.locals.ty(local) == Type::Message);
    (!is_message && fields.iter().any(|field| field.name.text == name.text)).then_some(name)
}

/// `Data(seq: x)`: the right form of the alternative.
fn called_as(body: &Body, value: &Tree, header: &Header) -> Option<String> {
    let Tree::Call(call) = value else { return None };
    let name = tree::name_expr(body.file, &call.callee()?)?;
    let (_, variant) = header.variant(&name.text)?;
    let fields: Vec<String> = variant.fields.iter().map(|field| format!("{}: …", field.name.text)).collect();
    Some(format!("an alternative has braces: `{} {{ {} }}`", name.text, fields.join(", ")))
}

/// `Data { seq: x }`, or `Probe` alone: an alternative of the layer's header.
fn alternative(body: &Body, value: &Tree, header: Option<&Header>) -> Option<(Name, Given)> {
    match value {
        Tree::Record(record) => {
            let name = record.name()?;
            use mokume_syntax::ast::AstNode;
            let name = Name { text: name.text(), span: name.span(body.file) };
            let fields = record.fields();
            let given =
                fields.iter().filter_map(|field| Some((tree::some_name(body.file, field.name())?, field.value())));
            Some((name, given.collect()))
        }
        Tree::Name(_) => {
            let name = tree::name_expr(body.file, value)?;
            let upper = name.is_capital();
            let known = header.and_then(|header| header.variant(&name.text)).is_some();
            (known || upper && body.locals.find(&name.text).is_none()).then_some((name, Vec::new()))
        }
        _ => None,
    }
}

fn no_alternative(body: &mut Body, owner: &str, header: Option<&Header>, name: &Name) {
    let names: Vec<&str> = header.iter().flat_map(|header| &header.variants).map(|v| v.name.text.as_str()).collect();
    let text = match header {
        Some(_) => format!("the header of `{owner}` has no alternative `{}`", name.text),
        None => format!("`{owner}` has no header, so there is no alternative `{}`", name.text),
    };
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_VARIANT, text).at(name.span, "unknown");
    if header.is_none() {
        diagnostic.lacks.extend(body.this_layer().map(|layer| lost::header(&layer.name)));
        diagnostic = diagnostic.help(format!("declare it: `header {{ {} {{ … }} | … }}`", name.text));
    } else if names == ["Header"] {
        diagnostic = diagnostic.help("the header is one record: write its fields by name, `seq: next`");
    } else {
        diagnostic.helps.extend(suggest::help(&name.text, names));
    }
    body.report(diagnostic);
}

/// Checks that every field of the header is given exactly once.
fn send_fields(
    body: &mut Body,
    header: Option<&Header>,
    owner: &str,
    chosen: Option<(u32, Vec<Expr>, Span)>,
    given: Vec<(Name, Option<Tree>)>,
    span: Span,
) -> Option<Fields> {
    let Some(header) = header else {
        if let Some((name, _)) = given.first() {
            let text = format!("`{owner}` has no header, so there is no field `{}`", name.text);
            let mut diagnostic = Diagnostic::error(codes::HEADER_FIELDS, text).at(name.span, "no such field");
            diagnostic.lacks.extend(body.this_layer().map(|layer| lost::header(&layer.name)));
            let help = match records::set_beside(body, name) {
                Some(help) => help,
                None => format!("declare it: `header {{ {}: u32 }}`", name.text),
            };
            body.report(diagnostic.help(help));
        }
        return None;
    };
    if let Some((variant, values, place)) = chosen {
        if let Some((name, _)) = given.first() {
            let goes_alone = !header.variants[variant as usize].with_message;
            if goes_alone && matches!(body.cx.item_at(body.file, name), Some(Item::Attribute(_))) {
                messages::undeclared(body, name, "written", "writes");
            } else {
                let text = format!("field `{}` stands outside of its alternative", name.text);
                let help = records::set_beside(body, name).unwrap_or("write it within the braces".to_string());
                body.error(codes::HEADER_FIELDS, text, name.span.to(place), "not here", &help);
            }
        }
        return Some(Fields { variant, values });
    }
    match header.variants.as_slice() {
        [only] => {
            let fields = only.fields.clone();
            let values = header_values(body, owner, &fields, given, span);
            Some(Fields { variant: 0, values })
        }
        _ if header.otherwise().is_some() && given.is_empty() => {
            header.otherwise().map(|variant| Fields { variant, values: Vec::new() })
        }
        several => {
            if let Some((place, help)) =
                given.iter().find_map(|(name, _)| Some((name.span, records::set_beside(body, name)?)))
            {
                let text = format!("the header of `{owner}` has several alternatives, and none has this field");
                body.error(codes::HEADER_FIELDS, text, place, "no field", &help);
                return None;
            }
            let names: Vec<&str> = several.iter().map(|variant| variant.name.text.as_str()).collect();
            let text = format!("which alternative of the header of `{owner}` is sent?");
            let help = format!(
                "there is {}: write `below.send(msg, {} {{ … }})`",
                suggest::list(&names),
                names.first().unwrap_or(&"Data")
            );
            body.error(codes::HEADER_FIELDS, text, span, "not said here", &help);
            None
        }
    }
}

fn header_values(
    body: &mut Body,
    owner: &str,
    fields: &[Field],
    given: Vec<(Name, Option<Tree>)>,
    span: Span,
) -> Vec<Expr> {
    // A misspelt or repeated field may be the missing one.
    let is_known = |name: &Name| fields.iter().any(|field| field.name.text == name.text);
    let twice =
        given.iter().enumerate().any(|(at, (name, _))| given[..at].iter().any(|(other, _)| other.text == name.text));
    if twice || !given.iter().all(|(name, _)| is_known(name)) {
        return records::values(body, owner, "the header of", fields, given, span);
    }
    let missing: Vec<&Field> =
        fields.iter().filter(|field| !given.iter().any(|(name, _)| name.text == field.name.text)).collect();
    if let Some(first) = missing.first() {
        let names: Vec<&str> = missing.iter().map(|field| field.name.text.as_str()).collect();
        let text = format!("the header of `{owner}` needs {}", suggest::list(&names));
        let diagnostic = Diagnostic::error(codes::HEADER_FIELDS, text)
            .at(span, "not given here")
            .label(first.name.span, "declared here")
            .help(format!("add it: `{}: …`", first.name.text));
        body.report(diagnostic);
        let present: Vec<Field> =
            fields.iter().filter(|field| given.iter().any(|(name, _)| name.text == field.name.text)).cloned().collect();
        records::values(body, owner, "header", &present, given, span);
        return fields.iter().map(|_| unknown(span)).collect();
    }
    records::values(body, owner, "the header of", fields, given, span)
}

/// Checks that an alternative has a message or none, as declared.
fn alone(body: &mut Body, variant: &Variant, message: Option<&Expr>, span: Span) {
    match (variant.with_message, message) {
        (true, None) if variant.name.text == "Header" => {
            let diagnostic =
                Diagnostic::error(codes::WITH_MESSAGE, "a header without alternatives goes with a message")
                    .at(span, "no message here")
                    .label(variant.name.span, "the header")
                    .help("write `below.send(message(), …)`: a new, empty one")
                    .help("what goes alone is an alternative: `header { Hello { … } }`, `below.send(Hello { … })`");
            body.report(diagnostic);
        }
        (true, None) => {
            let text = format!("`{}` goes with a message", variant.name.text);
            let diagnostic = Diagnostic::error(codes::WITH_MESSAGE, text)
                .at(span, "no message here")
                .label(variant.name.span, "`with message`")
                .help("write `below.send(msg, …)`; a new, empty one is `message()`");
            body.report(diagnostic);
        }
        (false, Some(message)) => {
            let text = format!("`{}` goes alone", variant.name.text);
            let diagnostic = Diagnostic::error(codes::WITH_MESSAGE, text)
                .at(message.span, "a message here")
                .label(variant.name.span, "without `with message`")
                .help("leave the message out, or declare the alternative `with message`");
            body.report(diagnostic);
            // Whether it was to be given away here is unknown.
            if let ExprKind::Give(local) = message.kind {
                body.excused.push(local);
            }
        }
        _ => {}
    }
}

/// A send of a router over several layers must say which one it goes to.
fn says_which(body: &mut Body, to: bool, span: Span) {
    let Some(several) = body.this_layer().and_then(|layer| layer.several.clone()) else { return };
    if !to {
        let help = format!("write `below.send(msg) to flow({}: …)`", several.text);
        body.error(codes::WHICH_BELOW, "to which of the layers below?", span, "not said here", &help);
    }
}

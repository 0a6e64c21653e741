//! The declarations of a layer, member by member.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::body::terms::unknown;
use crate::resolve::context::{twice, Item};
use crate::resolve::expr::annotations;
use crate::resolve::items::fields::FieldUse;
use crate::resolve::items::{fields, signatures};
use crate::resolve::layer::reader::LayerReader;
use crate::resolve::layer::{parts, scopes};
use crate::{codes, lost, tree};

/// All members: first what state may refer to, then scopes from the outside in, as places for messages take from quotas
/// of enclosing scopes, then objects.
pub(super) fn all(reader: &mut LayerReader, members: &[ast::Member]) {
    let rank = |member: &&ast::Member| match member {
        ast::Member::Scope(scope) => scopes::rank(scopes::kind_of(scope)),
        ast::Member::Object(_) => 5,
        _ => 0,
    };
    let mut ordered: Vec<&ast::Member> = members.iter().collect();
    ordered.sort_by_key(rank);
    ordered.into_iter().for_each(|member| read(reader, member));
    members.iter().for_each(|member| scopes::quotas_of(reader, member));
}

/// One line for each kind of member; those with bodies wait for the second pass.
fn read(reader: &mut LayerReader, member: &ast::Member) {
    let span = member.span(reader.file);
    if reader.part.is_some() && parts::not_in_a_part(reader, member, span) {
        return;
    }
    match member {
        ast::Member::Header(header) => add_header(reader, header, span),
        ast::Member::Key(key) => set_key(reader, key, span),
        ast::Member::Address(address) => set_address(reader, address, span),
        ast::Member::Several(several) => set_several(reader, several, span),
        ast::Member::Matching(matching) => set_matching(reader, matching, span),
        ast::Member::Scope(scope) => scopes::scope(reader, scope, span),
        ast::Member::Object(object) => scopes::object(reader, object),
        ast::Member::Publish(publish) => add_publish(reader, publish),
        ast::Member::Serves(serves) => {
            let service = tree::some_name(reader.file, serves.service());
            if let Some((service, _)) = service_named(reader, service) {
                reader.this().serves.push(service);
            }
        }
        ast::Member::Uses(uses) => add_use(reader, uses),
        ast::Member::Reads(reads) => {
            let found = attributes_named(reader, reads.names(), false);
            reader.this().reads.extend(found);
        }
        ast::Member::Writes(writes) => {
            let found = attributes_named(reader, writes.names(), true);
            reader.this().writes.extend(found);
        }
        ast::Member::Needs(needs) => {
            let claims = signatures::claims(reader.cx, reader.file, reader.id, &needs.names(), needs.condition());
            reader.this().needs.extend(claims);
        }
        ast::Member::Gives(gives) => {
            let claims = signatures::claims(reader.cx, reader.file, reader.id, &gives.names(), gives.condition());
            reader.this().gives.extend(claims);
        }
        ast::Member::Breaks(breaks) => {
            let claims = signatures::claims(reader.cx, reader.file, reader.id, &breaks.names(), breaks.condition());
            let claims = signatures::broken(reader.cx, claims);
            reader.this().breaks.extend(claims);
        }
        ast::Member::Speaks(speaks) => {
            let said = reader.cx.out.len();
            let found = signatures::vocabularies(reader.cx, reader.file, &speaks.names());
            let thing = lost::vocabularies(&reader.this().name);
            lost::through(&mut reader.cx.out[said..], &thing);
            reader.this().speaks.extend(found);
        }
        ast::Member::Limit(_) | ast::Member::Where(_) | ast::Member::Parts(_) => {}
        ast::Member::Function(_) | ast::Member::Handler(_) => {}
    }
}

fn set_key(reader: &mut LayerReader, key: &ast::Key, span: Span) {
    let fields = fields::read(reader.cx, reader.file, &key.fields(), FieldUse::Key);
    only(reader, Shape::Multiplexor, "key", span);
    if !once(reader, "key", span) {
        return;
    }
    reader.this().key = Some(Key { symmetric: key.is_symmetric(), fields });
}

fn set_address(reader: &mut LayerReader, address: &ast::Address, span: Span) {
    let fields = fields::read(reader.cx, reader.file, &address.fields(), FieldUse::Values);
    let what = if address.is_below() { "below address" } else { "address" };
    match (reader.this().shape, address.is_below()) {
        (Shape::Worker, true) => {}
        (Shape::Endpoint, true) => {
            let help = "leave it out: an endpoint sees all parts of a flow, `flow.remote.host`";
            let text = "an endpoint asks for no `below address`";
            reader.cx.error(codes::SHAPE_MEMBER, text, span, "not in this shape", help);
        }
        _ => only(reader, Shape::Router, what, span),
    }
    if !once(reader, what, span) {
        return;
    }
    let layer = reader.this();
    *(if address.is_below() { &mut layer.below_address } else { &mut layer.address }) = fields;
}

/// `uses Resolve as resolve`; without `as`, the service's name is its own in small letters.
fn add_use(reader: &mut LayerReader, uses: &ast::Uses) {
    let service = tree::some_name(reader.file, uses.service());
    let snake = |name: &Name| Name { text: tree::snake_case(&name.text), span: name.span };
    let alias = tree::some_name(reader.file, uses.alias()).or(service.as_ref().map(snake));
    match (service_named(reader, service), alias) {
        (Some((service, _)), Some(alias)) => {
            let first =
                reader.this().uses.iter().find(|(_, first)| first.text == alias.text).map(|(_, first)| first.clone());
            match first {
                Some(first) => reader.cx.report(twice("name of a service", &alias, &first)),
                None => reader.this().uses.push((service, alias)),
            }
        }
        (None, Some(alias)) => drop(reader.cx.said.unknown_services.insert(alias.text)),
        (_, None) => {}
    }
}

fn add_header(reader: &mut LayerReader, header: &ast::Header, span: Span) {
    if reader.this().header.is_some() {
        let first = reader.once.iter().find(|(what, _)| *what == "header").map_or(span, |(_, first)| *first);
        let help = "write the alternatives in one: `header { Data { … } with message | Ack { … } }`";
        let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, "a layer has one header").at(span, "the second");
        return reader.cx.report(diagnostic.label(first, "the first").help(help));
    }
    reader.once.push(("header", span));
    let variants = match header.fields() {
        Some(fields) => {
            let fields = fields::read(reader.cx, reader.file, &fields, FieldUse::Header);
            vec![Variant { name: Name { text: "Header".into(), span }, fields, with_message: true, otherwise: false }]
        }
        None => alternatives(reader, header),
    };
    if variants.len() > MOST_ALTERNATIVES {
        let text = format!("a header has at most {MOST_ALTERNATIVES} alternatives, not {}", variants.len());
        reader.cx.error(
            codes::TOO_BIG,
            text,
            span,
            "too many for an octet that tells them apart",
            "put some of them into a layer of their own",
        );
    }
    let chosen = [
        (header.is_packed(), Layout::Packed),
        (header.is_aligned(), Layout::Aligned),
        (header.is_compressed(), Layout::Compressed),
    ];
    let layout = chosen.into_iter().find(|(said, _)| *said).map_or(Layout::Octets, |(_, layout)| layout);
    reader.this().header = Some(Header { layout, variants });
}

/// The most alternatives: their tag in packets is an octet.
const MOST_ALTERNATIVES: usize = 256;

fn alternatives(reader: &mut LayerReader, header: &ast::Header) -> Vec<Variant> {
    let mut variants: Vec<Variant> = Vec::new();
    for alternative in header.alternatives() {
        let Some(mut name) = tree::some_name(reader.file, alternative.name()) else { continue };
        let otherwise = name.text == "else";
        if otherwise {
            name.text = OTHERWISE.into();
            otherwise_rules(reader, &alternative, &name);
        }
        if let Some(first) = variants.iter().find(|first| first.name.text == name.text) {
            let diagnostic = twice("alternative", &name, &first.name);
            reader.cx.report(diagnostic);
            continue;
        }
        let fields = fields::read(reader.cx, reader.file, &alternative.fields(), FieldUse::Header);
        let with_message = otherwise || alternative.with_message();
        variants.push(Variant { name, fields, with_message, otherwise });
    }
    variants
}

/// The name of the alternative `else` in packets, counts and pages.
const OTHERWISE: &str = "Else";

/// Checks `else`: it has no fields, and its layer has one above and one below.
fn otherwise_rules(reader: &mut LayerReader, alternative: &ast::Alternative, name: &Name) {
    if !alternative.fields().is_empty() {
        let help = "give an alternative with fields a name: `Data { seq: u32 } with message`";
        reader.cx.error(codes::HEADER_FIELDS, "`else` has no fields", name.span, "nobody would fill them", help);
    }
    if reader.this().shape != Shape::Worker {
        let help = "give the alternative a name, and say it in `below.send`";
        let text = "`else` is of workers, where messages pass by themselves";
        reader.cx.error(codes::SHAPE_MEMBER, text, name.span, "not in this shape", help);
    }
}

fn service_named(reader: &mut LayerReader, name: Option<Name>) -> Option<(ServiceId, Name)> {
    let name = name?;
    match reader.cx.item_at(reader.file, &name) {
        Some(Item::Service(id)) => {
            // Its name in the layer does not tell its owner.
            let text = name.plain().to_string();
            Some((id, Name { text, span: name.span }))
        }
        _ => {
            reader
                .cx
                .unknown(codes::UNKNOWN_ITEM, "a service", &name, reader.file, |item| matches!(item, Item::Service(_)));
            None
        }
    }
}

fn attributes_named(reader: &mut LayerReader, names: Vec<ast::Name>, writes: bool) -> Vec<AttributeId> {
    let mut found = Vec::new();
    let names = parts::share(reader, names, writes);
    for name in names.iter().map(|name| tree::name(reader.file, name)) {
        match reader.cx.item_at(reader.file, &name) {
            Some(Item::Attribute(id)) => found.push(id),
            _ => reader.cx.unknown(codes::UNKNOWN_ATTRIBUTE, "an attribute", &name, reader.file, |item| {
                matches!(item, Item::Attribute(_))
            }),
        }
    }
    found
}

fn add_publish(reader: &mut LayerReader, publish: &ast::Publish) {
    let Some(name) = tree::some_name(reader.file, publish.name()) else { return };
    if let Some(first) =
        reader.this().publishes.iter().find(|first| first.name.text == name.text).map(|first| first.name.clone())
    {
        let diagnostic = twice("published value", &name, &first);
        return reader.cx.report(diagnostic);
    }
    let ty = annotations::stored(reader.cx, reader.file, publish.ty());
    let written = annotations::notation(reader.cx, reader.file, publish.ty());
    reader.cx.said.published.entry(name.text.clone()).or_insert(ty);
    let mut locals = Vec::new();
    for param in publish.params().unwrap_or_default() {
        let Some(param) = tree::some_name(reader.file, param.name()) else { continue };
        if !locals.is_empty() {
            reader.cx.error(
                codes::WRONG_COUNT,
                "a published value is per flow at most",
                param.span,
                "one too many",
                "write `publish x(flow): T = …`",
            );
            continue;
        }
        locals.push(Local::new(param, Type::Flow(Side::Above)));
    }
    let flow = (!locals.is_empty()).then_some(LocalId(0));
    let value = unknown(name.span);
    reader.this().publishes.push(Publish { name, ty, written, flow, locals, value });
}

/// Whether a member that a layer has once occurs for the first time; the first one counts.
fn once(reader: &mut LayerReader, what: &'static str, span: Span) -> bool {
    let first = reader.once.iter().find(|(known, _)| *known == what).map(|(_, first)| *first);
    match first {
        Some(first) => reader.cx.given_twice(&format!("`{what}`"), span, first),
        None => reader.once.push((what, span)),
    }
    first.is_none()
}

/// Reports a member that only another shape has.
fn only(reader: &mut LayerReader, shape: Shape, what: &str, span: Span) {
    if reader.this().shape == shape {
        return;
    }
    let (title, help) = match shape {
        Shape::Multiplexor => ("a multiplexor", "a layer that finds the one above by a key is a `multiplexor`"),
        _ => ("a router", "a layer that deals in addresses is a `router`"),
    };
    reader.cx.error(codes::SHAPE_MEMBER, format!("only {title} has `{what}`"), span, "not in this shape", help);
}

/// `match one`, `match all`, `match all when broadcast`
fn set_matching(reader: &mut LayerReader, matching: &ast::Matching, span: Span) {
    only(reader, Shape::Multiplexor, "match", span);
    if !once(reader, "match", span) {
        return;
    }
    if matching.is_one() {
        return;
    }
    let Some(name) = matching.when() else {
        reader.this().matching = Matching::All;
        return;
    };
    let name = tree::name(reader.file, &name);
    let Some(Item::Attribute(id)) = reader.cx.item_at(reader.file, &name) else {
        let wanted = |item| matches!(item, Item::Attribute(_));
        return reader.cx.unknown(codes::UNKNOWN_ATTRIBUTE, "an attribute", &name, reader.file, wanted);
    };
    let ty = reader.cx.program.attributes[id.index()].ty;
    if ty != Type::Bool && ty != Type::Unknown {
        let text = format!("`{}` is no `bool`", name.text);
        reader.cx.error(codes::MISMATCH, text, name.span, "yes or no is wanted", "declare it as a `bool`");
        return;
    }
    reader.this().matching = Matching::AllWhen(id);
    if !reader.this().reads.contains(&id) {
        reader.this().reads.push(id);
    }
}

/// `below several path`
fn set_several(reader: &mut LayerReader, several: &ast::Several, span: Span) {
    let Some(name) = tree::some_name(reader.file, several.name()) else { return };
    only(reader, Shape::Router, "below several", span);
    if let Some(first) = reader.this().several.clone() {
        let diagnostic = twice("name for which layer below", &name, &first);
        return reader.cx.report(diagnostic);
    }
    reader.this().several = Some(name);
}

//! Parts of a layer: the texts that a layer consists of, and the state that each part declares to use.
//!
//! Keeps: members of a part become members of the layer, prefixed by the part's name and a dot; later passes see only
//! layers.

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::{twice, Context, Item};
use crate::resolve::layer::reader::{LayerReader, Source};
use crate::{codes, lost, tree};

/// The layer's own text, then those of its parts.
pub fn sources(cx: &Context, id: LayerId, file: FileId, item: &ast::Layer) -> Vec<Source> {
    let own = Source { file, part: None, members: item.members() };
    let known = &cx.program.layers[id.index()].parts;
    let of_part = |(at, part): (usize, &Part)| {
        let is_it = |(file, tree): &&(FileId, ast::Part)| tree::title(*file, tree.name()).span == part.name.span;
        let (file, tree) = cx.trees.parts.iter().find(is_it)?;
        Some(Source { file: *file, part: Some(at), members: tree.members() })
    };
    std::iter::once(own).chain(known.iter().enumerate().filter_map(of_part)).collect()
}

/// Adds the parts that the layer names; `of` is the layer in the text.
pub fn take(reader: &mut LayerReader, of: LayerId, item: &ast::Layer) {
    for member in item.members() {
        let ast::Member::Parts(parts) = member else { continue };
        for name in parts.names() {
            let name = tree::name(reader.file, &name);
            take_one(reader, of, &name);
        }
    }
}

fn take_one(reader: &mut LayerReader, of: LayerId, name: &Name) {
    let trees = reader.cx.trees.clone();
    let found = match reader.cx.item_at(reader.file, name) {
        Some(Item::Part(index)) => trees.parts.get(index),
        _ => None,
    };
    let Some((file, part)) = found else {
        let is_one = |item| matches!(item, Item::Part(_));
        return reader.cx.unknown(codes::UNKNOWN_ITEM, "a part", name, reader.file, is_one);
    };
    let own = tree::title(*file, part.name());
    let Some(layer) = tree::some_name(*file, part.layer()) else { return };
    match reader.cx.item_at(*file, &layer) {
        Some(Item::Layer(id)) if id == of => {}
        // The part itself is reported there.
        Some(Item::Layer(_)) => return of_another(reader, name, &own, &layer),
        _ => return,
    }
    if let Some(first) = reader.taken.iter().find(|(known, _)| *known == own.span).map(|(_, first)| *first) {
        return reader.cx.given_twice(&format!("part `{}`", own.text), name.span, first);
    }
    reader.taken.push((own.span, name.span));
    let called = tree::snake_case(&own.text);
    reader.this().parts.push(Part::bare(own, called));
}

fn of_another(reader: &mut LayerReader, name: &Name, own: &Name, layer: &Name) {
    let this = reader.this().name.text.clone();
    let text = format!("`{}` is a part of `{}`, not of `{this}`", own.text, layer.text);
    let diagnostic = Diagnostic::error(codes::PART_OF_ANOTHER, text)
        .at(name.span, format!("taken by `{this}`"))
        .label(layer.span, "here it says of which layer")
        .help("a part knows the state of one layer; what several layers have in common is a container, or a layer");
    reader.cx.report(diagnostic);
}

/// Reports parts of something that is not a layer, and parts that their layer does not take.
pub fn untaken(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, part) in &trees.parts {
        let (own, Some(of)) = (tree::title(*file, part.name()), tree::some_name(*file, part.layer())) else { continue };
        let Some(Item::Layer(id)) = cx.item_at(*file, &of) else {
            cx.unknown(codes::UNKNOWN_LAYER, "a layer", &of, *file, |item| matches!(item, Item::Layer(_)));
            continue;
        };
        let layer = &cx.program.layers[id.index()];
        if layer.parts.iter().any(|known| known.name.span == own.span) || own.text.starts_with('_') {
            continue;
        }
        let (name, place) = (layer.name.text.clone(), layer.name.span);
        let tokens = part.syntax().descendants_with_tokens().filter_map(|element| element.into_token());
        let words = tokens.filter(|token| token.kind() == mokume_syntax::SyntaxKind::IDENT);
        let mut diagnostic =
            Diagnostic::warning(codes::UNTAKEN_PART, format!("`{name}` does not take its part `{}`", own.text))
                .at(own.span, "nobody's")
                .label(place, "the layer")
                .help(format!(
                    "write `parts {}` in `{name}`, or call it `_{}` to say that this is meant",
                    own.text, own.text
                ));
        // Only this part may use these names.
        diagnostic.loses.extend(words.map(|word| lost::within(place, word.text())));
        cx.report(diagnostic);
    }
}

/// Reports a member that only the layer itself may have; returns whether it is one.
pub fn not_in_a_part(reader: &mut LayerReader, member: &ast::Member, span: Span) -> bool {
    let Some(what) = word_of(member) else { return false };
    let layer = reader.this().name.text.clone();
    let text = format!("a part has no `{what}`: what a layer is to others stands in the layer");
    let help = format!("write it in `{layer}`; a part has state, objects, functions and handlers");
    let span = Span::new(span.file, span.start, span.end.min(span.start + what.len() as u32));
    reader.cx.error(codes::PART_MEMBER, text, span, "not in a part", &help);
    true
}

/// The word of a member that a part cannot have.
fn word_of(member: &ast::Member) -> Option<&'static str> {
    Some(match member {
        ast::Member::Header(_) => "header",
        ast::Member::Key(_) => "key",
        ast::Member::Address(_) => "address",
        ast::Member::Several(_) => "below several",
        ast::Member::Matching(_) => "match",
        ast::Member::Publish(_) => "publish",
        ast::Member::Limit(_) => "limit",
        ast::Member::Where(_) => "where",
        ast::Member::Serves(_) => "serves",
        ast::Member::Uses(_) => "uses",
        ast::Member::Needs(_) => "needs",
        ast::Member::Gives(_) => "gives",
        ast::Member::Breaks(_) => "breaks",
        ast::Member::Speaks(_) => "speaks",
        ast::Member::Parts(_) => "parts",
        ast::Member::Scope(_) | ast::Member::Object(_) | ast::Member::Function(_) => return None,
        ast::Member::Handler(_) | ast::Member::Reads(_) | ast::Member::Writes(_) => return None,
    })
}

/// `reads snd_una`, `writes snd_nxt`: state of the layer is noted; the rest, attributes, is returned.
pub fn share(reader: &mut LayerReader, names: Vec<ast::Name>, writes: bool) -> Vec<ast::Name> {
    let Some(part) = reader.part else { return names };
    let mut attributes = Vec::new();
    for tree in names {
        let name = tree::name(reader.file, &tree);
        let layer = reader.this();
        if let Some(first) = layer.parts[part].shared.iter().find(|first| first.name.text == name.text) {
            let first = first.name.span;
            reader.cx.given_twice(&format!("`{}`", name.text), name.span, first);
        } else if let Some(place) = place_shared(layer, &name.text) {
            layer.parts[part].shared.push(Shared { name: name.clone(), writes });
            reader.cx.mention(&name, place);
        } else if matches!(reader.cx.item_at(reader.file, &name), Some(Item::Attribute(_))) {
            attributes.push(tree);
        } else {
            no_state(reader, part, &name);
        }
    }
    attributes
}

/// Where the layer itself declares state or objects of this name.
fn place_shared(layer: &Layer, name: &str) -> Option<Span> {
    let members = layer.scopes.iter().flat_map(|scope| &scope.members).map(|member| &member.name);
    let mut all = members.chain(layer.objects.iter().map(|class| &class.name));
    all.find(|known| known.text == name).map(|known| known.span)
}

fn no_state(reader: &mut LayerReader, part: usize, name: &Name) {
    let layer = reader.this();
    let title = layer.name.text.clone();
    let owner =
        layer.parts.iter().enumerate().find(|(at, other)| {
            *at != part && (other.member(&name.text).is_some() || other.object(&name.text).is_some())
        });
    if let Some((_, other)) = owner {
        let text = format!("`{}` is state of the part `{}` alone", name.text, other.name.text);
        let help = format!("declare it in `{title}`; or call a function of that part: `{}.f()`", other.called);
        let diagnostic = Diagnostic::error(codes::PART_PRIVATE, text).at(name.span, "of another part");
        let diagnostic = diagnostic.label(other.name.span, "the part").help(help);
        return reader.cx.report(diagnostic);
    }
    let members = layer.scopes.iter().flat_map(|scope| &scope.members).map(|member| &member.name);
    let known = members.chain(layer.objects.iter().map(|class| &class.name)).map(|name| name.text.clone());
    let known: Vec<String> = known.filter(|name| !name.contains('.')).collect();
    let text = format!("`{title}` has no state `{}`, and no attribute is called so", name.text);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, text).at(name.span, "unknown");
    diagnostic.helps.extend(crate::suggest::help(&name.text, known.iter().map(String::as_str)));
    reader.cx.report(diagnostic.help(format!("declare it in `{title}`: `session {{ var {}: u32 = 0 }}`", name.text)));
}

/// The name of a part differs from all other names of the layer.
pub fn clashes(reader: &mut LayerReader) {
    let layer = &*reader.this();
    let members = layer.scopes.iter().flat_map(|scope| &scope.members).map(|member| &member.name);
    let params = layer.params.iter().map(|param| &param.name);
    let services = layer.uses.iter().map(|(_, alias)| alias);
    let others: Vec<&Name> = members.chain(params).chain(services).collect();
    let mut found = Vec::new();
    for (at, part) in layer.parts.iter().enumerate() {
        let first = others.iter().find(|other| other.text == part.called).copied();
        let earlier = layer.parts[..at].iter().find(|other| other.called == part.called).map(|other| &other.name);
        if let Some(first) = first.or(earlier) {
            let called = Name { text: part.called.clone(), span: part.name.span };
            found.push(twice("name in this layer", &called, first));
        }
    }
    found.into_iter().for_each(|diagnostic| reader.cx.report(diagnostic));
}

/// Calls of `below.…` and `above.…` in the texts of a layer.
pub fn emitted(file: FileId, node: &impl AstNode) -> Vec<(String, bool)> {
    let calls = node.syntax().descendants().filter_map(ast::CallExpr::cast);
    let targets = calls.filter_map(|call| call.callee().and_then(|callee| tree::name_field(file, &callee)));
    let is_target = |(owner, _): &(Name, Name)| matches!(owner.text.as_str(), "below" | "above");
    targets.filter(is_target).map(|(owner, name)| (name.text, owner.text == "below")).collect()
}

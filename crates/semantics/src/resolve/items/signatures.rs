//! Signatures and vocabularies, and the claims of layers about them.
//!
//! Keeps: an inclusion that contradicts what is there already is reported with both places, and the first stays.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use crate::events::{DOWN, UP};
use crate::program::*;
use crate::resolve::body::views;
use crate::resolve::body::{Body, BodyKind};
use crate::resolve::context::{twice, Context, Item, Lazy};
use crate::resolve::expr;
use crate::resolve::expr::annotations;
use crate::resolve::items::fields;
use crate::resolve::items::fields::FieldUse;
use crate::signature::*;
use crate::{codes, suggest, tree, types};

/// Resolves all vocabularies, then all signatures with what they include.
pub fn resolve(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, item) in &trees.vocabularies {
        let vocabulary = vocabulary(cx, *file, item);
        cx.program.vocabularies.push(vocabulary);
    }
    let mut found: Vec<Lazy<(), Signature>> = vec![Lazy::Waiting(FileId(0), ()); trees.signatures.len()];
    for index in 0..trees.signatures.len() {
        signature(cx, index, &mut found);
    }
    for found in found {
        if let Lazy::Done(signature) = found {
            cx.program.signatures.push(signature);
        }
    }
}

fn vocabulary(cx: &mut Context, file: FileId, item: &ast::Vocabulary) -> Vocabulary {
    let mut vocabulary = Vocabulary {
        name: tree::title(file, item.name()),
        down: Vec::new(),
        up: Vec::new(),
        reasons: item.reasons().iter().map(|name| tree::name(file, name)).collect(),
    };
    for directed in item.events() {
        for event in directed.events() {
            let Some(carried) = carried(cx, file, &event, directed.is_down(), true) else { continue };
            let all = vocabulary.down.iter().chain(&vocabulary.up);
            let first = all.map(|known| &known.name).find(|known| known.text == carried.name.text);
            if let Some(first) = first {
                let diagnostic = twice("event", &carried.name, &first.clone());
                cx.report(diagnostic);
                continue;
            }
            (if directed.is_down() { &mut vocabulary.down } else { &mut vocabulary.up }).push(carried);
        }
    }
    vocabulary
}

/// One event; `own`: it is a vocabulary's, and must not be one of the language. Those of the language have no
/// parameters.
fn carried(cx: &mut Context, file: FileId, event: &ast::Signal, down: bool, own: bool) -> Option<Carried> {
    let name = tree::some_name(file, event.name())?;
    let (here, there) = if down { (&DOWN[..], &UP[..]) } else { (&UP[..], &DOWN[..]) };
    let known = here.contains(&name.text.as_str());
    if there.contains(&name.text.as_str()) || known && own {
        let way = if there.contains(&name.text.as_str()) == down { "up" } else { "down" };
        let text = format!("`{}` is an event of the language, which goes {way}", name.text);
        let (label, help) = match own {
            true => ("the name is taken", "give your event another name".to_string()),
            false => ("not this way", format!("write `{way} {}`", name.text)),
        };
        cx.error(codes::SIGNATURE_PART, text, name.span, label, &help);
        return None;
    }
    let params: Vec<Field> = event
        .params()
        .iter()
        .filter_map(|param| {
            let name = tree::some_name(file, param.name())?;
            let ty = annotations::of_param(cx, file, &name, param.ty());
            let written = annotations::notation(cx, file, param.ty());
            Some(Field { name, ty, big: None, common: None, written })
        })
        .collect();
    let optional = event.is_optional();
    if optional && !own {
        let help = "leave `may` out, or say it in the vocabulary that has the event";
        cx.error(codes::SIGNATURE_PART, "a signature says what there is", name.span, "this is, or it is not", help);
    }
    let of_all = event.is_of_all();
    if of_all && !own {
        let help = "leave `all` out, or say it in the vocabulary that has the event";
        cx.error(codes::SIGNATURE_PART, "a signature says what there is", name.span, "to whom it goes", help);
    }
    if let Some(message) = params.iter().find(|param| of_all && param.ty == Type::Message) {
        let text = format!("`{}` goes to all, and a message goes to one", name.text);
        let help = "leave `all` out, or the message";
        cx.error(codes::SIGNATURE_PART, text, message.name.span, "of whom is it then?", help);
    }
    let begins = event.begins_view() && begins_view(cx, &name, &params, of_all && own && !down);
    let ends = event.ends_view();
    if ends && (!down || !own) {
        let help = "write `down all ends block_ok()`";
        cx.error(codes::NO_VIEW, "who sends says that it sends no more", name.span, "goes down", help);
    }
    Some(Carried { name, params, optional, of_all, begins, ends })
}

/// Checks that an event can begin a view: it goes up to all, and carries a record with the members.
fn begins_view(cx: &mut Context, name: &Name, params: &[Field], goes_up_to_all: bool) -> bool {
    let of = |params: &[Field]| match params {
        [Field { ty: Type::Record(id), .. }] => views::of_record(&cx.program, *id).is_some(),
        _ => false,
    };
    let unknown = params.iter().any(|param| param.ty == Type::Unknown);
    let (text, help) = match (goes_up_to_all, unknown || of(params)) {
        (true, true) => return !unknown,
        (false, _) => ("a view begins for all layers, from below", "write `up all begins view(v: View)`"),
        _ => (
            "a view is a record that says who is in it, and who of them we are",
            "write `record View { id: u32, me: Rank, members: [u16; ..8] }` and `up all begins view(v: View)`",
        ),
    };
    cx.error(codes::NO_VIEW, text, name.span, "begins no view", help);
    false
}

fn signature(cx: &mut Context, index: usize, found: &mut Vec<Lazy<(), Signature>>) {
    if !matches!(found[index], Lazy::Waiting(..)) {
        return;
    }
    found[index] = Lazy::Busy;
    let trees = cx.trees.clone();
    let (file, item) = &trees.signatures[index];
    let mut making = Making { cx: &mut *cx, file: *file, signature: empty(tree::title(*file, item.name())) };
    for member in item.members() {
        match member {
            ast::SignatureMember::Include(include) => {
                for name in include.names().iter().map(|name| tree::name(*file, name)) {
                    let Some(id) = making.signature_named(&name) else { continue };
                    if making.cx.deeper(name.span, |cx| signature(cx, id.index(), found)).is_none() {
                        continue;
                    }
                    match &found[id.index()] {
                        Lazy::Done(other) => making.include(&name, id, &other.clone()),
                        _ => {
                            let text = format!("signature `{}` includes itself", name.text);
                            let help = "leave one of the inclusions out";
                            making.cx.error(codes::CIRCLE, text, name.span, "leads back here", help);
                        }
                    }
                }
            }
            other => making.member(&other),
        }
    }
    found[index] = Lazy::Done(making.signature);
}

fn empty(name: Name) -> Signature {
    Signature {
        name,
        included: Vec::new(),
        promise: None,
        unit: None,
        boundaries: None,
        down: Vec::new(),
        up: Vec::new(),
        parts: Vec::new(),
        published: Vec::new(),
        reads: Vec::new(),
        writes: Vec::new(),
        speaks: Vec::new(),
    }
}

/// Removes repeated elements; the first of each stays.
fn once_each<T: Copy + Ord>(all: &mut Vec<T>) {
    let mut seen = BTreeSet::new();
    all.retain(|one| seen.insert(*one));
}

struct Making<'a> {
    cx: &'a mut Context,
    file: FileId,
    signature: Signature,
}

impl Making<'_> {
    fn signature_named(&mut self, name: &Name) -> Option<SignatureId> {
        match self.cx.item_at(self.file, name) {
            Some(Item::Signature(id)) => Some(id),
            _ => {
                let wanted = |item| matches!(item, Item::Signature(_));
                self.cx.unknown(codes::UNKNOWN_ITEM, "a signature", name, self.file, wanted);
                None
            }
        }
    }

    /// A table: one arm for each kind of member.
    fn member(&mut self, member: &ast::SignatureMember) {
        let file = self.file;
        match member {
            ast::SignatureMember::Include(_) => {}
            ast::SignatureMember::Promise(promise) => {
                if let Some(text) = promise.text() {
                    self.promise(text, promise.span(file));
                }
            }
            ast::SignatureMember::Unit(unit) => {
                unit.names().iter().for_each(|name| self.unit_word(&tree::name(file, name)));
            }
            ast::SignatureMember::Boundaries(boundaries) => {
                boundaries.names().iter().for_each(|name| self.boundaries_word(&tree::name(file, name)));
            }
            ast::SignatureMember::Directed(directed) => {
                for event in directed.events() {
                    if let Some(event) = carried(self.cx, file, &event, directed.is_down(), false) {
                        self.event(event, directed.is_down());
                    }
                }
            }
            ast::SignatureMember::Address(address) => {
                let fields = fields::read(self.cx, file, &address.fields(), FieldUse::Values);
                fields.into_iter().for_each(|field| self.part(field));
            }
            ast::SignatureMember::Key(key) => {
                let fields = fields::read(self.cx, file, &key.fields(), FieldUse::Values);
                fields.into_iter().for_each(|field| self.part(field));
            }
            ast::SignatureMember::Publish(publish) => {
                let Some(name) = tree::some_name(file, publish.name()) else { return };
                let ty = annotations::stored(self.cx, file, publish.ty());
                self.offer(Offered { name, ty, per_flow: publish.params().is_some() });
            }
            ast::SignatureMember::Reads(reads) => {
                let found = attributes(self.cx, file, &reads.names());
                self.signature.reads.extend(found);
            }
            ast::SignatureMember::Writes(writes) => {
                let found = attributes(self.cx, file, &writes.names());
                self.signature.writes.extend(found);
            }
            ast::SignatureMember::Speaks(speaks) => {
                let found = vocabularies(self.cx, file, &speaks.names());
                self.signature.speaks.extend(found);
            }
        }
    }

    fn unit_word(&mut self, name: &Name) {
        let units = [Unit::Message, Unit::Stream];
        match units.into_iter().find(|unit| unit.word() == name.text) {
            Some(unit) => self.unit(unit, name.span),
            None => self.wrong_word(name, "a unit", &["message", "stream"]),
        }
    }

    fn boundaries_word(&mut self, name: &Name) {
        match boundaries_named(&name.text) {
            Some(boundaries) => self.boundaries(boundaries, name.span),
            None => self.wrong_word(name, "a kind of boundaries", &["exact", "padded"]),
        }
    }

    fn wrong_word(&mut self, name: &Name, what: &str, words: &[&str]) {
        let text = format!("`{}` is not {what}", name.text);
        let help = suggest::help(&name.text, words.iter().copied()).unwrap_or_default();
        self.cx.error(codes::SIGNATURE_PART, text, name.span, "unknown", &help);
    }

    /// Adds the members of an included signature.
    fn include(&mut self, name: &Name, id: SignatureId, other: &Signature) {
        self.signature.included.push(id);
        self.signature.included.extend(&other.included);
        if let Some((unit, _)) = other.unit {
            self.unit(unit, name.span);
        }
        if let Some((boundaries, _)) = other.boundaries {
            self.boundaries(boundaries, name.span);
        }
        other.down.iter().for_each(|event| self.event(event.clone(), true));
        other.up.iter().for_each(|event| self.event(event.clone(), false));
        other.parts.iter().for_each(|part| self.part(part.clone()));
        other.published.iter().for_each(|value| self.offer(value.clone()));
        self.signature.reads.extend(&other.reads);
        self.signature.writes.extend(&other.writes);
        self.signature.speaks.extend(&other.speaks);
        // Several inclusions may bring the same member: then it is there once.
        once_each(&mut self.signature.included);
        once_each(&mut self.signature.reads);
        once_each(&mut self.signature.writes);
        once_each(&mut self.signature.speaks);
    }

    /// A signature makes one promise; what it includes may make others.
    fn promise(&mut self, text: String, span: Span) {
        match &self.signature.promise {
            Some((_, first)) => {
                let diagnostic = Diagnostic::error(codes::SIGNATURE_DISAGREES, "a signature makes one promise")
                    .at(span, "another one")
                    .label(*first, "the first")
                    .help("write a signature for each, and one that includes them");
                self.cx.report(diagnostic);
            }
            None => self.signature.promise = Some((text, span)),
        }
    }

    fn unit(&mut self, unit: Unit, span: Span) {
        match self.signature.unit {
            Some((first, place)) if first != unit => {
                self.disagree("unit", (first.word(), place), (unit.word(), span));
            }
            Some(_) => {}
            None => self.signature.unit = Some((unit, span)),
        }
    }

    fn boundaries(&mut self, boundaries: Boundaries, span: Span) {
        match self.signature.boundaries {
            Some((first, place)) if first != boundaries => {
                self.disagree("boundaries", (first.word(), place), (boundaries.word(), span));
            }
            Some(_) => {}
            None => self.signature.boundaries = Some((boundaries, span)),
        }
    }

    fn event(&mut self, event: Carried, down: bool) {
        let known = if down { &self.signature.down } else { &self.signature.up };
        if let Some(first) = known.iter().find(|first| first.name.text == event.name.text) {
            let (is, was) = (self.types_of(&event.params), self.types_of(&first.params));
            if is != was {
                let first = (was, first.name.span);
                self.disagree(&event.name.text, (&first.0, first.1), (&is, event.name.span));
            }
            return;
        }
        (if down { &mut self.signature.down } else { &mut self.signature.up }).push(event);
    }

    fn types_of(&self, params: &[Field]) -> String {
        let types: Vec<String> = params.iter().map(|param| self.cx.show(param.ty)).collect();
        format!("({})", types.join(", "))
    }

    fn part(&mut self, part: Field) {
        let first = self.signature.parts.iter().find(|first| first.name.text == part.name.text).cloned();
        match first {
            Some(first) if !types::same(first.ty, part.ty) => {
                let (was, is) = (self.cx.show(first.ty), self.cx.show(part.ty));
                self.disagree(&part.name.text, (&was, first.name.span), (&is, part.name.span));
            }
            Some(_) => {}
            None => self.signature.parts.push(part),
        }
    }

    fn offer(&mut self, value: Offered) {
        let first = self.signature.published.iter().find(|first| first.name.text == value.name.text).cloned();
        match first {
            Some(first) if !types::same(first.ty, value.ty) => {
                let (was, is) = (self.cx.show(first.ty), self.cx.show(value.ty));
                self.disagree(&value.name.text, (&was, first.name.span), (&is, value.name.span));
            }
            Some(_) => {}
            None => self.signature.published.push(value),
        }
    }

    fn disagree(&mut self, what: &str, first: (&str, Span), second: (&str, Span)) {
        let text = format!("signature `{}` says two things about `{what}`", self.signature.name.text);
        let diagnostic = Diagnostic::error(codes::SIGNATURE_DISAGREES, text)
            .at(second.1, format!("{} here", second.0))
            .label(first.1, format!("{} here", first.0))
            .label(self.signature.name.span, "both stand in this signature")
            .help("give it one type in both, or include one of them only");
        self.cx.report(diagnostic);
    }
}

fn boundaries_named(word: &str) -> Option<Boundaries> {
    [Boundaries::Exact, Boundaries::Padded].into_iter().find(|known| known.word() == word)
}

fn attributes(cx: &mut Context, file: FileId, names: &[ast::Name]) -> Vec<(AttributeId, Span)> {
    let mut found = Vec::new();
    for name in names.iter().map(|name| tree::name(file, name)) {
        match cx.item_at(file, &name) {
            Some(Item::Attribute(id)) => found.push((id, name.span)),
            _ => {
                let wanted = |item| matches!(item, Item::Attribute(_));
                cx.unknown(codes::UNKNOWN_ATTRIBUTE, "an attribute", &name, file, wanted);
            }
        }
    }
    found
}

/// The vocabularies of these names.
pub fn vocabularies(cx: &mut Context, file: FileId, names: &[ast::Name]) -> Vec<(VocabularyId, Span)> {
    let mut found = Vec::new();
    for name in names.iter().map(|name| tree::name(file, name)) {
        match cx.item_at(file, &name) {
            Some(Item::Vocabulary(id)) => found.push((id, name.span)),
            _ => {
                let wanted = |item| matches!(item, Item::Vocabulary(_));
                cx.unknown(codes::UNKNOWN_ITEM, "a vocabulary", &name, file, wanted);
            }
        }
    }
    found
}

/// `needs Datagrams, exact when checksums` of a layer whose parameters are known.
pub fn claims(
    cx: &mut Context,
    file: FileId,
    layer: LayerId,
    names: &[ast::Name],
    condition: Option<ast::Expr>,
) -> Vec<Claim> {
    let when = condition.map(|condition| {
        let mut body = Body::of_layer(cx, file, layer, BodyKind::Argument);
        let value = expr::value(&mut body, &condition, Type::Bool);
        body.folded(value)
    });
    let mut claims = Vec::new();
    for name in names.iter().map(|name| tree::name(file, name)) {
        let what = match (boundaries_named(&name.text), cx.item_at(file, &name)) {
            (_, Some(Item::Signature(id))) => Claimed::Signature(id),
            (Some(boundaries), _) => Claimed::Boundaries(boundaries),
            _ => {
                let wanted = |item| matches!(item, Item::Signature(_));
                cx.unknown(codes::UNKNOWN_ITEM, "a signature, `exact` or `padded`", &name, file, wanted);
                continue;
            }
        };
        claims.push(Claim { what, when: when.clone(), span: name.span });
    }
    claims
}

/// Of what a layer `breaks`: those that are promises. Others are reported.
pub fn broken(cx: &mut Context, claims: Vec<Claim>) -> Vec<Claim> {
    let is_promise = |cx: &Context, claim: &Claim| match claim.what {
        Claimed::Signature(id) => cx.program.signatures[id.index()].promise.is_some(),
        Claimed::Boundaries(_) => false,
    };
    let (kept, others): (Vec<Claim>, Vec<Claim>) = claims.into_iter().partition(|claim| is_promise(cx, claim));
    for claim in others {
        let (text, help) = match claim.what {
            Claimed::Signature(id) => (
                format!("`{}` makes no promise that could be broken", cx.program.signatures[id.index()].name.text),
                "say in it what is promised: `promise \"…\"`",
            ),
            Claimed::Boundaries(_) => ("boundaries are no promise".to_string(), "write `gives padded`"),
        };
        cx.error(codes::SIGNATURE_PART, text, claim.span, "broken here", help);
    }
    kept
}

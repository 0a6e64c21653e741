//! Completion at a place. The text is analysed with a name at the cursor, so that the tree and the types around it are
//! complete.
//!
//! Keeps: every proposal could be written there; the editor sorts them by what is typed.

use std::collections::{BTreeMap, BTreeSet};

use ls_types::{CompletionItem, CompletionItemKind as Kind, Documentation, MarkupContent, MarkupKind};
use mokume_base::{FileId, Span};
use mokume_semantics::program::{Field, Layer, MemberKind, Program, Stack, Type};
use mokume_semantics::signature::STANDARD_REASONS;
use mokume_semantics::{events, types};
use mokume_syntax::ast::{self, AstNode};
use mokume_syntax::{words, SyntaxKind, SyntaxNode, SyntaxToken};

use crate::analysis::Analysis;
use crate::{calls, hover, names, neighbours, outline, wires};

mod by_words;
mod networks;
mod runs;
mod values;

/// The name that is inserted at the cursor.
pub const HERE: &str = "mokume_here";

/// The types that every file knows without a `use`.
const TYPES: [&str; 16] = [
    "bool", "u8", "u16", "u24", "u32", "u48", "u64", "seq8", "seq16", "seq32", "seq64", "Duration", "Instant",
    "Message", "Flow", "Reason",
];
const OF_MESSAGES: [&str; 25] = [
    "share",
    "sum16",
    "trim",
    "skip",
    "split",
    "join",
    "received",
    "has",
    "field",
    "u8",
    "u16be",
    "u24be",
    "u32be",
    "u64be",
    "u16le",
    "u32le",
    "u64le",
    "put_u8",
    "put_u16be",
    "put_u24be",
    "put_u32be",
    "put_u64be",
    "put_u16le",
    "put_u32le",
    "put_u64le",
];
/// The text with the name inserted in place of the word at the cursor, and the offset of that name.
pub fn patched(text: &str, offset: usize) -> (String, usize) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let from =
        text[..offset].rfind(|c| !is_word(c)).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let to = text[offset..].find(|c| !is_word(c)).map_or(text.len(), |at| offset + at);
    (format!("{}{HERE}{}", &text[..from], &text[to..]), from)
}

/// All proposals for the inserted name.
pub fn at(analysis: &Analysis, file: FileId, from: usize, modules: &[String]) -> Vec<CompletionItem> {
    let Some(word) = names::word(analysis, file, from as u32 + 1) else { return Vec::new() };
    let scene = Scene { analysis, program: &analysis.checked.program, file, token: word.token };
    let mut found = Found::default();
    if scene.by_words(&mut found).is_none() {
        scene.propose(modules, &mut found);
    }
    found.items.into_values().collect()
}

/// The proposals by label, each once.
#[derive(Default)]
struct Found {
    items: BTreeMap<String, CompletionItem>,
    near: Near,
}

/// How near the things that are added now are; editors show near ones first.
#[derive(Clone, Copy, Default)]
enum Near {
    /// Of the code.
    #[default]
    Code,
    Layer,
    File,
    Language,
    Others,
}

impl Found {
    fn add(&mut self, label: &str, kind: Kind, detail: impl Into<String>) {
        self.put(CompletionItem {
            label: label.to_string(),
            kind: Some(kind),
            detail: Some(detail.into()),
            ..CompletionItem::default()
        });
    }

    fn put(&mut self, mut item: CompletionItem) {
        item.sort_text = Some(format!("{}{}", self.near as u8, item.label));
        if item.label != HERE && !item.label.starts_with(['.', '?']) {
            self.items.entry(item.label.clone()).or_insert(item);
        }
    }

    fn words(&mut self, words: &[&str]) {
        words.iter().for_each(|word| self.add(word, Kind::KEYWORD, words::form(word)));
    }
}

struct Scene<'a> {
    analysis: &'a Analysis,
    program: &'a Program,
    file: FileId,
    token: SyntaxToken,
}

impl Scene<'_> {
    fn propose(&self, modules: &[String], found: &mut Found) {
        use SyntaxKind as S;
        let Some(parent) = self.token.parent() else { return };
        let owner = parent.parent();
        let kind = owner.as_ref().map_or(S::FILE, SyntaxNode::kind);
        match (parent.kind(), kind) {
            (S::USE_PATH | S::USE, _) | (_, S::USE_PATH | S::USE) => {
                modules.iter().for_each(|module| found.add(module, Kind::MODULE, "module"));
            }
            (S::NAME, S::FIELD_EXPR) => self.behind_dot(owner, found).unwrap_or_default(),
            (S::NAME, S::RECORD_EXPR_FIELD) => self.fields_within(owner, found).unwrap_or_default(),
            (S::NAME, S::NAMED_TYPE) => self.types(found),
            (S::NAME, S::LAYER_USE) if self.is_in(S::HOST) || self.is_in(S::TEST_STACK) => self.stacks(found),
            (S::NAME, S::LAYER_USE) => self.layers(found),
            (S::NAME, S::OVER | S::WITH | S::EXPORT) => self.instances(found),
            (S::NAME, S::READS | S::WRITES) => self.attributes(found),
            (S::NAME, S::SERVES | S::USES) => {
                let all = self.program.services.iter().map(|service| &service.name);
                all.for_each(|name| found.add(&name.text, Kind::INTERFACE, "service"));
            }
            (S::NAME | S::PATH, S::DROP_STMT | S::CONSUME_STMT | S::FAIL_STMT) => self.reasons(found),
            (S::NAME, S::PATH) => match owner.and_then(|path| path.parent()).map(|node| node.kind()) {
                Some(S::HANDLER) => self.handled(found),
                Some(S::DROP_STMT | S::CONSUME_STMT | S::FAIL_STMT) => self.reasons(found),
                _ => self.by_place(&parent, found),
            },
            (S::NAME_EXPR, S::EXPR_STMT) => {
                found.words(words::of_statements());
                self.receivers(found);
                self.targets(found);
            }
            (S::NAME_EXPR, S::ARG) => {
                self.named_arguments(found);
                if (self.is_in(S::TEST) || self.is_in(S::NETWORK)) && !self.is_in(S::LAYER_USE) {
                    self.values_of_run(found);
                } else {
                    self.values(found);
                }
            }
            (S::NAME_EXPR, _) if self.is_in(S::STACK_LAYER) || self.is_in(S::BUNDLE) => {
                self.layers(found);
                self.values(found);
            }
            (S::NAME_EXPR, S::FIELD_EXPR) => {
                self.receivers(found);
                self.values(found);
            }
            (S::NAME_EXPR, _) => {
                if self.layer().is_some() {
                    found.add("below", Kind::KEYWORD, "below.mtu");
                }
                self.values(found);
            }
            _ => self.by_place(&parent, found),
        }
    }

    fn receivers(&self, found: &mut Found) {
        found.add("below", Kind::KEYWORD, "below.send(msg)");
        found.add("above", Kind::KEYWORD, "above.deliver(msg)");
    }

    fn is_in(&self, kind: SyntaxKind) -> bool {
        self.token.parent_ancestors().any(|node| node.kind() == kind)
    }

    /// Proposals at the beginning of something whose kind is still open.
    fn by_place(&self, parent: &SyntaxNode, found: &mut Found) {
        use SyntaxKind as S;
        let around = parent.ancestors().map(|node| node.kind());
        let around = around.into_iter().find(|kind| {
            matches!(
                kind,
                S::BLOCK
                    | S::SCOPE
                    | S::OBJECT
                    | S::LAYER
                    | S::PART
                    | S::CONTAINER
                    | S::STACK
                    | S::BUNDLE
                    | S::HANDLER
                    | S::WIRE
                    | S::FILE
            )
        });
        match around {
            Some(S::BLOCK) => {
                found.words(words::of_statements());
                self.targets(found);
            }
            Some(S::SCOPE | S::CONTAINER) => {
                found.words(words::of_state());
                self.containers(found);
            }
            Some(S::OBJECT) => {
                found.words(words::of_state());
                found.words(&["on"]);
            }
            Some(S::HANDLER) => self.handled(found),
            Some(S::LAYER | S::PART) => found.words(words::of_members()),
            Some(S::STACK) => {
                found.words(&["export", "outputs", "sessions", "tick", "order", "over", "with"]);
                self.layers(found);
            }
            Some(S::BUNDLE) => self.layers(found),
            Some(S::WIRE) => found.words(&by_words::OF_WIRES),
            _ => found.words(words::of_items()),
        }
    }

    fn containers(&self, found: &mut Found) {
        for file in self.seen() {
            let declared = outline::declarations(&names::tree(self.analysis, file));
            for container in declared.iter().filter(|declared| declared.node == SyntaxKind::CONTAINER) {
                found.add(&container.name, Kind::CLASS, "container");
            }
        }
    }

    // ---- within braces ----

    /// The fields of what stands in front of the braces: a wire, a record, an alternative of a header.
    fn fields_within(&self, field: Option<SyntaxNode>, found: &mut Found) -> Option<()> {
        let record = ast::RecordExpr::cast(field?.parent()?)?;
        let name = record.name()?;
        let declared = names::exact_declarations(self.analysis, name.span(self.file));
        for wire in self.program.wires.iter().filter(|wire| declared.contains(&wire.name.span)) {
            let placed = wires::placed(self.program).into_iter().filter(|placed| placed.wire == wire.name.text);
            for field in placed {
                let text = &self.analysis.checked.sources.file(field.name.file).text;
                let name = text.get(field.name.start as usize..field.name.end as usize).unwrap_or_default();
                found.add(name, Kind::FIELD, format!("u{}", field.width));
            }
        }
        let records = self.program.records.iter().filter(|record| declared.contains(&record.name.span));
        records.for_each(|record| self.fields(&record.fields, found));
        let headers = self.program.layers.iter().flat_map(|layer| &layer.header);
        let variants = headers.flat_map(|header| &header.variants);
        let variants = variants.filter(|variant| declared.contains(&variant.name.span));
        variants.for_each(|variant| self.fields(&variant.fields, found));
        Some(())
    }

    // ---- behind a dot ----

    fn behind_dot(&self, owner: Option<SyntaxNode>, found: &mut Found) -> Option<()> {
        let field = ast::FieldExpr::cast(owner?)?;
        let base = field.base()?;
        let last = base.syntax().descendants_with_tokens().filter_map(|element| element.into_token());
        let last = last.filter(|token| token.kind() == SyntaxKind::IDENT).last()?;
        let at = ast::token_span(&last, self.file);
        let declared = names::exact_declarations(self.analysis, at);
        match (last.text(), declared.is_empty()) {
            ("below", true) if !self.is_statement() => self.published(found),
            ("below", true) => self.neighbour(&events::DOWN, true, found),
            ("above", true) => self.neighbour(&events::UP, false, found),
            ("flow", true) => self.flow(found),
            (word, true) => self.of_alias(word, found),
            (_, false) => declared.iter().for_each(|declared| self.of_declared(*declared, found)),
        }
        Some(())
    }

    /// The members of a service or a part, by its alias in the layer.
    fn of_alias(&self, word: &str, found: &mut Found) {
        let Some(layer) = self.layer() else { return };
        let services = layer.uses.iter().filter(|(_, alias)| alias.text == word);
        services.for_each(|(_, alias)| self.of_declared(alias.span, found));
        let parts = layer.parts.iter().filter(|part| part.called == word);
        parts.for_each(|part| self.of_declared(part.name.span, found));
    }

    fn neighbour(&self, events: &[&str], down: bool, found: &mut Found) {
        events.iter().for_each(|event| found.add(event, Kind::EVENT, "event"));
        for vocabulary in &self.program.vocabularies {
            let carried = if down { &vocabulary.down } else { &vocabulary.up };
            carried
                .iter()
                .for_each(|event| found.add(&event.name.text, Kind::EVENT, format!("of {}", vocabulary.name.text)));
        }
    }

    /// Whether the cursor is in what a statement tells a neighbour, not in a value.
    fn is_statement(&self) -> bool {
        use SyntaxKind as S;
        let around = self.token.parent_ancestors().map(|node| node.kind());
        let around = around.into_iter().find(|kind| !matches!(kind, S::NAME | S::FIELD_EXPR | S::CALL_EXPR));
        around == Some(S::EXPR_STMT)
    }

    /// The values that are published below the layer, in the stacks that have it; everywhere if none has.
    fn published(&self, found: &mut Found) {
        neighbours::OF_DEVICES.iter().for_each(|name| found.add(name, Kind::PROPERTY, "published below"));
        let Some(own) = self.layer() else { return };
        let mut below: Vec<&Layer> = Vec::new();
        let is_own = |layer: &Layer| layer.name.span == own.name.span;
        let is_used = neighbours::walk(self.program, &is_own, true, &mut |layer| {
            below.push(layer);
            false
        });
        if !is_used {
            below.extend(self.seen_layers().filter(|layer| layer.name.span != own.name.span));
        }
        for publish in below.iter().flat_map(|layer| &layer.publishes) {
            found.add(&publish.name.text, Kind::PROPERTY, types::show(self.program, publish.ty));
        }
    }

    fn flow(&self, found: &mut Found) {
        ["local", "remote"].iter().for_each(|end| found.add(end, Kind::PROPERTY, "an end of the flow"));
        let Some(layer) = self.layer() else { return };
        let parts = layer.key.iter().flat_map(|key| &key.fields).chain(&layer.address).chain(&layer.below_address);
        self.fields(parts, found);
    }

    fn fields<'f>(&self, fields: impl IntoIterator<Item = &'f Field>, found: &mut Found) {
        for field in fields {
            self.item(&field.name.text, Kind::FIELD, types::show(self.program, field.ty), field.name.span, found);
        }
    }

    /// The members of what is declared at a place.
    fn of_declared(&self, declared: Span, found: &mut Found) {
        let program = self.program;
        for item in program.enums.iter().filter(|item| item.name.span == declared) {
            item.names.iter().for_each(|(name, number)| found.add(&name.text, Kind::ENUM_MEMBER, number.to_string()));
        }
        for service in program.services.iter().filter(|service| service.name.span == declared) {
            service.operations.iter().for_each(|known| found.add(&known.name.text, Kind::EVENT, "operation"));
        }
        for layer in &program.layers {
            for (service, alias) in layer.uses.iter().filter(|(_, alias)| alias.span == declared) {
                let operations = program.services.get(service.index()).map_or(&[][..], |service| &service.operations);
                operations
                    .iter()
                    .for_each(|known| found.add(&known.name.text, Kind::EVENT, format!("of {}", alias.text)));
            }
            for part in layer.parts.iter().filter(|part| part.name.span == declared) {
                part.functions.iter().for_each(|(name, _)| found.add(name, Kind::FUNCTION, "of the part"));
            }
            for (_, members) in layer.all_members() {
                for member in members.iter().filter(|member| member.name.span == declared) {
                    self.of_member(layer, &member.kind, found);
                }
            }
        }
        if let Some(ty) = self.type_at(declared) {
            self.of_type(ty, declared, found);
        }
    }

    fn of_member(&self, layer: &Layer, kind: &MemberKind, found: &mut Found) {
        match kind {
            MemberKind::Var { ty, .. } => self.of_type(*ty, layer.name.span, found),
            MemberKind::Container(instance) => {
                if let Some(container) = layer.containers.get(*instance as usize) {
                    for (name, _) in &container.functions {
                        self.opened(name, (Kind::FUNCTION, &container.of), "(", None, found);
                    }
                    container.members.iter().for_each(|(name, _)| found.add(name, Kind::VARIABLE, &container.of));
                }
            }
            MemberKind::Messages { .. } => {
                ["put", "take", "share", "holds"].iter().for_each(|name| found.add(name, Kind::METHOD, "of places"));
            }
            MemberKind::Timer
            | MemberKind::Quota { .. }
            | MemberKind::Counter
            | MemberKind::Array { .. }
            | MemberKind::Map { .. } => {}
        }
    }

    fn of_type(&self, ty: Type, declared: Span, found: &mut Found) {
        match ty {
            Type::Record(id) => {
                if let Some(record) = self.program.records.get(id.index()).filter(|record| record.vector.is_none()) {
                    self.fields(&record.fields, found);
                } else {
                    ["length", "push", "pop", "at"]
                        .iter()
                        .for_each(|name| found.add(name, Kind::METHOD, "of a vector"));
                }
            }
            Type::Message => {
                found.add("size", Kind::PROPERTY, "of a message");
                for name in OF_MESSAGES {
                    self.opened(name, (Kind::METHOD, "of a message"), "(", None, found);
                }
                let Some(layer) = self.layer() else { return };
                let ids = layer.reads.iter().chain(&layer.writes);
                for attribute in ids.filter_map(|id| self.program.attributes.get(id.index())) {
                    let ty = types::show(self.program, attribute.ty);
                    let detail = format!("attribute: {ty}");
                    self.item(&attribute.name.text, Kind::PROPERTY, detail, attribute.name.span, found);
                }
            }
            Type::Flow(_) => self.flow(found),
            Type::Object(id) => {
                let class = self.layer_at(declared).and_then(|layer| layer.objects.get(id.index()));
                for member in class.iter().flat_map(|class| &class.members) {
                    self.item(&member.name.text, Kind::VARIABLE, "", member.name.span, found);
                }
            }
            _ => {}
        }
    }

    /// The type of a local, a parameter or a field that is declared at a place.
    fn type_at(&self, declared: Span) -> Option<Type> {
        let fields = self.program.records.iter().flat_map(|record| &record.fields);
        let field = || fields.into_iter().find(|field| field.name.span == declared).map(|field| field.ty);
        hover::type_of_local(self.program, declared).or_else(field)
    }

    // ---- names in sight ----

    /// The layer in whose text the cursor is.
    fn layer(&self) -> Option<&Layer> {
        calls::layer_around(self.program, &self.token, self.file)
    }

    fn layer_at(&self, place: Span) -> Option<&Layer> {
        let holds = |layer: &&Layer| {
            layer.handlers.iter().flat_map(|handler| &handler.locals).any(|local| local.name.span == place)
                || layer.functions.iter().flat_map(|function| &function.locals).any(|local| local.name.span == place)
                || layer.name.span == place
        };
        self.program.layers.iter().find(holds)
    }

    fn types(&self, found: &mut Found) {
        TYPES.iter().for_each(|name| found.add(name, Kind::STRUCT, "of the language"));
        let seen = self.seen();
        for record in self
            .program
            .records
            .iter()
            .filter(|record| record.vector.is_none() && seen.contains(&record.name.span.file))
        {
            self.item(&record.name.text, Kind::STRUCT, "record", record.name.span, found);
        }
        for item in self.program.enums.iter().filter(|item| seen.contains(&item.name.span.file)) {
            self.item(&item.name.text, Kind::ENUM, "enum", item.name.span, found);
        }
        for written in self.program.written.iter().filter(|written| seen.contains(&written.name.span.file)) {
            self.item(&written.name.text, Kind::STRUCT, "type", written.name.span, found);
        }
    }

    fn layers(&self, found: &mut Found) {
        let seen = self.seen();
        for layer in self.program.layers.iter().filter(|layer| seen.contains(&layer.name.span.file)) {
            self.item(
                &layer.name.text,
                Kind::CLASS,
                format!("{:?}", layer.shape).to_lowercase(),
                layer.name.span,
                found,
            );
        }
        for bundle in self
            .program
            .bundles
            .iter()
            .filter(|bundle| bundle.name.text != "_" && seen.contains(&bundle.name.span.file))
        {
            self.item(&bundle.name.text, Kind::MODULE, "bundle", bundle.name.span, found);
        }
    }

    fn instances(&self, found: &mut Found) {
        let here = self.token.parent_ancestors().find(|node| node.kind() == SyntaxKind::STACK);
        let Some(here) = here.map(|node| ast::span_of(&node, self.file)) else { return };
        for stack in self.program.stacks.iter().filter(|stack| within(stack.name.span, here)) {
            stack.devices.iter().for_each(|device| found.add(&device.text, Kind::VARIABLE, "device"));
            stack
                .instances
                .iter()
                .for_each(|instance| found.add(&instance.name.text, Kind::VARIABLE, "layer of the stack"));
        }
    }

    fn attributes(&self, found: &mut Found) {
        for attribute in &self.program.attributes {
            let ty = types::show(self.program, attribute.ty);
            self.item(&attribute.name.text, Kind::PROPERTY, format!("attribute: {ty}"), attribute.name.span, found);
        }
    }

    fn handled(&self, found: &mut Found) {
        for event in events::DOWN.iter().chain(&events::UP).chain(&events::GRANTS) {
            found.add(event, Kind::EVENT, "event");
        }
        let others = ["start", "expiry", "settle", "change", "unmatched", "arrives"];
        others.iter().for_each(|event| found.add(event, Kind::EVENT, "event"));
        for vocabulary in &self.program.vocabularies {
            let all = vocabulary.down.iter().chain(&vocabulary.up);
            all.for_each(|event| found.add(&event.name.text, Kind::EVENT, format!("of {}", vocabulary.name.text)));
        }
    }

    fn reasons(&self, found: &mut Found) {
        STANDARD_REASONS.iter().for_each(|reason| found.add(reason, Kind::ENUM_MEMBER, "reason"));
        let declared = self.program.vocabularies.iter().flat_map(|vocabulary| &vocabulary.reasons);
        declared.for_each(|reason| found.add(&reason.text, Kind::ENUM_MEMBER, "reason"));
        // The reasons in the text: naming a reason declares it.
        let root = names::tree(self.analysis, self.file);
        for node in root.descendants().filter(|node| {
            matches!(node.kind(), SyntaxKind::DROP_STMT | SyntaxKind::CONSUME_STMT | SyntaxKind::FAIL_STMT)
        }) {
            let tokens = node.descendants_with_tokens().filter_map(|element| element.into_token());
            let mut behind = tokens.skip_while(|token| token.kind() != SyntaxKind::COLON);
            if let Some(last) = behind.find(|token| token.kind() == SyntaxKind::IDENT) {
                found.add(last.text(), Kind::ENUM_MEMBER, "reason");
            }
        }
    }

    /// `seq: …`: fields of the layer's header in a send, elsewhere names of parameters.
    fn named_arguments(&self, found: &mut Found) {
        for callee in calls::around(self.analysis, self.file, &self.token) {
            match callee.alternative {
                Some(name) => found.add(&name, Kind::ENUM_MEMBER, "alternative of the header"),
                None => self.arguments(callee.named().iter().map(|(name, ty)| (name.as_str(), *ty)), found),
            }
        }
    }

    fn arguments<'n>(&self, names: impl Iterator<Item = (&'n str, Type)>, found: &mut Found) {
        for (name, ty) in names {
            found.put(CompletionItem {
                label: format!("{name}:"),
                kind: Some(Kind::FIELD),
                detail: Some(types::show(self.program, ty)),
                insert_text: Some(format!("{name}: ")),
                ..CompletionItem::default()
            });
        }
    }

    /// Adds something that is declared at a place, with its documentation.
    fn item(&self, label: &str, kind: Kind, detail: impl Into<String>, declared: Span, found: &mut Found) {
        found.put(CompletionItem {
            label: label.to_string(),
            kind: Some(kind),
            detail: Some(detail.into()),
            documentation: self.documentation(declared, found),
            ..CompletionItem::default()
        });
    }

    /// The documentation of what is declared at a place; none in a long list.
    fn documentation(&self, declared: Span, found: &Found) -> Option<Documentation> {
        let value = Some(declared).filter(|_| found.items.len() < 200);
        let value = value.and_then(|declared| hover::text(self.analysis, declared))?;
        Some(Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value }))
    }

    /// The files whose items are visible here: the file itself, and those that it uses, with their modules.
    fn seen(&self) -> BTreeSet<FileId> {
        let mut seen = BTreeSet::from([self.file]);
        let root = names::tree(self.analysis, self.file);
        for path in root.descendants().filter_map(ast::UsePath::cast) {
            let at = ast::span_of(path.syntax(), self.file).start;
            seen.extend(names::used(self.analysis, self.file, at + 1).into_iter().map(|span| span.file));
        }
        seen
    }

    /// The layers that are visible here.
    fn seen_layers(&self) -> impl Iterator<Item = &Layer> {
        let seen = self.seen();
        self.program.layers.iter().filter(move |layer| seen.contains(&layer.name.span.file))
    }

    /// The stacks that are visible here.
    fn seen_stacks(&self) -> impl Iterator<Item = &Stack> {
        let seen = self.seen();
        self.program.stacks.iter().filter(move |stack| seen.contains(&stack.name.span.file))
    }
}

fn within(place: Span, of: Span) -> bool {
    place.file == of.file && of.start <= place.start && place.end <= of.end
}

/// The kind of a piece of state, as text.
fn state(kind: &MemberKind, program: &Program) -> String {
    match kind {
        MemberKind::Var { ty, .. } => types::show(program, *ty),
        MemberKind::Timer => "timer".to_string(),
        MemberKind::Quota { .. } => "quota".to_string(),
        MemberKind::Counter => "counter".to_string(),
        MemberKind::Array { ty, .. } => format!("array of {}", types::show(program, *ty)),
        MemberKind::Map { .. } => "map".to_string(),
        MemberKind::Messages { .. } => "places for messages".to_string(),
        MemberKind::Container(_) => "container".to_string(),
    }
}

//! Proposals where the words before the cursor decide: the tree of an unfinished line says little, or something else.

use mokume_semantics::program::{Field, Header, Key, Layer, MemberKind, ScopeKind, Type, Variant};
use mokume_semantics::types;
use mokume_syntax::{ast, SyntaxKind, SyntaxNode};

use super::{within, Found, Kind, Scene};

/// The words with which parts of a wire begin.
pub(super) const OF_WIRES: [&str; 9] =
    ["choice", "default", "each", "header", "optional", "options", "pseudo", "trim", "where"];

impl Scene<'_> {
    /// Whether this word is in front of the cursor.
    pub(super) fn is_behind(&self, word: &str) -> bool {
        self.before().last().is_some_and(|before| before == word)
    }

    /// The words and signs before the cursor on its line.
    fn before(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut token = self.token.prev_token();
        while let Some(before) = token {
            if before.kind() == SyntaxKind::WHITESPACE && before.text().contains('\n') {
                break;
            }
            if !before.kind().is_trivia() {
                found.push(before.text().to_string());
            }
            token = before.prev_token();
        }
        found.reverse();
        found
    }

    /// Proposals where the words before the cursor decide, whatever the tree of the unfinished line is; `None` if they
    /// do not.
    pub(super) fn by_words(&self, found: &mut Found) -> Option<()> {
        use SyntaxKind as S;
        let before = self.before();
        let words: Vec<&str> = before.iter().map(String::as_str).collect();
        let last = words.iter().rposition(|word| matches!(*word, "start" | "stop"));
        if self.is_in(S::TEST) && !self.is_in(S::ARG_LIST) {
            return self.in_test(&words, found);
        }
        if self.is_in(S::NETWORK) && !self.is_in(S::ARG_LIST) {
            return self.in_network(&words, found);
        }
        match (&words[..], last) {
            ([.., "on", "expiry"], _) => self.timers(true, found),
            (["on", event, rest @ ..], _) if self.is_within("(", ")", rest) => self.bound(event, rest, found)?,
            ([.., "running"], _) => self.timers(false, found),
            (_, Some(at)) if self.is_in(S::BLOCK) => match &words[at..] {
                [_] => self.timers(false, found),
                ["start", path @ ..]
                    if path.last() != Some(&".") && !path.contains(&"after") && !path.contains(&"at") =>
                {
                    found.words(&["after", "at"]);
                }
                _ => return None,
            },
            ([.., layer, ".", alternative, ".", list, "."], _) if self.is_in(S::WIRE) => {
                self.of_list(layer, &[*alternative, *list], found)?;
            }
            ([.., layer, ".", alternative, "."], _) if self.is_in(S::WIRE) => {
                self.header(layer, Some(alternative), found).or_else(|| self.of_list(layer, &[*alternative], found))?
            }
            ([.., element, "."], _) if self.is_in(S::WIRE_EACH) && self.elements().contains(&element.to_string()) => {
                self.of_element(element, found)?;
            }
            ([.., layer, "."], _) if self.is_in(S::WIRE) => self.header(layer, None, found)?,
            ([.., "each", _, "in"], _) if self.is_in(S::WIRE) => self.carried(found),
            ([.., "="], _) if self.is_in(S::WIRE) => {
                self.elements().iter().for_each(|name| found.add(name, Kind::VARIABLE, "element of the list"));
                self.fixed(found);
                self.carried(found);
            }
            ([.., "choice"], _) if self.is_in(S::WIRE) => self.tags(found),
            ([.., "=>"], _) if self.is_in(S::WIRE) => {
                let layers = self.carried_layers();
                let headers = layers.iter().filter_map(|layer| layer.header.as_ref());
                headers.filter(|header| !header.is_single()).for_each(|header| self.parts(header, &[], found));
                self.carried(found);
            }
            ([.., "[" | ","], _) if self.is_in(S::STACK) => self.keys_below(&words, found)?,
            ([.., "count"], _) => self.members(|kind| matches!(kind, MemberKind::Counter), "counter", found),
            ([.., "take" | "give" | "left"], _) if self.is_in(S::LAYER) => {
                self.members(|kind| matches!(kind, MemberKind::Quota { .. }), "quota", found);
            }
            ([.., "fail", ":"], _) | ([.., "fail", _, ":"], _) => self.reasons(found),
            _ => return None,
        }
        Some(())
    }

    /// Whether the last of these words stand in brackets that are not closed.
    fn is_within(&self, open: &str, close: &str, words: &[&str]) -> bool {
        let count = |sign: &str| words.iter().filter(|word| **word == sign).count();
        count(open) > count(close)
    }

    /// The timers of the layer; with those of its objects where a handler names them.
    fn timers(&self, of_objects: bool, found: &mut Found) {
        let Some(layer) = self.layer() else { return };
        let object = self.token.parent_ancestors().find(|node| node.kind() == SyntaxKind::OBJECT);
        let object = object.map(|node| ast::span_of(&node, self.file));
        for (scope, members) in layer.all_members() {
            let is_object = matches!(scope, ScopeKind::Object(_));
            for member in members.iter().filter(|member| matches!(member.kind, MemberKind::Timer)) {
                let is_own = object.is_some_and(|object| within(member.name.span, object));
                if is_object && !is_own && !of_objects {
                    continue;
                }
                self.item(&member.name.text, Kind::VARIABLE, "timer", member.name.span, found);
            }
        }
        if of_objects {
            return;
        }
        // Those of objects are behind a name of the object.
        for local in self.locals_here().filter(|local| matches!(local.ty, Type::Object(_))) {
            found.add(&local.name.text, Kind::VARIABLE, types::show(self.program, local.ty));
        }
        for class in &layer.objects {
            self.item(&class.name.text, Kind::CLASS, "objects", class.name.span, found);
        }
    }

    /// The state of the layer of one kind, by its name.
    fn members(&self, is_it: impl Fn(&MemberKind) -> bool, what: &str, found: &mut Found) {
        let members = self.layer().into_iter().flat_map(Layer::all_members).flat_map(|(_, members)| members);
        for member in members.filter(|member| is_it(&member.kind) && !member.name.text.contains('.')) {
            self.item(&member.name.text, Kind::VARIABLE, what, member.name.span, found);
        }
    }

    /// What a handler's brackets may bind: parts of the header, parameters of an event of a vocabulary.
    fn bound(&self, event: &str, words: &[&str], found: &mut Found) -> Option<()> {
        let layer = self.layer()?;
        if event == "deliver" {
            let header = layer.header.as_ref()?;
            let brace = words.iter().rposition(|word| *word == "{").filter(|at| !words[*at..].contains(&"}"));
            match brace {
                Some(at) => {
                    let (_, variant) = header.variant(words.get(at.checked_sub(1)?)?)?;
                    self.fields(&variant.fields, found);
                }
                None => self.parts(header, words, found),
            }
            return Some(());
        }
        let known = self.program.vocabularies.iter().find_map(|vocabulary| vocabulary.event(event))?;
        self.fields(&known.params, found);
        Some(())
    }

    // ---- wires ----

    /// The layers whose headers the wire around the cursor carries: those of its bundles; all in sight if it has none.
    fn carried_layers(&self) -> Vec<&Layer> {
        let wire = self.token.parent_ancestors().find(|node| node.kind() == SyntaxKind::WIRE);
        let wire = wire.map(|node| ast::span_of(&node, self.file));
        let is_here = |place| wire.is_some_and(|wire| within(place, wire));
        let bundles = self.program.bundles.iter().filter(|bundle| {
            let wire = bundle.wire.and_then(|wire| self.program.wires.get(wire.index()));
            wire.is_some_and(|wire| is_here(wire.name.span))
        });
        let mut layers: Vec<&Layer> =
            bundles.flat_map(|bundle| &bundle.parts).flat_map(|part| self.program.layers_of(part)).collect();
        if layers.is_empty() {
            layers = self.seen_layers().collect();
        }
        layers.retain(|layer| layer.header.is_some() || layer.key.is_some());
        layers
    }

    fn carried(&self, found: &mut Found) {
        for layer in self.carried_layers() {
            self.item(&layer.name.text, Kind::CLASS, "its header", layer.name.span, found);
        }
    }

    /// The parts of a layer's header, as wires name them; its key is one.
    fn header(&self, layer: &str, alternative: Option<&str>, found: &mut Found) -> Option<()> {
        let layer = self.carried_layers().into_iter().find(|known| known.name.text == layer)?;
        match alternative {
            Some(alternative) => self.fields(&layer.header.as_ref()?.variant(alternative)?.1.fields, found),
            None => {
                let key = layer.key.as_ref().map_or(Vec::new(), Key::carried);
                self.fields(&key, found);
                layer.header.iter().for_each(|header| self.parts(header, &[], found));
            }
        }
        Some(())
    }

    /// The field of a header that a path names behind its layer.
    fn field(&self, layer: &str, path: &[&str]) -> Option<&Field> {
        let layer = self.carried_layers().into_iter().find(|known| known.name.text == layer)?;
        let header = layer.header.as_ref()?;
        let (fields, name) = match path {
            [alternative, name] => {
                let is_it = |known: &&Variant| known.name.text == **alternative;
                (&header.variants.iter().find(is_it)?.fields, name)
            }
            [name] => (&header.variants.first().filter(|_| header.is_single())?.fields, name),
            _ => return None,
        };
        fields.iter().find(|field| field.name.text == **name)
    }

    /// What a wire may say of a list beside its elements; the parts of a record.
    fn of_list(&self, layer: &str, path: &[&str], found: &mut Found) -> Option<()> {
        let Type::Record(id) = self.field(layer, path)?.ty else { return None };
        let record = self.program.records.get(id.index())?;
        match record.vector {
            Some(_) => found.add("length", Kind::PROPERTY, "how many elements"),
            None => self.fields(&record.fields, found),
        }
        Some(())
    }

    /// What the `each` around the cursor call their elements.
    fn elements(&self) -> Vec<String> {
        let around = self.token.parent_ancestors().filter(|node| node.kind() == SyntaxKind::WIRE_EACH);
        let names = around.filter_map(|each| each.children().find(|part| part.kind() == SyntaxKind::NAME));
        names.map(|name| name.text().to_string().trim().to_string()).collect()
    }

    /// The parts of an element of a list of records.
    fn of_element(&self, element: &str, found: &mut Found) -> Option<()> {
        let mut around = self.token.parent_ancestors().filter(|node| node.kind() == SyntaxKind::WIRE_EACH);
        let is_it = |part: &SyntaxNode| part.kind() == SyntaxKind::NAME && part.text().to_string().trim() == element;
        let each = around.find(|each| each.children().any(|part| is_it(&part)))?;
        let path = each.children().find(|part| part.kind() == SyntaxKind::PATH)?.text().to_string();
        let words: Vec<&str> = path.trim().split('.').map(str::trim).collect();
        let Type::Record(id) = self.field(words.first()?, &words[1..])?.ty else { return None };
        let list = self.program.records.get(id.index())?.vector.as_ref()?;
        let Type::Record(id) = list.element else { return None };
        self.fields(&self.program.records.get(id.index())?.fields, found);
        Some(())
    }

    /// The fields of the wire in front of the cursor without a value, by which a choice may go.
    fn tags(&self, found: &mut Found) {
        let wire = self.token.parent_ancestors().find(|node| node.kind() == SyntaxKind::WIRE);
        let here = self.token.text_range().start();
        let fields = wire.iter().flat_map(|wire| wire.descendants()).filter(|node| {
            node.kind() == SyntaxKind::WIRE_FIELD
                && node.text_range().start() < here
                && !node.children_with_tokens().any(|part| part.kind() == SyntaxKind::EQ)
        });
        for name in fields.filter_map(|field| field.children().find(|part| part.kind() == SyntaxKind::NAME)) {
            found.add(&name.text().to_string(), Kind::FIELD, "a field without a value");
        }
    }

    /// `over ip[protocol: 17]`: the key of the multiplexor on top of what is below.
    fn keys_below(&self, words: &[&str], found: &mut Found) -> Option<()> {
        let open = words.iter().rposition(|word| *word == "[").filter(|at| !words[*at..].contains(&"]"))?;
        let below = words.get(open.checked_sub(1)?)?;
        let here = self.token.parent_ancestors().find(|node| node.kind() == SyntaxKind::STACK)?;
        let here = ast::span_of(&here, self.file);
        let stack = self.program.stacks.iter().find(|stack| within(stack.name.span, here))?;
        let instance = stack.instances.iter().find(|instance| instance.name.text == **below)?;
        let key = self.program.layers_of(&instance.of).first()?.key.as_ref()?;
        let fields = key.fields.iter().filter(|field| !words[open..].contains(&field.name.text.as_str()));
        self.by_name(fields.map(|field| (field.name.text.as_str(), field.ty)), found);
        Some(())
    }

    /// The fields of a header; if it has alternatives, those that these words do not name.
    fn parts(&self, header: &Header, words: &[&str], found: &mut Found) {
        if header.is_single() {
            return header.variants.iter().for_each(|variant| self.fields(&variant.fields, found));
        }
        for variant in header.variants.iter().filter(|variant| !words.contains(&variant.name.text.as_str())) {
            self.item(&variant.name.text, Kind::ENUM_MEMBER, "alternative", variant.name.span, found);
        }
    }
}

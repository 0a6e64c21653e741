//! Proposals where the words before the cursor decide: the tree of an unfinished line says little, or something else.

use mokume_semantics::program::{Header, MemberKind, ScopeKind, Type};
use mokume_semantics::types;
use mokume_syntax::{ast, SyntaxKind};

use super::{within, Found, Kind, Scene};

impl Scene<'_> {
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
            ([.., layer, ".", alternative, "."], _) if self.is_in(S::WIRE) => {
                self.header(layer, Some(alternative), found)?
            }
            ([.., layer, "."], _) if self.is_in(S::WIRE) => self.header(layer, None, found)?,
            ([.., "="], _) if self.is_in(S::WIRE) => {
                self.values(found);
                for layer in self.seen_layers().filter(|layer| layer.header.is_some() || layer.key.is_some()) {
                    self.item(&layer.name.text, Kind::CLASS, "its header", layer.name.span, found);
                }
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

    /// The parts of a layer's header, as wires name them.
    fn header(&self, layer: &str, alternative: Option<&str>, found: &mut Found) -> Option<()> {
        let header = self.seen_layers().find(|known| known.name.text == layer)?.header.as_ref()?;
        match alternative {
            Some(alternative) => self.fields(&header.variant(alternative)?.1.fields, found),
            None => self.parts(header, &[], found),
        }
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

//! Events of the layers' own: of a vocabulary, of `later`, of any other name; where they come from and what they carry.

use mokume_base::Diagnostic;
use mokume_syntax::ast::{self, AstNode, Pattern};

use super::super::{items, layers};
use super::Head;
use crate::events::{DOWN, GRANTS, UP};
use crate::program::*;
use crate::signature::Carried;
use crate::{codes, suggest, tree, types};

/// How many `later` events wait when the handler does not say.
const LATER_ROOM: u32 = 16;

impl Head<'_> {
    /// An event of the layers' own.
    pub(super) fn custom(&mut self, name: &Name) -> Option<Event> {
        let spoken = self.cx.spoken(self.layer, &name.text).or_else(|| grant(name));
        let emitted = spoken.is_some() || self.cx.emitted.iter().any(|(_, known, _)| *known == name.text);
        let own = layers::has_later(self.cx, self.layer, &name.text);
        if !emitted && !own {
            let known = DOWN.iter().chain(&UP).chain(&["start", "settle", "unmatched"]).copied();
            if let Some(near) = suggest::nearest(&name.text, known) {
                let text = format!("there is no event `{}`", name.text);
                self.cx.error(
                    codes::UNKNOWN_EVENT,
                    text,
                    name.span,
                    "nobody emits it",
                    &format!("did you mean `{near}`?"),
                );
                return None;
            }
            let untyped = |pattern: &Pattern| matches!(pattern, Pattern::Param(param) if param.ty().is_none());
            if self.tree.patterns().iter().any(untyped) {
                self.foreign_event(name);
                return None;
            }
        }
        let from = match &spoken {
            Some((_, true)) => Origin::Above,
            Some((_, false)) => Origin::Below,
            None => self.origin(name, own),
        };
        self.said_origin(name, &spoken);
        let later_capacity = match self.tree.later() {
            Some(room) => {
                let number = items::fixed(self.cx, self.file, &room, Type::UInt(32));
                if number == Some(0) {
                    let text = "nothing has room or runs here: the number is 0";
                    let place = room.span(self.file);
                    self.cx.error(codes::EMPTY_SIZE, text, place, "zero", "write how many there are at most");
                }
                number.unwrap_or(0) as u32
            }
            None => LATER_ROOM,
        };
        let mut params = Vec::new();
        for pattern in self.tree.patterns() {
            let Pattern::Param(param) = pattern else {
                let place = pattern.span(self.file);
                let help = "write `name: Type`";
                self.cx.error(codes::HANDLER_PARAMS, "own events have plain parameters", place, "no alternative", help);
                continue;
            };
            let Some(name) = tree::some_name(self.file, param.name()) else { continue };
            // Without a type, it is that of what `later` gives to it.
            let known = spoken.as_ref().and_then(|(known, _)| known.params.get(params.len())).map(|known| known.ty);
            let ty = match (param.ty(), known) {
                (None, Some(known)) => known,
                (None, None) if own => Type::Unknown,
                (ty, known) => self.as_spoken(&name, ty, known),
            };
            params.push(self.bind(name, ty));
        }
        self.count_spoken(name, params.len(), &spoken);
        Some(Event::Custom { name: name.clone(), from, params, later_capacity })
    }

    /// `on receive(msg)`: meant as an event of the language, which brings its types along.
    fn foreign_event(&mut self, name: &Name) {
        let text = format!("there is no event `{}`", name.text);
        let diagnostic = Diagnostic::error(codes::UNKNOWN_EVENT, text)
            .at(name.span, "nobody emits it")
            .help("messages come by `on send(msg)` from above, by `on deliver(msg)` from below")
            .help(format!("an event of the layers' own says its types: `on {}(msg: Message)`", name.text));
        self.cx.report(diagnostic);
    }

    /// The written type of a parameter, which is that of the vocabulary.
    fn as_spoken(&mut self, name: &Name, ty: Option<ast::Type>, known: Option<Type>) -> Type {
        let ty = items::typed(self.cx, self.file, name, ty);
        match known {
            Some(known) if !types::same(known, ty) => {
                let (is, wanted) = (self.cx.show(ty), self.cx.show(known));
                let text = format!("`{}` is {wanted} in the vocabulary, not {is}", name.text);
                self.cx.error(codes::MISMATCH, text, name.span, "another type", "leave the type out");
                known
            }
            _ => ty,
        }
    }

    fn count_spoken(&mut self, name: &Name, count: usize, spoken: &Option<(Carried, bool)>) {
        let Some((known, _)) = spoken.as_ref().filter(|(known, _)| known.params.len() != count) else { return };
        let text = format!("`{}` has {} parameters, not {count}", name.text, known.params.len());
        let diagnostic = mokume_base::Diagnostic::error(codes::WRONG_COUNT, text)
            .at(name.span, "here")
            .label(known.name.span, "as the vocabulary says")
            .help("name all of them");
        self.cx.report(diagnostic);
    }

    /// `from` is not needed, and does not say otherwise.
    fn said_origin(&mut self, name: &Name, spoken: &Option<(Carried, bool)>) {
        let clause = self.tree.from().and_then(|clause| tree::name_expr(self.file, &clause));
        let (Some(clause), Some((known, down))) = (clause, spoken) else { return };
        if clause.text != if *down { "above" } else { "below" } {
            self.cx.wrong_direction(known, *down, clause.span, false);
        }
        let _ = name;
    }

    /// Where an own event comes from: as `from` says, or from who emits it.
    fn origin(&mut self, name: &Name, own: bool) -> Origin {
        let clause = self.tree.from().and_then(|clause| tree::name_expr(self.file, &clause));
        match clause.as_ref().map(|clause| clause.text.as_str()) {
            Some("above") => return Origin::Above,
            Some("below") => return Origin::Below,
            Some(_) => {
                let place = clause.map_or(self.span, |clause| clause.span);
                let help = "write `from above` or `from below`";
                self.cx.error(codes::HANDLER_PARAMS, "own events have no flow", place, "unknown", help);
            }
            None => {}
        }
        let goes = |down: bool| {
            self.cx
                .emitted
                .iter()
                .any(|(layer, known, way)| *layer != self.layer && *known == name.text && *way == down)
        };
        match (own, goes(false), goes(true)) {
            (true, false, false) => Origin::Own,
            (_, false, true) => Origin::Above,
            _ => Origin::Below,
        }
    }
}

/// Events of back-pressure, which every layer knows.
fn grant(name: &Name) -> Option<(Carried, bool)> {
    let at = GRANTS.iter().position(|known| *known == name.text)?;
    let field = |text: &str| Field {
        name: Name { text: text.into(), span: name.span },
        ty: Type::UInt(32),
        big: None,
        common: None,
    };
    Some((Carried { name: name.clone(), params: vec![field("messages"), field("octets")] }, at == 1))
}

//! Proposals between the parentheses of a call: names of parameters, and what type a value has there.

use mokume_semantics::program::{Stack, Type};
use mokume_semantics::types;
use mokume_syntax::ast::{self, AstNode};
use mokume_syntax::SyntaxKind;

use super::{CompletionItem, Found, Kind, Scene};
use crate::calls;

impl Scene<'_> {
    /// `seq: …`: fields of the layer's header in a send, settings of a stack that runs, elsewhere names of parameters.
    pub(super) fn arguments(&self, found: &mut Found) {
        if let Some(stack) = self.stack_that_runs() {
            let settings = stack.settings();
            return self.by_name(settings.iter().map(|(name, ty)| (name.as_str(), *ty)), found);
        }
        for callee in calls::around(self.analysis, self.file, &self.token) {
            match callee.alternative {
                Some(name) => found.add(&name, Kind::ENUM_MEMBER, "alternative of the header"),
                None => self.by_name(callee.named().iter().map(|(name, ty)| (name.as_str(), *ty)), found),
            }
        }
    }

    pub(super) fn by_name<'n>(&self, names: impl Iterator<Item = (&'n str, Type)>, found: &mut Found) {
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

    /// The stack of a test or a host that the cursor sets.
    fn stack_that_runs(&self) -> Option<&Stack> {
        use SyntaxKind as S;
        let is_run = self.is_in(S::TEST) || self.is_in(S::NETWORK);
        let named = self.token.parent_ancestors().find(|node| node.kind() == S::LAYER_USE).filter(|_| is_run)?;
        let name = ast::LayerUse::cast(named)?.name()?.syntax().text().to_string();
        self.seen_stacks().find(|stack| stack.name.text == name.trim())
    }

    /// The type of the argument at the cursor, as text.
    pub(super) fn wanted_here(&self) -> Option<String> {
        let argument = self.token.parent_ancestors().find(|node| node.kind() == SyntaxKind::ARG)?;
        let all = argument.parent()?;
        let nth = all.children().filter(|node| node.kind() == SyntaxKind::ARG).position(|node| node == argument)?;
        let name = ast::Arg::cast(argument)?.name().map(|name| name.syntax().text().to_string());
        let callees = calls::around(self.analysis, self.file, &self.token);
        // Of several alternatives of a header each has its own.
        let [callee] = &callees[..] else { return None };
        let of_name = |name: String| callee.params.iter().find(|(known, _)| known == name.trim());
        let (_, ty) = name.map_or_else(|| callee.params.get(nth), of_name)?;
        Some(types::show(self.program, *ty))
    }
}

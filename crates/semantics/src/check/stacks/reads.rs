//! What layers read of those below them is published there, with the type that it is read with.

use std::collections::BTreeMap;

use mokume_base::{Diagnostic, Span};

use super::super::ways::Way;
use super::super::{column, live};
use super::{Check, EVERYWHERE, OF_DEVICES};
use crate::program::*;
use crate::visit::Met;
use crate::{codes, suggest, types};

impl Check<'_, '_> {
    /// `below.x` of each layer must be published by somebody below it.
    pub(super) fn published(&mut self, way: &Way) {
        let (index, chain) = (way.index(), way.instances());
        let given = column::placed(self.program, &self.stack.instances[index].of, self.stack.instances[index].of.span);
        let mut found = Vec::new();
        for (at, layer) in self.layers[index].iter().enumerate() {
            let mut wishes: BTreeMap<&str, (Span, Type)> = BTreeMap::new();
            let args = given.get(at).map_or(&[][..], |placed| placed.args.as_slice());
            live::walk_layer(self.program, layer, args, &mut |met| {
                if let Met::Expr(Expr { kind: ExprKind::Below { name, .. }, ty, .. }) = met {
                    wishes.entry(&name.text).or_insert((name.span, *ty));
                }
            });
            let inside = self.layers[index][at + 1..].iter().copied();
            let below: Vec<&Layer> =
                inside.chain(chain[1..].iter().flat_map(|at| self.layers[*at].iter().copied())).collect();
            for (name, (span, ty)) in wishes {
                if self.is_published(name, &below, way) {
                    found.extend(self.other_type(index, layer, (name, span, ty), &below));
                    continue;
                }
                found.push(self.not_published(index, layer, (name, span), &below));
            }
        }
        self.out.extend(found);
    }

    /// The nearest layer below that publishes the value must give it the type that it was read with.
    fn other_type(
        &self,
        index: usize,
        layer: &Layer,
        wish: (&str, Span, Type),
        below: &[&Layer],
    ) -> Option<Diagnostic> {
        let (name, span, ty) = wish;
        let mut publishes = below.iter().flat_map(|layer| layer.publishes.iter().map(move |publish| (layer, publish)));
        let (by, publish) = publishes.find(|(_, publish)| publish.name.text == name)?;
        if types::same(publish.ty, ty) {
            return None;
        }
        let (wanted, given) = (types::show(self.program, ty), types::show(self.program, publish.ty));
        let text =
            format!("`{}` reads `below.{name}` as {wanted}, and `{}` publishes {given}", layer.name.text, by.name.text);
        Some(
            Diagnostic::error(codes::MISMATCH, text)
                .at(self.stack.instances[index].of.span, format!("`{}` stands here", layer.name.text))
                .label(span, format!("read as {wanted}"))
                .label(publish.name.span, format!("published as {given}"))
                .help("publish one name with one type everywhere; `mtu` and `credit` are u32, `mac` is u48"),
        )
    }

    fn is_published(&self, name: &str, below: &[&Layer], way: &Way) -> bool {
        let device = way.ends_at_device(self.stack) && OF_DEVICES.contains(&name);
        EVERYWHERE.contains(&name)
            || device
            || below.iter().any(|layer| layer.publishes.iter().any(|p| p.name.text == name))
    }

    fn not_published(&self, index: usize, layer: &Layer, (name, span): (&str, Span), below: &[&Layer]) -> Diagnostic {
        let instance = &self.stack.instances[index];
        let mut path: Vec<String> = below.iter().map(|layer| format!("`{}`", layer.name.text)).collect();
        path.push("the device".into());
        let elsewhere: Vec<&str> = self
            .program
            .layers
            .iter()
            .filter(|layer| layer.publishes.iter().any(|publish| publish.name.text == name))
            .map(|layer| layer.name.text.as_str())
            .collect();
        let text = format!("`{}` reads `below.{name}`, and nobody below it publishes that", layer.name.text);
        let diagnostic = Diagnostic::error(codes::NOT_PUBLISHED, text)
            .at(instance.of.span, format!("`{}` stands here", layer.name.text))
            .label(span, "read here")
            .note(format!("below it are {}", path.join(", ")));
        match elsewhere.is_empty() {
            true => diagnostic.help(format!("let a layer below say `publish {name}: … = …`")),
            false => diagnostic.help(format!("put {} below it", suggest::list(&elsewhere))),
        }
    }
}

//! Proposals within braces, and behind a dot: the members of what stands in front.

use mokume_base::Span;
use mokume_semantics::program::{Field, Layer, MemberKind, Type};
use mokume_semantics::signature::OF_MESSAGES;
use mokume_semantics::{events, types};
use mokume_syntax::ast::{self, AstNode};
use mokume_syntax::{SyntaxKind, SyntaxNode};

use super::{Found, Kind, Scene};
use crate::{hover, names, neighbours, wires};

impl Scene<'_> {
    // ---- within braces ----

    /// The fields of what stands in front of the braces: a wire, a record, an alternative of a header.
    pub(super) fn fields_within(&self, field: Option<SyntaxNode>, found: &mut Found) -> Option<()> {
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

    pub(super) fn behind_dot(&self, owner: Option<SyntaxNode>, found: &mut Found) -> Option<()> {
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
    pub(super) fn of_alias(&self, word: &str, found: &mut Found) {
        let Some(layer) = self.layer() else { return };
        let services = layer.uses.iter().filter(|(_, alias)| alias.text == word);
        services.for_each(|(_, alias)| self.of_declared(alias.span, found));
        let parts = layer.parts.iter().filter(|part| part.called == word);
        parts.for_each(|part| self.of_declared(part.name.span, found));
    }

    pub(super) fn neighbour(&self, events: &[&str], down: bool, found: &mut Found) {
        events.iter().for_each(|event| found.add(event, Kind::EVENT, "event"));
        for vocabulary in &self.program.vocabularies {
            let carried = if down { &vocabulary.down } else { &vocabulary.up };
            carried
                .iter()
                .for_each(|event| found.add(&event.name.text, Kind::EVENT, format!("of {}", vocabulary.name.text)));
        }
    }

    /// Whether the cursor is in what a statement tells a neighbour, not in a value.
    pub(super) fn is_statement(&self) -> bool {
        use SyntaxKind as S;
        let around = self.token.parent_ancestors().map(|node| node.kind());
        let around = around.into_iter().find(|kind| !matches!(kind, S::NAME | S::FIELD_EXPR | S::CALL_EXPR));
        around == Some(S::EXPR_STMT)
    }

    /// The values that are published below the layer, in the stacks that have it; everywhere if none has.
    pub(super) fn published(&self, found: &mut Found) {
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

    pub(super) fn flow(&self, found: &mut Found) {
        ["local", "remote"].iter().for_each(|end| found.add(end, Kind::PROPERTY, "an end of the flow"));
        let Some(layer) = self.layer() else { return };
        let parts = layer.key.iter().flat_map(|key| &key.fields).chain(&layer.address).chain(&layer.below_address);
        self.fields(parts, found);
    }

    pub(super) fn fields<'f>(&self, fields: impl IntoIterator<Item = &'f Field>, found: &mut Found) {
        for field in fields {
            self.item(&field.name.text, Kind::FIELD, types::show(self.program, field.ty), field.name.span, found);
        }
    }

    /// The members of what is declared at a place.
    pub(super) fn of_declared(&self, declared: Span, found: &mut Found) {
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

    pub(super) fn of_member(&self, layer: &Layer, kind: &MemberKind, found: &mut Found) {
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

    pub(super) fn of_type(&self, ty: Type, declared: Span, found: &mut Found) {
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
                for name in OF_MESSAGES.iter().filter(|name| **name != "size") {
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
    pub(super) fn type_at(&self, declared: Span) -> Option<Type> {
        let fields = self.program.records.iter().flat_map(|record| &record.fields);
        let field = || fields.into_iter().find(|field| field.name.span == declared).map(|field| field.ty);
        hover::type_of_local(self.program, declared).or_else(field)
    }
}

//! What is in sight at the cursor: types, layers, the layers of a stack, attributes, events, reasons, containers.

use mokume_base::Span;
use mokume_semantics::program::{Layer, MemberKind, Program};
use mokume_semantics::signature::STANDARD_REASONS;
use mokume_semantics::{events, types};
use mokume_syntax::{ast, SyntaxKind};

use super::runs::devices;
use super::{within, Found, Kind, Scene};
use crate::{calls, names, outline};

/// The types that every file knows without a `use`.
const TYPES: [&str; 16] = [
    "bool", "u8", "u16", "u24", "u32", "u48", "u64", "seq8", "seq16", "seq32", "seq64", "Duration", "Instant",
    "Message", "Flow", "Reason",
];

impl Scene<'_> {
    /// The layer in whose text the cursor is.
    pub(super) fn layer(&self) -> Option<&Layer> {
        calls::layer_around(self.program, &self.token, self.file)
    }

    pub(super) fn layer_at(&self, place: Span) -> Option<&Layer> {
        let holds = |layer: &&Layer| {
            layer.handlers.iter().flat_map(|handler| &handler.locals).any(|local| local.name.span == place)
                || layer.functions.iter().flat_map(|function| &function.locals).any(|local| local.name.span == place)
                || layer.name.span == place
        };
        self.program.layers.iter().find(holds)
    }

    pub(super) fn types(&self, found: &mut Found) {
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

    pub(super) fn layers(&self, found: &mut Found) {
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

    /// What a layer of a stack may stand on or beside: its devices and layers. Only layers are exported.
    pub(super) fn instances(&self, with_devices: bool, found: &mut Found) {
        let here = self.token.parent_ancestors().find(|node| node.kind() == SyntaxKind::STACK);
        let Some(here) = here.map(|node| ast::span_of(&node, self.file)) else { return };
        for stack in self.program.stacks.iter().filter(|stack| within(stack.name.span, here)) {
            if with_devices {
                devices(stack, found);
            }
            stack
                .instances
                .iter()
                .for_each(|instance| found.add(&instance.name.text, Kind::VARIABLE, "layer of the stack"));
        }
    }

    pub(super) fn attributes(&self, found: &mut Found) {
        for attribute in &self.program.attributes {
            let ty = types::show(self.program, attribute.ty);
            self.item(&attribute.name.text, Kind::PROPERTY, format!("attribute: {ty}"), attribute.name.span, found);
        }
    }

    pub(super) fn handled(&self, found: &mut Found) {
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

    pub(super) fn reasons(&self, found: &mut Found) {
        STANDARD_REASONS.iter().for_each(|reason| found.add(reason, Kind::ENUM_MEMBER, "reason"));
        let declared = self.program.vocabularies.iter().flat_map(|vocabulary| &vocabulary.reasons);
        declared.for_each(|reason| found.add(&reason.text, Kind::ENUM_MEMBER, "reason"));
        // A wire refuses for the names of its fields.
        let seen = self.seen();
        for wire in self.program.wires.iter().filter(|wire| seen.contains(&wire.name.span.file)) {
            found.add(&wire.name.text, Kind::STRUCT, "wire");
        }
        let root = names::tree(self.analysis, self.file);
        for node in root.descendants().filter(|node| node.kind() == SyntaxKind::WIRE_FIELD) {
            let mut tokens = node.descendants_with_tokens().filter_map(|element| element.into_token());
            if let Some(name) = tokens.find(|token| token.kind() == SyntaxKind::IDENT) {
                found.add(name.text(), Kind::ENUM_MEMBER, "field of a wire");
            }
        }
        // The reasons in the text: naming a reason declares it.
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

    pub(super) fn containers(&self, found: &mut Found) {
        for file in self.seen() {
            let declared = outline::declarations(&names::tree(self.analysis, file));
            for container in declared.iter().filter(|declared| declared.node == SyntaxKind::CONTAINER) {
                found.add(&container.name, Kind::CLASS, "container");
            }
        }
    }
}

/// The kind of a piece of state, as text.
pub(super) fn state(kind: &MemberKind, program: &Program) -> String {
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

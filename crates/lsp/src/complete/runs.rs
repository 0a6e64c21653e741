//! Proposals in tests: stacks, ports, and the events that a port of a stack takes and gives.

use mokume_base::{Diagnostic, Severity, Span};
use mokume_driver::compile;
use mokume_driver::plain_name;
use mokume_driver::Report;
use mokume_driver::StackId;
use mokume_semantics::program::{Layer, MemberKind, Stack};
use mokume_syntax::{ast, SyntaxKind};

use super::{within, Found, Kind, Scene};
use crate::names;

/// Which events of a port may stand somewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// What is put in.
    In,
    /// What comes out.
    Out,
}

impl Scene<'_> {
    /// Proposals in a test.
    pub(super) fn in_test(&self, words: &[&str], found: &mut Found) -> Option<()> {
        match words {
            ["stack"] => self.stacks(found),
            ["dropped" | "consumed"] => self.reasons(found),
            ["reported"] => {
                Report::ALL.iter().for_each(|report| found.add(report.word(), Kind::ENUM_MEMBER, "report"));
            }
            ["counter"] => self.counters(found),
            [] => {
                found.words(&["stack", "after", "dropped", "consumed", "reported", "counter"]);
                ports(self.stack_of_test()?, true, found);
            }
            [.., "=>"] => {
                found.words(&["nothing"]);
                ports(self.stack_of_test()?, true, found);
            }
            ["after"] => self.fixed(found),
            // Behind an output comes the next one.
            [before @ .., ")" | "_"] if before.contains(&"=>") => ports(self.stack_of_test()?, true, found),
            [before @ .., port, "."] => {
                let way = if before.contains(&"=>") { Way::Out } else { Way::In };
                self.events(self.stack_of_test()?, port, way, found);
            }
            // Numbers and units.
            _ => {}
        }
        Some(())
    }

    /// What the layers count.
    pub(super) fn counters(&self, found: &mut Found) {
        for member in self.seen_layers().flat_map(Layer::all_members).flat_map(|(_, members)| members) {
            if matches!(member.kind, MemberKind::Counter) {
                self.item(&member.name.text, Kind::VARIABLE, "counter", member.name.span, found);
            }
        }
    }

    /// A value in a test or a network: what is known when it is compiled, names that outputs have bound, and packets.
    pub(super) fn values_of_run(&self, found: &mut Found) {
        let run =
            self.token.parent_ancestors().find(|node| matches!(node.kind(), SyntaxKind::TEST | SyntaxKind::NETWORK));
        let here = self.token.text_range().start();
        let tokens =
            run.iter().flat_map(|run| run.descendants_with_tokens()).filter_map(|element| element.into_token());
        for mark in tokens.filter(|token| token.kind() == SyntaxKind::QUESTION && token.text_range().end() < here) {
            if let Some(name) = mark.next_token().filter(|name| name.kind() == SyntaxKind::IDENT) {
                found.add(name.text(), Kind::VARIABLE, "bound by an output");
            }
        }
        self.fixed(found);
        let seen = self.seen();
        for wire in self.program.wires.iter().filter(|wire| seen.contains(&wire.name.span.file)) {
            self.opened(&wire.name.text, (Kind::STRUCT, "a packet by its fields"), " {", Some(wire.name.span), found);
        }
        for record in self.program.records.iter().filter(|record| seen.contains(&record.name.span.file)) {
            if record.vector.is_none() && !self.program.enums.iter().any(|item| item.name.span == record.name.span) {
                self.opened(&record.name.text, (Kind::STRUCT, "record"), " {", Some(record.name.span), found);
            }
        }
        found.words(&["true", "false"]);
    }

    /// All stacks that a test may name.
    pub(super) fn stacks(&self, found: &mut Found) {
        for stack in self.seen_stacks() {
            self.item(&stack.name.text, Kind::MODULE, "stack", stack.name.span, found);
        }
    }

    /// The stack of the test around the cursor; one of them, if a suite is run with several.
    fn stack_of_test(&self) -> Option<&Stack> {
        let test = self.token.parent_ancestors().find(|node| node.kind() == SyntaxKind::TEST)?;
        let here = ast::span_of(&test, self.file);
        let run = self.program.tests.iter().find(|known| within(known.span, here));
        if let Some(stack) = run.and_then(|run| self.program.stacks.get(run.stack.index())) {
            return Some(stack);
        }
        let named = test.descendants().find(|node| node.kind() == SyntaxKind::LAYER_USE)?;
        let named = named.descendants_with_tokens().filter_map(|element| element.into_token());
        let name = named.into_iter().find(|token| token.kind() == SyntaxKind::IDENT)?;
        self.seen_stacks().find(|stack| stack.name.text == name.text())
    }

    // ---- events of ports ----

    /// The events that a port of a stack takes, or gives. They follow from the whole stack: it is lowered. Nothing if
    /// there is a mistake in what the stack is made of.
    pub(super) fn events(&self, stack: &Stack, port: &str, way: Way, found: &mut Found) {
        let checked = &self.analysis.checked;
        let is_wrong = |found: &Diagnostic| found.severity == Severity::Error && !self.is_of_run(found);
        if checked.diagnostics.iter().any(is_wrong) {
            return;
        }
        let Some(at) = self.program.stacks.iter().position(|known| known.name.span == stack.name.span) else { return };
        let (Some(compiled), _) = compile::compile_to_write(checked, StackId(at as u32)) else { return };
        for port in compiled.uncomposed.ports.iter().filter(|known| known.name == port) {
            let inputs = port.inputs.iter().map(|input| (Way::In, &input.event, &input.params));
            let outputs = port.outputs.iter().map(|output| (Way::Out, &output.event, &output.params));
            for (_, event, params) in inputs.chain(outputs).filter(|(known, ..)| *known == way) {
                let params: Vec<String> = params.iter().map(|(name, _)| plain_name(name)).collect();
                found.add(event, Kind::EVENT, format!("{event}({})", params.join(", ")));
            }
        }
    }

    /// Whether a mistake is in a test or a network of the text, which no stack depends on.
    fn is_of_run(&self, found: &Diagnostic) -> bool {
        let Some(place) = found.primary.as_ref().map(|label| label.span) else { return false };
        let root = names::tree(self.analysis, self.file);
        let runs = root.children().filter(|node| {
            matches!(node.kind(), SyntaxKind::TEST | SyntaxKind::SUITE | SyntaxKind::RUN | SyntaxKind::NETWORK)
        });
        let holds = |of: Span| place.file == of.file && of.start <= place.start && place.start <= of.end;
        runs.map(|node| ast::span_of(&node, self.file)).any(holds)
    }
}

/// The ports of a stack: what it exports, and for tests its devices.
pub(super) fn ports(stack: &Stack, with_devices: bool, found: &mut Found) {
    if with_devices {
        devices(stack, found);
    }
    stack.exports.iter().for_each(|export| found.add(&export.text, Kind::VARIABLE, "port of the stack"));
}

pub(super) fn devices(stack: &Stack, found: &mut Found) {
    stack.devices.iter().for_each(|device| found.add(&device.text, Kind::VARIABLE, "device"));
}

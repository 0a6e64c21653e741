//! Proposals for values, and for what begins a statement: the names in sight, the near ones first.
//!
//! What is no value by itself comes with what makes it one: `ahead(`, `Entry[`, `Kind.Ask`.

use mokume_base::{FileId, Span};
use mokume_semantics::program::{Function, Layer, Local, MemberKind, Param, ScopeKind, Type};
use mokume_semantics::types;
use mokume_syntax::{ast, SyntaxKind};

use super::sight::state;
use super::{within, CompletionItem, Found, Kind, Near, Scene};

/// Values of the language, and its functions.
const VALUES: [&str; 2] = ["flow", "now"];
const FUNCTIONS: [&str; 6] = ["clamp", "fold16", "max", "message", "min", "random"];

/// What a place takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Value,
    /// The first word of a statement: what it changes or calls.
    Statement,
}

impl Scene<'_> {
    /// The values in sight.
    pub(super) fn values(&self, found: &mut Found) {
        self.of_code(Place::Value, found);
        found.near = Near::File;
        self.items_of(self.file, Place::Value, found);
        found.near = Near::Language;
        VALUES.iter().for_each(|name| found.add(name, Kind::KEYWORD, "of the language"));
        for name in FUNCTIONS {
            self.opened(name, (Kind::FUNCTION, "of the language"), "(", None, found);
        }
        found.words(&["true", "false", "not"]);
        found.near = Near::Others;
        self.seen().into_iter().filter(|file| *file != self.file).for_each(|file| {
            self.items_of(file, Place::Value, found);
        });
        found.near = Near::default();
    }

    /// What a statement may begin with beside its words.
    pub(super) fn targets(&self, found: &mut Found) {
        self.of_code(Place::Statement, found);
        found.near = Near::File;
        self.items_of(self.file, Place::Statement, found);
        found.near = Near::Others;
        self.seen().into_iter().filter(|file| *file != self.file).for_each(|file| {
            self.items_of(file, Place::Statement, found);
        });
        found.near = Near::default();
    }

    /// Values that are known before a stack starts.
    pub(super) fn fixed(&self, found: &mut Found) {
        found.near = Near::File;
        self.constants_of(self.file, found);
        found.near = Near::Others;
        self.seen().into_iter().filter(|file| *file != self.file).for_each(|file| self.constants_of(file, found));
        found.near = Near::default();
    }

    /// The names of the code around the cursor and of its layer.
    fn of_code(&self, place: Place, found: &mut Found) {
        self.locals(found);
        let Some(layer) = self.layer() else { return };
        found.near = Near::Layer;
        self.state_of(layer, found);
        for class in &layer.objects {
            let sign = if self.is_behind("in") { "" } else { "[" };
            self.opened(&class.name.text, (Kind::CLASS, "objects"), sign, Some(class.name.span), found);
        }
        self.params(&layer.params, found);
        for function in layer.functions.iter().filter(|function| !function.name.text.contains('.')) {
            self.function(function, "function of the layer", place, found);
        }
        for (_, alias) in &layer.uses {
            self.opened(&alias.text, (Kind::INTERFACE, "service"), ".", None, found);
        }
        for part in &layer.parts {
            self.opened(&part.called, (Kind::CLASS, "part"), ".", None, found);
        }
        found.near = Near::default();
    }

    /// The state that has a value or takes one. Timers, quotas and counters have words of their own.
    fn state_of(&self, layer: &Layer, found: &mut Found) {
        // That of objects is behind their names, but for the objects' own code.
        let object = self.token.parent_ancestors().find(|node| node.kind() == SyntaxKind::OBJECT);
        let object = object.map(|node| ast::span_of(&node, self.file));
        let is_own = |place: Span| object.is_some_and(|object| within(place, object));
        let members = layer.all_members().flat_map(|(scope, members)| {
            let of_objects = matches!(scope, ScopeKind::Object(_));
            members.iter().filter(move |member| !of_objects || is_own(member.name.span))
        });
        for member in members.filter(|member| !member.name.text.contains('.')) {
            let sign = match member.kind {
                MemberKind::Timer | MemberKind::Quota { .. } | MemberKind::Counter => continue,
                MemberKind::Container(_) => ".",
                MemberKind::Array { .. } | MemberKind::Map { .. } if !self.is_behind("in") => "[",
                MemberKind::Array { .. }
                | MemberKind::Map { .. }
                | MemberKind::Var { .. }
                | MemberKind::Messages { .. } => "",
            };
            let detail = state(&member.kind, self.program);
            self.opened(&member.name.text, (Kind::VARIABLE, &detail), sign, Some(member.name.span), found);
        }
    }

    fn function(&self, function: &Function, what: &str, place: Place, found: &mut Found) {
        use SyntaxKind as S;
        // One without a result is a statement.
        if place == Place::Value && function.result == Type::Unit {
            return;
        }
        // Layers and bundles are given functions, which they call themselves.
        let is_given = self.is_in(S::ARG) && (self.is_in(S::STACK_LAYER) || self.is_in(S::BUNDLE));
        let sign = match function.params.is_empty() {
            _ if is_given => "",
            true => "()",
            false => "(",
        };
        self.opened(&function.name.text, (Kind::FUNCTION, what), sign, Some(function.name.span), found);
    }

    /// The functions that a file declares; for values its records, enums and constants, too.
    fn items_of(&self, file: FileId, place: Place, found: &mut Found) {
        for function in self.program.functions.iter().filter(|function| function.name.span.file == file) {
            self.function(function, "function", place, found);
        }
        if place == Place::Value {
            let is_enum = |name: Span| self.program.enums.iter().any(|item| item.name.span == name);
            for record in self.program.records.iter().filter(|record| record.name.span.file == file) {
                if record.vector.is_none() && !is_enum(record.name.span) {
                    self.opened(&record.name.text, (Kind::STRUCT, "record"), " {", Some(record.name.span), found);
                }
            }
            self.constants_of(file, found);
        }
    }

    /// The constants of a file, and the values of its enums.
    fn constants_of(&self, file: FileId, found: &mut Found) {
        for item in self.program.enums.iter().filter(|item| item.name.span.file == file) {
            for (name, number) in &item.names {
                let label = format!("{}.{}", item.name.text, name.text);
                self.item(&label, Kind::ENUM_MEMBER, number.to_string(), name.span, found);
            }
        }
        let text = &self.analysis.checked.sources.file(file).text;
        constants(text).iter().for_each(|name| found.add(name, Kind::CONSTANT, "constant"));
    }

    /// Adds something that is written with a sign behind it, unless that is there.
    pub(super) fn opened(
        &self,
        label: &str,
        (kind, detail): (Kind, &str),
        sign: &str,
        declared: Option<Span>,
        found: &mut Found,
    ) {
        let is_there = self.token.next_token().is_some_and(|next| sign.trim().starts_with(next.text()));
        let sign = if is_there { "" } else { sign };
        let item = CompletionItem {
            label: label.to_string(),
            kind: Some(kind),
            detail: Some(detail.to_string()),
            documentation: declared.and_then(|declared| self.documentation(declared, found)),
            insert_text: (!sign.is_empty()).then(|| format!("{label}{sign}")),
            ..CompletionItem::default()
        };
        found.put(item);
    }

    // ---- locals ----

    /// The locals that the surrounding handler or function has bound before the cursor.
    fn locals(&self, found: &mut Found) {
        self.locals_here().for_each(|local| {
            found.add(&local.name.text, Kind::VARIABLE, types::show(self.program, local.ty));
        });
    }

    pub(super) fn locals_here(&self) -> impl Iterator<Item = &Local> + '_ {
        let code = self
            .token
            .parent_ancestors()
            .find(|node| matches!(node.kind(), SyntaxKind::HANDLER | SyntaxKind::FUNCTION));
        let code = code.map(|node| ast::span_of(&node, self.file));
        // A name is not bound before its `let` is whole.
        let binding = self.token.parent_ancestors().find(|node| node.kind() == SyntaxKind::LET_STMT);
        let binding = binding.map(|node| ast::span_of(&node, self.file));
        let is_unbound = move |place: Span| self.is_in_value() && binding.is_some_and(|binding| within(place, binding));
        let here = ast::token_span(&self.token, self.file);
        let of_layers = self.program.layers.iter().flat_map(|layer| {
            let handlers = layer.handlers.iter().flat_map(|handler| &handler.locals);
            handlers.chain(layer.functions.iter().flat_map(|function| &function.locals))
        });
        let all = of_layers.chain(self.program.functions.iter().flat_map(|function| &function.locals));
        all.filter(move |local| {
            let place = local.name.span;
            code.is_some_and(|code| within(place, code)) && place.start < here.start && !is_unbound(place)
        })
    }

    /// Whether the nearest statement around the cursor is a `let`.
    fn is_in_value(&self) -> bool {
        let around = self.token.parent_ancestors().map(|node| node.kind());
        let nearest = around.into_iter().find(|kind| matches!(kind, SyntaxKind::LET_STMT | SyntaxKind::BLOCK));
        nearest == Some(SyntaxKind::LET_STMT)
    }

    fn params(&self, params: &[Param], found: &mut Found) {
        for param in params {
            found.add(&param.name.text, Kind::VARIABLE, types::show(self.program, param.ty));
        }
    }
}

/// The constants of a file. They are not in the typed program, which only has their values.
fn constants(text: &str) -> Vec<String> {
    let items = mokume_syntax::parse(FileId(0), text).file().items();
    items
        .iter()
        .filter(|item| matches!(item, ast::Item::Const(_)))
        .filter_map(|item| Some(item.name()?.text()))
        .collect()
}

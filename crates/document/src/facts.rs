//! The facts that the source gives about one item: fields, events, state, reasons. A repeated fact is listed once, at
//! its first place.

use mokume_base::FileId;
use mokume_syntax::ast::{self, AstNode};
use mokume_syntax::{SyntaxKind as S, SyntaxNode};

use crate::item::{About, Fact, Kind, Parameter};
use crate::tree;

/// A node of an item, with its file.
pub type Piece = (SyntaxNode, FileId);

/// All facts that an item's own text gives. `pieces` are its node, and the nodes of its parts in other places.
pub fn of(kind: Kind, pieces: &[Piece]) -> Vec<(About, Vec<Fact>)> {
    let mut found = Found::default();
    for (node, file) in pieces {
        match kind {
            Kind::Layer | Kind::Part => found.layer(node, *file),
            Kind::Wire => found.named(About::Fields, node, S::WIRE_FIELD, *file),
            Kind::Record => found.named(About::Fields, node, S::FIELD, *file),
            Kind::Enum => found.named(About::Fields, node, S::VARIANT, *file),
            Kind::Service => found.named(About::Handles, node, S::SIGNAL, *file),
            Kind::Vocabulary | Kind::Signature => found.directed(node, *file),
            Kind::Container => {
                found.named(About::Handles, node, S::FUNCTION, *file);
                found.state(node, *file);
            }
            Kind::Bundle => {
                found.named(About::Layers, node, S::LAYER_USE, *file);
                found.encoded(node, *file);
            }
            Kind::Stack => found.named(About::Layers, node, S::STACK_LAYER, *file),
            Kind::Network => {
                found.named(About::Hosts, node, S::HOST, *file);
                found.links(node, *file);
            }
            Kind::Type | Kind::Const | Kind::Attribute | Kind::Function | Kind::Suite => {}
        }
    }
    About::ALL.into_iter().filter_map(|about| Some((about, found.take(about)?))).collect()
}

/// Whether a name in a layer is that of a value: a local, a parameter, state.
fn is_bound(node: &SyntaxNode, name: &str) -> bool {
    let Some(layer) = node.ancestors().find(|around| around.kind() == S::LAYER) else { return false };
    layer.descendants().any(|node| match node.kind() {
        S::LET_STMT => ast::LetStmt::cast(node)
            .and_then(|stmt| stmt.pattern())
            .is_some_and(|pattern| pattern.names().iter().any(|known| known.text() == name)),
        S::PARAM | S::VAR => tree::name(&node).is_some_and(|known| tree::text(&known) == name),
        _ => false,
    })
}

/// The parameters that an item declares.
pub fn parameters(node: &SyntaxNode, file: FileId) -> Vec<Parameter> {
    let list = tree::children(node, S::PARAM_LIST).next();
    let all = list.iter().flat_map(|list| tree::children(list, S::PARAM));
    all.filter_map(|param| {
        let param = ast::Param::cast(param)?;
        Some(Parameter {
            name: param.name()?.text(),
            ty: param.ty().map_or(String::new(), |ty| tree::line(ty.syntax())),
            default: param.default().map(|default| tree::line(default.syntax())),
            at: tree::place(param.syntax(), file),
        })
    })
    .collect()
}

#[derive(Default)]
struct Found(Vec<(About, Fact)>);

impl Found {
    fn take(&mut self, about: About) -> Option<Vec<Fact>> {
        let (these, others) = std::mem::take(&mut self.0).into_iter().partition(|(known, _)| *known == about);
        self.0 = others;
        let these: Vec<Fact> = Vec::into_iter(these).map(|(_, fact)| fact).collect();
        (!these.is_empty()).then_some(these)
    }

    /// Adds a fact of a node, under a name.
    fn add(&mut self, about: About, name: String, says: String, (node, file): (&SyntaxNode, FileId)) {
        if !self.0.iter().any(|(known, fact)| *known == about && fact.name == name && fact.says == says) {
            let fact = Fact { name, says, doc: ast::doc_of(node), at: tree::place(node, file), of: None };
            self.0.push((about, fact));
        }
    }

    /// Adds a fact for each named node of a kind.
    fn named(&mut self, about: About, of: &SyntaxNode, kind: S, file: FileId) {
        for node in tree::within(of, kind) {
            let Some(name) = tree::name(&node) else { continue };
            self.add(about, tree::text(&name), tree::head(&node), (&node, file));
        }
    }

    /// The links of a network, whole: their devices and weather stand in braces.
    fn links(&mut self, network: &SyntaxNode, file: FileId) {
        for node in tree::within(network, S::LINK) {
            let Some(name) = tree::name(&node) else { continue };
            self.add(About::Links, tree::text(&name), tree::line(&node), (&node, file));
        }
    }

    /// The wire after `encoded`.
    fn encoded(&mut self, bundle: &SyntaxNode, file: FileId) {
        if let Some(wire) = ast::Bundle::cast(bundle.clone()).and_then(|bundle| bundle.wire()) {
            self.add(About::EncodedBy, wire.text(), wire.text(), (wire.syntax(), file));
        }
    }

    /// The facts of a signature or a vocabulary, line by line.
    fn directed(&mut self, of: &SyntaxNode, file: FileId) {
        for node in of.children() {
            let about = match node.kind() {
                S::DIRECTED => About::Handles,
                S::PUBLISH => About::Publishes,
                S::INCLUDE | S::PROMISE | S::UNIT | S::BOUNDARIES => About::Gives,
                S::READS | S::WRITES => About::Attributes,
                S::KEY => About::Key,
                S::ADDRESS => About::Address,
                S::SPEAKS => About::Speaks,
                S::REASONS => About::Fails,
                _ => continue,
            };
            let name = tree::name(&node).map_or_else(|| tree::word(&node), |name| tree::text(&name));
            self.add(about, name, tree::line(&node), (&node, file));
        }
    }

    fn layer(&mut self, of: &SyntaxNode, file: FileId) {
        for node in of.descendants() {
            self.member(&node, file);
        }
        self.state(of, file);
        self.named(About::Parts, of, S::PARTS, file);
    }

    fn member(&mut self, node: &SyntaxNode, file: FileId) {
        let in_place = (node, file);
        match node.kind() {
            S::FIELD => self.field(node, file),
            S::CLAIM => {
                let line = tree::line(node);
                let (about, says) = match node.parent().map(|parent| parent.kind()) {
                    Some(S::GIVES) => (About::Gives, line),
                    Some(S::BREAKS) => (About::Gives, format!("breaks {line}")),
                    _ => (About::Needs, line),
                };
                self.add(about, tree::word(node), says, in_place);
            }
            S::USES => self.each_name(About::Uses, node, file),
            S::SERVES => self.each_name(About::Serves, node, file),
            S::SPEAKS => self.each_name(About::Speaks, node, file),
            S::READS | S::WRITES if node.parent().is_some_and(|parent| parent.kind() == S::LAYER) => {
                self.each_name(About::Attributes, node, file);
            }
            S::PUBLISH => {
                let name = tree::name(node).map_or(String::new(), |name| tree::text(&name));
                self.add(About::Publishes, name, tree::line(node), in_place);
            }
            S::LIMIT => self.add(About::Limits, "limit".into(), tree::line(node), in_place),
            S::WHERE => self.add(About::Limits, "where".into(), tree::line(node), in_place),
            S::MATCHING => self.add(About::Key, "match".into(), tree::line(node), in_place),
            S::SEVERAL => self.add(About::Needs, "several".into(), tree::line(node), in_place),
            S::HANDLER => {
                let head = tree::head(node);
                let event = head.strip_prefix("on ").unwrap_or(&head);
                let name = event.split(['(', ' ']).next().unwrap_or_default();
                // `on change below.mtu` and `on expiry resend` are named after the value and the timer.
                let name = if matches!(name, "change" | "expiry") { event } else { name };
                self.add(About::Handles, name.to_string(), head.clone(), in_place);
            }
            S::DROP_STMT => {
                let reason = ast::DropStmt::cast(node.clone()).and_then(|stmt| stmt.reason());
                self.reason(About::Drops, reason, in_place);
            }
            S::CONSUME_STMT => {
                let reason = ast::ConsumeStmt::cast(node.clone()).and_then(|stmt| stmt.reason());
                self.reason(About::Consumes, reason, in_place);
            }
            S::FAIL_STMT => {
                let reason = ast::FailStmt::cast(node.clone()).and_then(|stmt| stmt.reason());
                self.reason(About::Fails, reason, in_place);
            }
            S::FIELD_EXPR => self.neighbour(node, file),
            _ => {}
        }
    }

    fn field(&mut self, node: &SyntaxNode, file: FileId) {
        let Some(name) = tree::name(node) else { return };
        let around = node.ancestors().find(|around| {
            matches!(around.kind(), S::HEADER | S::ALTERNATIVE | S::KEY | S::ADDRESS | S::OBJECT | S::LAYER)
        });
        let (about, of) = match around.as_ref().map(|around| (around.kind(), around)) {
            Some((S::HEADER, _)) => (About::Fields, None),
            Some((S::ALTERNATIVE, alternative)) => (About::Fields, tree::name(alternative)),
            Some((S::KEY, _)) => (About::Key, None),
            // What it asks of the flows below it reads, and does not make.
            Some((S::ADDRESS, address)) if ast::Address::cast(address.clone()).is_some_and(|one| one.is_below()) => {
                (About::Reads, None)
            }
            Some((S::ADDRESS, _)) => (About::Address, None),
            // Keys of objects are listed with the state.
            _ => return,
        };
        let name = match of {
            Some(of) => format!("{}.{}", tree::text(&of), tree::text(&name)),
            None => tree::text(&name),
        };
        self.add(about, name, tree::line(node), (node, file));
    }

    fn each_name(&mut self, about: About, node: &SyntaxNode, file: FileId) {
        for name in tree::children(node, S::NAME) {
            let is_alias = about == About::Uses && Some(&name) != tree::name(node).as_ref();
            if !is_alias {
                self.add(about, tree::text(&name), tree::line(node), (&name, file));
            }
        }
    }

    fn reason(&mut self, about: About, reason: Option<ast::Path>, (node, file): (&SyntaxNode, FileId)) {
        let Some(reason) = reason else { return };
        let name = tree::text(reason.syntax());
        if is_bound(node, &name) {
            return;
        }
        // A reason is one fact, however many places name it.
        if self.0.iter().any(|(known, fact)| *known == about && fact.name == name) {
            return;
        }
        self.add(about, name, tree::line(node), (node, file));
    }

    /// `below.mtu`, `below.send(…)`, `above.deliver(…)`
    fn neighbour(&mut self, node: &SyntaxNode, file: FileId) {
        let Some(field) = ast::FieldExpr::cast(node.clone()) else { return };
        let (Some(base), Some(name)) = (field.base(), field.name()) else { return };
        let is_called = node.parent().is_some_and(|parent| {
            parent.kind() == S::CALL_EXPR && parent.first_child().is_some_and(|callee| callee == *node)
        });
        let about = match (tree::text(base.syntax()).as_str(), is_called) {
            ("below", true) => About::Asks,
            ("below", false) => About::Reads,
            ("above", true) => About::Tells,
            _ => return,
        };
        // A flow's property counts as asked, like a call.
        let name = name.text();
        if !self.0.iter().any(|(known, fact)| *known == about && fact.name == name) {
            self.add(about, name, tree::line(node), (node, file));
        }
    }

    /// State, with its owner.
    fn state(&mut self, of: &SyntaxNode, file: FileId) {
        for node in of.descendants() {
            let about = match node.kind() {
                S::TIMER => About::Timers,
                S::VAR | S::CONST_STATE | S::QUOTA | S::COUNTER | S::ARRAY | S::MAP | S::MESSAGES | S::CONTAINED => {
                    About::State
                }
                // With its keys.
                S::OBJECT => {
                    let name = tree::name(&node).map_or(String::new(), |name| tree::text(&name));
                    self.add(About::State, name, tree::head(&node), (&node, file));
                    continue;
                }
                _ => continue,
            };
            let whose = node.ancestors().skip(1).find(|around| matches!(around.kind(), S::SCOPE | S::OBJECT));
            let whose = whose.map(|around| match around.kind() {
                S::OBJECT => tree::name(&around).map_or(String::new(), |name| tree::text(&name)),
                _ => tree::word(&around),
            });
            let name = contained(&node).or_else(|| tree::name(&node)).map_or(String::new(), |name| tree::text(&name));
            let says = match whose {
                Some(whose) => format!("{whose}: {}", tree::line(&node)),
                None => tree::line(&node),
            };
            self.add(about, name, says, (&node, file));
        }
    }
}

/// The name of a container's state: `queue<Message> waiting(8)` is `waiting`.
fn contained(node: &SyntaxNode) -> Option<SyntaxNode> {
    let state = ast::Contained::cast(node.clone())?;
    state.name().map(|name| name.syntax().clone())
}

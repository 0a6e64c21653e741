//! What a multiplexor does with a message: who gets it, and what answers one that nobody matched.

use mokume_base::Span;
use mokume_syntax::ast::{self};

use super::body::{Body, Place, Role};
use super::layers::Declare;
use super::Item;
use crate::program::*;
use crate::{codes, tree};

impl Declare<'_> {
    /// `match one`, `match all`, `match all when broadcast`
    pub fn matching(&mut self, matching: &ast::Matching, span: Span) {
        self.only(Shape::Multiplexor, "match", span);
        if matching.is_one() {
            return;
        }
        let Some(name) = matching.when() else {
            self.this().matching = Matching::All;
            return;
        };
        let name = tree::name(self.file, &name);
        let Some(Item::Attribute(id)) = self.cx.item(self.file, &name.text) else {
            let wanted = |item| matches!(item, Item::Attribute(_));
            return self.cx.unknown(codes::UNKNOWN_ATTRIBUTE, "an attribute", &name, self.file, wanted);
        };
        let ty = self.cx.program.attributes[id.index()].ty;
        if ty != Type::Bool && ty != Type::Unknown {
            let text = format!("`{}` is no `bool`", name.text);
            self.cx.error(codes::MISMATCH, text, name.span, "yes or no is wanted", "declare it as a `bool`");
            return;
        }
        self.this().matching = Matching::AllWhen(id);
        if !self.this().reads.contains(&id) {
            self.this().reads.push(id);
        }
    }
}

impl Declare<'_> {
    /// `const priority: u8 = 0 from open`, in a session.
    pub fn given(&mut self, kind: ScopeKind, states: &[ast::State], members: &[Member]) {
        for state in states {
            let ast::State::Const(constant) = state else { continue };
            let Some(name) = tree::some_name(self.file, constant.name()).filter(|_| constant.is_given()) else {
                continue;
            };
            if kind != ScopeKind::Session {
                let help = "write it in `session { … }`";
                let text = "only a session is opened";
                self.cx.error(codes::MISPLACED, text, name.span, "nobody gives it", help);
                continue;
            }
            let at = members.iter().position(|member| member.name.text == name.text);
            self.this().given.extend(at.map(|at| at as u32));
        }
    }
}

impl Body<'_> {
    /// The type of what some layer asks for when a session opens.
    pub(super) fn given_type(&self, name: &str) -> Option<Type> {
        let layers = &self.cx.program.layers;
        let key = |field: &Field| field.name.text == name;
        let parts = layers.iter().flat_map(|layer| layer.key.iter().flat_map(|key| &key.fields).chain(&layer.address));
        if parts.into_iter().any(key) {
            return None;
        }
        layers.iter().find_map(|layer| {
            let session = layer.scopes.iter().find(|scope| scope.kind == ScopeKind::Session)?;
            let mut given = layer.given.iter().filter_map(|at| session.members.get(*at as usize));
            match given.find(|member| member.name.text == name)?.kind {
                MemberKind::Var { ty, .. } => Some(ty),
                _ => None,
            }
        })
    }

    /// `reply(msg)` in `unmatched`; none if the call is another.
    pub(super) fn reply(&mut self, call: &ast::CallExpr, span: Span) -> Option<Option<StmtKind>> {
        let name = tree::name_expr(self.file, &call.callee()?)?;
        let own = self.this_layer()?.functions.iter().any(|function| function.name.text == name.text);
        if name.text != "reply" || own {
            return None;
        }
        if self.place != Place::Handler(Role::Unmatched) {
            let help = "it answers a message that nobody matched: `on unmatched(msg) { … }`; elsewhere `below.send(…)`";
            self.error(codes::MISPLACED, "nothing is replied here", span, "not in `unmatched`", help);
            return Some(None);
        }
        let values = self.plain_args("reply", &call.args(), 1, span);
        let message = values.map(|values| self.given(&values[0]));
        if let Some(header) = self.this_layer().and_then(|layer| layer.header.clone()) {
            let field = header.variants.first().and_then(|variant| variant.fields.first());
            let field = field.map_or("…".to_string(), |field| format!("{}: …", field.name.text));
            let text = "this layer says more to its peer than the key";
            let help = format!("write `below.send(msg, {field})`, which goes to the flow at hand");
            self.error(codes::HEADER_FIELDS, text, span, "and not here", &help);
            return Some(None);
        }
        let send = message.map(|message| Emission::Send { message: Some(message), fields: None, to: None });
        Some(send.map(StmtKind::Emit))
    }

    /// `flow.hash(secret)`
    pub(super) fn flow_hash(&mut self, flow: Expr, args: &[ast::Arg], span: Span) -> Expr {
        let Some(values) = self.plain_args("hash", args, 1, span) else { return super::body::unknown(span) };
        let secret = Box::new(self.value(&values[0], Type::UInt(64)));
        super::body::make(ExprKind::FlowHash { flow: Box::new(flow), secret }, Type::UInt(32), span)
    }

    /// A flow stands for the other side of the layer only where the layer adds nothing to it, or takes it away itself.
    pub(super) fn other_side(&mut self, expr: &Expr, want: Type) -> bool {
        let (Type::Flow(found), Type::Flow(wanted)) = (expr.ty, want) else { return false };
        let differ = match self.shape() {
            Some(Shape::Router) => found != wanted && !self.chooses(),
            Some(Shape::Multiplexor) => found == Side::Below && wanted == Side::Above,
            _ => false,
        };
        if differ {
            let names = |side| if side == Side::Above { "above" } else { "below" };
            let text =
                format!("a flow of the side {}, where one of the side {} is wanted", names(found), names(wanted));
            let help = "make the other one: `flow(local: …, remote: …)`; state of lower flows is a `LowerFlow`";
            self.error(codes::OTHER_SIDE, text, expr.span, "the other side", help);
        }
        differ
    }
}

//! One body at work: its locals, what it may see, and where it runs.

use std::rc::Rc;

use mokume_base::{Code, Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use super::containers::View;
use super::Context;
use crate::program::*;
use crate::{codes, types};

/// What a body is part of; decides which statements it may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// No state, no parameters: constants, enum numbers.
    Constant,
    /// Parameters only: sizes, arguments in stacks and bundles.
    Argument,
    /// Initial values, published values: state, no effects.
    Value,
    Function,
    Handler(Role),
}

/// The handlers in which some statements are allowed that are not elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Start,
    Open,
    Unmatched,
    Settle,
    /// Its event comes from nobody that it could go on to.
    Expiry,
    Service,
    Other,
}

/// A name that a layer, bundle or stack has as a parameter.
#[derive(Clone)]
pub(crate) struct ParamName {
    pub name: String,
    pub ty: Type,
}

pub(crate) struct Body<'c> {
    pub cx: &'c mut Context,
    pub file: FileId,
    pub layer: Option<LayerId>,
    pub place: Place,
    pub params: Vec<ParamName>,
    /// Devices of a stack: `device.mac`.
    pub devices: Vec<String>,
    pub locals: Vec<Local>,
    /// The object in whose own code this stands.
    pub object: Option<ObjectId>,
    pub result: Type,
    /// The container whose code this is.
    pub view: Option<Rc<View>>,
    /// In a pattern: a name of an enum with data is its number.
    pub pattern: bool,
    /// In the model of a function in C, which may change its message.
    pub model: bool,
    /// In a function that may refuse.
    pub refuses: bool,
    /// Messages of statements that were refused: what becomes of them is unknown.
    pub excused: Vec<LocalId>,
    scopes: Vec<Vec<(String, LocalId)>>,
}

impl<'c> Body<'c> {
    fn new(cx: &'c mut Context, file: FileId, place: Place) -> Body<'c> {
        Body {
            cx,
            file,
            layer: None,
            place,
            params: Vec::new(),
            devices: Vec::new(),
            locals: Vec::new(),
            object: None,
            result: Type::Unit,
            view: None,
            refuses: false,
            model: false,
            pattern: false,
            excused: Vec::new(),
            scopes: vec![Vec::new()],
        }
    }

    /// For values that depend on nothing.
    pub fn constant(cx: &'c mut Context, file: FileId) -> Body<'c> {
        Body::new(cx, file, Place::Constant)
    }

    /// For values that depend on parameters alone.
    pub fn argument(cx: &'c mut Context, file: FileId, params: &[Param], devices: &[Name]) -> Body<'c> {
        let mut body = Body::new(cx, file, Place::Argument);
        body.params = param_names(params);
        body.devices = devices.iter().map(|device| device.text.clone()).collect();
        body
    }

    /// For code of a layer.
    pub fn of_layer(cx: &'c mut Context, file: FileId, layer: LayerId, place: Place) -> Body<'c> {
        let params = param_names(&cx.program.layers[layer.index()].params);
        let mut body = Body::new(cx, file, place);
        body.layer = Some(layer);
        body.params = params;
        body
    }

    pub fn of_function(cx: &'c mut Context, file: FileId, layer: Option<LayerId>, head: &Function) -> Body<'c> {
        let mut body = match layer {
            Some(layer) => Body::of_layer(cx, file, layer, Place::Function),
            None => Body::new(cx, file, Place::Function),
        };
        body.result = head.result;
        body.refuses = head.refuses;
        for param in &head.params {
            body.bind(&param.name, param.ty);
        }
        body
    }

    pub fn this_layer(&self) -> Option<&Layer> {
        self.layer.and_then(|layer| self.cx.program.layers.get(layer.index()))
    }

    pub fn shape(&self) -> Option<Shape> {
        self.this_layer().map(|layer| layer.shape)
    }

    pub fn error(&mut self, code: Code, message: impl Into<String>, span: Span, label: &str, help: &str) {
        self.cx.error(code, message, span, label, help);
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.cx.report(diagnostic);
    }

    pub fn show(&self, ty: Type) -> String {
        match (ty, self.this_layer()) {
            (Type::Object(id), Some(layer)) => {
                layer.objects.get(id.index()).map_or("object".into(), |class| class.name.text.clone())
            }
            _ => self.cx.show(ty),
        }
    }

    // ---- locals ----

    pub fn bind(&mut self, name: &Name, ty: Type) -> LocalId {
        let local = LocalId(self.locals.len() as u32);
        self.locals.push(Local { name: name.clone(), ty });
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((name.text.clone(), local));
        }
        local
    }

    /// A local that no source text can name.
    pub fn hidden(&mut self, span: Span, ty: Type) -> LocalId {
        let local = LocalId(self.locals.len() as u32);
        self.locals.push(Local { name: Name { text: "it".into(), span }, ty });
        local
    }

    pub fn scoped<T>(&mut self, rule: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(Vec::new());
        let result = rule(self);
        self.scopes.pop();
        result
    }

    pub fn local(&self, name: &str) -> Option<LocalId> {
        let known = self.scopes.iter().rev().flat_map(|scope| scope.iter().rev());
        known.clone().find(|(known, _)| known == name).map(|(_, local)| *local)
    }

    pub fn local_type(&self, local: LocalId) -> Type {
        self.locals.get(local.index()).map_or(Type::Unknown, |local| local.ty)
    }

    pub fn local_names(&self) -> Vec<String> {
        self.scopes.iter().flatten().map(|(name, _)| name.clone()).collect()
    }

    // ---- values ----

    /// An expression where a type is wanted: widened to it, or a report.
    pub fn value(&mut self, expr: &ast::Expr, want: Type) -> Expr {
        let found = self.expr(expr, Some(want));
        self.coerce(found, want)
    }

    pub fn some_value(&mut self, expr: Option<ast::Expr>, want: Type, span: Span) -> Expr {
        match expr {
            Some(expr) => self.value(&expr, want),
            None => unknown(span),
        }
    }

    /// A value where a type is wanted.
    pub fn coerce(&mut self, expr: Expr, want: Type) -> Expr {
        if self.other_side(&expr, want) {
            return Expr { ty: Type::Unknown, ..expr };
        }
        if types::same(expr.ty, want) {
            // A flow goes from one side to the other only where the layer adds nothing to it.
            return expr;
        }
        if types::widens(expr.ty, want) {
            return cast(expr, want, CastKind::Widen);
        }
        let (from, to) = (self.show(expr.ty), self.show(want));
        let code = if narrows(expr.ty, want) { codes::NARROWS } else { codes::MISMATCH };
        let mut diagnostic =
            Diagnostic::error(code, format!("expected {to}, found {from}")).at(expr.span, format!("this is {from}"));
        let help = way_to(expr.ty, want, &to).unwrap_or_else(|| format!("write a value of type {to} here"));
        diagnostic.helps.push(help);
        self.report(diagnostic);
        Expr { ty: Type::Unknown, ..expr }
    }

    /// An amount, a size, a limit: a `u32` of parameters and constants.
    pub fn size(&mut self, expr: Option<ast::Expr>, span: Span) -> Expr {
        let Some(expr) = expr else { return unknown(span) };
        let place = std::mem::replace(&mut self.place, Place::Argument);
        let found = self.value(&expr, Type::UInt(32));
        self.place = place;
        if let ExprKind::Number(0) = found.kind {
            if found.ty != Type::Unknown {
                let text = "nothing has room or runs here: the number is 0";
                self.error(codes::EMPTY_SIZE, text, found.span, "zero", "write how many there are at most");
            }
        }
        if matches!(found.kind, ExprKind::Number(_) | ExprKind::Param(_)) || found.ty == Type::Unknown {
            return found;
        }
        self.folded(found)
    }

    /// The value of an expression that turns out to be constant, else the expression.
    pub fn folded(&mut self, expr: Expr) -> Expr {
        match crate::constants::eval(&self.cx.program, &expr) {
            Ok(value) => crate::constants::lift(&self.cx.program, &value, &expr),
            Err(_) => expr,
        }
    }

    pub fn span(&self, node: &impl AstNode) -> Span {
        node.span(self.file)
    }
}

fn param_names(params: &[Param]) -> Vec<ParamName> {
    params.iter().map(|param| ParamName { name: param.name.text.clone(), ty: param.ty }).collect()
}

/// What stands for an expression that could not be read.
pub(crate) fn unknown(span: Span) -> Expr {
    Expr { kind: ExprKind::Number(0), ty: Type::Unknown, span }
}

pub(crate) fn make(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, span }
}

pub(crate) fn cast(expr: Expr, ty: Type, kind: CastKind) -> Expr {
    let span = expr.span;
    if let (ExprKind::Number(_), CastKind::Widen) = (&expr.kind, kind) {
        return Expr { ty, ..expr };
    }
    make(ExprKind::Cast { kind, a: Box::new(expr) }, ty, span)
}

fn narrows(from: Type, to: Type) -> bool {
    matches!((from, to), (Type::UInt(a), Type::UInt(b)) if a > b)
}

/// How to get from one type to the other, if there is a short way.
fn way_to(from: Type, to: Type, shown: &str) -> Option<String> {
    use Type::*;
    match (from, to) {
        (UInt(_), UInt(_)) => Some(format!(
            "write `as {shown}`, which reports what does not fit, or `as% {shown}`, which keeps the low bits"
        )),
        (UInt(_), Seq(_)) | (Seq(_), UInt(_)) | (Enum(_), UInt(_)) | (Duration, UInt(_)) => {
            Some(format!("write `as {shown}`"))
        }
        (UInt(_), Duration) => Some("write a unit: `20 ms`, `1 s`".into()),
        (Duration, Instant) => Some("an instant is `now` and a duration: `now + 20 ms`".into()),
        (Instant, Duration) => Some("a duration is the difference of two instants: `now - x`".into()),
        (UInt(_), Enum(_)) => Some("write the name, or `match` over the numbers".into()),
        (UInt(_), Bool) => Some("compare it: `x != 0`".into()),
        (Bool, UInt(_)) => Some(format!("write `if c {{ 1 }} else {{ 0 }}`, or `as {shown}`")),
        (Unit, _) => Some("this gives no value".into()),
        _ => None,
    }
}

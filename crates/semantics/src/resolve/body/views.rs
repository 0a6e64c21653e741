//! The group view that the current layer is in: expressions for it, and the statements that begin a view.
//!
//! Reads no tree, reports nothing.

use mokume_base::Span;

use crate::program::*;
use crate::resolve::body::terms::{behind, make};
use crate::resolve::body::Body;

/// The name of the current view in layers.
pub const VIEW: &str = "view";

/// What the record tells of a view, if it has the members and our rank.
pub fn of_record(program: &Program, id: RecordId) -> Option<ViewRecord> {
    let fields = &program.records.get(id.index())?.fields;
    let place = |name: &str| fields.iter().position(|field| field.name.text == name);
    let (me, members) = (place("me")?, place("members")?);
    let Vector { bound, .. } = program.vector(fields[members].ty)?;
    let is_one = fields[me].ty == Type::Rank;
    is_one.then_some(ViewRecord { record: id, me: me as u32, members: members as u32, bound })
}

/// The statements that end a view and begin the next one, which a local holds.
pub fn begins(view: &LayerView, said: LocalId, span: Span) -> Vec<Stmt> {
    let call = |function: u32| {
        let call = make(ExprKind::CallOwn { function, args: Vec::new() }, Type::Unit, span);
        Stmt { kind: StmtKind::Call(call), span }
    };
    let state = StateRef { scope: ScopeKind::View, member: 0, object: None, span };
    let value = make(ExprKind::Local(said), Type::Record(view.record.record), span);
    let [end, begin] = view.around;
    let mut body: Vec<Stmt> = end.map(call).into_iter().collect();
    body.push(Stmt { kind: StmtKind::Renew, span });
    body.push(Stmt { kind: StmtKind::Assign { state, value }, span });
    body.extend(begin.map(call));
    body
}

/// An emission; if the layer begins a view by it, the layer's own view begins first.
pub fn said(body: &mut Body, emission: Emission, span: Span) -> StmtKind {
    let begun = of(body).filter(|view| view.says);
    match (emission, begun) {
        (Emission::Custom { name, down: false, args }, Some(view)) if name.text == view.event.text => {
            let ty = Type::Record(view.record.record);
            let local = body.locals.hidden(span, ty);
            let mut before: Vec<Stmt> =
                args.into_iter().map(|value| Stmt { kind: StmtKind::Let { local, value }, span }).collect();
            before.extend(begins(&view, local, span));
            let args = vec![make(ExprKind::Local(local), ty, span)];
            behind(before, StmtKind::Emit(Emission::Custom { name, down: false, args }), span)
        }
        (emission, _) => StmtKind::Emit(emission),
    }
}

/// The number of members of the view, a `u32`.
pub fn size(program: &Program, view: &LayerView, span: Span) -> Expr {
    let members = field(program, view, view.record.members, span);
    let kind = ExprKind::RecordField { record: Box::new(members), field: 0 };
    let length = make(kind, Type::UInt(8), span);
    make(ExprKind::Cast { kind: CastKind::Widen, a: Box::new(length) }, Type::UInt(32), span)
}

/// Our own rank.
pub fn me(program: &Program, view: &LayerView, span: Span) -> Expr {
    field(program, view, view.record.me, span)
}

fn field(program: &Program, view: &LayerView, field: u32, span: Span) -> Expr {
    let state = StateRef { scope: ScopeKind::View, member: 0, object: None, span };
    let whole = make(ExprKind::State(state), Type::Record(view.record.record), span);
    let fields = program.records.get(view.record.record.index()).map_or(&[][..], |record| &record.fields);
    let ty = fields.get(field as usize).map_or(Type::Unknown, |field| field.ty);
    make(ExprKind::RecordField { record: Box::new(whole), field }, ty, span)
}

/// Whether a name means the view that the layer is in.
pub fn is_view(body: &Body, name: &str) -> bool {
    let named = name == VIEW && body.locals.find(name).is_none();
    named && body.find_state(name) == Some((ScopeKind::View, 0)) && of(body).is_some()
}

/// The view that the current layer is in, if it begins by itself.
pub fn of(body: &Body) -> Option<LayerView> {
    if body.view.inside.is_some() || body.is_fixed() {
        return None;
    }
    body.this_layer()?.view.clone().filter(|view| view.by_itself)
}

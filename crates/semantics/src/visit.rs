//! Walks over typed bodies: the parts of an expression or a statement, one level at a time or all the way down.
//!
//! Invariant: every place of [`crate::program`] that contains an expression, a block or a state reference is named here
//! once; the checks use these walks and never match all variants again.

use crate::program::*;

/// The expressions directly inside an expression (also those in its state references). One table of all variants, so
/// that a new variant must be added here.
pub fn expr_children<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    use ExprKind::*;
    match &expr.kind {
        Number(_)
        | Local(_)
        | Param(_)
        | BelowCount
        | FlowHere
        | AboveLayout
        | Now
        | Sample
        | Reason(_)
        | NewMessage { .. }
        | Share(_)
        | Received { .. }
        | MessageSize(_) => {}
        Sum16(_) | Attribute { .. } | Give(_) | State(_) | Running(_) | Left(_) => {}
        Record { fields: list, .. }
        | Call { args: list, .. }
        | CallOwn { args: list, .. }
        | Native { args: list, .. } => list.iter().for_each(&mut *f),
        CallOn { object, args, .. } => {
            f(object);
            args.iter().for_each(&mut *f)
        }
        InMap { key, .. } | HasObject { key, .. } => key.iter().for_each(&mut *f),
        RecordField { record: a, .. } | Not(a) | Cast { a, .. } | Fold16(a) | FlowPart { flow: a, .. } => f(a),
        Load { at: a, .. } | Row { rank: a, .. } | Element { index: a, .. } | Holds { index: a, .. } => f(a),
        Binary { a, b, .. } => {
            f(a);
            f(b);
        }
        Pick { vector, index } => {
            f(vector);
            f(index);
        }
        Edited { vector, edit } => {
            f(vector);
            match edit {
                Edit::Set { index, value } | Edit::PutBack { index, value } => {
                    f(index);
                    f(value);
                }
                Edit::Push(value) => f(value),
                Edit::Pop => {}
            }
        }
        Let { value, body, .. } => {
            f(value);
            f(body);
        }
        FlowPrf { flow, key } => {
            f(flow);
            key.iter().for_each(&mut *f);
        }
        FlowHash { flow, secret } => {
            f(flow);
            f(secret);
        }
        If { condition, then, otherwise } => {
            f(condition);
            f(then);
            f(otherwise);
        }
        Below { flow, index, .. } => index.iter().chain(flow).for_each(|part| f(part)),
        Flow { local, remote, .. } => local.iter().chain(remote).for_each(|(_, part)| f(part)),
    }
    expr_states(expr, &mut |state| {
        if let Some(object) = &state.object {
            f(object);
        }
    });
}

/// The state that an expression itself names.
pub fn expr_states<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a StateRef)) {
    use ExprKind::*;
    match &expr.kind {
        State(state) | Running(state) | Left(state) => f(state),
        Element { array: state, .. } | InMap { map: state, .. } | Holds { messages: state, .. } => f(state),
        Number(_) | Local(_) | Param(_) | Now | Sample | Reason(_) => {}
        Record { .. } | Pick { .. } | Edited { .. } | RecordField { .. } | Binary { .. } | Not(_) | Cast { .. } => {}
        If { .. } | Let { .. } | Call { .. } | CallOwn { .. } | Native { .. } | CallOn { .. } | HasObject { .. } => {}
        Row { .. } => {}
        FlowHere | FlowPrf { .. } => {}
        Below { .. } | BelowCount | AboveLayout | FlowPart { .. } | Flow { .. } | FlowHash { .. } | Fold16(_) => {}
        NewMessage { .. } | Share(_) | Received { .. } | MessageSize(_) | Load { .. } | Sum16(_) => {}
        Attribute { .. } | Give(_) => {}
    }
}

/// An expression and all inside it, outermost first.
pub fn walk_expr<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    f(expr);
    expr_children(expr, &mut |child| walk_expr(child, f));
}

fn emission_exprs<'a>(emission: &'a Emission, f: &mut dyn FnMut(&'a Expr)) {
    match emission {
        Emission::Send { message, fields, to } => {
            fields.iter().flat_map(|fields| &fields.values).for_each(&mut *f);
            to.iter().for_each(&mut *f);
            message.iter().for_each(&mut *f);
        }
        Emission::Deliver { message, from } => {
            from.iter().for_each(&mut *f);
            f(message);
        }
        Emission::Open { flow, args } | Emission::Listen { flow, args } => {
            f(flow);
            args.iter().for_each(|(_, value)| f(value));
        }
        Emission::Bind { flow } | Emission::Unlisten { flow } => f(flow),
        Emission::FailedAs { reason } => f(reason),
        Emission::FailedFlow { reason, quote, from } => {
            f(reason);
            f(from);
            f(quote);
        }
        Emission::Service { args, .. } | Emission::Custom { args, .. } => args.iter().for_each(&mut *f),
        Emission::Close | Emission::Abort | Emission::Closed | Emission::Failed { .. } => {}
    }
}

/// The expressions of a statement itself, in the order of evaluation; not those of its blocks.
pub fn stmt_exprs<'a>(stmt: &'a Stmt, f: &mut dyn FnMut(&'a Expr)) {
    use StmtKind::*;
    match &stmt.kind {
        Let { value, .. } | AssignLocal { value, .. } | Assign { value, .. } => f(value),
        AssignElement { index, value, .. } => {
            f(index);
            f(value);
        }
        If { condition, .. } => f(condition),
        Match { value, .. } => f(value),
        While { condition, limit, .. } => {
            f(limit);
            f(condition);
        }
        For { from, to, limit, .. } => {
            f(from);
            f(to);
            f(limit);
        }
        ForObjects { limit, .. } => f(limit),
        Return { value } => value.iter().for_each(f),
        Call(value) | IfDone { call: value, .. } => f(value),
        Emit(emission) => emission_exprs(emission, f),
        Start { deadline: value, .. } | Trim { size: value, .. } | Skip { size: value, .. } => f(value),
        Take { amount, .. } | Give { amount, .. } | Count { amount, .. } => f(amount),
        IfFound { key, .. } | Remove { key, .. } | IfObject { key, .. } | FindOrNew { key, .. } => {
            key.iter().for_each(f)
        }
        Insert { key, values, .. } => key.iter().chain(values).for_each(f),
        End { object } => object.iter().for_each(f),
        Put { index, .. } | IfTaken { index, .. } => f(index),
        Split { at, .. } => f(at),
        Join { behind, .. } => f(behind),
        Store { at, value, .. } => {
            f(at);
            f(value);
        }
        SetAttribute { value, .. } => f(value),
        Later { args, .. } => args.iter().for_each(f),
        Begin { given, .. } => given.iter().for_each(|(_, value)| f(value)),
        IfListener { flow, .. } => flow.iter().for_each(f),
        Drop { value, .. } => value.iter().for_each(f),
        Pass | Consume { .. } | Accept { .. } | Stop { .. } | Again | Renew | Refuse => {}
    }
}

/// The state that a statement itself names, outside its expressions.
pub fn stmt_states<'a>(stmt: &'a Stmt, f: &mut dyn FnMut(&'a StateRef)) {
    use StmtKind::*;
    match &stmt.kind {
        Assign { state, .. }
        | AssignElement { array: state, .. }
        | Start { timer: state, .. }
        | Stop { timer: state } => f(state),
        Take { quota: state, .. } | Give { quota: state, .. } | Count { counter: state, .. } => f(state),
        IfFound { map: state, .. } | Insert { map: state, .. } | Remove { map: state, .. } => f(state),
        Put { messages: state, .. } | IfTaken { messages: state, .. } => f(state),
        Let { .. } | AssignLocal { .. } | If { .. } | Match { .. } | While { .. } | For { .. } | ForObjects { .. } => {}
        Return { .. } | Pass | Call(_) | IfDone { .. } | Refuse | Emit(_) | Again | Renew | Later { .. } => {}
        Begin { .. } | IfListener { .. } => {}
        Drop { .. } | Consume { .. } | Accept { .. } | IfObject { .. } | FindOrNew { .. } | End { .. } => {}
        Trim { .. } | Skip { .. } | Split { .. } | Join { .. } | Store { .. } | SetAttribute { .. } => {}
    }
}

/// The locals to which a statement itself assigns, not its blocks.
pub fn bound_by(stmt: &Stmt) -> Vec<LocalId> {
    use StmtKind::*;
    match &stmt.kind {
        Let { local, .. } | AssignLocal { local, .. } | For { local, .. } | ForObjects { local, .. } => vec![*local],
        IfObject { local, .. } | FindOrNew { local, .. } | IfTaken { local, .. } | IfListener { local, .. } => {
            vec![*local]
        }
        IfDone { local, .. } => local.iter().copied().collect(),
        IfFound { locals, .. } => locals.clone(),
        Split { front, rest, .. } => vec![*front, *rest],
        Assign { .. } | AssignElement { .. } | If { .. } | Match { .. } | While { .. } | Return { .. } => Vec::new(),
        Pass | Call(_) | Refuse | Emit(_) | Drop { .. } | Consume { .. } | Accept { .. } | Begin { .. } => Vec::new(),
        Start { .. } | Stop { .. } | Take { .. } | Give { .. } | Count { .. } | Insert { .. } | Remove { .. } => {
            Vec::new()
        }
        End { .. } | Put { .. } | Trim { .. } | Skip { .. } | Join { .. } | Store { .. } | SetAttribute { .. } => {
            Vec::new()
        }
        Later { .. } | Again | Renew => Vec::new(),
    }
}

/// The blocks of a statement.
pub fn stmt_blocks(stmt: &Stmt) -> Vec<&[Stmt]> {
    use StmtKind::*;
    match &stmt.kind {
        If { then, otherwise, .. } | IfFound { then, otherwise, .. } => vec![then, otherwise],
        IfListener { then, otherwise, .. } => vec![then, otherwise],
        IfObject { then, otherwise, .. } | IfTaken { then, otherwise, .. } | IfDone { then, otherwise, .. } => {
            vec![then, otherwise]
        }
        Match { cases, otherwise, .. } => {
            cases.iter().map(|(_, block)| block.as_slice()).chain([otherwise.as_slice()]).collect()
        }
        While { body, .. } | For { body, .. } | ForObjects { body, .. } => vec![body],
        Take { otherwise, .. } | Insert { otherwise, .. } | FindOrNew { otherwise, .. } | Later { otherwise, .. } => {
            vec![otherwise]
        }
        Begin { otherwise, .. } => vec![otherwise],
        Let { .. } | AssignLocal { .. } | Assign { .. } | AssignElement { .. } | Return { .. } => Vec::new(),
        Pass | Call(_) | Refuse | Emit(_) | Drop { .. } | Consume { .. } | Accept { .. } => Vec::new(),
        Start { .. } | Stop { .. } | Give { .. } | Count { .. } | Remove { .. } | End { .. } => Vec::new(),
        Put { .. } | Trim { .. } | Skip { .. } | Split { .. } | Join { .. } | Store { .. } => Vec::new(),
        SetAttribute { .. } | Again | Renew => Vec::new(),
    }
}

/// Whether a statement can complete without running one of its blocks: a loop may run zero times, and what may fail may
/// succeed. Of other statements with blocks exactly one runs.
pub fn may_skip(stmt: &Stmt) -> bool {
    use StmtKind::*;
    match &stmt.kind {
        While { .. } | For { .. } | ForObjects { .. } => true,
        Take { .. } | Insert { .. } | FindOrNew { .. } | Later { .. } | Begin { .. } => true,
        If { .. } | IfFound { .. } | IfListener { .. } | IfObject { .. } | IfTaken { .. } | IfDone { .. } => false,
        Match { .. } | Return { .. } | Refuse | Let { .. } | AssignLocal { .. } | Assign { .. } => false,
        AssignElement { .. } | Pass | Call(_) | Emit(_) | Drop { .. } | Consume { .. } | Accept { .. } => false,
        Start { .. } | Stop { .. } | Give { .. } | Count { .. } | Remove { .. } | End { .. } | Put { .. } => false,
        Trim { .. } | Skip { .. } | Split { .. } | Join { .. } | Store { .. } | SetAttribute { .. } | Again | Renew => {
            false
        }
    }
}

/// What [`walk`] visits.
#[derive(Clone, Copy)]
pub enum Met<'a> {
    /// A statement, before its expressions and blocks.
    Stmt(&'a Stmt),
    /// An expression, before those inside it.
    Expr(&'a Expr),
    /// A state reference, after the statement or expression that names it.
    State(&'a StateRef),
}

/// Visits all statements, expressions and state references of a block, in the order of the text.
pub fn walk<'a>(block: &'a [Stmt], f: &mut dyn FnMut(Met<'a>)) {
    for stmt in block {
        f(Met::Stmt(stmt));
        stmt_states(stmt, &mut |state| {
            f(Met::State(state));
            if let Some(object) = &state.object {
                walk_in_expr(object, f);
            }
        });
        stmt_exprs(stmt, &mut |expr| walk_in_expr(expr, f));
        for inner in stmt_blocks(stmt) {
            walk(inner, f);
        }
    }
}

/// Whether `is_it` holds for something in a block.
pub fn any<'a>(block: &'a [Stmt], mut is_it: impl FnMut(Met<'a>) -> bool) -> bool {
    let mut found = false;
    walk(block, &mut |met| found = found || is_it(met));
    found
}

/// Whether `is_it` holds for something in a layer.
pub fn any_in_layer<'a>(layer: &'a Layer, mut is_it: impl FnMut(Met<'a>) -> bool) -> bool {
    let mut found = false;
    walk_layer(layer, &mut |met| found = found || is_it(met));
    found
}

/// Whether `is_it` holds for an expression or one inside it.
pub fn any_expr<'a>(expr: &'a Expr, mut is_it: impl FnMut(&'a Expr) -> bool) -> bool {
    let mut found = false;
    walk_expr(expr, &mut |inner| found = found || is_it(inner));
    found
}

/// As [`walk`], for one expression.
pub fn walk_in_expr<'a>(expr: &'a Expr, f: &mut dyn FnMut(Met<'a>)) {
    walk_expr(expr, &mut |inner| {
        f(Met::Expr(inner));
        expr_states(inner, &mut |state| f(Met::State(state)));
    });
}

/// Visits everything in a layer: initial values, sizes, published values, functions and handlers.
pub fn walk_layer<'a>(layer: &'a Layer, f: &mut dyn FnMut(Met<'a>)) {
    let scopes = layer.scopes.iter().map(|scope| (scope.capacity.as_ref(), &scope.members));
    let objects = layer.objects.iter().map(|class| (Some(&class.capacity), &class.members));
    for (capacity, members) in scopes.chain(objects) {
        capacity.iter().for_each(|expr| walk_in_expr(expr, f));
        members.iter().for_each(|member| walk_member(member, f));
    }
    layer.publishes.iter().for_each(|publish| walk_in_expr(&publish.value, f));
    let limits =
        layer.limit_send.iter().chain(&layer.limit_octets).chain(layer.ratios.iter().chain(&layer.reserves).flatten());
    limits.for_each(|limit| walk_in_expr(limit, f));
    layer.asked.iter().for_each(|asked| walk_in_expr(&asked.condition, f));
    layer.functions.iter().for_each(|function| walk(&function.body, f));
    for handler in &layer.handlers {
        match &handler.event {
            Event::Settle { limit } => walk_in_expr(limit, f),
            Event::Expiry { timer } => f(Met::State(timer)),
            _ => {}
        }
        walk(&handler.body, f);
    }
}

fn walk_member<'a>(member: &'a Member, f: &mut dyn FnMut(Met<'a>)) {
    match &member.kind {
        MemberKind::Var { init, .. } => init.iter().for_each(|init| walk_in_expr(init, f)),
        MemberKind::Quota { amount: size }
        | MemberKind::Array { size, .. }
        | MemberKind::Map { capacity: size, .. } => walk_in_expr(size, f),
        MemberKind::Messages { size, quota } => {
            walk_in_expr(size, f);
            quota.iter().for_each(|quota| f(Met::State(quota)));
        }
        MemberKind::Timer | MemberKind::Counter | MemberKind::Container(_) => {}
    }
}

/// The function of the layer that an expression calls.
pub fn own_call(expr: &Expr) -> Option<u32> {
    match &expr.kind {
        ExprKind::CallOwn { function, .. } | ExprKind::CallOn { function, .. } => Some(*function),
        _ => None,
    }
}

/// Whether every path through a body of a layer runs a statement for which `says` holds; called functions are followed.
/// A path ends with the block, or with `return`.
pub fn always(layer: &Layer, body: &[Stmt], says: &dyn Fn(&StmtKind) -> bool) -> bool {
    let mut without = false;
    to_the_end(layer, body, says, false, &mut without) && !without
}

/// Whether every path to the end of a block has run one, given that `said` holds for its beginning; sets `without` if a
/// path that returns has not.
fn to_the_end(
    layer: &Layer,
    block: &[Stmt],
    says: &dyn Fn(&StmtKind) -> bool,
    mut said: bool,
    without: &mut bool,
) -> bool {
    for stmt in block {
        match &stmt.kind {
            kind if says(kind) => said = true,
            StmtKind::Return { .. } => {
                *without |= !said;
                return true;
            }
            StmtKind::Call(Expr { kind: ExprKind::CallOwn { function, .. }, .. }) => {
                let called = layer.functions.get(*function as usize);
                said |= called.is_some_and(|called| always(layer, &called.body, says));
            }
            _ => {
                let blocks = stmt_blocks(stmt);
                let mut all = blocks.len() > 1;
                for block in blocks {
                    all &= to_the_end(layer, block, says, said, without);
                }
                said |= all;
            }
        }
    }
    said
}

/// Whether control never reaches the block's end.
pub fn leaves(block: &[Stmt]) -> bool {
    block.iter().any(stmt_leaves)
}

/// Whether control never runs past the statement.
pub fn stmt_leaves(stmt: &Stmt) -> bool {
    use StmtKind::*;
    match &stmt.kind {
        Return { .. } | Refuse => true,
        If { then, otherwise, .. } | IfFound { then, otherwise, .. } => leaves(then) && leaves(otherwise),
        IfObject { then, otherwise, .. } | IfTaken { then, otherwise, .. } | IfDone { then, otherwise, .. } => {
            leaves(then) && leaves(otherwise)
        }
        IfListener { then, otherwise, .. } => leaves(then) && leaves(otherwise),
        Match { cases, otherwise, .. } => leaves(otherwise) && cases.iter().all(|(_, block)| leaves(block)),
        // A loop may be left at once, and what is tried may be done.
        While { .. } | For { .. } | ForObjects { .. } => false,
        Take { .. } | Insert { .. } | FindOrNew { .. } | Later { .. } | Begin { .. } => false,
        Let { .. } | AssignLocal { .. } | Assign { .. } | AssignElement { .. } | Pass | Call(_) | Emit(_) => false,
        Drop { .. } | Consume { .. } | Accept { .. } | Start { .. } | Stop { .. } | Give { .. } => false,
        Count { .. } | Remove { .. } | End { .. } | Put { .. } | Trim { .. } | Skip { .. } | Split { .. } => false,
        Join { .. } | Store { .. } | SetAttribute { .. } | Again | Renew => false,
    }
}

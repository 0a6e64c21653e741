//! Expressions to values. Records and flows are lists of scalars; what may report or branch is evaluated only where it stands.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::fold::{field_range, Env};
use crate::frame::{to, Code, Writer};
use crate::lowering::Lowering;
use crate::octets::is_total;
use crate::plan::Component;

impl<'p> Lowering<'p> {
    // -- flows

    fn components(&self, inst: usize, ty: s::Type) -> Vec<Component> {
        let at = self.inst(inst);
        match ty {
            s::Type::Flow(s::Side::Above) if at.shape() != Some(s::Shape::Endpoint) => at.top.clone(),
            _ => at.bottom.clone(),
        }
    }
}

impl<'p> Writer<'_, 'p> {
    /// The scalars of an expression.
    pub fn expr(&mut self, expr: &'p s::Expr) -> Vec<r::Value> {
        use s::ExprKind as E;
        if let E::Cast { .. } | E::Binary { .. } | E::Not(_) | E::If { .. } | E::Let { .. } | E::Call { .. } =
            &expr.kind
        {
            // What is known now is a constant; what would report is not.
            if let Some(values) = self.constants(&self.env, expr) {
                let types = self.flat(expr.ty);
                return values.into_iter().zip(types).map(|(value, (_, ty))| self.constant(ty, value)).collect();
            }
        }
        match &expr.kind {
            E::Local(local) => self.local(*local),
            E::Give(local) => {
                let values = self.local(*local);
                values.iter().for_each(|value| self.forget(*value));
                values
            }
            E::Param(index) => self.param_value(*index as usize, expr),
            E::Record { fields, .. } => {
                let fields: Vec<&s::Expr> = fields.iter().collect();
                self.as_written(&fields).concat()
            }
            E::Pick { vector, index } => self.pick(vector, index),
            E::Edited { vector, edit } => self.edited(vector, edit),
            E::RecordField { record, field } => {
                let s::Type::Record(id) = record.ty else { return Vec::new() };
                let range = field_range(self.program, id, *field);
                self.expr(record).get(range).map_or(Vec::new(), <[r::Value]>::to_vec)
            }
            E::If { condition, then, otherwise } if self.known(condition).is_some() => {
                let taken = if self.known(condition) == Some(true) { then } else { otherwise };
                self.expr(taken)
            }
            E::If { condition, then, otherwise } => self.choose(condition, then, otherwise),
            E::Let { local, value, body } => self.with(*local, value, body),
            E::Call { function, args } => {
                let program = self.program;
                let given =
                    self.layer(self.inst).and_then(|layer| layer.called.iter().find(|(known, _)| known == function));
                let given = given.filter(|_| !self.faulty(crate::fault::Fault::FunctionNotGiven));
                let function = given.map_or(*function, |(_, given)| *given);
                self.call(&program.functions[function.index()], args, &Env::Stack)
            }
            E::CallOwn { function, args } => {
                let Some(layer) = self.layer(self.inst) else { return Vec::new() };
                let env = self.inst(self.inst).env.clone();
                self.call(&layer.functions[*function as usize], args, &env)
            }
            E::Native { function, args, message } => self.native(*function, args, *message, expr.ty),
            E::CallOn { object, function, args } => self.call_on(object, *function, args),
            E::State(state) => {
                let object = self.object(state);
                let cells = self.cells(self.inst, state);
                cells.into_iter().map(|cell| self.value(r::OpKind::Get { object, cell })).collect()
            }
            E::Element { array, index } => {
                let object = self.object(array);
                let index = self.one(index);
                let cells = self.cells(self.inst, array);
                cells.into_iter().map(|cell| self.value(r::OpKind::GetAt { object, cell, index })).collect()
            }
            E::BelowCount => {
                let count = self.inst(self.inst).lowers().len() as u64;
                vec![self.constant(r::Type::U(32), count)]
            }
            E::AboveLayout => {
                let hash = self.layout_above(self.inst);
                vec![self.constant(r::Type::U(32), u64::from(hash))]
            }
            E::Below { name, flow, index: Some(index) } => self.below_at(name, flow.as_deref(), index),
            E::Below { name, flow, index: None } => self.below(name, flow.as_deref()),
            E::FlowPart { flow, remote, field } => self.flow_part(flow, *remote, field),
            E::Flow { local, remote } => self.flow(expr, local, remote),
            _ => vec![self.scalar_expr(expr)],
        }
    }

    /// An expression of one scalar.
    pub fn one(&mut self, expr: &'p s::Expr) -> r::Value {
        let values = self.expr(expr);
        values.first().copied().unwrap_or_else(|| self.constant(r::Type::Bool, 0))
    }

    /// A size, number or place: always 32 bits.
    pub fn u32(&mut self, expr: &'p s::Expr) -> r::Value {
        let value = self.one(expr);
        self.cast(value, r::Type::U(32))
    }

    pub fn cast(&mut self, value: r::Value, to: r::Type) -> r::Value {
        if self.b.type_of(value) == to {
            return value;
        }
        self.value(r::OpKind::Cast { a: value, to })
    }

    fn scalar_expr(&mut self, expr: &'p s::Expr) -> r::Value {
        use s::ExprKind as E;
        let ty = self.scalar(expr.ty);
        let kind = match &expr.kind {
            E::Number(value) => r::OpKind::Const { ty, value: *value },
            E::Binary { op, a, b } => return self.binary(*op, a, b, ty),
            E::Not(a) => r::OpKind::Not { a: self.one(a) },
            E::Cast { kind, a } => return self.convert(*kind, a, ty),
            E::Fold16(a) => {
                let a = self.u32(a);
                r::OpKind::Fold16 { a }
            }
            E::FlowHash { flow, secret } => return self.flow_hash(flow, secret),
            E::Now => r::OpKind::Now {},
            E::Reason(name) => {
                let reason = self.told_reason(&name.text);
                r::OpKind::Const { ty: r::Type::Reason, value: u64::from(reason.0) }
            }
            E::Draw => r::OpKind::Draw { object: self.own_object(), ty },
            E::Running(state) => {
                let (object, cell) = self.state(state);
                r::OpKind::IsArmed { object, cell }
            }
            E::Left(state) => {
                let (object, cell) = self.state(state);
                r::OpKind::Left { object, cell }
            }
            E::Holds { messages, index } => {
                let (object, cell) = self.state(messages);
                let index = self.u32(index);
                r::OpKind::Holds { object, cell, index }
            }
            E::InMap { map, key } => {
                let (object, cell) = self.state(map);
                let key = key.iter().flat_map(|part| self.expr(part)).collect();
                return self.is_in(object, cell, key);
            }
            E::HasObject { class, key } => {
                let (object, cell) = self.index_of(*class);
                let key = key.iter().flat_map(|part| self.expr(part)).collect();
                return self.is_in(object, cell, key);
            }
            E::NewMessage { octets } => r::OpKind::NewMessage { octets: octets.clone() },
            E::Share(local) => r::OpKind::Share { message: self.of_local(*local) },
            E::Received { message, wire } => {
                let message = self.of_local(*message);
                match self.wire_below(self.inst, *wire) {
                    Some(wire) => r::OpKind::Received { message, wire },
                    None => r::OpKind::NewMessage { octets: Vec::new() },
                }
            }
            E::MessageSize(local) => return self.message_size(*local),
            E::Load { message, at, width, big } => {
                let at = self.u32(at);
                let message = self.of_local(*message);
                let value = self.value(r::OpKind::Load { field: octet_field(*width, *big), message, at });
                return self.cast(value, ty);
            }
            E::Sum16(local) => return self.sum16(*local, expr),
            E::Attribute { message, attribute } => {
                let attribute = self.attribute(*attribute);
                r::OpKind::GetAttribute { message: self.of_local(*message), attribute }
            }
            _ => r::OpKind::Const { ty: r::Type::Bool, value: 0 },
        };
        self.value(kind)
    }

    // -- arithmetic

    fn binary(&mut self, op: s::Binary, a: &'p s::Expr, b: &'p s::Expr, ty: r::Type) -> r::Value {
        if matches!(op, s::Binary::And | s::Binary::Or) {
            return self.logical(op, a, b);
        }
        let left = self.expr(a);
        let right = self.expr(b);
        if let Some(compare) = compare_of(op) {
            return self.compare(compare, left, right);
        }
        let (Some(left), Some(right)) = (left.first().copied(), right.first().copied()) else {
            return self.constant(ty, 0);
        };
        let of = self.b.type_of(left);
        let right = self.cast(right, of);
        let circular = matches!(of, r::Type::Seq(_));
        let op = binary_of(op, circular);
        let value = self.value(r::OpKind::Binary { op, a: left, b: right });
        self.cast(value, ty)
    }

    /// Records and flows are equal when all their scalars are.
    fn compare(&mut self, op: r::Compare, left: Vec<r::Value>, right: Vec<r::Value>) -> r::Value {
        let mut result = None;
        for (a, b) in left.into_iter().zip(right) {
            let of = self.b.type_of(a);
            let b = self.cast(b, of);
            let one = self.value(r::OpKind::Compare { op, a, b });
            let join = if op == r::Compare::Ne { r::Binary::Or } else { r::Binary::And };
            result = Some(match result {
                None => one,
                Some(before) => self.value(r::OpKind::Binary { op: join, a: before, b: one }),
            });
        }
        result.unwrap_or_else(|| self.constant(r::Type::Bool, u64::from(op != r::Compare::Ne)))
    }

    /// The right side counts only if the left leaves the matter open.
    fn logical(&mut self, op: s::Binary, a: &'p s::Expr, b: &'p s::Expr) -> r::Value {
        let left = self.one(a);
        let both = if op == s::Binary::And { r::Binary::And } else { r::Binary::Or };
        if is_total(b) || self.faulty(Fault::NoShortCircuit) {
            let right = self.one(b);
            return self.value(r::OpKind::Binary { op: both, a: left, b: right });
        }
        let (open, settled) = match op {
            s::Binary::And => self.branch(left, None, "and", "no"),
            _ => {
                let (settled, open) = self.branch(left, None, "yes", "or");
                (open, settled)
            }
        };
        self.select(settled);
        let mut exits: Vec<_> = self.exit(vec![left]).into_iter().collect();
        self.select(open);
        let right = self.one(b);
        exits.extend(self.exit(vec![right]));
        self.join("both", exits).and_then(|values| values.first().copied()).unwrap_or(left)
    }

    /// Numbers of locals are those of the code that an expression stands in; an initial value may be lowered elsewhere.
    fn with(&mut self, local: s::LocalId, value: &'p s::Expr, body: &'p s::Expr) -> Vec<r::Value> {
        let values = self.expr(value);
        let outer = self.locals.get(local.index()).cloned().flatten();
        self.set_local(local, values);
        let result = self.expr(body);
        self.locals[local.index()] = outer;
        result
    }

    fn choose(&mut self, c: &'p s::Expr, then: &'p s::Expr, otherwise: &'p s::Expr) -> Vec<r::Value> {
        let condition = self.one(c);
        let linear = then.ty == s::Type::Message;
        if is_total(then) && is_total(otherwise) && !linear {
            let (a, b) = (self.expr(then), self.expr(otherwise));
            return a.into_iter().zip(b).map(|(a, b)| self.value(r::OpKind::Select { c: condition, a, b })).collect();
        }
        let (yes, no) = self.branch(condition, None, "then", "else");
        let before = self.locals.clone();
        let mut exits = Vec::new();
        for (block, expr) in [(yes, then), (no, otherwise)] {
            self.select(block);
            // A function in C may change a message.
            self.locals = before.clone();
            let values = self.expr(expr);
            exits.extend(self.exit(values));
        }
        self.join("chosen", exits).unwrap_or_default()
    }

    fn convert(&mut self, kind: s::CastKind, a: &'p s::Expr, ty: r::Type) -> r::Value {
        let value = self.one(a);
        let from = self.b.type_of(value);
        if from == ty {
            return value;
        }
        let (had, has) = (from.width(&self.a), ty.width(&self.a));
        if kind == s::CastKind::Widen && self.faulty(Fault::WideningDropped) && has > had && had > 8 {
            let low = self.cast(value, r::Type::U(8));
            return self.cast(low, ty);
        }
        if kind == s::CastKind::Checked && has < had && !self.faulty(Fault::NarrowingSilent) {
            self.report_beyond(value, had, has);
        }
        self.cast(value, ty)
    }

    /// A report (design, section 2, arithmetic) when the value has a bit set beyond `has`: one bit added to itself carries
    /// exactly then.
    fn report_beyond(&mut self, value: r::Value, had: u8, has: u8) {
        let plain = self.cast(value, r::Type::U(had));
        let largest = self.constant(r::Type::U(had), (1u64 << has) - 1);
        let beyond = self.value(r::OpKind::Compare { op: r::Compare::Gt, a: plain, b: largest });
        let bit = self.cast(beyond, r::Type::U(1));
        self.value(r::OpKind::Binary { op: r::Binary::Add, a: bit, b: bit });
    }

    // -- names

    fn param_value(&mut self, index: usize, expr: &'p s::Expr) -> Vec<r::Value> {
        match self.env.clone() {
            Env::Use(_) if self.faulty(crate::fault::Fault::ArgumentLost) => {
                let parts = self.flat(expr.ty);
                parts.into_iter().map(|(_, ty)| self.constant(ty, 0)).collect()
            }
            Env::Use(used) => self.env_expr(&used.args[index], &used.outer),
            Env::Stack => {
                let name = self.stack.params.get(index).map_or(String::new(), |param| param.name.text.clone());
                let parts = self.flat(expr.ty);
                let value = |(rest, _): (String, r::Type)| {
                    let param = self.param(&format!("{name}{rest}"))?;
                    Some(self.value(r::OpKind::Param { param }))
                };
                parts.into_iter().filter_map(value).collect()
            }
        }
    }

    /// An argument: it folds, or is made of parameters of the stack.
    pub fn env_expr(&mut self, expr: &'p s::Expr, env: &Env<'p>) -> Vec<r::Value> {
        if let Some(values) = self.constants(env, expr) {
            let types = self.flat(expr.ty);
            return values.into_iter().zip(types).map(|(value, (_, ty))| self.constant(ty, value)).collect();
        }
        let outer = std::mem::replace(&mut self.env, env.clone());
        let locals = std::mem::take(&mut self.locals);
        let values = self.expr(expr);
        self.env = outer;
        self.locals = locals;
        values
    }

    fn call(&mut self, function: &'p s::Function, args: &'p [s::Expr], env: &Env<'p>) -> Vec<r::Value> {
        let mut given = Vec::new();
        for (param, arg) in function.params.iter().zip(args) {
            given.push((param.local, self.expr(arg)));
        }
        let outer = std::mem::replace(&mut self.env, env.clone());
        let results = self.inline(Code::from(function), given);
        self.env = outer;
        results
    }

    fn flow_part(&mut self, flow: &'p s::Expr, remote: bool, field: &s::Name) -> Vec<r::Value> {
        let components = self.components(self.inst, flow.ty);
        let values = self.expr(flow);
        let behind = format!("{}.", field.text);
        let wanted = |c: &Component, side: bool| side && (c.name == field.text || c.name.starts_with(&behind));
        let exact: Vec<usize> = (0..components.len())
            .filter(|at| {
                wanted(
                    &components[*at],
                    components[*at].is_remote() == remote || components[*at].side == crate::plan::Part::Both,
                )
            })
            .collect();
        // Of several layers with a component of this name, the highest is meant.
        let Some(owner) = exact.last().map(|at| components[*at].owner) else {
            self.error("M0722", format!("the flow here has no part `{}`", field.text), Some(field.span), "");
            let ty = r::Type::U(32);
            return vec![self.constant(ty, 0)];
        };
        let own = exact.into_iter().filter(|at| components[*at].owner == owner);
        own.filter_map(|at| values.get(at).copied()).collect()
    }

    fn flow(
        &mut self,
        expr: &'p s::Expr,
        local: &'p [(Option<s::Name>, s::Expr)],
        remote: &'p [(Option<s::Name>, s::Expr)],
    ) -> Vec<r::Value> {
        let components = self.components(self.inst, expr.ty);
        let mut values: Vec<Option<r::Value>> = vec![None; components.len()];
        let parts: Vec<&s::Expr> = local.iter().chain(remote).map(|(_, value)| value).collect();
        let mut computed = self.as_written(&parts).into_iter();
        for (parts, is_remote) in [(local, false), (remote, true)] {
            let mut unnamed = 0;
            for (name, _) in parts {
                let given = computed.next().unwrap_or_default();
                let sided = |c: &Component| c.is_remote() == is_remote || c.side == crate::plan::Part::Both;
                let places: Vec<usize> = match name {
                    Some(name) => {
                        let behind = format!("{}.", name.text);
                        let named = |at: &usize| {
                            let c = &components[*at];
                            sided(c) && (c.name == name.text || c.name.starts_with(&behind))
                        };
                        let all: Vec<usize> = (0..components.len()).filter(named).collect();
                        let owner = all.last().map(|at| components[*at].owner);
                        if owner.is_none() {
                            self.error(
                                "M0722",
                                format!("the flow here has no part `{}`", name.text),
                                Some(name.span),
                                "",
                            );
                        }
                        all.into_iter().filter(|at| Some(components[*at].owner) == owner).collect()
                    }
                    None => {
                        let sided = |at: &usize| {
                            let part = if is_remote { crate::plan::Part::Remote } else { crate::plan::Part::Local };
                            components[*at].side == part
                        };
                        let side = (0..components.len()).filter(sided);
                        let rest: Vec<usize> = side.skip(unnamed).take(given.len()).collect();
                        unnamed += given.len();
                        rest
                    }
                };
                for (place, value) in places.into_iter().zip(given) {
                    values[place] = Some(value);
                }
            }
        }
        let types = self.flow_params(&components);
        self.fill_from_hand(expr.ty, &mut values);
        let mut all = Vec::new();
        for (value, (_, ty)) in values.into_iter().zip(types) {
            all.push(match value {
                Some(value) => self.cast(value, ty),
                None => self.constant(ty, 0),
            });
        }
        all
    }

    // -- messages

    /// Of a layer under the coding point the headers of the wire are octets already, and do not count (docs, section 5).
    fn message_size(&mut self, local: s::LocalId) -> r::Value {
        let size = self.value(r::OpKind::Size { message: self.of_local(local) });
        let info = self.info();
        match (&info.placed, info.wire_size) {
            (Some(_), Some(header)) if header > 0 => {
                let header = self.constant(r::Type::U(32), u64::from(header));
                self.value(r::OpKind::Binary { op: r::Binary::SubWrap, a: size, b: header })
            }
            _ => size,
        }
    }

    fn sum16(&mut self, local: s::LocalId, expr: &s::Expr) -> r::Value {
        let message = self.of_local(local);
        let mut sum = self.value(r::OpKind::Sum16 { message });
        let info = self.info();
        if self.faulty(Fault::OwnFieldSummed) {
            return sum;
        }
        for field in info.placed.iter().flatten().flatten() {
            if field.width != 16 || field.octet % 2 != 0 {
                let help = "put it in 16 bits at an even octet";
                self.error("M0727", "a layer's own field cannot be taken out of this sum", Some(expr.span), help);
                continue;
            }
            let at = self.constant(r::Type::U(32), u64::from(field.octet));
            // Sums are of big-endian words whatever the wire's order is.
            let own = self.value(r::OpKind::Load { field: octet_field(16, true), message, at });
            let own = self.cast(own, r::Type::U(32));
            sum = self.value(r::OpKind::Binary { op: r::Binary::SubWrap, a: sum, b: own });
        }
        sum
    }

    // -- maps

    fn is_in(&mut self, object: r::Value, cell: r::CellId, key: Vec<r::Value>) -> r::Value {
        let values = match self.a.cell(self.class_of(object), cell).kind.clone() {
            r::CellKind::Map { value, .. } => value,
            _ => Vec::new(),
        };
        let params: Vec<(String, r::Type)> = values.into_iter().map(|ty| (String::new(), ty)).collect();
        let (yes, no) = (self.b.block("found", &params), self.b.block("absent", &[]));
        self.end(r::Terminator::Try { op: r::Fallible::Find { object, cell, key }, then: to(yes), otherwise: to(no) });
        let mut exits = Vec::new();
        for (block, known) in [(yes, 1), (no, 0)] {
            self.select(block);
            let value = self.constant(r::Type::Bool, known);
            exits.extend(self.exit(vec![value]));
        }
        self.join("in", exits).map_or(r::Value(0), |values| values[0])
    }

    pub fn class_of(&self, object: r::Value) -> r::ClassId {
        match self.b.type_of(object) {
            r::Type::Ref(class) => class,
            _ => r::ClassId(0),
        }
    }
}

/// A number in a message, of so many bits.
pub fn octet_field(width: u8, big: bool) -> r::OctetField {
    r::OctetField { width, endian: crate::wires::endian(big) }
}

fn compare_of(op: s::Binary) -> Option<r::Compare> {
    Some(match op {
        s::Binary::Eq => r::Compare::Eq,
        s::Binary::Ne => r::Compare::Ne,
        s::Binary::Lt => r::Compare::Lt,
        s::Binary::Le => r::Compare::Le,
        s::Binary::Gt => r::Compare::Gt,
        s::Binary::Ge => r::Compare::Ge,
        _ => return None,
    })
}

/// On sequence numbers `+` and `-` wrap by intent.
fn binary_of(op: s::Binary, circular: bool) -> r::Binary {
    match op {
        s::Binary::Add if circular => r::Binary::AddWrap,
        s::Binary::Sub if circular => r::Binary::SubWrap,
        s::Binary::Add => r::Binary::Add,
        s::Binary::Sub => r::Binary::Sub,
        s::Binary::Mul => r::Binary::Mul,
        s::Binary::AddWrap => r::Binary::AddWrap,
        s::Binary::SubWrap => r::Binary::SubWrap,
        s::Binary::MulWrap => r::Binary::MulWrap,
        s::Binary::Div => r::Binary::Div,
        s::Binary::Rem => r::Binary::Rem,
        s::Binary::BitAnd | s::Binary::And => r::Binary::And,
        s::Binary::BitOr | s::Binary::Or => r::Binary::Or,
        s::Binary::BitXor => r::Binary::Xor,
        s::Binary::Shl => r::Binary::Shl,
        s::Binary::Shr => r::Binary::Shr,
        s::Binary::Max => r::Binary::Max,
        _ => r::Binary::Min,
    }
}

//! Expressions to values. Records and flows are lists of parts. What may report or branch is evaluated only if its
//! value is needed.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::writer::Writer;
use crate::constants::Env;
use crate::fault::Fault;

impl<'p> Writer<'_, 'p> {
    /// The parts of an expression. A table: an arm for each kind with several parts, then the others.
    pub fn expr(&mut self, expr: &'p s::Expr) -> Vec<r::Value> {
        use s::ExprKind as E;
        if let E::Cast { .. } | E::Binary { .. } | E::Not(_) | E::If { .. } | E::Let { .. } | E::Call { .. } =
            &expr.kind
        {
            // A known value becomes a constant, unless computing it would report.
            if let Some(words) = self.constants(&self.env, expr) {
                return self.known_value(expr.ty, &words);
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
            E::Record { fields, .. } if self.program.vector(expr.ty).is_some() => self.packed(expr, fields),
            E::Record { fields, .. } => {
                let fields: Vec<&s::Expr> = fields.iter().collect();
                self.as_written(&fields).concat()
            }
            E::Pick { vector, index } => self.pick(vector, index),
            E::Edited { vector, edit } => self.edited(vector, edit),
            E::RecordField { record, field } => self.record_field(expr, record, *field),
            E::If { condition, then, otherwise } if self.known(condition).is_some() => {
                let taken = if self.known(condition) == Some(true) { then } else { otherwise };
                self.expr(taken)
            }
            E::If { condition, then, otherwise } => self.choose(condition, then, otherwise),
            E::Let { local, value, body } => self.with(*local, value, body),
            E::Call { function, args } => self.call(*function, args),
            E::CallOwn { function, args } => self.call_own(*function, args),
            E::Native { function, args, message } => self.native(*function, args, *message, expr.ty),
            E::CallOn { object, function, args } => self.call_on(object, *function, args),
            E::State(state) => {
                let object = self.object(state);
                let cells = self.cells(self.inst, state);
                self.get_parts(object, &cells)
            }
            E::Element { array, index } => {
                let values = self.array_element(array, index);
                self.gather(expr.ty, values)
            }
            E::BelowCount => {
                let count = self.inst(self.inst).lowers().len() as u64;
                vec![self.constant(r::Type::U(32), count)]
            }
            E::AboveLayout => {
                let hash = self.layout_above(self.inst);
                vec![self.constant(r::Type::U(32), u64::from(hash))]
            }
            E::Below { name, flow, index } => {
                let values = match index {
                    Some(index) => self.below_at(name, flow.as_deref(), index),
                    None => self.below(name, flow.as_deref()),
                };
                self.gather(expr.ty, values)
            }
            E::FlowHere => self.flow_at_hand().to_vec(),
            E::FlowPart { flow, remote, field } => self.flow_part(flow, *remote, field),
            E::Flow { local, remote, .. } => self.flow(expr, local, remote),
            _ => vec![self.scalar_expr(expr)],
        }
    }

    /// The scalars of several expressions at a border, in order.
    pub fn at_border(&mut self, exprs: &'p [s::Expr]) -> Vec<r::Value> {
        exprs.iter().flat_map(|expr| self.one_at_border(expr)).collect()
    }

    /// The scalars of an expression at a border.
    pub fn one_at_border(&mut self, expr: &'p s::Expr) -> Vec<r::Value> {
        let parts = self.expr(expr);
        self.spread(expr.ty, parts)
    }

    /// The value of an expression of one scalar.
    pub fn one(&mut self, expr: &'p s::Expr) -> r::Value {
        let values = self.expr(expr);
        values.first().copied().unwrap_or_else(|| self.truth(false))
    }

    /// The value of a size, number or index, as 32 bits.
    pub fn u32(&mut self, expr: &'p s::Expr) -> r::Value {
        let value = self.one(expr);
        self.cast(value, r::Type::U(32))
    }

    /// The value of an expression of one part. A table: an arm for each kind.
    fn scalar_expr(&mut self, expr: &'p s::Expr) -> r::Value {
        use s::ExprKind as E;
        let ty = self.scalar(expr.ty);
        let kind = match &expr.kind {
            E::Number(value) => r::OpKind::Const { ty, value: *value },
            E::Binary { op, a, b } => return self.arithmetic(*op, a, b, ty),
            E::Not(a) => r::OpKind::Not { a: self.one(a) },
            E::Cast { kind, a } => return self.convert(*kind, a, ty),
            E::Fold16(a) => {
                let a = self.u32(a);
                r::OpKind::Fold16 { a }
            }
            E::FlowPrf { flow, key } => return self.flow_prf(flow, key),
            E::FlowHash { flow, secret } => return self.flow_hash(flow, secret),
            E::Now => r::OpKind::Now {},
            E::Reason(name) => {
                let reason = self.told_reason(&name.text);
                r::OpKind::Const { ty: r::Type::Reason, value: u64::from(reason.0) }
            }
            E::Sample => {
                let object = self.own_object();
                r::OpKind::Sample { object, ty }
            }
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
                self.has_place(object, cell, index);
                let index = self.u32(index);
                r::OpKind::Holds { object, cell, index }
            }
            E::InMap { map, key } => {
                let (object, cell) = self.state(map);
                let key = self.at_border(key);
                return self.is_in(object, cell, key);
            }
            E::HasObject { class, key } => {
                let key = self.at_border(key);
                let found = self.find_keyed(*class, key);
                return self.either(found, |w, _| vec![w.truth(true)], |w, _| vec![w.truth(false)])[0];
            }
            E::Row { class, rank } => {
                let key = self.one_at_border(rank);
                return self.object_of_rank(*class, key);
            }
            E::NewMessage { octets } => r::OpKind::NewMessage { octets: octets.clone() },
            E::Share(local) => {
                let message = self.of_local(*local);
                r::OpKind::Share { message }
            }
            E::Received { message, wire } => {
                let message = self.of_local(*message);
                if self.meets_later(self.inst, *wire) {
                    let name = self.program.wires[wire.index()].name.text.clone();
                    let text =
                        format!("`{name}` meets a packet above this layer, so nothing has been received by it here");
                    let help = "this layer looks at octets, or stands below one that does: ask in a layer above those";
                    self.error("M0769", text, Some(expr.span), help);
                }
                match self.wire_below(self.inst, *wire) {
                    Some(wire) => r::OpKind::Received { message, wire },
                    None => r::OpKind::NewMessage { octets: Vec::new() },
                }
            }
            E::MessageSize(local) => return self.message_size(*local),
            E::Load { message, at, width, big } => {
                self.only_others_octets(at, expr);
                let at = self.u32(at);
                let message = self.of_local(*message);
                let value = self.value(r::OpKind::Load { field: octet_field(*width, *big), message, at });
                return self.cast(value, ty);
            }
            E::Sum16(local) => return self.sum16(*local, expr),
            E::Attribute { message, attribute } => {
                let (attribute, message) = (self.attribute(*attribute), self.of_local(*message));
                r::OpKind::GetAttribute { message, attribute }
            }
            // [`Writer::expr`] handles these itself.
            E::Local(_)
            | E::Give(_)
            | E::Param(_)
            | E::State(_)
            | E::Element { .. }
            | E::If { .. }
            | E::Let { .. }
            | E::Record { .. }
            | E::Pick { .. }
            | E::Edited { .. }
            | E::RecordField { .. }
            | E::Call { .. }
            | E::CallOwn { .. }
            | E::Native { .. }
            | E::CallOn { .. }
            | E::BelowCount
            | E::AboveLayout
            | E::Below { .. }
            | E::FlowHere
            | E::FlowPart { .. }
            | E::Flow { .. } => r::OpKind::Const { ty: r::Type::Bool, value: 0 },
        };
        self.value(kind)
    }

    /// Local numbers belong to the code that contains the expression, but an initial value may be lowered elsewhere.
    fn with(&mut self, local: s::LocalId, value: &'p s::Expr, body: &'p s::Expr) -> Vec<r::Value> {
        let values = self.expr(value);
        let outer = self.locals.get(local.index()).cloned().flatten();
        self.set_local(local, values);
        let result = self.expr(body);
        self.locals[local.index()] = outer;
        result
    }

    // -- names

    fn param_value(&mut self, index: usize, expr: &'p s::Expr) -> Vec<r::Value> {
        match self.env.clone() {
            Env::Use(_) if self.faulty(Fault::ArgumentLost) => {
                let types = self.part_types(expr.ty);
                types.into_iter().map(|ty| self.zero(ty)).collect()
            }
            Env::Use(used) => self.env_expr(&used.args[index], &used.outer),
            Env::Stack => {
                let name = self.stack.params.get(index).map_or(String::new(), |param| param.name.text.clone());
                let parts = self.border(expr.ty);
                let value = |(rest, _): (String, r::Type)| {
                    let param = self.param(&format!("{name}{rest}"))?;
                    Some(self.value(r::OpKind::Param { param }))
                };
                let values = parts.into_iter().filter_map(value).collect();
                self.gather(expr.ty, values)
            }
        }
    }

    /// An argument: it is constant, or computed from parameters of the stack.
    pub fn env_expr(&mut self, expr: &'p s::Expr, env: &Env<'p>) -> Vec<r::Value> {
        if let Some(words) = self.constants(env, expr) {
            return self.known_value(expr.ty, &words);
        }
        let fixed = self.fix_names();
        let outer = std::mem::replace(&mut self.env, env.clone());
        let locals = std::mem::take(&mut self.locals);
        let values = self.expr(expr);
        self.env = outer;
        self.locals = locals;
        self.noted.fixed = fixed;
        values
    }

    // -- messages

    /// The size of a message. In a layer below the coding point the headers of the wire are already octets, and do not
    /// count (docs/language.md, section 5).
    fn message_size(&mut self, local: s::LocalId) -> r::Value {
        let message = self.of_local(local);
        let size = self.value(r::OpKind::Size { message });
        let coding = &self.info().coding;
        match (&coding.placed, coding.size) {
            (Some(_), Some(header)) if header > 0 => {
                let header = self.constant(r::Type::U(32), u64::from(header));
                self.binary(r::Binary::SubWrap, size, header)
            }
            (Some(_), None) => {
                let wire = self.wire_of(self.inst);
                let Some((wire, known)) = wire.and_then(|wire| Some((wire, self.header_size(wire)?))) else {
                    let help = "let a field of the wire say it: `words: u8 = size(header) / 4`";
                    self.error_said("M0727", "how much of these octets is the header cannot be read from them", help);
                    return size;
                };
                let header = self.size_value(wire, message, &known);
                self.binary(r::Binary::SubWrap, size, header)
            }
            _ => size,
        }
    }

    /// A loop over octets must not run over the layer's own fields: they are zero on the way down, and what came on the way up.
    fn only_others_octets(&mut self, at: &'p s::Expr, load: &'p s::Expr) {
        let s::ExprKind::Local(local) = &at.kind else { return };
        let count = self.locals.get(local.index()).and_then(|values| values.as_ref()?.first().copied());
        let Some((_, least)) = self.counters.iter().find(|(counter, _)| Some(*counter) == count).copied() else {
            return;
        };
        let info = self.info();
        let own = info.coding.placed.iter().flatten().flatten();
        let end = own.map(|field| u64::from(field.octet) + u64::from(field.width / 8)).max().unwrap_or(0);
        if least < end {
            let text = "this loop reads the layer's own field: in a bundle with a wire octet 0 is the packet's first, and `msg.size` does not count headers";
            let help = format!("put the layer under the bundle, not in it; or begin behind its field, at octet {end}");
            self.error("M0727", text, Some(load.span), &help);
        }
    }

    fn sum16(&mut self, local: s::LocalId, expr: &s::Expr) -> r::Value {
        let message = self.of_local(local);
        let mut sum = self.value(r::OpKind::Sum16 { message });
        let info = self.info();
        if self.faulty(Fault::OwnFieldSummed) {
            return sum;
        }
        for field in info.coding.placed.iter().flatten().flatten() {
            if field.width != 16 || field.octet % 2 != 0 {
                let help = "put it in 16 bits at an even octet";
                self.error("M0727", "a layer's own field cannot be taken out of this sum", Some(expr.span), help);
                continue;
            }
            let at = self.constant(r::Type::U(32), u64::from(field.octet));
            // Sums use big-endian words whatever the wire's byte order is.
            let own = self.value(r::OpKind::Load { field: octet_field(16, true), message, at });
            let own = self.cast(own, r::Type::U(32));
            sum = self.binary(r::Binary::SubWrap, sum, own);
        }
        sum
    }
}

/// A number of `width` bits in a message.
pub fn octet_field(width: u8, big: bool) -> r::OctetField {
    r::OctetField { width, endian: crate::wire::endian(big) }
}

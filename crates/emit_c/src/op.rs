//! Operations that do not branch: each by its name, and values as expressions of C.

use mokume_reaction::*;

use crate::body::BodyWriter;
use crate::plan::Emissions;
use crate::text::literal;
use crate::types::{c_type, is_whole, mask, to_word, unsigned};

impl BodyWriter<'_, '_> {
    /// One operation. What has no effect and whose result nothing depends on is left out.
    pub(crate) fn op(&mut self, op: &Op) {
        if op.kind.is_removable() && !op.results.iter().any(|result| self.is_live(*result)) {
            return;
        }
        let result = op.results.first().copied();
        let source = || op.source;
        match &op.kind {
            OpKind::Const { ty: Type::Bool, value } => self.alias_of(result, (*value != 0).to_string()),
            OpKind::Const { value, .. } => self.alias_of(result, literal(*value)),
            OpKind::Null { .. } => self.alias_of(result, "MK_NULL".into()),
            OpKind::Param { param } => {
                let name = self.plan.names.params[param.index()].clone();
                self.alias_of(result, format!("k->params.{name}"));
            }
            OpKind::Now {} => self.alias_of(result, "k->core.now".into()),
            OpKind::Binary { op: what, a, b } => {
                let text = self.binary(*what, *a, *b, source());
                self.assign_to(result, text);
            }
            OpKind::Compare { op: what, a, b } => {
                let text = self.compare(*what, *a, *b);
                self.assign_to(result, text);
            }
            OpKind::Not { a } => {
                let text = self.not(*a);
                self.assign_to(result, text);
            }
            OpKind::Select { c, a, b } => {
                let text = format!("{} ? {} : {}", self.value(*c), self.value(*a), self.value(*b));
                self.assign_to(result, text);
            }
            OpKind::Cast { a, to } => {
                let text = self.cast(*a, *to);
                self.assign_to(result, text);
            }
            OpKind::Fold16 { a } => {
                let text = format!("mk_fold16({})", self.value(*a));
                self.assign_to(result, text);
            }
            OpKind::Call { function, args } => self.call(*function, args, &op.results),
            OpKind::Draw { object, ty } => self.draw(*object, *ty, op),
            OpKind::Unique { class } => self.unique(*class, op.results[0]),
            OpKind::Parent { object } => self.parent(*object, op.results[0]),

            OpKind::Get { object, cell } | OpKind::Left { object, cell } => {
                let text = self.cell(*object, *cell);
                self.assign_to(result, text);
            }
            OpKind::IsArmed { object, cell } => {
                let text = format!("mk_timer_armed(&{})", self.cell(*object, *cell));
                self.assign_to(result, text);
            }
            OpKind::GetAt { object, cell, index } => {
                let (within, array) = self.within(*object, *cell, *index, source());
                self.assign_to(result, format!("{within} ? {array} : 0"));
            }
            OpKind::Holds { object, cell, index } => {
                let (within, place) = self.within(*object, *cell, *index, source());
                self.assign_to(result, format!("{within} && {place} != NULL"));
            }
            OpKind::Set { object, cell, value } => self.set(*object, *cell, *value),
            OpKind::SetAt { object, cell, index, value } => self.set_at(*object, *cell, (*index, *value), source()),
            OpKind::Arm { object, cell, deadline } => self.arm_timer(*object, *cell, *deadline),
            OpKind::Disarm { object, cell } => self.disarm(*object, *cell),
            OpKind::Count { object, cell, amount } => self.count(*object, *cell, *amount),
            OpKind::Give { object, cell, amount } => self.give(*object, *cell, *amount, source()),
            OpKind::Keep { object, cell, index, message } => {
                self.keep(*object, *cell, *index, *message, source());
            }
            OpKind::Release { object } => self.release(*object),
            OpKind::Again { object } => self.again(*object),

            OpKind::NewMessage { octets } => self.new_message(octets, op.results[0]),
            OpKind::Push { message, header, variant, fields } => {
                self.push(*message, *header, *variant, fields);
                self.same(op.results[0], *message);
            }
            OpKind::Pop { message, header, variant } => {
                let source = self.source(op.source);
                self.pop(*message, *header, *variant, &op.results, &source);
            }
            OpKind::Encode { message, wire } => self.encode(*message, *wire, op),
            OpKind::Native { symbol, grows, args, message, result } => {
                self.native((symbol, *grows), args, *message, *result, op);
            }
            OpKind::Size { message } => {
                let text = format!("{}->view.size", self.value(*message));
                self.assign_to(result, text);
            }
            OpKind::Sum16 { message } => {
                let m = self.value(*message);
                self.assign_to(result, format!("mk_sum16(mk_data({m}), {m}->view.size)"));
            }
            OpKind::Trim { message, size } => self.cut("trim", *message, *size, op),
            OpKind::Skip { message, size } => self.cut("skip", *message, *size, op),
            OpKind::Split { message, at } => self.split(*message, *at, op),
            OpKind::Join { first, second } => self.join(*first, *second, op),
            OpKind::Share { message } => {
                let text = format!("mk_message_share(&k->core.pool, {})", self.value(*message));
                self.assign_to(result, text);
            }
            OpKind::Received { message, wire } => {
                let place = self.plan.received.get(wire).copied().unwrap_or(0);
                let text = format!("mk_quote(&k->core.pool, {}, {place})", self.value(*message));
                self.assign_to(result, text);
            }
            OpKind::Load { field, message, at } => self.load(*field, *message, *at, op),
            OpKind::Store { field, message, at, value } => self.store(*field, *message, (*at, *value), op),
            OpKind::GetAttribute { message, attribute } => {
                let text = self.attribute(*message, *attribute, op.results[0]);
                self.assign_to(result, text);
            }
            OpKind::SetAttribute { message, attribute, value } => {
                let (m, value) = (self.value(*message), self.value(*value));
                self.text.line(format!("mk_attributes({m})[{}] = {value};", attribute.index()));
                self.same(op.results[0], *message);
            }

            OpKind::Emit { target, event, args } => self.emit(*target, event, args),
            OpKind::Out { port, event, args } => self.out(*port, *event, args),
            OpKind::Drop { message, reason } => {
                let (m, reason) = (self.value(*message), self.reason(*reason));
                self.text.line(format!("mk_drop(&k->core, {m}, {reason});"));
            }
            OpKind::DropFor { message, reason } => {
                let (m, reason) = (self.value(*message), self.value(*reason));
                self.text.line(format!("mk_drop(&k->core, {m}, {reason});"));
            }
            OpKind::Consume { message, reason } => {
                let (m, reason) = (self.value(*message), self.reason(*reason));
                self.text.line(format!("mk_consume(&k->core, {m}, {reason});"));
            }
        }
    }

    fn alias_of(&mut self, result: Option<Value>, text: String) {
        result.into_iter().for_each(|result| self.alias(result, text.clone()));
    }

    fn assign_to(&mut self, result: Option<Value>, text: String) {
        result.into_iter().for_each(|result| self.assign(result, text.clone()));
    }

    fn unique(&mut self, class: ClassId, result: Value) {
        if self.plan.mortal.contains(&class) {
            let text = format!("mk_self({}, 0)", self.plan.class_at(class));
            return self.assign(result, text);
        }
        self.alias(result, "mk_ref_of(0, 0)".into());
        self.set_known(result);
    }

    fn binary(&mut self, op: Binary, a: Value, b: Value, source: Option<SourceId>) -> String {
        let (ty, width) = (self.type_of(a), self.width_of(a));
        let (mask, source) = (literal(mask(width)), self.source(source));
        let c = c_type(self.plan.automaton, ty);
        let (x, y) = (self.value(a), self.value(b));
        let sequence = matches!(ty, Type::Seq(_));
        // The operands of narrow types are promoted to int, which is wide enough for all but the product.
        let wrap = |sign: &str| match (is_whole(width), width <= 16) {
            (true, false) => format!("{x} {sign} {y}"),
            (true, true) => format!("({c})({x} {sign} {y})"),
            (false, _) => format!("({c})((uint64_t){x} {sign} {y}) & {mask}"),
        };
        let whole = |text: String| match c {
            "uint64_t" => text,
            _ => format!("({c}){text}"),
        };
        match op {
            Binary::AddWrap => masked(wrap("+"), c, is_whole(width)),
            Binary::SubWrap => masked(wrap("-"), c, is_whole(width)),
            Binary::Add if sequence => masked(wrap("+"), c, is_whole(width)),
            Binary::Sub if sequence => masked(wrap("-"), c, is_whole(width)),
            Binary::Mul | Binary::MulWrap if op == Binary::MulWrap || sequence => {
                whole(format!("((uint64_t){x} * {y} & {mask})"))
            }
            Binary::Add => whole(format!("mk_add(&k->core, {x}, {y}, {mask}, {source})")),
            Binary::Sub => whole(format!("mk_sub(&k->core, {x}, {y}, {mask}, {source})")),
            Binary::Mul | Binary::MulWrap => whole(format!("mk_mul(&k->core, {x}, {y}, {mask}, {source})")),
            Binary::Div => whole(format!("mk_div(&k->core, {x}, {y}, {source})")),
            Binary::Rem => whole(format!("mk_rem(&k->core, {x}, {y}, {source})")),
            Binary::Within => whole(format!("mk_inside(&k->core, {x}, {y}, {mask}, {source})")),
            Binary::And => format!("{x} & {y}"),
            Binary::Or => format!("{x} | {y}"),
            Binary::Xor => format!("{x} ^ {y}"),
            Binary::Shl => whole(format!("mk_shl({x}, {y}, {width}, {mask})")),
            Binary::Shr => whole(format!("mk_shr({x}, {y}, {width})")),
            Binary::Min if sequence => format!("mk_seq_before({x}, {y}, {mask}) ? {x} : {y}"),
            Binary::Max if sequence => format!("mk_seq_before({x}, {y}, {mask}) ? {y} : {x}"),
            Binary::Min => format!("{x} < {y} ? {x} : {y}"),
            Binary::Max => format!("{x} > {y} ? {x} : {y}"),
        }
    }

    fn compare(&mut self, op: Compare, a: Value, b: Value) -> String {
        let ty = self.type_of(a);
        let mask = literal(mask(self.width_of(a)));
        let (x, y) = (self.value(a), self.value(b));
        if let (Type::Seq(_), Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge) = (ty, op) {
            return match op {
                Compare::Lt => format!("mk_seq_before({x}, {y}, {mask})"),
                Compare::Le => format!("{x} == {y} || mk_seq_before({x}, {y}, {mask})"),
                Compare::Gt => format!("mk_seq_before({y}, {x}, {mask})"),
                _ => format!("{x} == {y} || mk_seq_before({y}, {x}, {mask})"),
            };
        }
        if x == y {
            // Said plainly: compilers take a value compared with itself for a mistake.
            return matches!(op, Compare::Eq | Compare::Le | Compare::Ge).to_string();
        }
        format!("{x} {} {y}", op.sign())
    }

    fn not(&mut self, a: Value) -> String {
        let (ty, width) = (self.type_of(a), self.width_of(a));
        let x = self.value(a);
        match ty {
            Type::Bool => format!("!{x}"),
            _ => format!("({})(~(uint64_t){x} & {})", c_type(self.plan.automaton, ty), literal(mask(width))),
        }
    }

    fn cast(&mut self, a: Value, to: Type) -> String {
        let (from, width) = (self.width_of(a), to.width(self.plan.automaton));
        let c = c_type(self.plan.automaton, to);
        let x = self.value(a);
        match (to, width >= from || is_whole(width)) {
            (Type::Bool, _) if from > 1 => format!("({x} & 1u) != 0"),
            (_, true) => format!("({c}){x}"),
            (_, false) => format!("({c})({x} & {})", literal(mask(width))),
        }
    }

    fn call(&mut self, function: FunctionId, args: &[Value], results: &[Value]) {
        let name = self.plan.names.functions[function.index()].clone();
        let mut list: Vec<String> = vec!["k".into()];
        list.extend(args.iter().map(|arg| self.value(*arg)));
        if let [result] = results {
            return self.assign(*result, format!("{name}({})", list.join(", ")));
        }
        // Several results come back through pointers.
        let mut temporaries = Vec::new();
        for result in results {
            let temporary = self.temporary("result");
            let ty = c_type(self.plan.automaton, self.type_of(*result));
            self.text.line(format!("{};", crate::types::declare(ty, &temporary)));
            list.push(format!("&{temporary}"));
            temporaries.push(temporary);
        }
        self.text.line(format!("{name}({});", list.join(", ")));
        for (result, temporary) in results.iter().zip(temporaries) {
            if self.is_live(*result) {
                self.assign(*result, temporary);
            }
        }
    }

    fn draw(&mut self, object: Value, ty: Type, op: &Op) {
        let class = self.class_of(object);
        let there = self.there(object);
        let number = self.value(object);
        let name = &self.plan.names.classes[class.index()];
        let width = ty.width(self.plan.automaton);
        let text = format!("mk_draw(&k->{name}_objects[mk_number({number})].stream)");
        let text = if there == "true" { text } else { format!("({there} ? {text} : 0)") };
        let text = match (ty, is_whole(width)) {
            (Type::Bool, _) => format!("({text} & 1u) != 0"),
            (_, true) if width == 64 => text,
            (_, true) => format!("({}){text}", unsigned(width)),
            (_, false) => format!("({})({text} & {})", unsigned(width), literal(mask(width))),
        };
        self.assign(op.results[0], text);
    }

    fn parent(&mut self, object: Value, result: Value) {
        let class = self.class_of(object);
        let Some(parent) = self.plan.automaton.class(class).parent else { return };
        let known = self.is_known(object);
        let place = self.place(object);
        let name = &self.plan.names.classes[class.index()];
        let number = format!("k->{name}_objects[{place}].parent");
        let text = format!("mk_self({}, {number})", self.plan.class_at(parent));
        self.assign(result, text);
        if known {
            self.set_known(result);
        }
    }

    // -- emissions

    fn emit(&mut self, target: Value, event: &str, args: &[Value]) {
        let automaton = self.plan.automaton;
        let class = self.class_of(target);
        let Some(handler) = automaton.handler_of(class, &Trigger::Event(event.to_string())) else { return };
        let from = self.handler.map_or(LayerId(0), |id| automaton.class(automaton.handler(id).class).layer);
        let channel = self.plan.channel(from, Ok(automaton.class(class).layer));
        let name = self.plan.names.handlers[handler.index()].clone();
        if self.emissions() == Emissions::AtEnd {
            let values = std::iter::once(target).chain(args.iter().copied()).collect();
            return self.sunk.push((self.at_block, name, values));
        }
        let target = self.value(target);
        if self.emissions() == Emissions::Calls {
            let mut list = vec!["k".to_string(), target];
            list.extend(args.iter().map(|arg| self.value(*arg)));
            return self.text.line(format!("{name}({});", list.join(", ")));
        }
        self.put_event(&format!("HANDLER_{name}"), channel, &target, args);
    }

    fn out(&mut self, port: PortId, event: u32, args: &[Value]) {
        let automaton = self.plan.automaton;
        let from = self.handler.map_or(LayerId(0), |id| automaton.class(automaton.handler(id).class).layer);
        let channel = self.plan.channel(from, Err(port));
        let name = self.plan.names.outputs[port.index()][event as usize].clone();
        if self.emissions() == Emissions::AtEnd {
            return self.sunk.push((self.at_block, format!("out_{name}"), args.to_vec()));
        }
        if self.emissions() == Emissions::Calls {
            let mut list = vec!["k".to_string()];
            list.extend(args.iter().map(|arg| self.value(*arg)));
            return self.text.line(format!("out_{name}({});", list.join(", ")));
        }
        self.put_event(&format!("OUTPUT_{name}"), channel, "MK_NULL", args);
    }

    fn emissions(&self) -> Emissions {
        self.handler.map_or(Emissions::None, |handler| self.plan.emissions[handler.index()])
    }

    fn put_event(&mut self, what: &str, channel: Option<usize>, target: &str, args: &[Value]) {
        let channel = channel.map_or("MK_DIRECT".to_string(), |number| number.to_string());
        let call = format!("mk_emit(&k->core.agenda, {what}, {channel}, {target})");
        if args.is_empty() {
            return self.text.line(format!("{call};"));
        }
        self.text.open("");
        self.text.line(format!("mk_event *event = {call};"));
        for (place, arg) in args.iter().enumerate() {
            let word = to_word(self.type_of(*arg), &self.value(*arg));
            self.text.line(format!("event->args[{place}] = {word};"));
        }
        self.text.close("");
    }
}

/// A wrapped sum whose cast must surround the mask.
fn masked(text: String, c: &str, whole: bool) -> String {
    match whole {
        true => text,
        false => {
            let inner = text.strip_prefix(&format!("({c})")).unwrap_or(&text);
            format!("({c})({inner})")
        }
    }
}

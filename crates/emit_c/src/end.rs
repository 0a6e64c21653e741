//! How blocks end: branches, and the operations that may refuse.

use mokume_reaction::*;

use crate::body::BodyWriter;
use crate::text::literal;
use crate::types::{c_type, stored_octets};

/// Where an operation that may refuse leads.
struct Ways<'a> {
    then: &'a Target,
    otherwise: &'a Target,
}

impl<'a> BodyWriter<'_, 'a> {
    pub(crate) fn end(&mut self, block: usize, end: &'a Terminator) {
        let none = Vec::new;
        match end {
            Terminator::Return => self.leave(),
            Terminator::Yield { values } => self.yield_values(values),
            Terminator::Jump { to } => self.edge(none(), to),
            Terminator::Branch { condition, then, otherwise, likely } => {
                let condition = self.value(*condition);
                let condition = match likely {
                    Some(p) if *p >= 0.8 => format!("MK_LIKELY({condition})"),
                    Some(p) if *p <= 0.2 => format!("MK_UNLIKELY({condition})"),
                    _ => condition,
                };
                self.branch(block, &condition, (none(), then), (none(), otherwise));
            }
            Terminator::Switch { value, cases, default } => self.switch(block, *value, cases, default),
            Terminator::Match { message, header, cases } => self.match_header(block, *message, *header, cases),
            Terminator::Try { op, then, otherwise } => self.attempt(block, op, Ways { then, otherwise }),
        }
    }

    fn attempt(&mut self, block: usize, op: &'a Fallible, ways: Ways<'a>) {
        match op {
            Fallible::Decode { message, wire } => self.decode("decode", block, *message, *wire, ways),
            Fallible::Vet { message, wire } => self.decode("vet", block, *message, *wire, ways),
            Fallible::Find { object, cell, key } => self.find(block, (*object, *cell), key, ways),
            Fallible::Insert { object, cell, key, values } => {
                self.insert(block, (*object, *cell), key, values, ways);
            }
            Fallible::Remove { object, cell, key } => self.remove(block, (*object, *cell), key, ways),
            Fallible::New { class, parent } => {
                let name = self.plan.names.classes[class.index()].clone();
                let parent = parent.map_or("MK_NULL".to_string(), |parent| self.value(parent));
                self.object_branch(block, format!("new_{name}(k, {parent})"), ways);
            }
            Fallible::First { class, parent } => {
                let at = self.plan.class_at(*class);
                let parent = match parent {
                    Some(parent) => self.place(*parent),
                    None => "0".into(),
                };
                self.object_branch(block, format!("mk_self({at}, mk_oldest({at}, {parent}))"), ways);
            }
            Fallible::Next { object } => {
                let at = self.plan.class_at(self.class_of(*object));
                let place = self.place(*object);
                self.object_branch(block, format!("mk_self({at}, mk_younger({at}, {place}))"), ways);
            }
            Fallible::Take { object, cell, amount } => {
                let (there, amount) = (self.there(*object), self.value(*amount));
                let left = self.cell(*object, *cell);
                let condition = format!("{there} && mk_do_take(&{left}, {amount})").replace("true && ", "");
                self.branch(block, &condition, (Vec::new(), ways.then), (Vec::new(), ways.otherwise));
            }
            Fallible::TakeOut { object, cell, index } => {
                self.held("mk_do_take_out", block, (*object, *cell, *index), ways);
            }
            Fallible::ShareHeld { object, cell, index } => {
                self.held("mk_do_share_held", block, (*object, *cell, *index), ways);
            }
            Fallible::Later { target, event, args } => self.later(block, *target, event, args, ways),
        }
    }

    fn yield_values(&mut self, values: &[Value]) {
        if let [value] = values {
            let text = self.value(*value);
            return self.text.line(format!("return {text};"));
        }
        for (place, value) in values.iter().enumerate() {
            let text = self.value(*value);
            self.text.line(format!("*result_{place} = {text};"));
        }
        self.text.line("return;");
    }

    fn switch(&mut self, block: usize, value: Value, cases: &'a [(u64, Target)], default: &'a Target) {
        let value = self.value(value);
        self.text.open(format!("switch ({value})"));
        for (place, (tag, target)) in cases.iter().enumerate() {
            self.text.open(format!("case {}:", literal(*tag)));
            self.arm(block, place, Vec::new(), target);
            self.text.close("");
        }
        self.text.open("default:");
        self.arm(block, cases.len(), Vec::new(), default);
        self.text.close("");
        self.text.close("");
    }

    fn match_header(&mut self, block: usize, message: Value, header: HeaderId, cases: &'a [(VariantId, Target)]) {
        let m = self.value(message);
        self.text.open(format!("switch (mk_top_kind(&k->core, {m}))"));
        for (place, (variant, target)) in cases.iter().enumerate() {
            let tag = self.plan.names.variants[header.index()][variant.index()].clone();
            let fields = self.plan.names.fields[header.index()][variant.index()].clone();
            let kind = self.record_kind(header, *variant);
            self.text.open(format!("case {kind}:"));
            self.enter(|writer| {
                let record = writer.temporary("header");
                writer.text.line(format!("const struct {tag} *{record} = mk_top(&k->core.pool, {m});"));
                writer.text.line(format!("mk_pop(&k->core.pool, {m}, sizeof *{record});"));
                let mut results = vec![m.clone()];
                results.extend(fields.iter().map(|field| format!("{record}->{field}")));
                writer.arm(block, place, results, target);
            });
            self.text.close("");
        }
        // Only a message without this header gets here: the verifier refuses such an automaton.
        self.text.open("default:");
        self.text.line(format!("mk_do_pop(&k->core, {m}, MK_NOBODY, 0, MK_NOBODY);"));
        self.text.line(format!("mk_gone(&k->core, {m});"));
        self.at_block = block;
        self.leave_or_zero();
        self.text.close("");
        self.text.close("");
    }

    fn leave_or_zero(&mut self) {
        match self.handler {
            Some(_) => self.leave(),
            None => self.text.line("return;"),
        }
    }

    fn decode(&mut self, what: &str, block: usize, message: Value, wire: WireId, ways: Ways<'a>) {
        let m = self.value(message);
        let name = self.plan.names.wires[wire.index()].clone();
        let reason = self.temporary("refused");
        self.text.line(format!("uint32_t {reason} = {what}_{name}(k, {m});"));
        let condition = format!("MK_LIKELY({reason} == MK_NOBODY)");
        self.branch(block, &condition, (vec![m.clone()], ways.then), (vec![m, reason], ways.otherwise));
    }

    fn object_branch(&mut self, block: usize, found: String, ways: Ways<'a>) {
        let name = self.temporary("found");
        self.text.line(format!("mk_ref {name} = {found};"));
        self.results_known = true;
        self.branch(block, &format!("{name} != MK_NULL"), (vec![name], ways.then), (Vec::new(), ways.otherwise));
    }

    fn held(&mut self, what: &str, block: usize, (object, cell, index): (Value, CellId, Value), ways: Ways<'a>) {
        let (places, size) = (self.cell(object, cell), self.size_of(object, cell));
        let (index, source) = (self.value(index), "MK_NOBODY");
        let there = self.there(object);
        let name = self.temporary("held");
        let held = format!("{what}(&k->core, {places}, {size}, {index}, {source})");
        let held = if there == "true" { held } else { format!("{there} ? {held} : NULL") };
        self.text.line(format!("mk_message *{name} = {held};"));
        self.branch(block, &format!("{name} != NULL"), (vec![name], ways.then), (Vec::new(), ways.otherwise));
    }

    fn later(&mut self, block: usize, target: Value, event: &str, args: &'a [Value], ways: Ways<'a>) {
        let automaton = self.plan.automaton;
        let handler = automaton.handler_of(self.class_of(target), &Trigger::Event(event.to_string()));
        let Some(handler) = handler else { return self.edge(Vec::new(), ways.otherwise) };
        let (index, capacity) = (handler.index(), automaton.handler(handler).later_capacity);
        let name = self.plan.names.handlers[index].clone();
        let target = self.value(target);
        let messages = args.iter().filter(|arg| self.type_of(**arg) == Type::Msg).count();
        let later = self.temporary("later");
        self.text.line(format!(
            "mk_event *{later} = mk_do_later(&k->core, &k->later_{name}, {capacity}, HANDLER_{name}, {target}, {messages});"
        ));
        self.text.open(format!("if ({later})"));
        for (place, arg) in args.iter().enumerate() {
            let word = crate::types::to_word(self.type_of(*arg), &self.value(*arg));
            self.text.line(format!("{later}->args[{place}] = {word};"));
        }
        self.arm(block, 0, Vec::new(), ways.then);
        self.otherwise();
        self.arm(block, 1, Vec::new(), ways.otherwise);
        self.text.close("");
    }

    // -- maps

    fn map(&self, object: Value, cell: CellId) -> (&'a [Type], &'a [Type]) {
        match self.cell_kind(object, cell) {
            CellKind::Map { key, value, .. } => (key, value),
            _ => (&[], &[]),
        }
    }

    /// The shape's name and the map, as the first arguments of a call; the key is built before.
    fn map_and_key(&mut self, (object, cell): (Value, CellId), key: &[Value]) -> (String, String, String) {
        let class = self.class_of(object);
        let (types, _) = self.map(object, cell);
        let automaton = self.plan.automaton;
        let size: u32 = types.iter().map(|ty| stored_octets(automaton, *ty)).sum();
        let name = self.temporary("key");
        self.text.line(format!("uint8_t {name}[{}];", size.max(1)));
        let mut at = 0;
        for (part, ty) in key.iter().zip(types) {
            let (octets, value) = (stored_octets(automaton, *ty), self.value(*part));
            self.text.line(format!("mk_put_le({name} + {at}, {octets}, {value});"));
            at += octets;
        }
        let names = &self.plan.names;
        let shape = format!("&shape_{}_{}", names.classes[class.index()], names.cells[class.index()][cell.index()]);
        let map = self.cell(object, cell);
        (shape, map, name)
    }

    /// The values of an entry, read from octets.
    fn entry_values(&self, types: &[Type], memory: &str) -> Vec<String> {
        let mut at = 0;
        let mut found = Vec::new();
        for ty in types {
            let octets = stored_octets(self.plan.automaton, *ty);
            let c = c_type(self.plan.automaton, *ty);
            found.push(format!("({c})mk_get_le({memory} + {at}, {octets})"));
            at += octets;
        }
        found
    }

    fn find(&mut self, block: usize, map: (Value, CellId), key: &[Value], ways: Ways<'a>) {
        let (_, values) = self.map(map.0, map.1);
        let (shape, cell, key) = self.map_and_key(map, key);
        let name = self.temporary("entry");
        self.text.line(format!("uint8_t *{name} = mk_map_find({shape}, {cell}_entries, {key});"));
        let results = self.entry_values(values, &name);
        self.branch(block, &format!("{name} != NULL"), (results, ways.then), (Vec::new(), ways.otherwise));
    }

    fn insert(&mut self, block: usize, map: (Value, CellId), key: &[Value], given: &[Value], ways: Ways<'a>) {
        let (_, values) = self.map(map.0, map.1);
        let there = self.there(map.0);
        let (shape, cell, key) = self.map_and_key(map, key);
        let name = self.temporary("entry");
        let insert = format!("mk_map_insert({shape}, &{cell}, {cell}_entries, {key})");
        let insert = if there == "true" { insert } else { format!("{there} ? {insert} : NULL") };
        self.text.line(format!("uint8_t *{name} = {insert};"));
        self.text.open(format!("if ({name})"));
        let mut at = 0;
        for (value, ty) in given.iter().zip(values) {
            let octets = stored_octets(self.plan.automaton, *ty);
            let value = self.value(*value);
            self.text.line(format!("mk_put_le({name} + {at}, {octets}, {value});"));
            at += octets;
        }
        self.arm(block, 0, Vec::new(), ways.then);
        self.otherwise();
        self.arm(block, 1, Vec::new(), ways.otherwise);
        self.text.close("");
    }

    fn remove(&mut self, block: usize, map: (Value, CellId), key: &[Value], ways: Ways<'a>) {
        let (_, values) = self.map(map.0, map.1);
        let size: u32 = values.iter().map(|ty| stored_octets(self.plan.automaton, *ty)).sum();
        let (shape, cell, key) = self.map_and_key(map, key);
        let name = self.temporary("removed");
        self.text.line(format!("uint8_t {name}[{}];", size.max(1)));
        let condition = format!("mk_map_remove({shape}, &{cell}, {cell}_entries, {key}, {name})");
        let results = self.entry_values(values, &name);
        self.branch(block, &condition, (results, ways.then), (Vec::new(), ways.otherwise));
    }
}

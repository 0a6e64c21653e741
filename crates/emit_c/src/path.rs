//! Paths: one function each, that does a whole reaction or has done nothing and goes the layered way.
//!
//! All terms are read before anything is written: first steps, then the values of the commit, then the messages of the
//! outs (they read templates of the state before), then the commit, then the outs.

use std::collections::{BTreeMap, BTreeSet};

use mokume_reaction::*;

use crate::lens::{around_type, fixed_size, lens_update, nest, write_fixed};
use crate::plan::Plan;
use crate::term::{size_of, Record, TermWriter};
use crate::text::Text;
use crate::types::{c_type, declare, stored_octets, to_word};

/// The paths of an event, in order.
pub(crate) fn of_event<'s>(plan: &'s Plan, port: PortId, event: u32) -> impl Iterator<Item = usize> + 's {
    let paths = plan.automaton.paths.iter().enumerate();
    paths.filter(move |(_, path)| path.port == port && path.event == event).map(|(index, _)| index)
}

pub(crate) fn name(plan: &Plan, path: usize) -> String {
    format!("path_{path}_{}", crate::names::identifier(&plan.automaton.paths[path].name))
}

/// All paths; those of one event lead to each other and then to the handler.
pub(crate) fn functions(plan: &Plan, text: &mut Text) {
    crate::direct::outputs(plan, text);
    for index in (0..plan.automaton.paths.len()).rev() {
        let path = &plan.automaton.paths[index];
        let input = &plan.automaton.ports[path.port.index()].inputs[path.event as usize];
        let Some(handler) = plan.automaton.handler_of(input.class, &Trigger::Event(input.handler.clone())) else {
            continue;
        };
        let mut others = of_event(plan, path.port, path.event).skip_while(|other| *other <= index);
        let exit = match others.next() {
            Some(other) => name(plan, other),
            None => plan.names.handlers[handler.index()].clone(),
        };
        if crate::direct::is_direct(path) {
            PathWriter::new(plan, path, input, Way::Direct).write(index, &exit, text);
        }
        PathWriter::new(plan, path, input, Way::Ordinary).write(index, &exit, text);
    }
}

/// With messages of the pool and outputs that leave later; or straight from the port (`direct.rs`).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Ordinary,
    Direct,
}

struct PathWriter<'p, 'a> {
    way: Way,
    terms: TermWriter<'p, 'a>,
    plan: &'p Plan<'a>,
    path: &'a Path,
    input: &'a PortInput,
    /// Whether the exit's label is jumped to; whether the path may begin anew after a refresh.
    refreshes: bool,
    /// Message parameters that have become part of another message.
    moved: BTreeSet<u32>,
    /// Messages to be built once everything is read.
    builds: Vec<(String, MessageTerm)>,
}

impl<'p, 'a> PathWriter<'p, 'a> {
    fn new(plan: &'p Plan<'a>, path: &'a Path, input: &'a PortInput, way: Way) -> Self {
        let mut terms = TermWriter::new(plan);
        let name = |place: usize| format!("a{place}");
        terms.params = input.params.iter().enumerate().map(|(place, (_, ty))| (name(place), *ty)).collect();
        let refreshes = path.steps.iter().any(|step| matches!(step, Step::Guard { refresh: Some(_), .. }));
        PathWriter { way, terms, plan, path, input, refreshes, moved: BTreeSet::new(), builds: Vec::new() }
    }

    fn write(mut self, index: usize, exit: &str, text: &mut Text) {
        let (name, result) = match self.way {
            Way::Ordinary => (name(self.plan, index), "void"),
            Way::Direct => (crate::direct::name(self.plan, index), "bool"),
        };
        let automaton = self.plan.automaton;
        let unique = automaton.is_unique(self.input.class);
        // The parameters are those of the handler: its object first.
        let mut list = vec![format!("struct {} *k", self.plan.names.stack)];
        let mut pass = vec!["k".to_string()];
        if unique {
            list.push("mk_ref self".into());
            pass.push("self".into());
        }
        for (name, ty) in &self.terms.params {
            list.push(declare(c_type(automaton, *ty), name));
            pass.push(name.clone());
        }
        let used = self.used_classes();
        let mut body = Text::default();
        std::mem::swap(&mut body, &mut self.terms.text);
        for step in &self.path.steps {
            self.step(step, &used);
        }
        let after = self.commit();
        let outs = self.outs();
        for (name, message) in std::mem::take(&mut self.builds) {
            self.build(&name, &message);
        }
        if self.plan.coverage {
            let taken = self.plan.branches.len() + index;
            self.terms.text.line(format!("k->coverage[{taken}]++;"));
        }
        match self.way {
            Way::Ordinary => {
                after.into_iter().chain(outs).for_each(|line| self.terms.text.line(line));
                self.free_messages();
            }
            Way::Direct => {
                let over = "k->core.reaction++;".to_string();
                after.into_iter().chain([over]).for_each(|line| self.terms.text.line(line));
                let leaving = |set: &str| (!outs.is_empty()).then(|| format!("k->core.leaving = {set};"));
                let (first, last) = (leaving("true"), leaving("false"));
                first.into_iter().chain(outs).chain(last).for_each(|line| self.terms.text.line(line));
            }
        }
        let written = self.terms.text.peek();
        text.line(format!("/* path {} */", self.path.name.replace("*/", "* /")));
        text.function(format!("static MK_UNUSED {result} {name}({})", list.join(", ")));
        if unique {
            text.line("(void)self;");
        }
        for (name, _) in &self.terms.params {
            text.line(format!("(void){name};"));
        }
        if self.refreshes {
            text.line("bool refreshed = false;");
            text.flush("again:");
        }
        text.open("");
        nest(self.terms.text, text);
        text.line(if self.way == Way::Direct { "return true;" } else { "return;" });
        text.close("");
        if written.contains("goto layered;") {
            text.flush("layered:");
            match self.way {
                Way::Ordinary => text.line(format!("{exit}({});", pass.join(", "))),
                Way::Direct => text.line("return false;"),
            }
        }
        text.end_function();
    }

    // -- steps

    fn step(&mut self, step: &'a Step, used: &[BTreeSet<ClassId>]) {
        match step {
            Step::Object { lens, from, .. } => self.object(*lens, from, used),
            Step::Let { name, width, term } => {
                let value = self.terms.term(term);
                let variable = format!("{}_l{}", crate::names::identifier(name), self.terms.lets.len());
                self.terms.text.line(format!("uint64_t {variable} = {value};"));
                self.terms.text.line(format!("(void){variable};"));
                self.terms.lets.push((variable, *width));
            }
            Step::Guard { condition, refresh } => {
                let condition = self.terms.operand(condition);
                match refresh {
                    None => {
                        self.terms.text.line(format!("if (MK_UNLIKELY(!{condition}))"));
                        self.terms.text.line("    goto layered;");
                    }
                    Some(object) => self.refresh(&condition, *object),
                }
            }
        }
    }

    /// The prefix is pure, so it is read anew after the refresh.
    fn refresh(&mut self, condition: &str, object: PathObjectId) {
        let record = &self.terms.records[object.index()];
        let lens = &self.plan.automaton.lenses[record.lens.index()];
        let around = match around_type(self.plan, lens) {
            Some(_) => format!(", {}_around", record.pointer),
            None => String::new(),
        };
        let call = format!("refresh_{}(k, {}{around});", self.plan.lens_name(record.lens), record.pointer);
        let has_cells = !record.pointer.is_empty();
        let text = &mut self.terms.text;
        text.open(format!("if (MK_UNLIKELY(!{condition}))"));
        text.line("if (refreshed)");
        text.line("    goto layered;");
        text.line("refreshed = true;");
        if has_cells {
            text.line(call);
        }
        text.line("goto again;");
        text.close("");
    }

    fn exit_unless(&mut self, condition: String) {
        self.terms.text.line(format!("if (MK_UNLIKELY(!{condition}))"));
        self.terms.text.line("    goto layered;");
    }

    fn object(&mut self, lens: LensId, from: &'a ObjectSource, used: &[BTreeSet<ClassId>]) {
        let index = self.terms.records.len();
        let classes = self.plan.automaton.lenses[lens.index()].classes.clone();
        let (class, number) = self.first_object(index, &classes, from);
        let mut numbers = BTreeMap::from([(class, number)]);
        self.linked(index, &classes, &used[index], &mut numbers);
        let mut pointer = String::new();
        if self.plan.real_lenses().any(|(real, _)| real == lens) {
            pointer = self.record(index, lens, class, &numbers);
        }
        self.terms.records.push(Record { lens, pointer, numbers });
    }

    /// The object that the step names: its class and number.
    fn first_object(&mut self, index: usize, classes: &[ClassId], from: &'a ObjectSource) -> (ClassId, String) {
        let number = format!("o{index}");
        let (class, reference) = match from {
            ObjectSource::Unique(class) => {
                self.terms.text.line(format!("const uint32_t {number} = 0;"));
                self.terms.text.line(format!("(void){number};"));
                return (*class, number);
            }
            ObjectSource::Parent(object, class) => {
                let inner = &self.terms.records[object.index()].numbers;
                let child = inner.iter().find(|(child, _)| self.plan.automaton.class(**child).parent == Some(*class));
                let (child, child_number) = child.map_or((ClassId(0), "0".into()), |(c, n)| (*c, n.clone()));
                let name = &self.plan.names.classes[child.index()];
                self.terms.text.line(format!("const uint32_t {number} = k->{name}_objects[{child_number}].parent;"));
                self.terms.text.line(format!("(void){number};"));
                return (*class, number);
            }
            ObjectSource::Param(place) => {
                let (name, ty) = self.terms.params[*place as usize].clone();
                let class = if let Type::Ref(class) = ty { class } else { classes[0] };
                (class, name)
            }
            ObjectSource::Cell(object, class, cell) => {
                let stored = self.terms.stored(*object, *class, *cell);
                (self.referred(*class, *cell).unwrap_or(classes[0]), stored)
            }
            ObjectSource::Find { object, class, cell, key, value } => {
                self.find(index, (*object, *class, *cell), key, *value, classes)
            }
        };
        self.exit_unless(self.plan.lives(class, &reference));
        self.terms.text.line(format!("const uint32_t {number} = mk_number({reference});"));
        self.terms.text.line(format!("(void){number};"));
        (class, number)
    }

    fn referred(&self, class: ClassId, cell: CellId) -> Option<ClassId> {
        match self.plan.automaton.cell(class, cell).kind {
            CellKind::Scalar { ty: Type::Ref(class), .. } => Some(class),
            _ => None,
        }
    }

    fn find(
        &mut self,
        index: usize,
        (object, class, cell): (PathObjectId, ClassId, CellId),
        key: &'a [Term],
        value: u32,
        classes: &[ClassId],
    ) -> (ClassId, String) {
        let automaton = self.plan.automaton;
        let CellKind::Map { key: types, value: values, .. } = &automaton.cell(class, cell).kind else {
            return (classes[0], "MK_NULL".into());
        };
        let size: u32 = types.iter().map(|ty| stored_octets(automaton, *ty)).sum();
        self.terms.text.line(format!("uint8_t key{index}[{}];", size.max(1)));
        let mut at = 0;
        for (part, ty) in key.iter().zip(types) {
            let (octets, term) = (stored_octets(automaton, *ty), self.terms.term(part));
            self.terms.text.line(format!("mk_put_le(key{index} + {at}, {octets}, {term});"));
            at += octets;
        }
        let names = &self.plan.names;
        let shape = format!("&shape_{}_{}", names.classes[class.index()], names.cells[class.index()][cell.index()]);
        let map = self.terms.stored(object, class, cell);
        self.terms.text.line(format!("const uint8_t *entry{index} = mk_map_find({shape}, {map}_entries, key{index});"));
        self.exit_unless(format!("entry{index}"));
        let before: u32 = values.iter().take(value as usize).map(|ty| stored_octets(automaton, *ty)).sum();
        let class = match values.get(value as usize) {
            Some(Type::Ref(class)) => *class,
            _ => classes[0],
        };
        (class, format!("mk_get_le(entry{index} + {before}, 8)"))
    }

    /// The other objects of the record that the path speaks of, along 1:1 links.
    fn linked(
        &mut self,
        index: usize,
        classes: &[ClassId],
        used: &BTreeSet<ClassId>,
        numbers: &mut BTreeMap<ClassId, String>,
    ) {
        let links: Vec<&Link> =
            self.plan.automaton.links.iter().filter(|link| link.kind == LinkKind::OneToOne).collect();
        while !used.iter().all(|class| numbers.contains_key(class)) {
            let sides = links.iter().flat_map(|link| [(link.above, link.below.0), (link.below, link.above.0)]);
            let mut next = sides.filter_map(|((here, cell), other)| Some((here, cell?, other)));
            let next = next.find(|(here, _, other)| {
                numbers.contains_key(here) && classes.contains(other) && !numbers.contains_key(other)
            });
            let Some((here, cell, other)) = next else { break };
            let names = &self.plan.names;
            let stored = format!(
                "k->{}[{}].{}",
                names.classes[here.index()],
                numbers[&here],
                names.cells[here.index()][cell.index()]
            );
            self.exit_unless(self.plan.lives(other, &stored));
            let number = format!("o{index}_{}", names.classes[other.index()]);
            self.terms.text.line(format!("const uint32_t {number} = mk_number({stored});"));
            self.terms.text.line(format!("(void){number};"));
            numbers.insert(other, number);
        }
    }

    /// The record, as a pointer; exits if an object of it has another one.
    fn record(&mut self, index: usize, lens: LensId, class: ClassId, numbers: &BTreeMap<ClassId, String>) -> String {
        let (name, pointer) = (self.plan.lens_name(lens), format!("r{index}"));
        let record =
            |class: &ClassId, number: &str| format!("k->{}_record[{number}]", self.plan.names.classes[class.index()]);
        let own = record(&class, &numbers[&class]);
        for (other, number) in numbers.iter().filter(|(other, _)| **other != class) {
            let theirs = record(other, number);
            self.exit_unless(format!("({own} == {theirs})"));
        }
        self.terms.text.line(format!("struct {name} *{pointer} = &k->{name}[{own}];"));
        self.terms.text.line(format!("(void){pointer};"));
        let described = &self.plan.automaton.lenses[lens.index()];
        if let (Some(outer), Some(parent)) =
            (around_type(self.plan, described), self.plan.automaton.class(class).parent)
        {
            let names = &self.plan.names.classes;
            let parent_number = format!("k->{}_objects[{}].parent", names[class.index()], numbers[&class]);
            self.terms.text.line(format!(
                "const struct {outer} *{pointer}_around = &k->{outer}[k->{}_record[{parent_number}]];",
                names[parent.index()]
            ));
            self.terms.text.line(format!("(void){pointer}_around;"));
        }
        pointer
    }

    /// By record: the classes that the path speaks of.
    fn used_classes(&self) -> Vec<BTreeSet<ClassId>> {
        let objects = self.path.steps.iter().filter(|step| matches!(step, Step::Object { .. })).count();
        let mut used = vec![BTreeSet::new(); objects];
        let mut note = |object: PathObjectId, class: ClassId| {
            if let Some(classes) = used.get_mut(object.index()) {
                classes.insert(class);
            }
        };
        crate::path_uses::each(self.plan.automaton, self.path, &mut note);
        used
    }

    // -- what it does

    /// Values first; the assignments are returned, to stand behind all that is read.
    fn commit(&mut self) -> Vec<String> {
        let mut after = Vec::new();
        for effect in &self.path.commit {
            match effect {
                Effect::SetLens { object, cell, value } => {
                    after.extend(lens_update(&mut self.terms, *object, *cell, value));
                }
                Effect::Set { object, class, cell, value } => {
                    let value = self.keep_value(value);
                    let to = self.terms.stored(*object, *class, *cell);
                    after.push(format!("{to} = {value};"));
                }
                Effect::SetAt { object, class, cell, index, value } => {
                    let (index, value) = (self.keep_value(index), self.keep_value(value));
                    let array = self.terms.stored(*object, *class, *cell);
                    let size = size_of(self.plan.automaton, *class, *cell);
                    after.push(format!("if ({index} < {size})"));
                    after.push(format!("    {array}[{index}] = {value};"));
                }
                Effect::Arm { object, class, cell, deadline } => {
                    let deadline = self.keep_value(deadline);
                    let timer = self.terms.stored(*object, *class, *cell);
                    let (name, number) = (&self.plan.names.classes[class.index()], self.terms.number(*object, *class));
                    after.push(format!("mk_do_arm(&k->core, &k->{name}_objects[{number}], &{timer}, {deadline});"));
                }
                Effect::Disarm { object, class, cell } => {
                    after.push(format!("mk_timer_stop(&{});", self.terms.stored(*object, *class, *cell)));
                }
                Effect::Count { class, cell, amount, .. } => {
                    let counter = self.plan.counters.iter().position(|known| *known == (*class, *cell)).unwrap_or(0);
                    let amount = self.keep_value(amount);
                    after.push(format!("k->counters[{counter}] += {amount};"));
                }
                Effect::Take { object, class, cell, amount } => {
                    let (amount, left) = (self.keep_value(amount), self.terms.stored(*object, *class, *cell));
                    after.push(format!("{left} -= (uint32_t){amount};"));
                }
                Effect::Give { object, class, cell, amount } => {
                    let (amount, left) = (self.keep_value(amount), self.terms.stored(*object, *class, *cell));
                    let CellKind::Quota { amount: total } = self.plan.automaton.cell(*class, *cell).kind else {
                        continue;
                    };
                    after.push(format!("mk_do_give(&k->core, &{left}, {total}, (uint32_t){amount}, MK_NOBODY);"));
                }
                Effect::Keep { object, class, cell, index, message } => {
                    let index = self.keep_value(index);
                    let message = self.message(message);
                    let places = self.terms.stored(*object, *class, *cell);
                    let size = size_of(self.plan.automaton, *class, *cell);
                    after.push(format!("mk_do_keep(&k->core, {places}, {size}, {index}, {message}, MK_NOBODY);"));
                }
                Effect::Drop { message, reason } => {
                    self.moved.insert(*message);
                    let name = &self.terms.params[*message as usize].0;
                    after.push(match self.way {
                        Way::Ordinary => format!("mk_drop(&k->core, {name}, {});", reason.0),
                        Way::Direct => format!("k->core.accounts.dropped[{}]++;", reason.0),
                    });
                }
                Effect::Consume { message, reason } => {
                    self.moved.insert(*message);
                    let name = &self.terms.params[*message as usize].0;
                    after.push(match self.way {
                        Way::Ordinary => format!("mk_consume(&k->core, {name}, {});", reason.0),
                        Way::Direct => format!("k->core.accounts.consumed[{}]++;", reason.0),
                    });
                }
            }
        }
        after
    }

    /// The value of a term now, whatever is written later.
    fn keep_value(&mut self, term: &Term) -> String {
        let value = self.terms.term(term);
        let name = self.terms.temporary("new");
        self.terms.text.line(format!("uint64_t {name} = {value};"));
        name
    }

    fn outs(&mut self) -> Vec<String> {
        let mut after = Vec::new();
        for out in &self.path.outs {
            let signature = &self.plan.automaton.ports[out.port.index()].outputs[out.event as usize];
            let mut list = vec!["k".to_string()];
            for (arg, (_, ty)) in out.args.iter().zip(&signature.params) {
                list.push(match arg {
                    PathArg::Term(term) => format!("({}){}", c_type(self.plan.automaton, *ty), self.keep_value(term)),
                    PathArg::Object(object, class) => {
                        let number = self.terms.number(*object, *class);
                        format!("mk_self({}, {number})", self.plan.class_at(*class))
                    }
                    PathArg::Message(message) => self.message(message),
                });
            }
            let name = &self.plan.names.outputs[out.port.index()][out.event as usize];
            let how = if self.way == Way::Direct { "now" } else { "out" };
            after.push(format!("{how}_{name}({});", list.join(", ")));
        }
        after
    }

    /// The name of a message that will be built. Its numbers are read now: what is built may overwrite their sources.
    fn message(&mut self, message: &MessageTerm) -> String {
        let name = self.terms.temporary("m");
        let octets = message.octets.iter().map(|piece| self.frozen(piece)).collect();
        let headers = message.headers.iter().map(|(header, variant, fields)| {
            (*header, *variant, fields.iter().map(|field| self.frozen_term(field)).collect())
        });
        let headers = headers.collect();
        self.builds.push((name.clone(), MessageTerm { headers, octets }));
        name
    }

    /// Known octets and then at most one stretch of a parameter: that one's buffer is used on.
    fn build(&mut self, name: &str, message: &MessageTerm) {
        let pieces = &message.octets;
        match pieces.iter().position(|piece| matches!(piece, Piece::Message { .. })) {
            None => self.fresh_message(name, pieces),
            Some(place) if place + 1 == pieces.len() => self.in_front(name, &pieces[..place], &pieces[place]),
            Some(_) => self.copied(name, pieces),
        }
        for (header, variant, fields) in message.headers.iter().rev() {
            self.push(name, *header, *variant, fields);
        }
    }

    fn frozen_term(&mut self, term: &Term) -> Term {
        if let Term::Number { .. } = term {
            return term.clone();
        }
        let width = self.terms.width(term);
        let variable = self.keep_value(term);
        self.terms.lets.push((variable, width));
        Term::Let(LetId::from(self.terms.lets.len() - 1))
    }

    /// The piece with its numbers in variables.
    fn frozen(&mut self, piece: &Piece) -> Piece {
        match piece {
            Piece::Field { value, endian } => Piece::Field { value: self.frozen_term(value), endian: *endian },
            Piece::Message { message, from, size } => Piece::Message {
                message: *message,
                from: self.frozen_term(from),
                size: size.as_ref().map(|size| self.frozen_term(size)),
            },
            Piece::Octets(_) | Piece::Template { .. } => piece.clone(),
        }
    }

    fn fresh_message(&mut self, name: &str, pieces: &[Piece]) {
        let size: u32 = pieces.iter().filter_map(|piece| fixed_size(&self.terms, piece)).sum();
        self.terms.text.line(format!("mk_message *{name} = mk_message_new(&k->core.pool, NULL, 0);"));
        if size > 0 {
            self.terms.text.line(format!("uint8_t *{name}_octets = mk_prepend(&k->core.pool, {name}, {size});"));
            write_fixed(&mut self.terms, pieces, &format!("{name}_octets"));
        }
    }

    fn in_front(&mut self, name: &str, front: &[Piece], tail: &Piece) {
        let Piece::Message { message, from, size } = tail else { return };
        let (from, limit) = (self.terms.term(from), size.as_ref().map(|size| self.terms.term(size)));
        let limit = limit.unwrap_or("UINT32_MAX".into());
        let given = self.take(*message);
        self.terms.text.line(format!("mk_message *{name} = {given};"));
        self.terms.text.line(format!("mk_cut_to({name}, {from}, {limit});"));
        let size: u32 = front.iter().filter_map(|piece| fixed_size(&self.terms, piece)).sum();
        if size > 0 {
            self.terms.text.line(format!("uint8_t *{name}_octets = mk_prepend(&k->core.pool, {name}, {size});"));
            write_fixed(&mut self.terms, front, &format!("{name}_octets"));
        }
    }

    /// Stretches of messages among other octets: joined one by one.
    fn copied(&mut self, name: &str, pieces: &[Piece]) {
        self.terms.text.line(format!("mk_message *{name} = mk_message_new(&k->core.pool, NULL, 0);"));
        for piece in pieces {
            let part = self.terms.temporary("part");
            match piece {
                Piece::Message { .. } => self.in_front(&part, &[], piece),
                fixed => self.fresh_message(&part, std::slice::from_ref(fixed)),
            }
            self.terms.text.line(format!("mk_join(&k->core.pool, {name}, {part});"));
        }
    }

    /// A parameter's message to be changed: a share of it, unless nothing of the path needs it any more.
    fn take(&mut self, message: u32) -> String {
        let name = self.terms.params[message as usize].0.clone();
        // Straight from the port a message is handed on once, and only looked at otherwise.
        match (self.way == Way::Direct || self.uses(message) == 1) && self.moved.insert(message) {
            true => name,
            false => format!("mk_message_share(&k->core.pool, {name})"),
        }
    }

    /// In how many messages and effects a parameter's message takes part.
    fn uses(&self, message: u32) -> usize {
        crate::path_uses::messages(self.path, message)
    }

    /// What is left of parameters that were copied from.
    fn free_messages(&mut self) {
        for (place, (name, ty)) in self.terms.params.clone().into_iter().enumerate() {
            if ty == Type::Msg && !self.moved.contains(&(place as u32)) {
                self.terms.text.line(format!("mk_message_free(&k->core.pool, {name});"));
            }
        }
    }

    fn push(&mut self, message: &str, header: HeaderId, variant: VariantId, fields: &[Term]) {
        let tag = self.plan.names.variants[header.index()][variant.index()].clone();
        let names = self.plan.names.fields[header.index()][variant.index()].clone();
        let values: Vec<String> = fields.iter().map(|field| self.terms.term(field)).collect();
        let record = self.terms.temporary("header");
        self.terms
            .text
            .line(format!("struct {tag} *{record} = mk_push(&k->core.pool, {message}, sizeof(struct {tag}));"));
        self.terms.text.line(format!("{record}->kind = {};", header.0 << 16 | variant.0));
        for (name, value) in names.iter().zip(values) {
            self.terms.text.line(format!("{record}->{name} = {};", to_word(Type::U(64), &value)));
        }
    }
}

//! Evaluates the terms of a reading in one state of the interpreter.

use std::cell::RefCell;
use std::collections::HashMap;

use mokume_interpret::{CellView, Instance};
use mokume_prove::symbolic::{Base, Leaf, Message, Object, Origin};
use mokume_prove::term::{Node, Operator, Sort, Term, Terms};
use mokume_reaction::{Automaton, CellId, CellKind, ClassId, Handle, Type};

/// The values for the variables of a reading: a state, and an event.
pub struct Concrete<'a> {
    pub automaton: &'a Automaton,
    pub terms: &'a Terms,
    pub stack: &'a Instance,
    /// The objects that the reading met, by number.
    pub objects: &'a [(ClassId, Origin)],
    /// The object that handles the event.
    pub target: Handle,
    /// Scalar parameters of the event, and parameters of the stack, by the names of their variables.
    pub scalars: HashMap<String, u64>,
    /// Messages of the event, by name.
    pub messages: HashMap<String, Vec<u8>>,
    /// Messages that places held before, by name.
    pub held: HashMap<String, mokume_interpret::Message>,
    /// A cache, since terms share their parts.
    pub known: RefCell<HashMap<Term, u64>>,
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width.clamp(1, 64))
}

impl Concrete<'_> {
    /// The same for one way, which has taken messages out of places.
    pub fn with_held(&self, leaf: &Leaf) -> Self {
        let Concrete { automaton, terms, stack, objects, target, .. } = *self;
        let (scalars, messages, held) = (self.scalars.clone(), self.messages.clone(), HashMap::new());
        let known = Default::default();
        let mut with = Concrete { automaton, terms, stack, objects, target, scalars, messages, held, known };
        for (number, (object, cell, index, message)) in leaf.kept.iter().enumerate() {
            let held = match (message, with.view(*object, *cell)) {
                (None, Some(CellView::Messages(places))) => {
                    places.get(with.number(*index) as usize).copied().flatten().cloned()
                }
                _ => None,
            };
            let held = held.unwrap_or_else(|| mokume_interpret::Message::new(automaton, Vec::new()));
            with.messages.insert(format!("held {number}"), held.octets.clone());
            with.held.insert(format!("held {number}"), held);
            with.known.borrow_mut().clear();
        }
        with
    }

    pub fn truth(&self, term: Term) -> bool {
        self.number(term) != 0
    }

    /// The value of a term that is not an array of octets. What belongs to a missing object is 0.
    pub fn number(&self, term: Term) -> u64 {
        let known = self.known.borrow().get(&term).copied();
        known.unwrap_or_else(|| {
            let value = self.evaluate(term);
            self.known.borrow_mut().insert(term, value);
            value
        })
    }

    fn evaluate(&self, term: Term) -> u64 {
        let width = self.terms.width(term);
        let value = match self.terms.node(term) {
            Node::Variable { name } => self.variable(name),
            Node::True => 1,
            Node::False => 0,
            Node::Number(value) => *value,
            Node::Not(a) => u64::from(!self.truth(*a)),
            Node::All(parts) => u64::from(parts.iter().all(|part| self.truth(*part))),
            Node::Any(parts) => u64::from(parts.iter().any(|part| self.truth(*part))),
            Node::If(c, a, b) => self.number(if self.truth(*c) { *a } else { *b }),
            Node::Equal(a, b) => u64::from(self.number(*a) == self.number(*b)),
            Node::Less(a, b) => u64::from(self.number(*a) < self.number(*b)),
            Node::Binary(operator, a, b) => self.binary(*operator, self.number(*a), self.number(*b), width),
            Node::Extract(high, low, a) => {
                // A product of two 64-bit numbers is wider than a word: its high half is computed from its parts.
                let wide = self.wide(*a) >> low;
                wide as u64 & mask(high - low + 1)
            }
            Node::Concat(high, low) => self.number(*high) << (self.terms.width(*low) % 64) | self.number(*low),
            Node::ZeroExtend(_, a) => self.number(*a),
            Node::Select(octets, index) => u64::from(self.octet(*octets, self.number(*index))),
            Node::Fold(a) => {
                let sum = self.number(*a);
                let once = (sum >> 16) + (sum & 0xffff);
                (once >> 16) + (once & 0xffff)
            }
            Node::Apply { name, args } => self.apply(name, args),
        };
        value & mask(width)
    }

    fn wide(&self, term: Term) -> u128 {
        match self.terms.node(term) {
            Node::Binary(Operator::Mul, a, b) => self.wide(*a) * self.wide(*b),
            _ => u128::from(self.number(term)),
        }
    }

    fn binary(&self, operator: Operator, a: u64, b: u64, width: u32) -> u64 {
        match operator {
            Operator::Add => a.wrapping_add(b),
            Operator::Sub => a.wrapping_sub(b),
            Operator::Mul => a.wrapping_mul(b),
            Operator::Div => a.checked_div(b).unwrap_or(u64::MAX),
            Operator::Rem => a.checked_rem(b).unwrap_or(a),
            Operator::And => a & b,
            Operator::Or => a | b,
            Operator::Xor => a ^ b,
            Operator::Shl if b >= u64::from(width) => 0,
            Operator::Shl => a << b,
            Operator::Shr if b >= u64::from(width) => 0,
            Operator::Shr => a >> b,
        }
    }

    /// `cell class cell which`, `now`, `param name`, `m.size`, `left class.cell object`, `null class.cell object`, or a
    /// parameter.
    fn variable(&self, name: &str) -> u64 {
        if let Some(rest) = name.strip_prefix("cell ") {
            let numbers: Vec<usize> = rest.split(' ').map(|part| part.parse().expect("a number")).collect();
            let (class, cell, which) = (ClassId::from(numbers[0]), CellId::from(numbers[1]), numbers[2]);
            let object = self.objects.iter().enumerate().filter(|(_, (known, _))| *known == class).nth(which);
            return object.and_then(|(index, _)| self.word(Object(index as u32), cell)).unwrap_or(0);
        }
        if let Some((object, cell)) = self.cell_named(name, "left ") {
            return match self.view(object, cell) {
                Some(CellView::Quota { left, .. }) => u64::from(left),
                _ => 0,
            };
        }
        if let Some((object, cell)) = self.cell_named(name, "null ") {
            return u64::from(self.referred(object, cell).is_none());
        }
        if let Some((object, cell)) = self.cell_named(name, "armed ") {
            return u64::from(matches!(self.view(object, cell), Some(CellView::Timer(Some(_)))));
        }
        if let Some((attribute, of)) = name.strip_prefix("attribute ").and_then(|rest| rest.split_once(" of ")) {
            let attribute: usize = attribute.parse().expect("a number");
            return self.held[of].attributes.get(attribute).copied().unwrap_or(0);
        }
        if let Some((header, of)) = name.strip_prefix("header ").and_then(|rest| rest.split_once(" of ")) {
            let (of, field) = of.split_once(" field ").map_or((of, None), |(of, field)| (of, Some(field)));
            let top = self.held[of].headers.last();
            let top = top.filter(|top| format!("{}.{}", top.header.0, top.variant.0) == header);
            return match field.map(|field| field.parse::<usize>().expect("a number")) {
                None => u64::from(top.is_some()),
                Some(field) => top.and_then(|top| top.fields.get(field)).copied().unwrap_or(0),
            };
        }
        // Calls begin when nothing waits.
        if name.starts_with("waiting ") {
            return 0;
        }
        if let Some(rest) = name.strip_prefix("lives ") {
            let object = rest.rsplit_once(' ').and_then(|(_, object)| object.parse().ok()).expect("an object");
            let class = self.objects[object as usize].0;
            let there = self.object(Object(object));
            return u64::from(there.is_some_and(|handle| self.stack.objects(class).contains(&handle)));
        }
        // After a reaction, it does not matter whether an ended object is still there.
        if name.starts_with("freed ") {
            return 1;
        }
        if let Some(message) = name.strip_suffix(".size") {
            return self.messages[message].len() as u64;
        }
        *self.scalars.get(name).unwrap_or_else(|| panic!("a variable that nobody knows: {name}"))
    }

    /// `prefix class.cell object`
    fn cell_named(&self, name: &str, prefix: &str) -> Option<(Object, CellId)> {
        let (path, object) = name.strip_prefix(prefix)?.rsplit_once(' ')?;
        let object = Object(object.parse().ok()?);
        let (_, cell) = path.rsplit_once('.')?;
        Some((object, self.automaton.cell_named(self.objects[object.0 as usize].0, cell)?))
    }

    fn apply(&self, name: &str, args: &[Term]) -> u64 {
        if let Some((object, cell)) = self.cell_named(name, "in ") {
            return u64::from(self.entry(object, cell, args).is_some());
        }
        if let Some(rest) = name.strip_prefix("at ") {
            let (path, place) = rest.rsplit_once(' ').expect("a place");
            let (object, cell) = self.cell_named(&format!("in {path}"), "in ").expect("a map");
            let place: usize = place.parse().expect("a place");
            return self.entry(object, cell, args).map_or(0, |values| values[place]);
        }
        if let Some(rest) = name.strip_prefix("null at ") {
            let (path, place) = rest.rsplit_once(' ').expect("a place");
            let (object, cell) = self.cell_named(&format!("in {path}"), "in ").expect("a map");
            let place: usize = place.parse().expect("a place");
            return u64::from(self.entry(object, cell, args).is_some_and(|values| values[place] == u64::MAX));
        }
        if let Some((object, cell)) = self.cell_named(name, "holds ") {
            let place = self.number(args[0]) as usize;
            return match self.view(object, cell) {
                Some(CellView::Messages(places)) => u64::from(places.get(place).is_some_and(Option::is_some)),
                _ => 0,
            };
        }
        if let Some((object, cell)) = self.cell_named(name, "array ") {
            let place = self.number(args[0]) as usize;
            return match self.view(object, cell) {
                Some(CellView::Array(words)) => words.get(place).copied().unwrap_or(0),
                _ => 0,
            };
        }
        let (start, size) = (self.number(args[1]), self.number(args[2]));
        let odd = name == "sum16 odd";
        assert!(odd || name == "sum16", "a function that nobody knows: {name}");
        let octet = |place: u64| u32::from(self.octet(args[0], start + place));
        // Octets that do not exist are zero.
        let sum = (0..size.min(1 << 17)).fold(0u32, |sum, place| {
            let high = place.is_multiple_of(2) != odd;
            sum.wrapping_add(octet(place) << if high { 8 } else { 0 })
        });
        u64::from(sum)
    }

    fn octet(&self, octets: Term, index: u64) -> u8 {
        let Node::Variable { name } = self.terms.node(octets) else { panic!("an array that is no variable") };
        assert_eq!(self.terms.sort(octets), Sort::Octets);
        let message = name.strip_suffix(".octets").and_then(|name| self.messages.get(name));
        message.and_then(|octets| octets.get(index as usize)).copied().unwrap_or(0)
    }

    // -- objects

    /// The object that a number of the reading stands for; `None` if the way to it passes null.
    pub fn object(&self, object: Object) -> Option<Handle> {
        let (class, origin) = &self.objects[object.0 as usize];
        match origin {
            Origin::Given(_) => Some(self.target),
            Origin::Unique(_) => self.stack.objects(*class).first().copied(),
            Origin::Parent(inner) => self.stack.parent(self.objects[inner.0 as usize].0, self.object(*inner)?),
            Origin::Cell(from, cell) => self.referred(*from, *cell),
            Origin::Found(map, cell, key, place) => {
                let word = self.entry(*map, *cell, key)?[*place as usize];
                Some(Handle { object: word as u32, generation: (word >> 32) as u32 })
            }
        }
    }

    pub fn view(&self, object: Object, cell: CellId) -> Option<CellView<'_>> {
        let class = self.objects[object.0 as usize].0;
        self.stack.cell(class, self.object(object)?, cell)
    }

    fn word(&self, object: Object, cell: CellId) -> Option<u64> {
        match self.view(object, cell)? {
            CellView::Word(word) => Some(word),
            _ => None,
        }
    }

    fn referred(&self, object: Object, cell: CellId) -> Option<Handle> {
        let class = self.objects[object.0 as usize].0;
        let CellKind::Scalar { ty: Type::Ref(to), .. } = self.automaton.cell(class, cell).kind else { return None };
        let word = self.word(object, cell)?;
        let handle = Handle { object: word as u32, generation: (word >> 32) as u32 };
        self.stack.objects(to).into_iter().find(|living| *living == handle)
    }

    fn entry(&self, object: Object, cell: CellId, key: &[Term]) -> Option<Vec<u64>> {
        let key: Vec<u64> = key.iter().map(|part| self.number(*part)).collect();
        match self.view(object, cell)? {
            CellView::Map(entries) => {
                entries.into_iter().find(|(known, _)| *known == key).map(|(_, values)| values.to_vec())
            }
            _ => None,
        }
    }

    // -- messages

    pub fn octets(&self, message: &Message) -> Vec<u8> {
        let Base { octets, start, size } = message.base;
        let (start, size) = (self.number(start), self.number(size));
        let front = message.front.iter().map(|octet| self.number(*octet) as u8);
        front.chain((0..size).map(|place| self.octet(octets, start + place))).collect()
    }

    /// The variables for what does not change in a reaction.
    pub fn surroundings(automaton: &Automaton, now: u64) -> HashMap<String, u64> {
        let params = automaton.params.iter().map(|param| (format!("param {}", param.name), param.default.unwrap_or(0)));
        params.chain([("now".to_string(), now)]).collect()
    }
}

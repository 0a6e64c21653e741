//! Listeners, which get what no session gets. A listener is a pattern over local and remote addresses and keys
//! (docs/language.md, section 6).
//!
//! Invariant: of the registered patterns that match a flow, the most specific is found first. Patterns without a remote
//! end are in one map, the others in another, which is searched only after a pattern was registered in it.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::{Exits, Flow, Fork, Writer};
use crate::fault::Fault;
use crate::plan::Component;
use crate::stack::{Endpoints, Giver, Lowering, On, Patterns, Purpose, Register, Registration};

/// The most layers whose local part a listener may leave open.
const MOST_OPEN: usize = 3;

/// Which parts of a flow a search step leaves open, by the bits of its number: keys of the local end, the remote end,
/// local addresses.
struct Parts {
    keys: Vec<(bool, usize)>,
    remote: Vec<bool>,
    addresses: Vec<(bool, usize)>,
}

/// The result of entering a listener's pattern.
#[derive(Clone, Copy)]
enum Entered {
    /// It is registered; `known` tells whether it was before, if that matters.
    There { known: Option<r::Value> },
    /// It was removed.
    Gone,
}

/// When a component of a pattern is open: never, always, or depending on a bit of the step.
#[derive(Clone, Copy)]
enum Bit {
    Named,
    Open,
    Step(usize),
}

impl<'p> Lowering<'p> {
    /// Which parts of a flow may be open: the local end of some layers, keys and addresses of the remote end.
    fn pattern_parts(&self, inst: usize) -> Parts {
        let components = &self.inst(inst).top;
        let local = components.iter().filter(|c| !c.is_remote());
        let mut local: Vec<(bool, usize)> = local.map(|c| (c.address, c.owner)).collect();
        local.sort_unstable_by_key(|(address, owner)| (!address, *owner));
        local.dedup();
        local.truncate(MOST_OPEN);
        let (addresses, keys) = local.into_iter().partition(|(address, _)| *address);
        let mut remote: Vec<bool> = components.iter().filter(|c| c.is_remote()).map(|c| c.address).collect();
        remote.sort_unstable();
        remote.dedup();
        Parts { keys, remote, addresses }
    }

    /// For each component, the bit of a step that leaves it open; `keys`: which of the local keys are open here.
    fn bits_of(&self, inst: usize, parts: &Parts, keys: usize) -> Vec<Bit> {
        let place = |known: &[(bool, usize)], c: &Component| known.iter().position(|k| *k == (c.address, c.owner));
        let bit = |c: &Component| {
            if c.is_remote() {
                let at = parts.remote.iter().position(|address| *address == c.address);
                return at.map_or(Bit::Named, |at| Bit::Step(parts.addresses.len() + at));
            }
            match (place(&parts.keys, c), place(&parts.addresses, c)) {
                (Some(at), _) if keys >> at & 1 == 1 => Bit::Open,
                (_, Some(at)) => Bit::Step(at),
                _ => Bit::Named,
            }
        };
        self.inst(inst).top.iter().map(bit).collect()
    }

    /// The step numbers in order; the planted fault reverses them.
    fn steps(&self, bits: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..1 << bits).collect();
        if self.faulty(Fault::ListenerOrder) {
            order.reverse();
        }
        order
    }
}

impl<'p> Writer<'_, 'p> {
    // -- finding them

    /// Searches for patterns that match a flow, the most specific first: with the local keys before without, then with
    /// more of the remote end, then with local addresses before any address. Of the remote end, the addresses are given
    /// or open together, and so are the keys; of the local end, so is what one layer adds.
    ///
    /// For each pattern, tries the `suffixes` in order. The yes branch has what is found.
    pub fn search(&mut self, flow: &[r::Value], patterns: Patterns, suffixes: &[Vec<r::Value>]) -> Fork {
        let parts = self.pattern_parts(self.inst);
        let mut found = Exits::default();
        let from = patterns.from.filter(|_| !self.faulty(Fault::RemoteIgnored));
        for keys in 0..1usize << parts.keys.len() {
            if let Some(cell) = from {
                self.search_from((flow, &parts, keys), (cell, patterns.any), suffixes, &mut found);
            }
            let bits = self.bits_of(self.inst, &parts, keys);
            for step in self.steps(parts.addresses.len()) {
                let key = self.local_key(flow, &bits, step);
                self.try_keys(patterns.local, &key, suffixes, &mut found);
            }
        }
        self.found(found)
    }

    /// The local end of a flow, with the parts that a step leaves open.
    fn local_key(&mut self, flow: &[r::Value], bits: &[Bit], step: usize) -> Vec<r::Value> {
        let mut key = Vec::new();
        for (at, _) in self.inst(self.inst).top.iter().enumerate().filter(|(_, c)| !c.is_remote()) {
            let open = match bits[at] {
                Bit::Named => false,
                Bit::Open => true,
                Bit::Step(bit) => step >> bit & 1 == 1,
            };
            key.push(if open { self.constant(self.b.type_of(flow[at]), 0) } else { flow[at] });
        }
        key
    }

    /// Searches the patterns of both ends with these local keys, in a loop: few layers have any.
    fn search_from(
        &mut self,
        (flow, parts, keys): (&[r::Value], &Parts, usize),
        (cell, any): (r::CellId, Option<r::CellId>),
        suffixes: &[Vec<r::Value>],
        found: &mut Exits,
    ) {
        let mut behind = Exits::default();
        if let Some(any) = any {
            let entity = self.entity();
            let any = self.get(entity, any);
            let look = self.fork_likely(any, Some(0.1));
            self.unless(&mut behind, look, |_, _| {});
        }
        let steps = ((1u64 << parts.remote.len()) - 1) << parts.addresses.len();
        let word = r::Type::U(8);
        let zero = self.constant(word, 0);
        let bits = self.bits_of(self.inst, parts, keys);
        self.repeat(&[], &[("step", zero)], steps as u32 + 1, |w, own, out| {
            let key: Vec<r::Value> =
                bits.iter().zip(flow).map(|(bit, part)| w.unless_open(*part, *bit, own[0])).collect();
            w.try_keys(cell, &key, suffixes, found);
            let next = w.by_one(own[0], r::Binary::AddWrap);
            let end = w.constant(word, steps);
            let more = w.compare(r::Compare::Lt, next, end);
            w.only(out, more);
            vec![next]
        });
        self.exit(&mut behind, Vec::new());
        self.meet(behind);
    }

    /// A part of a flow, or *any* if the step leaves it open.
    fn unless_open(&mut self, part: r::Value, bit: Bit, step: r::Value) -> r::Value {
        let none = self.constant(self.b.type_of(part), 0);
        match bit {
            Bit::Named => part,
            Bit::Open => none,
            Bit::Step(bit) => {
                let mask = self.constant(self.b.type_of(step), 1 << bit);
                let masked = self.binary(r::Binary::And, step, mask);
                let zero = self.constant(self.b.type_of(step), 0);
                let c = self.compare(r::Compare::Ne, masked, zero);
                self.value(r::OpKind::Select { c, a: none, b: part })
            }
        }
    }

    fn try_keys(&mut self, cell: r::CellId, key: &[r::Value], suffixes: &[Vec<r::Value>], found: &mut Exits) {
        for suffix in suffixes {
            let fork = self.find_in(cell, &[key, suffix].concat());
            let hit = self.follow(fork.yes);
            self.exit(found, hit);
            self.follow(fork.no);
        }
    }

    /// Tries the most specific listener for a message.
    pub(super) fn try_listeners(&mut self, message: r::Value, flow: &Flow, exits: &mut Exits) {
        let Some(patterns) = self.info().listeners.filter(|_| self.live()) else { return };
        let listening = self.listening(self.inst);
        let suffixes = match self.shares(self.inst) {
            true => (0..listening.len() as u64).map(|place| vec![self.constant(r::Type::U(8), place)]).collect(),
            false => vec![Vec::new()],
        };
        let found = self.search(flow, patterns, &suffixes);
        self.on(exits, found, |w, which| {
            w.among(which[0], listening.len(), |w, at| match listening[at] {
                (user, Register::Bind) => w.deliver_flow(user, message, flow),
                (user, _) => w.accept_for(user, message, flow, true),
            });
        });
    }

    // -- entering them

    /// Adds or removes a pattern in the map of listeners; `then` runs if it is registered now, or was until now.
    fn enter_listener(
        &mut self,
        user: Option<usize>,
        registration: Registration,
        pattern: &[r::Value],
        then: &mut dyn FnMut(&mut Self, Entered),
    ) {
        let Some(patterns) = self.info().listeners else { return };
        let Some(cell) = patterns.of(registration.endpoints) else { return };
        let (entity, each) = (self.entity(), self.shares(self.inst));
        for (place, (of, how)) in self.listening(self.inst).into_iter().enumerate() {
            let number = self.constant(r::Type::U(8), place as u64);
            let key = if each { [pattern, &[number]].concat() } else { pattern.to_vec() };
            let mine = Some(of) == user;
            if registration.how == Register::Unlisten {
                if each && mine || !each && place == 0 {
                    let key = self.map_key(key);
                    let removed = self.attempt(r::Fallible::Remove { object: entity, cell, key });
                    let gone = |w: &mut Self, _: &[r::Value]| {
                        w.give_room(patterns);
                        then(w, Entered::Gone);
                    };
                    self.ways(removed, gone, |_, _| {});
                }
            } else if mine && how == registration.how {
                if let (Some(any), Endpoints::Both) = (patterns.any, registration.endpoints) {
                    let yes = self.truth(true);
                    self.set(entity, any, yes);
                }
                let known = self.is_known((cell, &key));
                let mut exits = Exits::default();
                self.take_room_for(&mut exits, patterns, (cell, &key));
                let insert = r::Fallible::Insert { object: entity, cell, key, values: vec![number] };
                let entered = self.attempt(insert);
                self.ways(entered, |w, _| then(w, Entered::There { known }), |w, _| w.count_refused());
                self.exit(&mut exits, Vec::new());
                self.meet(exits);
            }
        }
    }

    /// Whether a pattern is already registered, if that matters for the layer below.
    fn is_known(&mut self, (cell, key): (r::CellId, &[r::Value])) -> Option<r::Value> {
        let entity = self.entity();
        self.info().passed.map(|_| self.is_in(entity, cell, key.to_vec()))
    }

    /// Enters the pattern of a layer that is bound to a key of this multiplexor, which is not among the listeners.
    fn enter_bound(
        &mut self,
        user: usize,
        registration: Registration,
        bottom: &[r::Value],
        then: &mut dyn FnMut(&mut Self, Entered),
    ) {
        let Some(patterns) = self.info().passed.and_then(|passed| passed.bound) else { return };
        let Some(cell) = self.passed_at(patterns, registration.endpoints) else { return };
        let place = self.inst(self.inst).users.iter().position(|known| *known == user).unwrap_or(0);
        let (object, number) = (self.entity(), self.constant(r::Type::U(8), place as u64));
        let key = [&[number], bottom].concat();
        if registration.how == Register::Unlisten {
            let removed = self.attempt(r::Fallible::Remove { object, cell, key });
            return self.ways(removed, |w, _| then(w, Entered::Gone), |_, _| {});
        }
        let known = self.is_known((cell, &key));
        let entered = self.attempt(r::Fallible::Insert { object, cell, key, values: vec![number] });
        self.ways(entered, |w, _| then(w, Entered::There { known }), |w, _| w.count_refused());
    }

    /// If the layer below has no remote ends, a pattern of both ends becomes one of the local end there.
    fn passed_at(&self, patterns: Patterns, endpoints: Endpoints) -> Option<r::CellId> {
        match self.inst(self.inst).bottom.iter().any(Component::is_remote) {
            true => patterns.of(endpoints),
            false => Some(patterns.local),
        }
    }

    /// Several patterns above may be one below, which is removed with the last of them.
    fn pass_counted(&mut self, registration: Registration, bottom: &[r::Value], entered: Entered) {
        let counts = self.info().passed.and_then(|passed| self.passed_at(passed.counts, registration.endpoints));
        let Some(cell) = counts else { return };
        let entity = self.entity();
        let mut exits = Exits::default();
        if let Entered::There { known: Some(known) } = entered {
            let fork = self.fork(known);
            self.on(&mut exits, fork, |w, _| w.register_down(registration, bottom));
        }
        let found = self.find(entity, cell, bottom.to_vec());
        let none = |w: &mut Self, _: &[r::Value]| vec![w.constant(r::Type::U(32), 0)];
        let count = self.either(found, |_, count| count.to_vec(), none)[0];
        match entered {
            Entered::There { .. } => {
                let count = self.by_one(count, r::Binary::AddWrap);
                self.put_count((cell, bottom), count);
                self.register_down(registration, bottom);
            }
            Entered::Gone => {
                let one = self.constant(r::Type::U(32), 1);
                let more = self.compare(r::Compare::Gt, count, one);
                let fork = self.fork(more);
                let less = |w: &mut Self, _: &[r::Value]| {
                    let count = w.by_one(count, r::Binary::SubWrap);
                    w.put_count((cell, bottom), count);
                };
                self.ways(fork, less, |w, _| {
                    w.remove(entity, cell, bottom.to_vec());
                    w.register_down(registration, bottom);
                });
            }
        }
        self.exit(&mut exits, Vec::new());
        self.meet(exits);
    }

    /// It has as many places as there are patterns above, so there is room.
    fn put_count(&mut self, (cell, bottom): (r::CellId, &[r::Value]), count: r::Value) {
        let (object, key) = (self.entity(), self.map_key(bottom.to_vec()));
        let put = self.attempt(r::Fallible::Insert { object, cell, key, values: vec![count] });
        self.ways(put, |_, _| {}, |_, _| {});
    }

    /// Takes one of the places that all patterns share: a listener beyond the capacity is not entered.
    pub(super) fn take_room(&mut self, exits: &mut Exits, index: Patterns) {
        let Some(cell) = index.room else { return };
        let (object, amount) = (self.entity(), self.constant(r::Type::U(32), 1));
        let taken = self.attempt(r::Fallible::Take { object, cell, amount });
        self.unless(exits, taken, |w, _| w.count_refused());
    }

    /// Gives the place back at once, for the next listener.
    pub(super) fn give_room(&mut self, index: Patterns) {
        if let Some(cell) = index.room {
            let (object, amount) = (self.entity(), self.constant(r::Type::U(32), 1));
            self.op(r::OpKind::Give { object, cell, amount });
        }
    }

    /// Takes room for a new pattern; a repeated one needs none.
    fn take_room_for(&mut self, exits: &mut Exits, patterns: Patterns, (cell, key): (r::CellId, &[r::Value])) {
        if patterns.room.is_none() {
            return;
        }
        let entity = self.entity();
        let known = self.find(entity, cell, key.to_vec());
        let mut behind = Exits::default();
        self.on(&mut behind, known, |_, _| {});
        self.take_room(exits, patterns);
        self.exit(&mut behind, Vec::new());
        self.meet(behind);
    }

    /// Counts, for tools, the listeners that there was no room for.
    pub(super) fn count_refused(&mut self) {
        if let Some(cell) = self.info().refused {
            let object = self.entity();
            let amount = self.constant(r::Type::U(32), 1);
            self.op(r::OpKind::Count { object, cell, amount });
        }
    }

    /// `listen`, `bind`, `unlisten` on the entity.
    pub fn register_on(&mut self, registration: Registration, pattern: &[r::Value]) {
        let at = self.inst(self.inst);
        // What listens above a router has the router's addresses, which the layers below do not know.
        if at.shape() == Some(s::Shape::Router) {
            return;
        }
        let bottom: Vec<r::Value> = match at.is_multiplexor() {
            true => {
                let said = at.top.iter().filter(|c| c.is_said(registration.endpoints == Endpoints::Both));
                let others = pattern.iter().zip(said).filter(|(_, c)| c.owner != self.inst);
                others.map(|(value, _)| *value).collect()
            }
            false => pattern.to_vec(),
        };
        let user = self.runs.registering.or_else(|| at.users.first().copied());
        if self.info().passed.is_some() {
            let then = &mut |w: &mut Self, entered: Entered| w.pass_counted(registration, &bottom, entered);
            return match user.filter(|user| self.plan.is_bound(self.inst, *user)) {
                Some(user) => self.enter_bound(user, registration, &bottom, then),
                None => self.enter_listener(user, registration, pattern, then),
            };
        }
        if self.info().listeners.is_some() {
            self.enter_listener(user, registration, pattern, &mut |_, _| {});
        }
        self.register_down(registration, &bottom);
    }

    /// `below.listen(…)` and the like in code.
    pub fn register_by_hand(&mut self, how: Register, flow: &'p s::Expr, values: &[r::Value]) {
        let endpoints = Endpoints::of(flow);
        let parts = values.iter().zip(&self.inst(self.inst).bottom);
        let said: Vec<r::Value> =
            parts.filter(|(_, c)| c.is_said(endpoints == Endpoints::Both)).map(|(value, _)| *value).collect();
        self.register_down(Registration { how, endpoints }, &said);
    }

    /// `listen`, `bind` or `unlisten` for the layer below; only if a layer there uses it.
    pub fn register_down(&mut self, registration: Registration, pattern: &[r::Value]) {
        if !self.inst(self.inst).lowers().iter().any(|below| self.cares_for_listeners(*below)) {
            return;
        }
        self.for_lower(pattern, |w, lower| {
            if let Some((below, pattern)) = lower {
                w.register_at(below, registration, pattern);
            }
        });
    }

    fn register_at(&mut self, below: usize, registration: Registration, pattern: &[r::Value]) {
        if !self.cares_for_listeners(below) {
            return;
        }
        let uses = self.inst(self.inst).uses;
        let how = match registration.how {
            Register::Unlisten => Register::Unlisten,
            how if uses.flow && (how == Register::Bind || !uses.sessions) => Register::Bind,
            _ => Register::Listen,
        };
        let components = &self.inst(below).top;
        let endpoints =
            if components.iter().any(Component::is_remote) { registration.endpoints } else { Endpoints::Local };
        let registration = Registration { how, endpoints };
        let asked = match how {
            Register::Listen => self.asked_at(below, Giver::Listen),
            Register::Bind | Register::Unlisten => Vec::new(),
        };
        let pattern = self.lift_to(below, pattern, endpoints == Endpoints::Local);
        let args = [pattern, self.given_below(&asked)].concat();
        let params = [self.pattern_params(components, endpoints), self.given_params(&asked)].concat();
        let user = (self.inst(below).users.len() > 1).then_some(self.inst);
        let event = self.event_of(&registration.name(), user);
        self.event(below, On::Entity, &event, params, Purpose::Register(registration, user));
        let target = self.unique(self.lowering.info(below).classes.entity);
        self.emit(target, &event, args);
    }
}

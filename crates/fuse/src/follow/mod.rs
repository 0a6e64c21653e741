//! Follows a reaction from the handler of a port's event through all layers, one way.
//!
//! It must keep: things are done in the order of `docs/semantics.md`, O. Where that order is unknown, or an operation
//! is not supported yet, there is no path.

mod operations;

use mokume_reaction::{
    AttributeId, Automaton, BlockId, Body, CellId, CellKind, Channel, ClassId, Emission, HandlerId, Port, Target,
    Terminator, Trigger, Type, Value, VariantId,
};

use crate::graph::{Kind, Node};
use crate::message::is_held_before;
use crate::region::{Active, Deed, Do, Followed, Given, Region};

/// The receiver of an emission.
enum To {
    Object(Node),
    /// The object that a cell refers to at delivery.
    Linked(Node, CellId),
    Port(mokume_reaction::PortId, u32),
}

/// An emission of a handler, to be delivered when it has ended.
pub(crate) struct Emitted {
    to: To,
    handler: Option<HandlerId>,
    args: Vec<Given>,
    channel: Channel,
    source: Option<mokume_reaction::SourceId>,
}

/// The deepest nesting of handlers.
const DEEPEST: u32 = 250;

/// How a body ended.
enum End {
    Returned,
    Gave(Vec<Given>),
}

/// A body that is followed.
pub(crate) struct Frame<'a> {
    pub body: &'a Body,
    values: Vec<Option<Given>>,
    emitted: Vec<Emitted>,
    /// `None` in a function.
    layer: Option<mokume_reaction::LayerId>,
    handler: Option<HandlerId>,
}

impl Frame<'_> {
    /// Sets a value.
    pub fn set(&mut self, value: Value, given: Given) {
        self.values[value.index()] = Some(given);
    }

    /// Whether a value is a message.
    pub fn is_message(&self, value: Value) -> bool {
        self.body.values[value.index()].ty == Type::Msg
    }

    /// The node of a value; `None` if it is not set, or is a message.
    pub fn node(&self, value: Value) -> Option<Node> {
        match &self.values[value.index()] {
            Some(Given::Node(node)) => Some(*node),
            _ => None,
        }
    }
}

fn target_class(automaton: &Automaton, class: ClassId, event: &str) -> Option<HandlerId> {
    automaton.handler_of(class, &Trigger::Event(event.to_owned()))
}

impl<'a> Region<'a> {
    /// Follows the whole reaction to an event at a port, for one object of its handler's class.
    pub fn reaction(&mut self, handler: HandlerId) -> Followed<()> {
        let automaton = self.automaton;
        let definition = automaton.handler(handler);
        let object = match automaton.is_unique(definition.class) {
            true => self.graph.add(Kind::Unique(definition.class), Type::Ref(definition.class)),
            false => self.graph.add(Kind::Entry(0), Type::Ref(definition.class)),
        };
        self.alive.push(object);
        let mut args = Vec::new();
        for (place, (_, ty)) in definition.params.iter().enumerate() {
            args.push(match ty {
                Type::Msg => Given::Message(Box::new(self.given(place as u32 + 1))),
                ty => Given::Node(self.graph.add(Kind::Entry(place as u32 + 1), *ty)),
            });
        }
        self.handler(handler, object, args)?;
        self.settle()?;
        if self.turns_back(handler) {
            // Without measurements, an arriving message is expected to be for this stack.
            self.is_unlikely(0.1);
        }
        let hands_over = |deed: &Deed| matches!(deed.what, Do::HandOver { .. });
        if self.deeds.iter().rev().skip(1).any(hands_over) {
            return self.no("does more behind what it hands over");
        }
        self.all_given_away(handler)
    }

    /// Whether the event enters by one of several ports, and all outputs leave by the same one.
    fn turns_back(&self, handler: HandlerId) -> bool {
        let definition = self.automaton.handler(handler);
        let enters = |port: &Port| {
            port.inputs.iter().any(|input| {
                input.class == definition.class && definition.trigger == Trigger::Event(input.handler.clone())
            })
        };
        let mut outs = self.deeds.iter().filter_map(|deed| match deed.what {
            Do::Out { port, .. } => Some(port),
            _ => None,
        });
        let first =
            outs.next().filter(|port| self.automaton.ports.len() > 1 && enters(&self.automaton.ports[port.index()]));
        first.is_some_and(|first| outs.all(|port| port == first))
    }

    /// Checks that each message that came in leaves or is kept, and more than once only if the program lends it.
    fn all_given_away(&mut self, handler: HandlerId) -> Followed<()> {
        for message in self.deeds.iter().flat_map(|deed| deed.what.messages()) {
            self.must_be_as_it_came(message)?;
        }
        let taken = self.deeds.iter().filter_map(|deed| match deed.what {
            Do::TakeHeld { given, .. } => Some(given),
            _ => None,
        });
        let taken: Vec<u32> = taken.collect();
        // One that is consumed where it is is not among those that are taken out.
        let used = self.deeds.iter().flat_map(|deed| deed.what.messages()).map(|message| message.given);
        let mut used: Vec<u32> = used.filter(|given| is_held_before(*given)).collect();
        used.sort_unstable_by_key(|given| taken.iter().position(|taken| taken == given));
        if used != taken {
            return self.no("gives a message that was kept before away more than once");
        }
        let asks = |deed: &Deed| {
            let attributes = deed.what.messages().into_iter().flat_map(|message| {
                let attributes = message.attributes.iter().enumerate();
                let changed = attributes
                    .filter(|(at, node)| !message.came_with(AttributeId::from(*at), self.graph.kind(**node)))
                    .map(|(_, node)| node);
                let fields = message.headers.iter().flat_map(|header| &header.2);
                let front = message.front.iter().map(|field| &field.value);
                let views = message.met.iter().map(|met| (&met.1, &met.2)).chain([(&message.at, &message.size)]);
                let is_part = |(at, size): &(&Node, &Node)| {
                    self.graph.known(**at) != Some(0) || *self.graph.kind(**size) != Kind::Size(message.given)
                };
                let parts = views.filter(is_part).flat_map(|(at, size)| [at, size]);
                changed.chain(fields).chain(front).chain(parts)
            });
            deed.what.nodes().iter().chain(attributes).any(|node| self.is_of_held(*node))
        };
        if self.deeds.iter().any(asks) {
            return self.no("asks what is in a message that was kept before");
        }
        let params = &self.automaton.handler(handler).params;
        let messages = (0..params.len()).filter(|place| params[*place].1 == Type::Msg).map(|place| place as u32 + 1);
        for message in messages {
            let uses = self.deeds.iter().flat_map(|deed| deed.what.messages()).filter(|found| found.given == message);
            match (uses.count(), self.is_inside) {
                (1, _) | (2.., false) => {}
                _ => return self.no("gives a message away more than once, or keeps it"),
            }
        }
        Ok(())
    }

    /// Follows one handler, and then all that follows from its emissions.
    fn handler(&mut self, handler: HandlerId, object: Node, args: Vec<Given>) -> Followed<()> {
        self.touch(object)?;
        let emitted = self.instant(handler, object, args)?;
        self.carry_all_out(emitted)
    }

    /// Follows one handler alone; returns its emissions.
    pub(crate) fn instant(&mut self, handler: HandlerId, object: Node, args: Vec<Given>) -> Followed<Vec<Emitted>> {
        let definition = self.automaton.handler(handler);
        let layer = self.layer_of(handler);
        self.handlers.push(handler);
        if self.layers.last() != Some(&layer) {
            self.layers.push(layer);
        }
        let given = std::iter::once(Given::Node(object)).chain(args).collect();
        Ok(self.body(&definition.body, given, Some((layer, handler)))?.1)
    }

    /// Delivers a handler's emissions, each with all that follows from it.
    pub(crate) fn carry_all_out(&mut self, emitted: Vec<Emitted>) -> Followed<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.no("leads through more handlers than are followed");
        }
        let first = self.pending.len();
        self.pending.extend(emitted.iter().rev().map(|one| one.channel));
        for one in emitted {
            self.pending.pop();
            self.source = one.source;
            let is_queued = self.automaton.is_queued(one.channel);
            // What was put off begins a reaction, so nothing stands before it.
            let begins = self.handlers.first().is_some_and(|first| self.overview.is_put_off(*first));
            if is_queued && self.is_inside && !begins {
                return self.no("would be overtaken by what may stand in a queue");
            }
            if is_queued && self.pending[..first].contains(&one.channel) {
                return self.no("would be overtaken by what stands in a queue");
            }
            self.carry_out(one)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn carry_out(&mut self, emitted: Emitted) -> Followed<()> {
        let target = match emitted.to {
            To::Port(port, event) => {
                if emitted.args.iter().any(|arg| matches!(arg, Given::Message(message) if !message.headers.is_empty()))
                {
                    return self.no("puts out a message whose headers are no octets");
                }
                self.deed(Do::Out { port, event, args: emitted.args });
                return Ok(());
            }
            To::Object(object) => object,
            To::Linked(object, cell) => {
                let class = self.class(object);
                let CellKind::Scalar { ty, .. } = self.automaton.cell(class, cell).kind else {
                    return self.no("is for nobody");
                };
                self.get(object, cell, ty)?
            }
        };
        let Some(handler) = emitted.handler else { return self.no("is for nobody") };
        let call = (self.calls.len() as u32, self.decisions.ways());
        if self.ends.contains(&call) {
            if *self.graph.kind(target) == Kind::Null {
                return self.no("is for nobody");
            }
            // A way that is followed to its end is the likelier one.
            self.choose(&[0.5]);
            self.deed(Do::HandOver { object: target, handler, args: emitted.args });
            return Ok(());
        }
        let is_last = self.pending.is_empty() && self.settling.is_idle();
        let active = Active { call, layer: self.layer_of(handler), is_last };
        self.calls.push(active.clone());
        self.active.push(active);
        self.must_live(target)?;
        self.handler(handler, target, emitted.args)?;
        self.active.pop();
        Ok(())
    }

    /// Follows a body; returns its results and its emissions.
    fn body(
        &mut self,
        body: &'a Body,
        given: Vec<Given>,
        of: Option<(mokume_reaction::LayerId, HandlerId)>,
    ) -> Followed<(End, Vec<Emitted>)> {
        let (layer, handler) = of.unzip();
        let mut frame = Frame { body, values: vec![None; body.values.len()], emitted: Vec::new(), layer, handler };
        for (param, value) in body.blocks[0].params.iter().zip(given) {
            frame.values[param.index()] = Some(value);
        }
        let mut at = 0;
        loop {
            let block = &body.blocks[at];
            for op in &block.ops {
                self.budget = self.budget.saturating_sub(1);
                if self.budget == 0 {
                    return self.no("is one of more operations than are followed");
                }
                self.source = op.source.or(self.source);
                self.operation(&mut frame, op)?;
            }
            if let Some(layer) = layer.or(self.layers.last().copied()) {
                let followed = &mut self.followed[layer.index()];
                followed.operations += block.ops.len();
                followed.branches += usize::from(block.terminator.targets().len() > 1);
            }
            if let Some(mark) = block.mark {
                self.source = Some(mark.source);
            }
            match &block.terminator {
                Terminator::Return => return Ok((End::Returned, frame.emitted)),
                Terminator::Yield { values } => {
                    let gave = values.iter().filter_map(|value| frame.values[value.index()].take()).collect();
                    return Ok((End::Gave(gave), frame.emitted));
                }
                other => at = self.end(&mut frame, at, other)?,
            }
        }
    }

    /// How many layers stand on the one that a block emits to, including it; 1 if it emits to none.
    fn stand_above(&self, body: &Body, to: &Target) -> usize {
        let ops = &body.blocks[to.block.index()].ops;
        let mut emitted = ops.iter().filter_map(|op| match op.kind.emission()? {
            Emission::Event { target, .. } => self.automaton.class_for(body, target),
            Emission::Output { .. } => None,
        });
        emitted.next().map_or(1, |class| self.overview.above(self.automaton.class(class).layer))
    }

    fn enter(&mut self, frame: &mut Frame, to: &Target, results: Vec<Given>) -> usize {
        let args: Vec<Option<Given>> = to.args.iter().map(|arg| frame.values[arg.index()].clone()).collect();
        let params = &frame.body.blocks[to.block.index()].params;
        for (param, value) in params.iter().zip(results.into_iter().map(Some).chain(args)) {
            frame.values[param.index()] = value;
        }
        to.block.index()
    }

    fn end(&mut self, frame: &mut Frame<'a>, block: usize, terminator: &'a Terminator) -> Followed<usize> {
        let place = frame.handler.map(|handler| (handler, BlockId(block as u32)));
        let targets = terminator.targets().len();
        let watched = place.filter(|_| targets > 1).and_then(|place| self.watched.likely(place, targets));
        let passes = |region: &mut Self, target: Option<usize>| {
            place.into_iter().for_each(|place| region.watched.passes(place, target.map(|target| target as u32)));
        };
        match terminator {
            Terminator::Jump { to } => Ok(self.enter(frame, to, Vec::new())),
            Terminator::Branch { condition, then, otherwise, likely } => {
                let condition = self.node(frame, *condition)?;
                if self.graph.known(condition).is_none() && likely.is_none() {
                    if let Some((join, values)) = self.chosen(frame, condition, then, otherwise) {
                        passes(self, None);
                        let to = Target { block: join, args: Vec::new() };
                        return Ok(self.enter(frame, &to, values.into_iter().map(Given::Node).collect()));
                    }
                }
                let likely = watched.map(|watched| watched[0]).or(*likely);
                let taken = self.decide(condition, likely)?;
                passes(self, Some(usize::from(!taken)));
                Ok(self.enter(frame, if taken { then } else { otherwise }, Vec::new()))
            }
            Terminator::Switch { value, cases, default } => {
                let value = self.node(frame, *value)?;
                let ty = self.graph.ty(value);
                // Without measurements, a known value is expected, and the one with the most layers above it.
                let usual = || {
                    let above = cases.iter().map(|case| self.stand_above(frame.body, &case.1) as f32);
                    above.chain([0.1]).collect::<Vec<f32>>()
                };
                let weights = watched.unwrap_or_else(usual);
                let mut rest = weights.iter().sum::<f32>();
                for (number, ((case, to), weight)) in cases.iter().zip(weights).enumerate() {
                    let case = self.graph.constant(ty, *case);
                    let is = self.graph.compare(mokume_reaction::Compare::Eq, value, case);
                    let likely = if rest > 0.0 { weight / rest } else { 0.0 };
                    if self.decide(is, Some(likely))? {
                        passes(self, Some(number));
                        return Ok(self.enter(frame, to, Vec::new()));
                    }
                    rest -= weight;
                }
                passes(self, Some(cases.len()));
                Ok(self.enter(frame, default, Vec::new()))
            }
            Terminator::Match { message, header, cases } => {
                let mut message = self.message(frame, *message)?;
                let only = match self.automaton.headers[header.index()].variants.len() {
                    1 => Some(VariantId(0)),
                    _ => message.headers.last().filter(|top| top.0 == *header).map(|top| top.1),
                };
                let Some(variant) = only else {
                    return self.no("takes off a header of which it is not known which alternative it is");
                };
                let fields = self.take_off(&mut message, *header, variant)?;
                let Some(case) = cases.iter().position(|case| case.0 == variant) else {
                    return self.no("has no way for this header");
                };
                let to = &cases[case].1;
                passes(self, Some(case));
                let fields = fields.into_iter().map(Given::Node);
                let results = std::iter::once(Given::Message(Box::new(message))).chain(fields).collect();
                Ok(self.enter(frame, to, results))
            }
            Terminator::Try { op, then, otherwise } => {
                self.expected = watched.map(|watched| [watched[0], watched[1]]);
                let answer = self.attempt(frame, op);
                self.expected = None;
                let answer = answer?;
                passes(self, Some(usize::from(answer.is_none())));
                match answer {
                    Some(results) => Ok(self.enter(frame, then, results)),
                    None => Ok(self.enter(frame, otherwise, Vec::new())),
                }
            }
            Terminator::Return | Terminator::Yield { .. } | Terminator::Refuse { .. } => {
                self.no("ends what has no end")
            }
        }
    }
}

//! Vocabularies at application ports: what layers below emit upwards comes out, and what they handle from above may be
//! put in (docs/language.md, section 14).
//!
//! Keeps: a port has an event if it can pass, and not if a layer in between stops it.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::plan::Kind;
use crate::stack::{plain, Lowering, On};

/// An event of a vocabulary at a port.
#[derive(Clone, Debug)]
pub struct Spoken {
    pub name: String,
    pub down: bool,
    /// Whether it belongs to no session and no flow.
    pub of_all: bool,
    pub params: Vec<s::Field>,
}

/// The receiver of an event, its name and its parameters.
pub type SpokenInput = (On, String, Vec<(String, r::Type)>);

impl<'p> Lowering<'p> {
    /// What an application can receive and send, searching from its port down to where own events end.
    pub fn spoken_at(&self, inst: usize) -> Vec<Spoken> {
        let mut all = Vec::new();
        self.spoken_below(inst, false, &mut Vec::new(), &mut all);
        all
    }

    /// `only_all`: a layer in between passes only events for all.
    fn spoken_below(&self, inst: usize, only_all: bool, kept: &mut Vec<(String, bool)>, all: &mut Vec<Spoken>) {
        for below in self.inst(inst).lowers() {
            let Some(layer) = self.layer(*below) else { continue };
            let before = kept.len();
            for (vocabulary, _) in &layer.speaks {
                let vocabulary = &self.program.vocabularies[vocabulary.index()];
                let down = vocabulary.down.iter().map(|event| (event, true));
                for (event, down) in down.chain(vocabulary.up.iter().map(|event| (event, false))) {
                    let name = &event.name.text;
                    let said = match down {
                        true => mokume_semantics::check::stacks::handles(layer, name, s::Origin::Above),
                        false => mokume_semantics::check::rows::emits_up(layer, name),
                    };
                    let known = all.iter().any(|known| known.name == *name && known.down == down);
                    let of_all = event.of_all;
                    if only_all && !of_all {
                        continue;
                    }
                    if said && !known && !kept.iter().any(|(known, way)| known == name && *way == down) {
                        all.push(Spoken { name: name.clone(), down, of_all, params: event.params.clone() });
                    }
                }
            }
            for handler in &layer.handlers {
                if let Some((name, from)) = mokume_semantics::check::ports::keeps(handler) {
                    kept.push((name.to_owned(), from == s::Origin::Above));
                }
            }
            let is_worker = self.inst(*below).shape() == Some(s::Shape::Worker);
            self.spoken_below(*below, only_all || !is_worker, kept, all);
            kept.truncate(before);
        }
    }

    /// Whether a vocabulary declares the event as optional.
    pub fn is_optional(&self, name: &str) -> bool {
        self.spoken_in_stack(name).any(|event| event.optional)
    }

    /// Whether the event goes to the entities of all layers on its side.
    pub fn is_of_all(&self, name: &str) -> bool {
        self.spoken_in_stack(name).any(|event| event.of_all)
    }

    /// The event of this name in the vocabularies of the stack's layers: other stacks may have another of the same name.
    fn spoken_in_stack<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a s::signature::Carried> {
        let layers = self.plan.insts.iter().filter_map(|inst| inst.layer());
        layers.flat_map(move |layer| mokume_semantics::check::ports::spoken(self.program, layer, name))
    }

    /// Whether a layer on that side of an instance handles the event, past those that pass it.
    pub fn is_heard(&self, inst: usize, name: &str, down: bool) -> bool {
        let at = self.inst(inst);
        let next = if down { at.lowers() } else { &at.users };
        next.iter().any(|next| self.is_heard_at(*next, name, down))
    }

    /// The same for the instance that it reaches first.
    pub fn is_heard_at(&self, inst: usize, name: &str, down: bool) -> bool {
        let side = if down { s::Origin::Above } else { s::Origin::Below };
        match self.inst(inst).kind {
            Kind::Device(_) => false,
            Kind::Application => self.spoken_at(inst).iter().any(|known| known.name == name && !known.down && !down),
            Kind::Layer(layer) => {
                mokume_semantics::check::ports::handles(layer, name, side)
                    || (matches!(layer.shape, s::Shape::Worker | s::Shape::Multiplexor) || self.is_of_all(name))
                        && self.is_heard(inst, name, down)
            }
        }
    }

    /// The scalars of what an event carries: `v.length`, `v.0`.
    fn spoken_params(&mut self, inst: usize, spoken: &Spoken) -> Vec<(String, r::Type)> {
        let mut params = Vec::new();
        for field in &spoken.params {
            let parts = self.border(inst, field.ty);
            params.extend(parts.into_iter().map(|(rest, ty)| (format!("{}{rest}", field.name.text), ty)));
        }
        params
    }

    /// Events that come out: those of sessions, and those of flow traffic with the flow.
    pub fn spoken_outputs(&mut self, inst: usize) -> Vec<(String, Vec<(String, r::Type)>)> {
        let mut outputs = Vec::new();
        let flow = self.flow_params(&self.inst(inst).bottom);
        for spoken in self.spoken_at(inst).iter().filter(|spoken| !spoken.down) {
            let params = plain(self.spoken_params(inst, spoken));
            if spoken.of_all {
                outputs.push((spoken.name.clone(), params));
                continue;
            }
            if let Some(class) = self.infos[inst].classes.session {
                let session = vec![("session".to_owned(), r::Type::Ref(class))];
                outputs.push((spoken.name.clone(), [session, params.clone()].concat()));
            }
            if self.inst(inst).uses.flow {
                outputs.push((format!("{}_from", spoken.name), [flow.clone(), params].concat()));
            }
        }
        outputs
    }

    /// Events that may be put in, with their receivers, and with names at a port.
    pub fn spoken_inputs(&mut self, inst: usize) -> Vec<SpokenInput> {
        let mut inputs = Vec::new();
        let flow = self.flow_params(&self.inst(inst).bottom);
        for spoken in self.spoken_at(inst).iter().filter(|spoken| spoken.down) {
            let params = self.spoken_params(inst, spoken);
            if spoken.of_all {
                inputs.push((On::Entity, spoken.name.clone(), params));
                continue;
            }
            if self.inst(inst).uses.sessions {
                inputs.push((On::Session, spoken.name.clone(), params.clone()));
            }
            if self.inst(inst).uses.flow {
                inputs.push((On::Entity, format!("{}_to", spoken.name), [flow.clone(), params].concat()));
            }
        }
        inputs
    }
}

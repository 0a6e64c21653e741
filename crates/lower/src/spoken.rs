//! Vocabularies at application ports: what layers below say upwards comes out, what they hear from above may be put in
//! (docs/language.md, section 14).
//!
//! Keeps: a port has an event where it may come or go, and not where a layer in between keeps it to itself.

use std::rc::Rc;

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::frame::Writer;
use crate::lowering::{Lowering, On, Task, What};

/// An event of a vocabulary at a port.
#[derive(Clone, Debug)]
pub struct Spoken {
    pub name: String,
    pub down: bool,
    pub params: Vec<s::Field>,
}

impl<'p> Lowering<'p> {
    /// What an application hears and may say, from its port down to where events of the layers' own end.
    pub fn spoken_at(&self, inst: usize) -> Vec<Spoken> {
        let mut all = Vec::new();
        self.spoken_below(inst, &mut Vec::new(), &mut all);
        all
    }

    fn spoken_below(&self, inst: usize, kept: &mut Vec<(String, bool)>, all: &mut Vec<Spoken>) {
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
                    if said && !known && !kept.iter().any(|(known, way)| known == name && *way == down) {
                        all.push(Spoken { name: name.clone(), down, params: event.params.clone() });
                    }
                }
            }
            for handler in &layer.handlers {
                if let Some((name, from)) = mokume_semantics::check::ports::keeps(handler) {
                    kept.push((name.to_owned(), from == s::Origin::Above));
                }
            }
            if self.inst(*below).shape() == Some(s::Shape::Worker) {
                self.spoken_below(*below, kept, all);
            }
            kept.truncate(before);
        }
    }

    fn spoken_params(&mut self, inst: usize, spoken: &Spoken) -> Vec<(String, r::Type)> {
        let mut params = Vec::new();
        for field in &spoken.params {
            let parts = self.flat(inst, field.ty);
            params.extend(parts.into_iter().map(|(rest, ty)| (crate::declare::joined(&field.name.text, &rest), ty)));
        }
        params
    }

    /// Events that come out: of sessions, and of flow traffic with the flow.
    pub fn spoken_outputs(&mut self, inst: usize) -> Vec<(String, Vec<(String, r::Type)>)> {
        let mut outputs = Vec::new();
        let flow = self.flow_params(&self.inst(inst).bottom.clone());
        for spoken in self.spoken_at(inst).iter().filter(|spoken| !spoken.down) {
            let params = self.spoken_params(inst, spoken);
            if let Some(class) = self.infos[inst].session {
                let session = vec![("session".to_owned(), r::Type::Ref(class))];
                outputs.push((spoken.name.clone(), [session, params.clone()].concat()));
            }
            if self.inst(inst).uses.flow {
                outputs.push((format!("{}_from", spoken.name), [flow.clone(), params].concat()));
            }
        }
        outputs
    }

    pub fn declare_spoken_inputs(&mut self, inst: usize) {
        let flow = self.flow_params(&self.inst(inst).bottom.clone());
        for spoken in self.spoken_at(inst).iter().filter(|spoken| spoken.down) {
            let params = self.spoken_params(inst, spoken);
            let input = |event: &str| What::Custom { name: Rc::from(event), down: true };
            if self.inst(inst).uses.sessions {
                self.add_input(inst, On::Session, &spoken.name, params.clone(), input(&spoken.name));
            }
            if self.inst(inst).uses.flow {
                let event = format!("{}_to", spoken.name);
                self.add_input(inst, On::Entity, &event, [flow.clone(), params].concat(), input(&event));
            }
        }
    }
}

impl<'p> Writer<'_, 'p> {
    /// An event of a vocabulary on its way through the port; `false` if it is none.
    pub fn application_speaks(&mut self, task: &Task) -> bool {
        let What::Custom { name, down } = &task.what else { return false };
        let of_flow = task.on == On::Entity;
        let plain = match (*down, of_flow) {
            (true, true) => name.strip_suffix("_to").unwrap_or(name),
            _ => name,
        };
        let known = self.spoken_at(self.inst).into_iter().any(|known| known.name == plain && known.down == *down);
        if !known {
            return false;
        }
        let args = self.params()[1..].to_vec();
        let parts = if of_flow { self.inst(self.inst).bottom.len() } else { 0 };
        match (*down, of_flow) {
            (true, _) => {
                let (flow, args) = args.split_at(parts);
                if of_flow {
                    self.place.flow = Some(flow.to_vec());
                    self.place.bottom = Some(flow.to_vec());
                }
                self.custom(plain, true, args.to_vec());
            }
            (false, true) => {
                let (args, flow) = args.split_at(args.len() - parts);
                self.out(&format!("{plain}_from"), [flow, args].concat());
            }
            (false, false) => self.out(plain, self.params()),
        }
        true
    }
}

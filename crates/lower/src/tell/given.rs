//! The values that `open` and `listen` pass to the layers below (docs/language.md, section 6).

use std::rc::Rc;

use mokume_reaction as r;
use mokume_semantics::program as s;

use mokume_semantics::types;

use crate::code::Writer;
use crate::stack::{Given, Giver};

impl<'p> Writer<'_, 'p> {
    /// Takes the instance's own from the values after the flow; the rest is passed on.
    pub fn take_given(&mut self, session: r::Value, values: &[r::Value]) {
        for (given, mine) in self.by_given(self.given_at(self.inst), values) {
            if given.inst == self.inst {
                let info = self.info();
                let cells = info.members.get(&(s::ScopeKind::Session, given.member));
                let mine = self.gather(given.ty, mine);
                self.set_cells(session, cells.map_or(&[][..], |cells| cells), mine);
            } else {
                self.hand_on(&given, mine);
            }
        }
    }

    /// The values of an event, grouped by the constant that they are for.
    fn by_given(&mut self, all: Vec<Given>, values: &[r::Value]) -> Vec<(Given, Vec<r::Value>)> {
        let mut rest = values.iter().copied();
        let mut found = Vec::new();
        for given in all {
            let count = self.lowering.border_types(given.inst, given.ty).len();
            found.push((given, rest.by_ref().take(count).collect()));
        }
        found
    }

    /// Passes values on to the layer below that asks for them, if anything carries them.
    pub fn hand_on(&mut self, given: &Given, values: Vec<r::Value>) {
        let known = Rc::make_mut(&mut self.runs.given);
        known.retain(|(of, _)| of != given);
        known.push((given.clone(), values));
    }

    /// Takes the values that an application gives by name, for every layer that asks for them.
    pub fn take_from_port(&mut self, giver: Giver, values: &[r::Value]) {
        let Some(below) = self.inst(self.inst).below else { return };
        let asked = self.lowering.asked_of_port(below, giver);
        let said = self.by_given(asked, values);
        for given in self.asked_at(below, giver) {
            if let Some((_, values)) = said.iter().find(|(known, _)| known.name == given.name) {
                self.hand_on(&given, values.clone());
            }
        }
    }

    /// The values that the layers below ask for: the current ones, else the defaults.
    pub fn given_below(&mut self, all: &[Given]) -> Vec<r::Value> {
        let mut values = Vec::new();
        for given in all {
            let known = self.runs.given.iter().find(|(of, _)| of == given).map(|(_, values)| values.clone());
            values.extend(known.unwrap_or_else(|| {
                let default = self.given_default(given);
                default.into_iter().map(|(ty, value)| self.constant(ty, value)).collect()
            }));
        }
        values
    }

    /// `below.open(…, priority: 3)` in code: for every layer below that asks for that name.
    pub fn give_by_hand(&mut self, giver: Giver, args: &'p [(s::Name, s::Expr)]) {
        let Some(below) = self.inst(self.inst).below else { return };
        let wanted = self.asked_at(below, giver);
        for (name, value) in args {
            let values = self.one_at_border(value);
            let mut asked = false;
            for given in wanted.iter().filter(|given| given.name == name.text) {
                asked = true;
                if types::same(given.ty, value.ty) || value.ty == s::Type::Unknown {
                    self.hand_on(given, values.clone());
                } else {
                    let text = format!("`{}` is another type for a layer below", name.text);
                    let help = "what is given by a name goes to all that ask for it: give one of them another name";
                    self.error("M0780", text, Some(name.span), help);
                }
            }
            if !asked {
                let word = giver.word();
                let text = format!("no layer below asks for `{}` by `{word}`", name.text);
                let near = mokume_base::did_you_mean(&name.text, wanted.iter().map(|given| given.name.as_str()));
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("a layer asks by `const … from {word}` in its session"),
                };
                self.error("M0780", text, Some(name.span), &help);
            }
        }
    }

    // -- in points

    /// Takes the values after the pattern of `listen` that the current point keeps for its sessions; the rest is passed
    /// on.
    pub fn take_listened(&mut self, values: &[r::Value]) {
        let info = self.info();
        for (given, mine) in self.by_given(self.asked_at(self.inst, Giver::Listen), values) {
            let kept = info.listened.iter().find(|(known, _)| *known == given);
            if let (Some((_, cells)), Some(point)) = (kept, self.runs.point) {
                for (cell, value) in cells.iter().zip(&mine) {
                    self.set(point, *cell, *value);
                }
            }
            if given.inst != self.inst {
                self.hand_on(&given, mine);
            }
        }
    }
}

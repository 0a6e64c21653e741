//! What who opens a session gives to the layers on the way, as values (docs/language.md, section 6).

use std::rc::Rc;

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::Writer;

impl<'p> Writer<'_, 'p> {
    /// Takes what is the instance's own from the values behind the flow; the rest goes on down.
    pub fn take_given(&mut self, session: r::Value, values: &[r::Value]) {
        let mut rest = values.iter().copied();
        for given in self.given_at(self.inst) {
            let count = self.lowering.border_types(given.inst, given.ty).len();
            let mine: Vec<r::Value> = rest.by_ref().take(count).collect();
            if given.inst == self.inst {
                let info = self.info();
                let cells = info.members.get(&(s::ScopeKind::Session, given.member));
                let mine = self.gather(given.ty, mine);
                self.set_cells(session, cells.map_or(&[][..], |cells| cells), mine);
            } else {
                Rc::make_mut(&mut self.runs.given).push((given, mine));
            }
        }
    }

    /// Values for what the layer below asks for: those at hand, else what it says itself.
    pub fn given_below(&mut self, below: usize) -> Vec<r::Value> {
        let mut values = Vec::new();
        for given in self.given_at(below) {
            let known = self.runs.given.iter().find(|(of, _)| *of == given).map(|(_, values)| values.clone());
            values.extend(known.unwrap_or_else(|| {
                let default = self.given_default(&given);
                default.into_iter().map(|(ty, value)| self.constant(ty, value)).collect()
            }));
        }
        values
    }

    /// `below.open(…, priority: 3)` in code: for every layer below that asks for that name.
    pub fn give_by_hand(&mut self, args: &'p [(s::Name, s::Expr)]) {
        let Some(below) = self.inst(self.inst).below else { return };
        let wanted = self.given_at(below);
        for (name, value) in args {
            let values = self.one_at_border(value);
            let mut asked = false;
            for given in wanted.iter().filter(|given| given.name == name.text) {
                asked = true;
                let known = Rc::make_mut(&mut self.runs.given);
                known.retain(|(of, _)| of != given);
                known.push((given.clone(), values.clone()));
            }
            if !asked {
                let text = format!("no layer below asks for `{}` when it is opened", name.text);
                self.error("M0722", text, Some(name.span), "a layer asks by `const … from open` in its session");
            }
        }
    }
}

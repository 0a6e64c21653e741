//! When all instances exist: what each uses from below, whether that is offered, and the servers of each.

use mokume_base::{Code, Diagnostic};
use mokume_semantics::program::*;

use super::{Inst, Kind, Modes, Planner};

/// Whether it is a worker whose users all use sessions: each session then belongs to one of them.
fn gives_sessions_alone(inst: &Inst) -> bool {
    inst.shape() == Some(Shape::Worker) && inst.used.sessions && !inst.used.flow
}

impl Planner<'_, '_> {
    /// From the top down: which modes each instance uses.
    pub(super) fn spread_modes(&mut self) {
        for index in (0..self.plan.insts.len()).rev() {
            let inst = &self.plan.insts[index];
            let Some(below) = inst.below else { continue };
            let under = self.plan.insts[below].offers;
            let flow = Modes { flow: true, sessions: false };
            let sessions = Modes { flow: false, sessions: true };
            let uses = match inst.kind {
                Kind::Application => under,
                Kind::Device(_) => Modes::default(),
                Kind::Layer(layer) if layer.awaits() => Modes { flow: true, sessions: true },
                Kind::Layer(layer) if self.wants_sessions(layer, below) => sessions,
                Kind::Layer(layer) if layer.shape == Shape::Worker => inst.used,
                Kind::Layer(_) => flow,
            };
            self.plan.insts[index].uses = uses;
            for lower in self.plan.insts[index].lowers().to_vec() {
                let used = &mut self.plan.insts[lower].used;
                used.flow |= uses.flow;
                used.sessions |= uses.sessions;
            }
        }
    }

    pub(super) fn check_users(&mut self) -> Option<()> {
        let mut sound = true;
        for inst in &self.plan.insts {
            let (Some(span), name) = (inst.span, &inst.name) else { continue };
            let is_edge = matches!(inst.kind, Kind::Application) || inst.shape() == Some(Shape::Endpoint);
            let problem = if !is_edge && inst.users.is_empty() {
                let way_out = match inst.kind {
                    Kind::Device(_) => "put a layer over it, or leave the device out",
                    _ => "export it, or put a layer over it",
                };
                Some(("M0723", format!("nothing stands above `{name}`"), way_out))
            } else if inst.users.len() > 1 && !inst.is_multiplexor() && !gives_sessions_alone(inst) {
                Some((
                    "M0724",
                    format!(
                        "several layers stand above `{name}`, which is no multiplexor, and gives no sessions alone"
                    ),
                    "put a multiplexor between",
                ))
            } else if inst.used.flow && !inst.offers.flow {
                Some((
                    "M0725",
                    format!("`{name}` gives sessions, and what stands above works on flow traffic"),
                    "put that layer below it, where traffic is not divided into sessions yet",
                ))
            } else if inst.used.sessions && !inst.offers.sessions {
                Some((
                    "M0725",
                    format!("`{name}` gives flow traffic, and what stands above works on sessions"),
                    "put a multiplexor between",
                ))
            } else {
                None
            };
            if let Some((code, message, help)) = problem {
                let mut diagnostic = Diagnostic::error(Code(code), message).at(span, "this instance").help(help);
                if code == "M0723" {
                    // A test that uses the port would lack it because of this error.
                    diagnostic.loses.push(mokume_semantics::lost::port_of(self.stack, name));
                }
                self.diagnostics.push(diagnostic);
                sound = false;
            }
        }
        sound.then_some(())
    }

    pub(super) fn find_servers(&mut self) {
        for (index, instance) in self.stack.instances.iter().enumerate() {
            let named = instance
                .with
                .iter()
                .filter_map(|name| self.stack.instances.iter().position(|other| other.name.text == name.text));
            let candidates: Vec<usize> = named.chain([index]).flat_map(|at| self.parts[at].clone()).collect();
            for part in self.parts[index].clone() {
                let Some(layer) = self.plan.insts[part].layer() else { continue };
                let serves = |service: &ServiceId| {
                    let plan = &self.plan;
                    let serving =
                        |at: &&usize| plan.insts[**at].layer().is_some_and(|layer| layer.serves.contains(service));
                    // If there are as many as members of a family, each has its own.
                    let all: Vec<usize> = candidates.iter().filter(serving).copied().collect();
                    match plan.insts[part].family {
                        Some(member) if all.len() == member.of => all.get(member.place).copied(),
                        _ => all.first().copied(),
                    }
                };
                let servers: Vec<Option<usize>> = layer.uses.iter().map(|(service, _)| serves(service)).collect();
                if let Some(missing) = servers.iter().position(Option::is_none) {
                    let message =
                        format!("nobody serves `{}` for `{}`", layer.uses[missing].1.text, instance.name.text);
                    let diagnostic = Diagnostic::error(Code("M0726"), message)
                        .at(instance.name.span, "uses a service")
                        .help("name the layer that serves it: `with …`");
                    self.diagnostics.push(diagnostic);
                }
                self.plan.insts[part].servers = servers;
            }
        }
    }
}

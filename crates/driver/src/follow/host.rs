//! The host whose capture is followed: its stack, its settings, its applications.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use mokume_interpret::Instance;
use mokume_reaction::{Automaton, PortId};

use crate::compile::Compiled;
use crate::dissect::capture::Packet;
use crate::dissect::link::Front;
use crate::dissect::{self, Dissection, Dissector};
use crate::failure::Failure;
use crate::machines;
use crate::record;
use crate::sim::{Applications, Prepared};

/// The host at which a capture was taken.
pub struct Host<'a> {
    /// The host's name in the network, or the stack's name.
    pub name: String,
    pub dissector: Dissector,
    pub(super) compiled: &'a Compiled,
    params: Vec<u64>,
    seed: u64,
    pub(super) device: PortId,
    /// The input that takes a frame.
    pub(super) frame: u32,
    /// The layers that frames reach first.
    pub(super) lowest: Vec<String>,
    /// Its device's station address, if known.
    pub(super) station: Option<u64>,
    /// The inputs of its applications, if known.
    pub(super) applications: Option<(&'a Prepared<'a>, usize)>,
    automata: Vec<&'a Automaton>,
    /// What whole frames are, by their octets: each is compared with many.
    known: RefCell<HashMap<Vec<u8>, Rc<Dissection>>>,
}

/// So many frames are known at once.
const KNOWN: usize = 4096;

/// The default of the most octets that a device carries: as for a TAP device.
const LARGEST: u64 = 1514;

/// Where the capture was taken.
pub enum Taken<'a> {
    /// A host of a network.
    At { prepared: &'a Prepared<'a>, host: usize },
    /// At a stack without active applications.
    Stack { compiled: &'a Compiled, set: &'a [(String, String)] },
}

impl<'a> Host<'a> {
    /// Makes the host; its stack must have one device.
    pub fn new(taken: &Taken<'a>, seed: u64) -> Result<Host<'a>, Failure> {
        let (name, compiled, params, seed, applications) = match taken {
            Taken::At { prepared, host } => {
                let (compiled, params) = prepared.alone(*host)?;
                let name = prepared.network.hosts[*host].name.text.clone();
                (name, compiled, params, seed.wrapping_add(*host as u64), Some((*prepared, *host)))
            }
            Taken::Stack { compiled, set } => {
                let automaton = &compiled.composed;
                // What the stack does not read is not asked for.
                let given = |name: &str| match name.ends_with(".mtu") {
                    true => Some(LARGEST),
                    false => (!machines::reads(&compiled.uncomposed, |read| read == name)).then_some(0),
                };
                let params = machines::parameters(automaton, &compiled.written, set, &given)?;
                (automaton.name.clone(), *compiled, params, seed, None)
            }
        };
        let devices = record::devices(&compiled.composed);
        let [device] = devices[..] else {
            let message = format!("the stack has {} devices, and a capture is of one", devices.len());
            return Err(Failure::of_use(message, "follow a host whose stack has one device"));
        };
        let port = &compiled.composed.ports[device.index()];
        let of_device = format!("{}.mac", port.name);
        let station = compiled.composed.params.iter().zip(&params).find(|(param, _)| param.name == of_device);
        let station = station.map(|(_, station)| *station).filter(|station| *station != 0);
        let frame = machines::frame_event(port)
            .ok_or_else(|| Failure::of_program("the device's port takes no frames", "please report this"))?;
        let dissector = dissect::of_compiled(compiled);
        let lowest = dissector.lowest();
        let automata = match &applications {
            Some((prepared, _)) => prepared.automata(),
            None => Vec::new(),
        };
        let known = RefCell::default();
        Ok(Host {
            name,
            dissector,
            compiled,
            params,
            seed,
            device,
            frame,
            lowest,
            station,
            applications,
            automata,
            known,
        })
    }

    pub(super) fn instance(&self) -> Instance {
        let instance = Instance::new(&self.compiled.uncomposed, &self.params, self.seed);
        let mut instance = instance.with_natives(self.compiled.natives.clone());
        instance.note_chance();
        instance
    }

    pub(super) fn at_work(&self) -> Option<Applications<'_>> {
        self.applications.map(|(prepared, host)| prepared.applications(&self.automata, host))
    }

    pub(super) fn about(&self, octets: &[u8]) -> String {
        self.dissected(octets).label(octets)
    }

    /// What a packet of a capture is.
    pub(super) fn dissected_packet(&self, packet: &Packet) -> Rc<Dissection> {
        match packet.octets.len() < packet.length as usize {
            true => Rc::new(self.dissector.dissect_cut(&packet.octets, packet.length as usize, Front::Frame(0))),
            false => self.dissected(&packet.octets),
        }
    }

    /// What a whole frame is.
    pub(super) fn dissected(&self, octets: &[u8]) -> Rc<Dissection> {
        let mut known = self.known.borrow_mut();
        if let Some(dissection) = known.get(octets) {
            return dissection.clone();
        }
        if known.len() >= KNOWN {
            known.clear();
        }
        let dissection = Rc::new(self.dissector.dissect(octets, Front::Frame(0)));
        known.insert(octets.to_vec(), dissection.clone());
        dissection
    }
}

//! Casts, deliveries and views of hosts as a log for each life, and the promises over all logs.
//!
//! A message is identified by its octets; a life is a host from a start or restart to its crash.

use std::collections::BTreeMap;

use mokume_base::Diagnostic;
use mokume_lower::{network_heard, network_unheard};
use mokume_reaction::{Automaton, Datum, Output, PortId};
use mokume_record::text_of;
use mokume_script::{Call, Names};
use mokume_semantics::program::{self, Network, Program, Promised};

use super::rounds::{round_of, Orders};
use super::stacks::{kept, Stacks};
use crate::record;

/// The patterns of a host; `None` for an event that its stack does not have.
#[derive(Default)]
pub(super) struct Heard {
    casts: Option<Call>,
    delivers: Option<Call>,
    views: Option<Call>,
}

/// The patterns of each host. Reports a port that no host has.
pub(super) fn heard(
    program: &Program,
    network: &Network,
    stacks: Stacks<'_, '_>,
    wrong: &mut Vec<Diagnostic>,
) -> Vec<Heard> {
    let program::Casts { casts, delivers, views } = &network.casts;
    let known: Vec<_> = network.hosts.iter().map(|host| stacks(host.stack.0)).collect();
    let mut of_all = |heard: &Option<program::Heard>, is_input: bool| -> Vec<Option<Call>> {
        let Some(heard) = heard else { return known.iter().map(|_| None).collect() };
        let before = wrong.len();
        let of_one = |stack: &Option<(&Automaton, &mokume_lower::Protocols)>| {
            kept(network_heard(program, (*stack)?, heard, is_input), wrong).flatten()
        };
        let calls: Vec<Option<Call>> = known.iter().map(of_one).collect();
        // One pattern is reported once, for however many hosts.
        wrong.truncate(before + 1);
        if wrong.len() == before && calls.iter().all(Option::is_none) && known.iter().all(Option::is_some) {
            let first = known.iter().flatten().next();
            wrong.extend(first.map(|stack| network_unheard(program, *stack, heard, is_input)));
        }
        calls
    };
    let (casts, delivers, views) = (of_all(casts, true), of_all(delivers, false), of_all(views, false));
    let together = casts.into_iter().zip(delivers).zip(views);
    together.map(|((casts, delivers), views)| Heard { casts, delivers, views }).collect()
}

/// Index among all messages that were cast or delivered.
type MessageId = usize;

/// An entry in the log of a life.
#[derive(Clone, Debug)]
enum Entry {
    Cast(MessageId),
    /// And what its pattern has bound: the sender.
    Delivered(MessageId, Vec<Datum>),
    /// A view: what its pattern has bound.
    View(Vec<Datum>),
}

/// A life: a host from its start to its crash.
#[derive(Clone)]
struct Life {
    host: usize,
    /// The number of the host's life, from 1.
    number: usize,
    lasts: bool,
    /// How many messages it has cast.
    casts: usize,
    /// With times of the network.
    entries: Vec<(u64, Entry)>,
}

/// The origin of a message.
#[derive(Clone, Copy)]
struct Origin {
    life: usize,
    at: u64,
    /// How many messages the life had cast before.
    number: usize,
}

/// A message that came to a life, from whom it seems to come, and from whom it does.
#[derive(Clone, Copy)]
struct Came<'l> {
    at: u64,
    life: usize,
    id: MessageId,
    caster: usize,
    sender: &'l [Datum],
}

/// Two lives that went from one view to the same next view.
struct Together<'l> {
    one: (usize, Stretch<'l>),
    other: (usize, Stretch<'l>),
    step: Step,
}

/// The log of all hosts.
#[derive(Clone)]
pub(super) struct Log {
    lives: Vec<Life>,
    /// By host, whether its stack has views.
    has_views: Vec<bool>,
    /// By host, its current or last life.
    of_host: Vec<usize>,
    ids: BTreeMap<Vec<u8>, MessageId>,
    octets: Vec<Vec<u8>>,
    origins: Vec<Option<Origin>>,
    /// The first message that was cast twice: by which life, and when.
    twice: Option<(usize, u64, MessageId)>,
}

/// A promise that was broken.
pub(super) struct Broken {
    /// When that was known.
    pub at: u64,
    pub found: String,
    /// The evidence.
    pub shown: Vec<(u64, String)>,
}

impl Log {
    /// An empty log for hosts with these events.
    pub fn of(heard: &[Heard]) -> Log {
        let hosts = heard.len();
        let life = |host| Life { host, number: 1, lasts: true, casts: 0, entries: Vec::new() };
        Log {
            lives: (0..hosts).map(life).collect(),
            has_views: heard.iter().map(|heard| heard.views.is_some()).collect(),
            of_host: (0..hosts).collect(),
            ids: BTreeMap::new(),
            octets: Vec::new(),
            origins: Vec::new(),
            twice: None,
        }
    }

    /// A host crashes or restarts.
    pub fn turned(&mut self, host: usize, begins: bool) {
        let life = self.of_host[host];
        self.lives[life].lasts = false;
        if begins {
            let number = self.lives[life].number + 1;
            self.of_host[host] = self.lives.len();
            self.lives.push(Life { host, number, lasts: true, casts: 0, entries: Vec::new() });
        }
    }

    /// An input that a host has accepted.
    pub fn input(
        &mut self,
        at: u64,
        host: usize,
        automaton: &Automaton,
        heard: &Heard,
        (event, args): ((PortId, u32), &[Datum]),
    ) {
        let Some(casts) = &heard.casts else { return };
        if !casts.meets_input(automaton, &mut Names::default(), event, args) {
            return;
        }
        let Some(id) = self.id(args) else { return };
        let life = self.of_host[host];
        if self.origins[id].is_some() {
            self.twice.get_or_insert((host, at, id));
            return;
        }
        let number = self.lives[life].casts;
        self.lives[life].casts += 1;
        self.origins[id] = Some(Origin { life, at, number });
        self.lives[life].entries.push((at, Entry::Cast(id)));
    }

    /// An output of a host.
    pub fn output(&mut self, at: u64, host: usize, automaton: &Automaton, heard: &Heard, output: &Output) {
        let life = self.of_host[host];
        let mut names = Names::default();
        if heard.views.as_ref().is_some_and(|views| views.meets(automaton, &mut names, output)) {
            let view = Entry::View(names.all().cloned().collect());
            return self.lives[life].entries.push((at, view));
        }
        let mut names = Names::default();
        if heard.delivers.as_ref().is_some_and(|delivers| delivers.meets(automaton, &mut names, output)) {
            let Some(id) = self.id(&output.args) else { return };
            let sender = names.all().cloned().collect();
            self.lives[life].entries.push((at, Entry::Delivered(id, sender)));
        }
    }

    /// The index of the message among arguments.
    fn id(&mut self, args: &[Datum]) -> Option<MessageId> {
        let octets = args.iter().find_map(|arg| match arg {
            Datum::Message(octets) => Some(octets),
            Datum::Word(_) | Datum::Handle(_) => None,
        })?;
        if let Some(id) = self.ids.get(octets) {
            return Some(*id);
        }
        let id = self.octets.len();
        self.ids.insert(octets.clone(), id);
        self.octets.push(octets.clone());
        self.origins.push(None);
        Some(id)
    }
}

// ---- promises ----

/// Shows lives and messages to people.
struct Told<'l> {
    log: &'l Log,
    hosts: &'l [&'l str],
}

impl Told<'_> {
    /// `a`, or `a`, second life.
    fn who(&self, life: usize) -> String {
        let Life { host, number, .. } = &self.log.lives[life];
        match number {
            1 => format!("`{}`", self.hosts[*host]),
            number => format!("`{}` in its life {number}", self.hosts[*host]),
        }
    }

    fn text(&self, id: MessageId) -> String {
        text_of(&self.log.octets[id])
    }

    fn delivers(&self, life: usize, id: MessageId) -> String {
        format!("{} delivers {}", self.who(life), self.text(id))
    }

    /// What a pattern has bound: a view, a sender.
    fn bound(&self, values: &[Datum]) -> String {
        let shown = values.iter().map(record::datum);
        shown.collect::<Vec<_>>().join(", ")
    }
}

/// The deliveries of a life: each message once, in order, with its time, and its position by message.
struct Sequence {
    order: Vec<(u64, MessageId)>,
    places: BTreeMap<MessageId, usize>,
}

impl Sequence {
    fn of(entries: &[(u64, Entry)]) -> Sequence {
        let mut sequence = Sequence { order: Vec::new(), places: BTreeMap::new() };
        for (at, entry) in entries {
            let Entry::Delivered(id, _) = entry else { continue };
            sequence.places.entry(*id).or_insert_with(|| {
                sequence.order.push((*at, *id));
                sequence.order.len() - 1
            });
        }
        sequence
    }

    /// Of what was done until then; a life's entries have their order.
    fn until(entries: &[(u64, Entry)], until: u64) -> Sequence {
        Sequence::of(&entries[..entries.partition_point(|(at, _)| *at <= until)])
    }
}

/// Lives that went from one view to the same next as another one, with what each did in it.
type Casters<'l> = Vec<(usize, Stretch<'l>)>;

/// For each message of these casters: of all that comes before it, what comes last in a sequence, and its place there.
fn before_each_cast(here: &Sequence, casters: &[(usize, Stretch<'_>)]) -> BTreeMap<MessageId, (usize, MessageId)> {
    let numbered = casters.iter().enumerate();
    let mut all: Vec<(u64, usize, &Entry)> = numbered
        .flat_map(|(number, (_, there))| there.entries.iter().map(move |(at, entry)| (*at, number, entry)))
        .collect();
    all.sort_by_key(|(at, ..)| *at);
    let mut farthest: BTreeMap<MessageId, (usize, MessageId)> = BTreeMap::new();
    // Once is enough, but for what is cast and delivered at one time.
    loop {
        let mut seen: Vec<Option<(usize, MessageId)>> = vec![None; casters.len()];
        let mut is_new = false;
        for (_, caster, entry) in &all {
            let (Entry::Cast(id) | Entry::Delivered(id, _)) = entry else { continue };
            let seen = &mut seen[*caster];
            if let (Entry::Cast(_), Some(last)) = (entry, *seen) {
                let known = farthest.get(id).copied();
                if known.is_none_or(|known| known.0 < last.0) {
                    farthest.insert(*id, last);
                    is_new = true;
                }
            }
            *seen = (*seen).max(here.places.get(id).map(|place| (*place, *id))).max(farthest.get(id).copied());
        }
        if !is_new {
            return farthest;
        }
    }
}

/// A view, and the next view of that life; `None` if it was in the view when the network ended.
type Step = (Vec<Datum>, Option<Vec<Datum>>);

/// What a life did from one view to the next.
#[derive(Clone, Copy)]
struct Stretch<'l> {
    entries: &'l [(u64, Entry)],
    /// When the next view began, if there was one.
    until: Option<u64>,
}

impl Log {
    /// The earliest violation of a promise.
    pub fn broken(&self, what: Promised, hosts: &[&str], until: u64) -> Option<Broken> {
        let told = Told { log: self, hosts };
        if let Some((host, at, id)) = self.twice {
            let found = format!("{} was cast before: messages are told apart by their octets", told.text(id));
            let shown = vec![(at, format!("`{}` casts {}", hosts[host], told.text(id)))];
            return Some(Broken { at, found, shown });
        }
        let has = |is: fn(&Entry) -> bool| self.lives.iter().flat_map(|life| &life.entries).any(|(_, entry)| is(entry));
        if !has(|entry| matches!(entry, Entry::Cast(_))) {
            return Some(Broken { at: until, found: "nothing was cast".to_string(), shown: Vec::new() });
        }
        if !has(|entry| matches!(entry, Entry::Delivered(..))) {
            return Some(Broken { at: until, found: "nothing was delivered".to_string(), shown: Vec::new() });
        }
        let of_two = matches!(what, Promised::Total | Promised::Causal | Promised::Agreed);
        if of_two && !self.together_in().iter().any(|pair| pair.one.0 != pair.other.0) {
            let found = "no two hosts went from one view to the same next, or were in one in the end".to_string();
            return Some(Broken { at: until, found, shown: Vec::new() });
        }
        let of_others = matches!(what, Promised::Total | Promised::Causal | Promised::Fifo) && hosts.len() > 1;
        if of_others && !self.is_any_of_another() {
            let found = "nobody has delivered what another host cast".to_string();
            return Some(Broken { at: until, found, shown: Vec::new() });
        }
        let found = match what {
            Promised::Total => self.total(&told),
            Promised::Fifo => self.fifo(&told),
            Promised::Causal => self.causal(&told),
            Promised::Own => self.own(&told, until),
            Promised::Real => self.real(&told),
            Promised::Agreed => self.agreed(&told, until),
            Promised::Together => self.together(&told, until),
            Promised::Senders => self.senders(&told),
        };
        found.into_iter().min_by_key(|broken| broken.at)
    }

    fn sequence(&self, life: usize) -> Sequence {
        Sequence::of(&self.lives[life].entries)
    }

    /// What a life did, by view, for views that were followed by another or were the last; everything if no host has
    /// views.
    fn stretches(&self, life: usize) -> BTreeMap<Step, Stretch<'_>> {
        let Life { entries, lasts, .. } = &self.lives[life];
        let mut found = BTreeMap::new();
        if !self.has_views.contains(&true) {
            found.insert((Vec::new(), None), Stretch { entries, until: None });
            return found;
        }
        let mut view: Option<(&Vec<Datum>, usize)> = None;
        for (place, (at, entry)) in entries.iter().enumerate() {
            let Entry::View(next) = entry else { continue };
            if let Some((before, from)) = view.replace((next, place + 1)) {
                let stretch = Stretch { entries: &entries[from..place], until: Some(*at) };
                found.entry((before.clone(), Some(next.clone()))).or_insert(stretch);
            }
        }
        if let (Some((last, from)), true) = (view, *lasts) {
            found.entry((last.clone(), None)).or_insert(Stretch { entries: &entries[from..], until: None });
        }
        found
    }

    /// All pairs of lives that went from one view to the same next, with what both did in it.
    fn together_in(&self) -> Vec<Together<'_>> {
        let mut found = Vec::new();
        let all: Vec<BTreeMap<Step, Stretch<'_>>> = (0..self.lives.len()).map(|life| self.stretches(life)).collect();
        for (one, ours) in all.iter().enumerate() {
            for (other, theirs) in all.iter().enumerate() {
                for (step, stretch) in ours {
                    if let Some(their) = theirs.get(step) {
                        found.push(Together { one: (one, *stretch), other: (other, *their), step: step.clone() });
                    }
                }
            }
        }
        found
    }

    fn total(&self, told: &Told<'_>) -> Vec<Broken> {
        let together = self.together_in();
        let found = disordered(&together, told, u64::MAX);
        let Some(latest) = found.iter().map(|broken| broken.at).min() else { return found };
        // What is broken stays so: the first moment is found by halves.
        let entries = self.lives.iter().flat_map(|life| &life.entries);
        let mut times: Vec<u64> = entries.map(|(at, _)| *at).filter(|at| *at < latest).collect();
        times.sort_unstable();
        times.dedup();
        let first = times.partition_point(|at| disordered(&together, told, *at).is_empty());
        times.get(first).map_or(found, |at| disordered(&together, told, *at))
    }

    fn fifo(&self, told: &Told<'_>) -> Vec<Broken> {
        let mut found = Vec::new();
        for life in 0..self.lives.len() {
            let mut last: BTreeMap<usize, (usize, u64, MessageId)> = BTreeMap::new();
            for (at, id) in self.sequence(life).order {
                let Some(origin) = self.origins[id] else { continue };
                if let Some((number, before_at, before)) = last.insert(origin.life, (origin.number, at, id)) {
                    if number > origin.number {
                        let text = format!(
                            "{} cast {} before {}, and {} delivers it behind that",
                            told.who(origin.life),
                            told.text(id),
                            told.text(before),
                            told.who(life)
                        );
                        let shown = vec![(before_at, told.delivers(life, before)), (at, told.delivers(life, id))];
                        found.push(Broken { at, found: text, shown });
                        break;
                    }
                }
            }
        }
        found
    }

    /// What a caster had seen, and what came before that for whom had cast it, and so on (Lamport 1978), comes first everywhere.
    fn causal(&self, told: &Told<'_>) -> Vec<Broken> {
        let mut groups: BTreeMap<(usize, Step), (Stretch<'_>, Casters<'_>)> = BTreeMap::new();
        for Together { one: (life, here), other, step } in self.together_in() {
            groups.entry((life, step)).or_insert((here, Vec::new())).1.push(other);
        }
        let mut found = Vec::new();
        for ((life, _), (here, casters)) in groups {
            let here = Sequence::of(here.entries);
            let farthest = before_each_cast(&here, &casters);
            for (caster, there) in casters {
                let wrong = there.entries.iter().find_map(|(_, entry)| {
                    let Entry::Cast(id) = entry else { return None };
                    let (place, (farthest, before)) = (*here.places.get(id)?, *farthest.get(id)?);
                    (farthest > place).then_some((*id, place, farthest, before))
                });
                let Some((id, place, farthest, before)) = wrong else { continue };
                let is_seen = |entry: &(u64, Entry)| matches!(entry.1, Entry::Cast(seen) | Entry::Delivered(seen, _) if seen == before);
                let seen = match there.entries.iter().any(is_seen) {
                    true => "had seen",
                    false => "had seen what followed",
                };
                let text = format!(
                    "{} {seen} {} when it cast {}, and {} delivers them the other way round",
                    told.who(caster),
                    told.text(before),
                    told.text(id),
                    told.who(life)
                );
                let (at, _) = here.order[farthest];
                let first = (here.order[place].0, told.delivers(life, id));
                found.push(Broken { at, found: text, shown: vec![first, (at, told.delivers(life, before))] });
            }
        }
        found
    }

    fn own(&self, told: &Told<'_>, until: u64) -> Vec<Broken> {
        let mut found = Vec::new();
        for (life, of) in self.lives.iter().enumerate().filter(|(_, life)| life.lasts) {
            let here = self.sequence(life);
            let lost = of.entries.iter().find_map(|(at, entry)| match entry {
                Entry::Cast(id) if !here.places.contains_key(id) => Some((*at, *id)),
                Entry::Cast(_) | Entry::Delivered(..) | Entry::View(_) => None,
            });
            if let Some((at, id)) = lost {
                let text = format!("{} cast {} and did not deliver it", told.who(life), told.text(id));
                let shown = vec![(at, format!("{} casts {}", told.who(life), told.text(id)))];
                found.push(Broken { at: until, found: text, shown });
            }
        }
        found
    }

    /// Whether a host has delivered a message that it has not cast itself.
    fn is_any_of_another(&self) -> bool {
        self.lives.iter().flat_map(|life| life.entries.iter().map(|(_, entry)| (life.host, entry))).any(
            |(host, entry)| {
                let Entry::Delivered(id, _) = entry else { return false };
                self.origins[*id].is_none_or(|origin| self.lives[origin.life].host != host)
            },
        )
    }

    fn real(&self, told: &Told<'_>) -> Vec<Broken> {
        let mut found = Vec::new();
        for (life, of) in self.lives.iter().enumerate() {
            let mut known: BTreeMap<MessageId, u64> = BTreeMap::new();
            for (at, entry) in &of.entries {
                let Entry::Delivered(id, _) = entry else { continue };
                let is_cast = self.origins[*id].is_some_and(|origin| origin.at <= *at);
                let before = known.insert(*id, *at);
                let (what, mut shown) = match before {
                    _ if !is_cast => ("nobody had cast it", Vec::new()),
                    Some(first) => ("it had delivered it before", vec![(first, told.delivers(life, *id))]),
                    None => continue,
                };
                shown.push((*at, told.delivers(life, *id)));
                let text = format!("{} delivers {}: {what}", told.who(life), told.text(*id));
                found.push(Broken { at: *at, found: text, shown });
                break;
            }
        }
        found
    }

    /// In each view, or in all if there are none, each caster has one sender, and each sender one caster.
    fn senders(&self, told: &Told<'_>) -> Vec<Broken> {
        let (mut of_caster, mut of_sender) = (BTreeMap::new(), BTreeMap::new());
        for (view, here) in self.came() {
            let as_caster: Came<'_> = *of_caster.entry((view, here.caster)).or_insert(here);
            let as_sender: Came<'_> = *of_sender.entry((view, here.sender)).or_insert(here);
            let (before, why) = if as_caster.sender != here.sender {
                (as_caster, format!("two senders, and {} cast both", told.who(here.caster)))
            } else if as_sender.caster != here.caster {
                let [one, other] = [as_sender.caster, here.caster].map(|caster| told.who(caster));
                (as_sender, format!("one sender, and {one} cast one, {other} the other"))
            } else {
                continue;
            };
            let said = |Came { at, life, id, sender, .. }: Came<'_>| {
                (at, format!("{}, from {}", told.delivers(life, id), told.bound(sender)))
            };
            let found = format!("{} and {} come from {why}", told.text(before.id), told.text(here.id));
            return vec![Broken { at: here.at, found, shown: vec![said(before), said(here)] }];
        }
        Vec::new()
    }

    /// What was delivered of what was cast, in the order of time, each with the view in which that was.
    fn came(&self) -> Vec<(&[Datum], Came<'_>)> {
        let mut all = Vec::new();
        for (life, of) in self.lives.iter().enumerate() {
            let mut view: &[Datum] = &[];
            for (at, entry) in &of.entries {
                match entry {
                    Entry::View(next) => view = next,
                    Entry::Delivered(id, sender) => {
                        let caster = self.origins[*id].map(|origin| origin.life);
                        all.extend(caster.map(|caster| (view, Came { at: *at, life, id: *id, caster, sender })));
                    }
                    Entry::Cast(_) => {}
                }
            }
        }
        all.sort_by_key(|(_, came)| came.at);
        all
    }

    fn agreed(&self, told: &Told<'_>, end: u64) -> Vec<Broken> {
        let mut found = Vec::new();
        for Together { one: (one, a), other: (other, b), step: (view, next) } in self.together_in() {
            if view.is_empty() && next.is_none() {
                continue; // there are no views
            }
            let (here, there) = (Sequence::of(a.entries), Sequence::of(b.entries));
            let missed = here.order.iter().find(|(_, id)| !there.places.contains_key(id));
            let Some((at, id)) = missed.copied() else { continue };
            let (us, them) = (told.who(one), told.who(other));
            let mut shown = vec![(at, told.delivers(one, id))];
            let (until, went) = match &next {
                Some(next) => {
                    let until = a.until.max(b.until).unwrap_or(end);
                    let enters = |life: usize, at: Option<u64>| {
                        (at.unwrap_or(until), format!("{} enters view {}", told.who(life), told.bound(next)))
                    };
                    shown.extend([enters(one, a.until), enters(other, b.until)]);
                    let went =
                        format!("{us} and {them} went from view {} to view {}", told.bound(&view), told.bound(next));
                    (until, went)
                }
                None => (end, format!("{us} and {them} are in view {} when the network ends", told.bound(&view))),
            };
            shown.sort();
            let place = if next.is_some() { " in between" } else { "" };
            let text = format!("{went}, and {them} has not delivered {}{place}", told.text(id));
            found.push(Broken { at: until, found: text, shown });
        }
        found
    }

    fn together(&self, told: &Told<'_>, until: u64) -> Vec<Broken> {
        let last = |life: &Life| {
            let views = life.entries.iter().rev();
            views.into_iter().find_map(|(at, entry)| match entry {
                Entry::View(view) => Some((*at, view.clone())),
                Entry::Cast(_) | Entry::Delivered(..) => None,
            })
        };
        let is_meant = |life: &Life| life.lasts && self.has_views[life.host];
        let running: Vec<usize> = (0..self.lives.len()).filter(|life| is_meant(&self.lives[*life])).collect();
        let Some((first, view)) = running.iter().find_map(|life| Some((*life, last(&self.lives[*life])?))) else {
            return vec![Broken { at: until, found: "nobody has entered a view".to_string(), shown: Vec::new() }];
        };
        let enters = |life: usize, (at, view): &(u64, Vec<Datum>)| {
            (*at, format!("{} enters view {}", told.who(life), told.bound(view)))
        };
        let other = running.into_iter().find(|life| last(&self.lives[*life]).is_none_or(|(_, own)| own != view.1));
        let Some(other) = other else { return Vec::new() };
        let mut shown = vec![enters(first, &view)];
        shown.extend(last(&self.lives[other]).map(|view| enters(other, &view)));
        shown.sort();
        let found = format!("{} and {} are not in one view", told.who(first), told.who(other));
        vec![Broken { at: until, found, shown }]
    }
}

/// What contradicts one order of all in what was done until then: two lives, or, if each two agree, several.
fn disordered(together: &[Together<'_>], told: &Told<'_>, until: u64) -> Vec<Broken> {
    let mut found = Vec::new();
    for Together { one: (one, a), other: (other, b), .. } in together.iter().filter(|pair| pair.one.0 < pair.other.0) {
        let (a, b) = (Sequence::until(a.entries, until), Sequence::until(b.entries, until));
        let mut last: Option<(usize, u64, MessageId)> = None;
        for (at, id) in &a.order {
            let Some(place) = b.places.get(id).copied() else { continue };
            if let Some((_, before_at, before)) = last.filter(|(farthest, ..)| *farthest > place) {
                let theirs = [b.order[place].0, b.order[b.places[&before]].0];
                let text = format!(
                    "{} and {} deliver {} and {} in different orders",
                    told.who(*one),
                    told.who(*other),
                    told.text(before),
                    told.text(*id)
                );
                let shown = vec![
                    (before_at, told.delivers(*one, before)),
                    (*at, told.delivers(*one, *id)),
                    (theirs[0], told.delivers(*other, *id)),
                    (theirs[1], told.delivers(*other, before)),
                ];
                found.push(Broken { at: (*at).max(theirs[1]), found: text, shown });
                break;
            }
            if last.is_none_or(|(farthest, ..)| farthest < place) {
                last = Some((place, *at, *id));
            }
        }
    }
    match found.is_empty() {
        true => rounds(together, told, until),
        false => found,
    }
}

/// Orders of which each two agree, and that have no common order: one life has x before y, another y before z, a third z before x.
fn rounds(together: &[Together<'_>], told: &Told<'_>, until: u64) -> Vec<Broken> {
    let mut groups: BTreeMap<&Step, BTreeMap<usize, Sequence>> = BTreeMap::new();
    for Together { one: (life, here), step, .. } in together {
        groups.entry(step).or_default().entry(*life).or_insert_with(|| Sequence::until(here.entries, until));
    }
    let mut found = Vec::new();
    for lives in groups.into_values().filter(|lives| lives.len() > 2) {
        let orders: Orders =
            lives.iter().map(|(life, all)| (*life, all.order.iter().map(|(_, id)| *id).collect())).collect();
        let Some(round) = round_of(&orders) else { continue };
        let mut shown = Vec::new();
        let mut said = Vec::new();
        for (life, before, after) in round {
            let Sequence { order, places } = &lives[&life];
            said.push(format!("{} delivers {} before {}", told.who(life), told.text(before), told.text(after)));
            shown.extend([before, after].map(|id| (order[places[&id]].0, told.delivers(life, id))));
        }
        let at = shown.iter().map(|(at, _)| *at).max().unwrap_or_default();
        found.push(Broken { at, found: format!("no order is that of all: {}", said.join(", ")), shown });
    }
    found
}

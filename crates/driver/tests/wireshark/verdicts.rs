//! Verdicts against the running stack: what is said to be dropped is dropped.

use super::*;

/// If `dissect` refuses a frame, the run dropped something. If a wire dropped it in the run, `dissect` says so.
#[test]
fn verdicts_are_those_of_the_running_stack() {
    let (mut frames, mut refused, mut dropped, mut more) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    // With several devices, `dissect` reads the frames of the first one.
    for tested in all_stacks(&ALL).iter().filter(|tested| tested.dissector.protocols.devices.len() < 2) {
        let automaton = &tested.dissector.automaton;
        let text = format!("{:?}", automaton.wires);
        let is_of_wire = |reason: &ReasonId| text.contains(&format!("{reason:?}"));
        for Came { frame, dropped: reasons, gone, .. } in &tested.came {
            frames += 1;
            let dissection = tested.dissector.dissect(frame, Front::Frame(0));
            let said = said_of(&dissection);
            let names: Vec<&String> = reasons.iter().map(|reason| &automaton.reasons[reason.index()].name).collect();
            refused += usize::from(!said.is_empty());
            dropped += usize::from(!reasons.is_empty());
            more += usize::from(!reasons.is_empty() && said.is_empty());
            let is_run = !said.is_empty() && reasons.is_empty() && !gone;
            let is_missed = said.is_empty() && reasons.iter().any(is_of_wire);
            if is_run || is_missed {
                wrong.push(format!("{}: dissect says {said:?}, the run {names:?}: {frame:02x?}", tested.of));
            }
        }
    }
    println!(
        "FIGURE: dissect against runs: {frames} frames of tests, {refused} refused by dissect, {dropped} dropped in the run, {more} of \
         them as the state, or what dissect does not follow, decides; {} differences",
        wrong.len()
    );
    assert!(frames > 1000 && refused > 100, "{frames} {refused}");
    assert!(wrong.is_empty(), "{}", wrong.iter().take(20).cloned().collect::<Vec<_>>().join("\n"));
}

/// What `dissect` says of a frame: the reasons for which it is refused, or dropped in any state. What may be another layer's packet is
/// not said for certain.
fn said_of(dissection: &Dissection) -> Vec<&str> {
    let sure = dissection.layers.iter().take_while(|layer| !layer.may_be_for_another);
    let refused = sure.clone().flat_map(|layer| &layer.refused).map(|refused| refused.reason.as_str());
    let dropped = sure.flat_map(|layer| &layer.dropped).map(|dropped| dropped.reason.as_str());
    refused.chain(dropped).collect()
}

/// "In any state" means any: each frame of a stack's tests comes at moments of all its tests. Those that are dropped at
/// each moment without a word of `dissect` are counted by reason.
#[test]
fn what_is_dropped_in_any_state_is_dropped_at_any_moment() {
    let (few, mut tried, mut refused) = (tries(12), 0, 0);
    let (mut wrong, mut silent) = (Vec::new(), BTreeMap::<String, usize>::new());
    let mut random = Random::new(14);
    for tested in all_stacks(&ALL).iter().filter(|tested| tested.dissector.protocols.devices.len() < 2) {
        let automaton = &tested.dissector.automaton;
        let mut seen = BTreeSet::new();
        let mut frames: Vec<&Came> = tested.came.iter().filter(|came| seen.insert(&came.frame)).collect();
        let mut moments: Vec<&Moment> = tested.moments.iter().collect();
        while frames.len() > 2 * few {
            frames.swap_remove(random.place(frames.len()));
        }
        while moments.len() > few {
            moments.swap_remove(random.place(moments.len()));
        }
        for Came { frame, at: (port, event), .. } in frames {
            let dissection = tested.dissector.dissect(frame, Front::Frame(0));
            let said = said_of(&dissection);
            refused += usize::from(!said.is_empty());
            let mut always: Option<Vec<ReasonId>> = None;
            for (machine, now) in &moments {
                let args = [Datum::Message(frame.clone())];
                let mut machine = machine.clone();
                machine.advance(*now);
                let (dropped, gone, _) = drops(&mut machine, |machine| machine.input(*now, *port, *event, &args));
                tried += 1;
                if !said.is_empty() && dropped.is_empty() && !gone {
                    wrong.push(format!("{}: dissect says {said:?}, it is taken: {frame:02x?}", tested.of));
                }
                always = Some(always.map_or(dropped.clone(), |known| {
                    known.into_iter().filter(|reason| dropped.contains(reason)).collect()
                }));
            }
            for reason in always.unwrap_or_default().iter().filter(|_| said.is_empty()) {
                let name = &automaton.reasons[reason.index()].name;
                *silent.entry(format!("{} {name}", tested.of)).or_default() += 1;
            }
        }
    }
    println!(
        "FIGURE: dissect against runs at other moments: {tried} tried, {refused} frames refused by dissect; {} differences; dropped at \
         each moment without a word, by {} reasons: {}",
        wrong.len(),
        silent.len(),
        silent.values().sum::<usize>()
    );
    if std::env::var_os("MOKUME_TELL").is_some() {
        println!("{silent:#?}");
    }
    assert!(tried > 20_000 && refused > 100, "{tried} {refused}");
    assert!(wrong.is_empty(), "{}", wrong.iter().take(20).cloned().collect::<Vec<_>>().join("\n"));
}

/// The layers whose handlers of incoming messages ran.
#[derive(Default)]
struct Reached(BTreeSet<HandlerId>);

impl Observer for Reached {
    fn see(&mut self, moment: &Seen<'_>) {
        if moment.what == What::Begins {
            self.0.insert(moment.handler);
        }
    }
}

/// How far verdicts that hold only if the packet is for a layer were compared with runs.
#[derive(Default, Debug)]
struct Conditional {
    frames: usize,
    /// How often the layer got the packet, and how often it did not.
    reached: usize,
    passed_by: usize,
    wrong: Vec<String>,
}

/// Gives frames with such verdicts to the stacks at moments of their tests: where the layer gets the packet, it is dropped for one of the
/// reasons. `told` changes the reasons.
fn conditional(stacks: &[Tested], few: usize, told: &dyn Fn(&str) -> String) -> Conditional {
    let mut found = Conditional::default();
    let mut random = Random::new(15);
    for tested in stacks.iter().filter(|tested| tested.dissector.protocols.devices.len() < 2) {
        let automaton = &tested.dissector.automaton;
        let mut frames: BTreeMap<Vec<u8>, (PortId, u32)> = BTreeMap::new();
        for came in &tested.came {
            let varied = (0..4).map(|_| changed(&mut random, &came.frame));
            let whole = varied.filter(|(octets, length)| octets.len() == *length).map(|(octets, _)| octets);
            frames.extend(whole.chain([came.frame.clone()]).map(|frame| (frame, came.at)));
        }
        let doubtful = frames.into_iter().filter_map(|(frame, at)| {
            let dissection = tested.dissector.dissect(&frame, Front::Frame(0));
            let layer = dissection.layers.into_iter().find(dissect::Layer::is_refused)?;
            layer.may_be_for_another.then_some((frame, at, layer))
        });
        for (frame, (port, event), layer) in doubtful.take(2 * few) {
            found.frames += 1;
            let reasons = layer.refused.iter().map(|refused| &refused.reason);
            let reasons: Vec<String> =
                reasons.chain(layer.dropped.iter().map(|dropped| &dropped.reason)).map(|reason| told(reason)).collect();
            let Some(protocol) = tested.dissector.protocols.all.iter().find(|one| one.name == layer.name) else {
                continue;
            };
            let takes = |handler: &HandlerId| {
                let handler = automaton.handler(*handler);
                let of = &automaton.layers[automaton.class(handler.class).layer.index()].name;
                handler.trigger == Trigger::Event("deliver".to_string()) && protocol.lowest.contains(of)
            };
            for (machine, now) in tested.moments.iter().take(few) {
                let mut machine = machine.clone();
                machine.advance(*now);
                let seen = Arc::new(Mutex::new(Reached::default()));
                machine.watch(seen.clone());
                let args = [Datum::Message(frame.clone())];
                let (dropped, gone, _) = drops(&mut machine, |machine| machine.input(*now, port, event, &args));
                if !seen.lock().expect("a lock").0.iter().any(takes) {
                    found.passed_by += 1;
                    continue;
                }
                found.reached += 1;
                let names: Vec<&String> =
                    dropped.iter().map(|reason| &automaton.reasons[reason.index()].name).collect();
                if !gone && !names.iter().any(|name| reasons.contains(name)) {
                    let of = &tested.of;
                    found
                        .wrong
                        .push(format!("{of}: `{}` says {reasons:?}, the run {names:?}: {frame:02x?}", layer.name));
                }
            }
        }
    }
    found
}

/// What is refused if it is for a layer is dropped by it whenever it is.
#[test]
fn what_is_refused_if_it_is_for_a_layer_is_dropped_where_it_is() {
    let stacks = all_stacks(&ALL);
    let found = conditional(&stacks, tries(6), &same_reason);
    let Conditional { frames, reached, passed_by, wrong } = &found;
    println!(
        "FIGURE: conditional verdicts of dissect against runs: {frames} frames; {reached} times the layer had it, {passed_by} times not; \
         {} differences",
        wrong.len()
    );
    assert!(*frames > 100 && *reached > 100 && *passed_by > 20, "{frames} {reached} {passed_by}");
    assert!(wrong.is_empty(), "{}", wrong.iter().take(20).cloned().collect::<Vec<_>>().join("\n"));
    // Planted: other reasons.
    let planted = conditional(&stacks, 2, &|reason| format!("{reason}_other"));
    assert!(planted.reached > 20 && planted.wrong.len() * 2 > planted.reached, "{planted:?}");
}

fn same_reason(reason: &str) -> String {
    reason.to_string()
}

/// A layer that binds constants when it starts has their packets for certain: the types of ICMPv6, and a port that a loop counts.
#[test]
fn what_is_bound_at_the_start_is_known() {
    let stacks = stacks(&root().join("examples/host6.mok"));
    let host = &stacks.iter().find(|one| one.dissector.automaton.name == "Host6").expect("a stack").dissector;
    let icmp = host.protocols.all.iter().find(|one| one.name == "icmp6").expect("ICMPv6");
    let to = |above: &mokume_lower::protocols::Above| host.protocols.all[above.to].name.clone();
    let keys: BTreeMap<u64, String> =
        icmp.above.iter().filter_map(|above| Some((above.keys.first()?.value, to(above)))).collect();
    let types: Vec<u64> = keys.keys().copied().collect();
    assert_eq!(types, [1, 2, 3, 4, 128, 130, 131, 135, 136], "{keys:?}");
    assert!(icmp.above.iter().all(|above| !above.keys.is_empty()), "{:?}", icmp.above);
    assert_eq!((&keys[&1], &keys[&135]), (&keys[&4], &keys[&136]));
    assert_ne!(keys[&128], keys[&135]);
}

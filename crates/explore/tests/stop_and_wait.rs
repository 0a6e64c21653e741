//! Stop and wait, explored: right where it should be, wrong where a fault is planted, with expected charts.

use crate::common::*;
use mokume_explore::*;

#[test]
fn it_is_right_over_channels_that_lose_and_duplicate() {
    let outcome = explore(&right(), &world(4, 0), Effort::default()).expect("it fits");
    println!("{}", outcome.text());
    assert_eq!(outcome.strength, Strength::Exhaustive);
    assert_eq!(outcome.violation(), None, "{}", outcome.text());
}

#[test]
fn each_planted_fault_is_found_with_a_shortest_trace() {
    for fault in &FAULTS {
        let name = fault.name;
        let outcome = explore(&fault.automaton(), &world(4, 0), Effort::default()).expect("it fits");
        let (found, violation) = outcome.violation().unwrap_or_else(|| panic!("{name}: {}", outcome.text()));
        assert_eq!(found, fault.property, "{name}");
        let chart = mokume_draw::chart_text(&violation.chart, Default::default());
        let steps: String = violation.steps.iter().map(|step| format!("{step}\n")).collect();
        blessed(&format!("{name}.txt"), &format!("{}: {}\n\n{steps}\n{chart}", found.text(), violation.text));
        blessed(&format!("{name}.svg"), &mokume_draw::chart_svg(&violation.chart, Default::default()));
    }
}

#[test]
fn it_is_wrong_where_packets_overtake_each_other() {
    let mut world = world(4, 0);
    world.network.reorders = true;
    let outcome = explore(&right(), &world, Effort::default()).expect("it fits");
    let (found, violation) = outcome.violation().unwrap_or_else(|| panic!("{}", outcome.text()));
    assert_eq!(found, Property::Order);
    blessed("reordered.svg", &mokume_draw::chart_svg(&violation.chart, Default::default()));
    blessed("reordered.txt", &mokume_draw::chart_text(&violation.chart, Default::default()));
}

#[test]
fn a_limit_of_states_leaves_the_verdicts_open() {
    let outcome = explore(&right(), &world(4, 4), Effort { states: 1000, ..Effort::default() }).expect("it fits");
    assert_eq!(outcome.strength, Strength::Bounded { limit: 1000 });
    assert!(outcome.verdicts.iter().all(|verdict| verdict.finding == Finding::Open));
}

#[test]
fn a_network_that_does_not_lose_must_have_room() {
    let mut world = world(2, 0);
    world.network.loses = false;
    let outcome = explore(&right(), &world, Effort::default()).expect("it fits");
    assert_eq!(outcome.violation().map(|(property, _)| property), Some(Property::Room), "{}", outcome.text());
    world.network.duplicates = false;
    world.timers = Timers::Patient;
    let outcome = explore(&right(), &world, Effort::default()).expect("it fits");
    assert_eq!(outcome.violation(), None, "{}", outcome.text());
}

#[test]
fn what_does_not_fit_is_said() {
    let unfit = |change: &dyn Fn(&mut World)| {
        let mut world = world(1, 1);
        change(&mut world);
        explore(&right(), &world, Effort::default()).expect_err("it does not fit").to_string()
    };
    assert_eq!(unfit(&|world| world.network.port = "nowhere".into()), "the stack has no port `nowhere`");
    assert_eq!(unfit(&|world| world.application.send = "shout".into()), "the port `app` has no input `shout`");
    assert!(unfit(&|world| world.hosts = 0).starts_with("0 hosts"));
    assert!(unfit(&|world| world.hosts = 6).contains("too many for one word"));
}

#[test]
fn every_trace_happens_on_the_interpreter_too() {
    for fault in &FAULTS {
        let (automaton, world) = (fault.automaton(), world(4, 0));
        let outcome = explore(&automaton, &world, Effort::default()).expect("it fits");
        let (_, violation) = outcome.violation().expect("a planted fault");
        let mut replay = Replay::new(&automaton, &world).expect("it fits");
        let (last, before) = violation.steps.split_last().expect("a step at least");
        for step in before {
            replay.step(step).expect("a step that can be taken");
        }
        assert!(replay.is_in_order(), "{}: it goes wrong before the last step", fault.name);
        replay.step(last).expect("a step that can be taken");
        assert_eq!(!replay.is_in_order(), fault.property == Property::Order, "{}", fault.name);
    }
}

/// Another model, by another author: eight messages may wait in a ring.
#[test]
fn one_with_a_ring_of_waiting_messages_is_right_too() {
    let text =
        std::fs::read_to_string(folder().join("../reaction/right/stop_and_wait.ra")).expect("a file of the form");
    let automaton = automaton(&text);
    let mut world = World::of(&automaton).expect("one port of each kind");
    world.application.messages = vec![4, 2];
    let outcome = explore(&automaton, &world, Effort::default()).expect("it fits");
    assert_eq!(outcome.strength, Strength::Exhaustive);
    assert_eq!(outcome.violation(), None, "{}", outcome.text());
    // More than eight at once: it drops one, so one is missing among the delivered messages.
    world.application.messages = vec![10, 0];
    let outcome = explore(&automaton, &world, Effort::default()).expect("it fits");
    assert!(outcome.violation().is_some(), "{}", outcome.text());
    println!("{}", outcome.text());
}

/// The expected number as the middle item of an array: the same states, and wrong if another item is read.
#[test]
fn it_is_the_same_with_its_number_in_an_array() {
    let steps = [
        ("  expected: u1\n", "  expected: [3] u1\n"),
        (
            "    expected = get e.expected\n    fresh = eq seq, expected\n    br fresh @0.9 take, again\n  take:\n",
            "    kept = get.all e.expected\n    part = slice kept[1] to [2]u1\n    expected = item part[0]\n    \
             fresh = eq seq, expected\n    br fresh @0.9 take(kept), again\n  take(before: [3]u1):\n",
        ),
        (
            "    set e.expected, toggled\n",
            "    one = pack [1]u1()\n    turned = set.item one[0], toggled\n    all = splice before[1], turned\n    \
             alike = eq all, before\n    chosen = select alike, before, all\n    set.all e.expected, chosen\n",
        ),
    ];
    let mut text = read("stop_and_wait.ra");
    for (there, instead) in steps {
        assert!(text.contains(there), "{there}");
        text = text.replace(there, instead);
    }
    let plain = explore(&right(), &world(4, 0), Effort::default()).expect("it fits");
    let arrays = explore(&automaton(&text), &world(4, 0), Effort::default()).expect("it fits");
    assert_eq!(arrays.violation(), None, "{}", arrays.text());
    assert_eq!(arrays.states, plain.states);
    let wrong = automaton(&text.replace("slice kept[1]", "slice kept[2]"));
    let outcome = explore(&wrong, &world(4, 0), Effort::default()).expect("it fits");
    assert_eq!(outcome.violation().map(|(property, _)| property), Some(Property::Order), "{}", outcome.text());
}

//! Odd numbers in every place that takes one: each program is correct, or refused with a code of the language, within a
//! memory limit. A fault of the automaton form (M08xx) would be the compiler's, and unreadable for users.

use std::panic::{catch_unwind, AssertUnwindSafe};

use mokume_base::world::RealWorld;
use mokume_base::Severity;
use mokume_driver::{check, compile};
use mokume_testkit::odd::{Place, Way, ODD, PLACES, WAYS};

/// The codes of a program's errors; `None` if the compiler crashed.
fn errors(text: &str) -> Option<Vec<&'static str>> {
    let codes = || {
        let checked = compile::check_texts(&RealWorld, vec![("odd.mok".into(), text.into())], Vec::new());
        let diagnostics = check::all(&checked, &RealWorld);
        let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error);
        errors.map(|found| found.code.0).collect()
    };
    catch_unwind(AssertUnwindSafe(codes)).ok()
}

fn fault(place: &Place, number: u64, way: Way) -> Option<String> {
    let text = place.program(number, way);
    let of = format!("{} {number}, {way:?}", place.name);
    match errors(&text) {
        None => Some(format!("{of}: the compiler stopped at\n{text}")),
        Some(codes) if codes.iter().any(|code| code.starts_with("M08")) => {
            Some(format!("{of}: {codes:?} is told of\n{text}"))
        }
        Some(_) => None,
    }
}

#[test]
fn odd_numbers_are_right_or_refused() {
    let all = PLACES
        .iter()
        .flat_map(|place| ODD.iter().flat_map(move |number| WAYS.iter().map(move |way| (place, *number, *way))));
    let faults: Vec<String> = all.filter_map(|(place, number, way)| fault(place, number, way)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// With 3 in the place, nothing is wrong: otherwise the places would be refused for another reason.
#[test]
fn plain_numbers_are_right() {
    for place in PLACES {
        for way in WAYS {
            let text = place.program(3, *way);
            let found = errors(&text);
            // The syntax refuses a call where a plain number is required.
            let plain = matches!(way, Way::Computed)
                && ["limit by mtu", "limit below mtu", "take", "give", "count"].contains(&place.name);
            assert!(plain || found == Some(Vec::new()), "{} {way:?}: {found:?}\n{text}", place.name);
        }
    }
}

/// A size gets the same code, however it got there.
#[test]
fn a_size_is_judged_alike_on_all_ways() {
    let sizes = PLACES.iter().take_while(|place| !place.name.starts_with("limit"));
    for (place, number) in sizes.flat_map(|place| ODD.iter().map(move |number| (place, *number))) {
        let told = |way: Way| errors(&place.program(number, way)).map(|codes| codes.first().copied());
        let written = told(Way::Written);
        for way in [Way::Parameter, Way::ByBundle] {
            assert_eq!(told(way), written, "{} {number} {way:?}", place.name);
        }
    }
}

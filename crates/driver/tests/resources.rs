//! Programs that grow: each is checked, or refused with a code, in memory proportional to its length
//! (`docs/limits.md`). The measure is the total of octets that the compiler requests from the allocator: it does
//! nothing long without requesting some, and the number is the same on every machine.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

use mimalloc::MiMalloc;
use mokume_base::world::RealWorld;
use mokume_driver::{check, compile};
use mokume_testkit::growing::{Growing, GROWING};

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

/// The command's allocator, which counts the requested octets for each thread.
struct Counting;

fn count(octets: usize) {
    // A thread that ends has no counter any more, and it is not read either.
    let _ = ASKED.try_with(|asked| asked.set(asked.get() + octets as u64));
}

// SAFETY: every call is that allocator's; the counter allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { MiMalloc.alloc(layout) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { MiMalloc.dealloc(place, layout) }
    }
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        unsafe { MiMalloc.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The page's limit: the most octets requested, besides those for each octet of the text.
const BESIDE: u64 = 1 << 31;
const FOR_EACH: u64 = 1 << 16;

/// The octets requested by a check, and the codes of its errors.
fn asked(text: &str) -> (u64, Vec<&'static str>) {
    let before = ASKED.with(Cell::get);
    let checked = compile::check_texts(&RealWorld, vec![("growing.mok".into(), text.into())], Vec::new());
    let diagnostics = check::all(&checked, &RealWorld);
    let errors = diagnostics.iter().filter(|found| found.severity == mokume_base::Severity::Error);
    let codes = errors.map(|found| found.code.0).collect();
    (ASKED.with(Cell::get) - before, codes)
}

/// What is wrong with one generator at growing sizes.
fn faults(growing: &Growing, sizes: &[usize]) -> Vec<String> {
    let mut faults = Vec::new();
    for size in sizes {
        let text = (growing.program)(*size);
        let (asked, codes) = asked(&text);
        let octets = text.len() as u64;
        println!(
            "FIGURE: {} {size}: {octets} octets, {} asked for each, {:?}",
            growing.name,
            asked / octets.max(1),
            codes.first()
        );
        if asked > BESIDE + FOR_EACH * octets {
            faults.push(format!("{} of size {size} asks for {asked} octets, with {octets} of text", growing.name));
        }
        if growing.name.starts_with("exp_") && *size >= 100 && codes.is_empty() && growing.name != "exp_signatures" {
            faults.push(format!("{} of size {size} is not refused", growing.name));
        }
        if codes.iter().any(|code| code.starts_with("M08")) {
            faults.push(format!("{} of size {size} is found wrong by the verifier: {:?}", growing.name, codes));
        }
    }
    faults
}

#[test]
fn programs_that_grow_are_checked_or_refused() {
    let all: Vec<String> = GROWING.iter().flat_map(|growing| faults(growing, &[3, 10, 30, 100, 300, 1000])).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// The count grows: unlimited doubling is found.
#[test]
fn what_is_asked_for_is_counted() {
    let (less, _) = asked(&(GROWING[0].program)(3));
    let (more, _) = asked(&(GROWING[0].program)(10));
    assert!(less > 1_000 && more > less, "{less}, {more}");
}

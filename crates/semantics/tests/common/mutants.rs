//! Mutated programs: tokens deleted, doubled, swapped, or replaced by those of other programs. Equal seeds make equal
//! mutants.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use mokume_base::{FileId, Random};

fn programs(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "mok") {
            found.extend(std::fs::read_to_string(&path).ok().map(|text| (path, text)));
        }
    }
}

fn tokens(text: &str) -> Vec<String> {
    let parse = mokume_syntax::parse(FileId(0), text);
    let all = parse.syntax().descendants_with_tokens();
    all.filter_map(|element| element.into_token()).map(|token| token.text().to_string()).collect()
}

fn mutate(tokens: &mut Vec<String>, others: &[String], random: &mut Random) {
    for _ in 0..1 + random.place(3) {
        let at = random.place(tokens.len());
        if tokens.is_empty() || tokens[at].trim().is_empty() {
            continue;
        }
        match random.place(5) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, format!("{} ", tokens[at].clone())),
            2 => {
                let other = random.place(tokens.len());
                tokens.swap(at, other);
            }
            3 => tokens[at] = others[random.place(others.len())].clone(),
            _ => {
                let end = (at + 1 + random.place(12)).min(tokens.len());
                drop(tokens.drain(at..end));
            }
        }
    }
}

fn survives(text: &str, front_end: impl Fn(&str)) -> bool {
    catch_unwind(AssertUnwindSafe(|| front_end(text))).is_ok()
}

/// The first mutant that crashes a front end: its seed, its origin, its text. Runs on all cores.
pub fn first_victim(
    mutants: std::ops::Range<usize>,
    front_end: impl Fn(&str) + Sync,
) -> Option<(usize, PathBuf, String)> {
    let house = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    for folder in ["library", "examples", "tests"] {
        programs(&house.join(folder), &mut all);
    }
    assert!(all.len() > 40, "programs to mutate: {}", all.len());
    let originals: Vec<Vec<String>> = all.iter().map(|(_, text)| tokens(text)).collect();
    let words: Vec<String> =
        originals.iter().flatten().filter(|token| !token.trim().is_empty()).step_by(7).cloned().collect();
    let victim = |seed: usize| {
        let mut random = Random::new(seed as u64);
        let index = random.place(all.len());
        let mut mutant = originals[index].clone();
        mutate(&mut mutant, &words, &mut random);
        let text = mutant.concat();
        (!survives(&text, &front_end)).then(|| (seed, all[index].0.clone(), text))
    };
    // Seeds are taken in order, and each that is taken is judged, so the first crash is among those found.
    let (next, found) = (AtomicUsize::new(mutants.start), Mutex::new(Vec::new()));
    let work = || {
        while found.lock().expect("no judge panics").is_empty() {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= mutants.end {
                break;
            }
            let victim = victim(seed);
            found.lock().expect("no judge panics").extend(victim);
        }
    };
    std::thread::scope(|scope| {
        (0..std::thread::available_parallelism().map_or(1, usize::from)).for_each(|_| drop(scope.spawn(work)))
    });
    found.into_inner().expect("no judge panics").into_iter().min_by_key(|(seed, ..)| *seed)
}

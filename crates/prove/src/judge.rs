//! Whether a path does what the layers do. For each way through it that ends, the judge reads all that follows from the
//! layers' handlers under the way's guards, and compares.
//!
//! It reads the layers from their handlers, and trusts no queue, order or fact of the composition. A way is proved when
//! a solver refutes the failure of every goal, or the goal is trivial. Whatever is not read, not decided or different
//! leaves the way open. The judge never says "wrong", since a state that it finds may be unreachable.

use std::cell::RefCell;
use std::time::Duration;

use mokume_reaction::{Automaton, ClassId, Path};

pub use crate::again::given;
use crate::again::{arguments, assume, is_taken, made_simple, reader_of, sizes};
use crate::asking::Asking;
pub use crate::asking::{Step, Watch};
use crate::compared::{Compared, Met};
use crate::solver::{Answer, Solver};
use crate::symbolic::{any_state, Leaf, Origin, Reader};
use crate::term::{Assumed, Term, Terms};
pub use crate::verdict::{Goals, Judged, Kind, Open, Way};

/// Judges a path of an automaton whose procedures are inlined (`mokume_analyse::flat`). Returns an error if the path
/// cannot be read.
pub fn judge<'w>(automaton: &Automaton, path: &Path, solvers: &mut [Box<dyn Solver + 'w>]) -> Result<Judged, String> {
    judge_watched(automaton, path, solvers, &mut |_| Ok(Duration::MAX))
}

/// The same, until the watcher stops it: what is not shown by then is open, for the watcher's reason.
pub fn judge_watched<'w>(
    automaton: &Automaton,
    path: &Path,
    solvers: &mut [Box<dyn Solver + 'w>],
    watch: &mut Watch,
) -> Result<Judged, String> {
    let mut terms = Terms::default();
    let (leaves, objects) = {
        let is_inside = !automaton.begins(path.handler);
        let mut reader = Reader::new(automaton, &mut terms, any_state).inside(is_inside);
        reader.assumes = false;
        let args = arguments(automaton, path.handler, &mut reader)?;
        let leaves = reader.take(path, args)?;
        (leaves, reader.objects().to_vec())
    };
    let mut ways = Vec::new();
    let all = leaves.len();
    for (place, leaf) in leaves.into_iter().enumerate() {
        let open = ways.iter().filter(|way: &&Way| way.verdict.is_err()).count();
        let step = Step { way: place + 1, ways: all, questions: 0, open };
        if leaf.escape.is_some() {
            if does_something(&leaf) {
                let why = "it does something before it refuses".to_owned();
                ways.push(Way { guards: leaf.condition.len(), verdict: Err(why.into()) });
            }
            if !leaf.refused_well {
                let why = "where it refuses, it gives back another message than it was given".to_owned();
                ways.push(Way { guards: leaf.condition.len(), verdict: Err(why.into()) });
            }
            // After a refusal the layers run, and make their own reports.
            let facts = [sizes(automaton, path.handler, &mut terms), leaf.condition.clone()].concat();
            let facts = made_simple(&mut terms, &facts);
            let before = terms.assumed();
            facts.iter().for_each(|fact| terms.assume(*fact));
            terms.assume_all(&facts);
            let traps = terms.all_again(&leaf.traps);
            let reports = terms.any(&traps);
            terms.assuming(before);
            if terms.constant(reports) != Some(0) {
                let mut asking = Asking::new(facts, &mut *solvers, (&mut *watch, step));
                if asking.ask(&mut terms, &[reports]) != Answer::Unsat {
                    let why = asking.over().unwrap_or("it may report something before it refuses".to_owned());
                    ways.push(Way { guards: leaf.condition.len(), verdict: Err(why.into()) });
                }
            }
            continue;
        }
        let facts = [sizes(automaton, path.handler, &mut terms), leaf.condition.clone()].concat();
        let facts = made_simple(&mut terms, &facts);
        let asking = RefCell::new(Asking::new(facts.clone(), &mut *solvers, (&mut *watch, step)));
        let mut verdict = judge_way(automaton, path, &objects, (&mut terms, &facts), &asking);
        if let (Err(_), Some(why)) = (&verdict, asking.borrow_mut().over()) {
            verdict = Err(why.into());
        }
        terms.assuming(Assumed::default());
        terms.tell_apart();
        ways.push(Way { guards: leaf.condition.len(), verdict });
    }
    Ok(Judged { ways })
}

fn does_something(leaf: &Leaf) -> bool {
    let Leaf {
        written, referred, outs, ended, counted, elements, timers, handed, kept, spent, put_off, merged, ..
    } = leaf;
    handed.is_some()
        || !kept.is_empty()
        || !spent.is_empty()
        || !put_off.is_empty()
        || !referred.is_empty()
        || *merged > 0
        || !(written.is_empty()
            && outs.is_empty()
            && ended.is_empty()
            && counted.is_empty()
            && elements.is_empty()
            && timers.is_empty())
}

fn judge_way(
    automaton: &Automaton,
    path: &Path,
    objects: &[(ClassId, Origin)],
    (terms, facts): (&mut Terms, &[Term]),
    asking: &RefCell<Asking<'_, '_, '_>>,
) -> Result<Goals, Open> {
    if !is_taken(terms, asking)? {
        // The guards of the way exclude each other.
        return Ok(Goals::new());
    }
    assume(terms, facts, &[]);
    let (mine, theirs, met) = {
        let is_inside = !automaton.begins(path.handler);
        let (mut reader, facts) = reader_of(automaton, (terms, facts), (objects, is_inside), asking);
        let args = arguments(automaton, path.handler, &mut reader)?;
        let mine = reader.take(path, args.clone())?;
        let roots: Vec<Term> = mine.iter().filter(|leaf| leaf.escape.is_none()).flat_map(Leaf::terms).collect();
        asking.borrow_mut().know(reader.terms, &[facts, roots].concat());
        reader.with_same(|terms, term| asking.borrow_mut().same(terms, term));
        let handed = mine.iter().filter(|leaf| leaf.escape.is_none()).find_map(|leaf| leaf.handed.as_ref());
        reader.hands_over = handed.map(|handed| handed.handler);
        let theirs = reader.react(path.handler, args)?;
        let met = Met::of(&mut reader, mine.iter().chain(&theirs));
        (mine, theirs, met)
    };
    let mut mine = mine.into_iter().filter(|leaf| leaf.escape.is_none());
    let (Some(mine), None) = (mine.next(), mine.next()) else {
        return Err("its guards do not say which way it is".to_owned().into());
    };
    let mut goals = Goals::new();
    for theirs in theirs {
        if let Some(escape) = &theirs.escape {
            return Err(format!("the layers come to {escape}").into());
        }
        // The conditions of this way of the layers simplify both sides.
        let before = terms.assumed();
        assume(terms, &theirs.condition, facts);
        let compared = Compared { automaton, met: &met, pair: None, terms: &mut *terms, mine: &mine, theirs: &theirs };
        compared.show(&theirs.condition, asking, &mut goals)?;
        terms.assuming(before);
    }
    match goals.is_empty() {
        true => Err("the layers have no way that it is compared with".to_owned().into()),
        false => Ok(goals),
    }
}

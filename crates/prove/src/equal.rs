//! Whether handlers of two automata with a common list of declarations do the same. In every state in which their
//! common part is equal, the same event must produce the same outputs, emissions, next state and reports.
//!
//! A handler runs to its end before anything follows from what it emits (docs/semantics.md, R2, O2). So if each handler
//! does the same, each reaction does, whichever layers it passes. If single handlers do not do the same, whole
//! reactions are compared.

use std::cell::RefCell;

use mokume_reaction::{Automaton, ClassId, Emission, Handler, HandlerId, Trigger, Type};

use crate::again::{argument, arguments, assume, is_taken, made_simple, reader_of, sizes};
use crate::asking::{Asking, Step, Watch};
use crate::compared::{Compared, Met};
use crate::pair::{Both, Pair};
use crate::solver::{Answer, Solver};
use crate::symbolic::{any_state, Leaf, Origin, Reader, Value};
use crate::term::{Assumed, Term, Terms};
use crate::verdict::{Goals, Judged, Open, Way};

/// How much is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// A handler alone: its emissions are its result.
    Handler,
    /// A handler that begins reactions, and all that follows from it. It is assumed that the receivers of the first
    /// automaton's events exist.
    Reaction,
}

/// One of the two automata, with its handler.
#[derive(Clone, Copy)]
struct Side<'a> {
    automaton: &'a Automaton,
    handler: Option<HandlerId>,
}

/// Judges a handler of two automata whose procedures are inlined (`mokume_analyse::flat`). If only one of them has the
/// handler, it is compared with doing nothing.
///
/// Returns an error if they cannot be compared.
pub fn judge_same<'w>(
    pair: &Pair,
    both: &Both,
    extent: Extent,
    solvers: &mut [Box<dyn Solver + 'w>],
    watch: &mut Watch,
) -> Result<Judged, String> {
    let sides = [(&pair.first, both.first), (&pair.second, both.second)];
    let [first, second] = sides.map(|(automaton, handler)| Side { automaton, handler });
    let given = [first, second].into_iter().find(|side| side.handler.is_some()).ok_or("neither has it")?;
    if let (Some(a), Some(b)) = (both.first, both.second) {
        let [a, b] = [pair.first.handler(a), pair.second.handler(b)];
        let types = |handler: &Handler| handler.params.iter().map(|(_, ty)| *ty).collect::<Vec<_>>();
        if types(a) != types(b) {
            return Err("it is given other things in the second".into());
        }
        if a.later_capacity != b.later_capacity {
            return Err("another number of its events may be put off in the second".into());
        }
    }
    let settles =
        [&pair.first, &pair.second].map(|automaton| automaton.handler_of(both.class, &Trigger::Settle).is_some());
    if (both.first.is_none() || both.second.is_none()) && both.trigger != Trigger::Settle && settles.contains(&true) {
        return Err("only one has it, and its object settles behind it".into());
    }
    let how = How { given, is_inside: is_inside(pair, both), extent };
    let mut terms = Terms::default();
    let (leaves, objects) = {
        let mut reader = Reader::new(first.automaton, &mut terms, any_state).inside(how.is_inside);
        reader.stopped_by(|| watch(Step { way: 0, ways: 0, questions: 0, open: 0 }).err());
        let leaves = how.leaves(first, both, &mut reader)?;
        (leaves, reader.objects().to_vec())
    };
    let mut ways = Vec::new();
    let all = leaves.len();
    for (place, leaf) in leaves.into_iter().enumerate() {
        let open = ways.iter().filter(|way: &&Way| way.verdict.is_err()).count();
        let step = Step { way: place + 1, ways: all, questions: 0, open };
        let handler = given.handler.ok_or("neither has it")?;
        let facts = [sizes(given.automaton, handler, &mut terms), leaf.condition.clone()].concat();
        let facts = made_simple(&mut terms, &facts);
        let asking = RefCell::new(Asking::new(facts.clone(), &mut *solvers, (&mut *watch, step)));
        let mut verdict = way((pair, both, &how), (first, second), &objects, (&mut terms, &facts), &asking);
        if let (Err(_), Some(why)) = (&verdict, asking.borrow_mut().over()) {
            verdict = Err(why.into());
        }
        terms.assuming(Assumed::default());
        terms.tell_apart();
        ways.push(Way { guards: leaf.condition.len(), verdict });
    }
    Ok(Judged { ways })
}

/// Whether a layer may emit the event of this handler: then a message may have headers.
fn is_inside(pair: &Pair, both: &Both) -> bool {
    let begins =
        |automaton: &Automaton, handler: Option<HandlerId>| handler.is_none_or(|handler| automaton.begins(handler));
    let Trigger::Event(name) = &both.trigger else { return false };
    if both.function().is_some() {
        return true;
    }
    let emits = |automaton: &Automaton| {
        automaton.bodies().any(|body| {
            let mut emissions = body.ops().filter_map(|op| op.kind.emission()).chain(body.put_off());
            emissions.any(|emission| matches!(emission, Emission::Event { event, .. } if event == name))
        })
    };
    !(begins(&pair.first, both.first) && begins(&pair.second, both.second)) || emits(&pair.first) || emits(&pair.second)
}

/// How both are read.
struct How<'a> {
    /// The side whose parameters name the arguments.
    given: Side<'a>,
    is_inside: bool,
    extent: Extent,
}

impl How<'_> {
    fn leaves(&self, side: Side, both: &Both, reader: &mut Reader) -> Result<Vec<Leaf>, String> {
        let args: Vec<Value> = match self.given.handler {
            Some(handler) if both.function().is_some() => {
                // A procedure of a layer gets the layer's unique object.
                let params = self.given.automaton.handler(handler).params.iter().enumerate();
                let args = params.map(|(place, (name, ty))| match ty {
                    Type::Ref(class) if reader.automaton.is_unique(*class) => {
                        Ok(Value::Object(reader.object(*class, Origin::Unique(*class))))
                    }
                    ty => argument(self.given.automaton, (place, name), *ty, reader),
                });
                args.collect::<Result<_, _>>()?
            }
            Some(handler) => arguments(self.given.automaton, handler, reader)?,
            None => Vec::new(),
        };
        reader.object(both.class, Origin::Given(both.class));
        reader.compares = true;
        match (side.handler, self.extent) {
            (None, _) => Ok(vec![reader.read_nothing()]),
            (Some(handler), Extent::Handler) => reader.read_alone(handler, args),
            (Some(handler), Extent::Reaction) => reader.react(handler, args),
        }
    }
}

fn way(
    (pair, both, how): (&Pair, &Both, &How),
    (first, second): (Side, Side),
    objects: &[(ClassId, Origin)],
    (terms, facts): (&mut Terms, &[Term]),
    asking: &RefCell<Asking<'_, '_, '_>>,
) -> Result<Goals, Open> {
    if !is_taken(terms, asking)? {
        // The conditions of the way exclude each other.
        return Ok(Goals::new());
    }
    assume(terms, facts, &[]);
    let read = |side: Side, objects: &[_], terms: &mut Terms, facts: &[Term]| {
        let (mut reader, facts) = reader_of(side.automaton, (terms, facts), (objects, how.is_inside), asking);
        let leaves = how.leaves(side, both, &mut reader)?;
        let met = Met::of(&mut reader, leaves.iter());
        Ok::<_, String>((leaves, met, facts))
    };
    let (mine, met, facts) = read(first, objects, terms, facts)?;
    // Usually one is left: under its conditions the others are impossible.
    let mut live = Vec::new();
    for leaf in mine {
        if !matches!(asking.borrow_mut().ask(terms, &leaf.condition), Answer::Unsat) {
            live.push(leaf);
        }
    }
    let (theirs, more, facts) = read(second, &met.objects, terms, &facts)?;
    let met = more.behind(met);
    let mut goals = Goals::new();
    for mine in &live {
        if let Some(escape) = &mine.escape {
            return Err(format!("the first comes to {escape}").into());
        }
        for theirs in &theirs {
            let believed: Vec<Term> =
                mine.believed.iter().chain(&theirs.believed).map(|term| terms.not(*term)).collect();
            let both = [&mine.condition[..], &theirs.condition, &believed].concat();
            if matches!(asking.borrow_mut().ask(terms, &both), Answer::Unsat) {
                continue;
            }
            if let Some(escape) = &theirs.escape {
                return Err(format!("the second comes to {escape}").into());
            }
            let known = terms.assumed();
            assume(terms, &both, &facts);
            let compared =
                Compared { automaton: &pair.first, met: &met, pair: Some(pair), terms: &mut *terms, mine, theirs };
            compared.show(&both, asking, &mut goals)?;
            terms.assuming(known);
        }
    }
    match goals.is_empty() {
        true => Err("there is no way of both that is compared".to_owned().into()),
        false => Ok(goals),
    }
}

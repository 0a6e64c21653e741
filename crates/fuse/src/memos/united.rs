//! Makes memos that ask the same questions of one kind of object into one memo, which returns what each of them returned.
//!
//! The ways of a path part by what comes with a message, and behind that each has a memo of its own: the same object is
//! above, the same neighbour below. Apart, each takes a place in every object, and works out anew what the others know.
//!
//! It must keep: the united memo holds where each of its parts did, and only there. So only memos are united that ask the
//! same; what they compute may differ.

use std::collections::BTreeSet;

use mokume_analyse::Flow;
use rustc_hash::FxHashMap as HashMap;

use mokume_reaction::{
    to, Automaton, BlockId, Body, BodyBuilder, Fallible, Function, FunctionId, OpKind, Operation, Role, SourceId,
    Target, Terminator, Type, Value, ValueInfo,
};

use super::alike::recalled;
use super::paper::Paper;

/// Unites memos, which are the functions from number `first` on.
pub(super) fn united(automaton: &mut Automaton, first: usize) {
    let alone = recalled_alone(automaton);
    let memos = automaton.functions.split_off(first);
    let mut numbers: HashMap<Vec<Type>, Numbers> = HashMap::default();
    // The groups by what they ask; each has the memos in it, and what these do, if it may have several.
    let mut groups: Vec<(Vec<usize>, Vec<Way>)> = Vec::new();
    let mut asking: HashMap<(Vec<Type>, BTreeSet<String>), usize> = HashMap::default();
    for (at, memo) in memos.iter().enumerate() {
        let params: Vec<Type> = memo.params.iter().map(|(_, ty)| *ty).collect();
        // What is kept by numbers has tables that belong to one path.
        let may_be = alone.contains(&(first + at)) && matches!(params[..], [] | [Type::Ref(_)]);
        let way = may_be.then(|| way(memo, numbers.entry(params.clone()).or_default())).flatten();
        let group = match &way {
            Some(way) => *asking.entry((params, way.asks())).or_insert(groups.len()),
            None => groups.len(),
        };
        if group == groups.len() {
            groups.push(Default::default());
        }
        groups[group].0.push(at);
        groups[group].1.extend(way);
    }
    let mut places: HashMap<FunctionId, Place> = HashMap::default();
    for (of, ways) in groups {
        let now = FunctionId::from(automaton.functions.len());
        let leader = &memos[of[0]];
        let (function, given) = match of.len() {
            1 => (leader.clone(), vec![(0..leader.results.len()).collect()]),
            _ => unite(automaton, leader, &ways),
        };
        places.extend(of.iter().zip(given).map(|(at, results)| (FunctionId::from(first + at), Place { now, results })));
        automaton.functions.push(function);
    }
    let results: Vec<Vec<Type>> = automaton.functions.iter().map(|function| function.results.clone()).collect();
    for path in &mut automaton.paths {
        recall_united(&mut path.body, &places, &results);
    }
}

/// The numbers of memos whose results go to blocks of their own wherever they are recalled.
fn recalled_alone(automaton: &Automaton) -> BTreeSet<usize> {
    let (mut alone, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for path in &automaton.paths {
        let flow = Flow::new(&path.body);
        for (memo, told) in recalled(&path.body) {
            if flow.edges_into(told) == 1 { &mut alone } else { &mut shared }.insert(memo);
        }
    }
    alone.difference(&shared).copied().collect()
}

/// What has become of a memo: its number now, and where each of its results stands.
struct Place {
    now: FunctionId,
    results: Vec<usize>,
}

/// Recalls what the memos have become.
fn recall_united(body: &mut Body, places: &HashMap<FunctionId, Place>, results: &[Vec<Type>]) {
    for at in 0..body.blocks.len() {
        let Terminator::Try { op: Fallible::Recall { memo, .. }, then, .. } = &mut body.blocks[at].terminator else {
            continue;
        };
        let Some(place) = places.get(memo) else { continue };
        *memo = place.now;
        let (then, all) = (then.block.index(), &results[place.now.index()]);
        if place.results.iter().copied().eq(0..all.len()) {
            continue;
        }
        let old = std::mem::take(&mut body.blocks[then].params);
        let params = all.iter().enumerate().map(|(at, ty)| {
            place.results.iter().position(|own| *own == at).map(|own| old[own]).unwrap_or_else(|| {
                body.values.push(ValueInfo { ty: *ty, name: String::new() });
                Value(body.values.len() as u32 - 1)
            })
        });
        // Behind the results stand a block's own parameters.
        let own = old[place.results.len()..].iter().copied();
        body.blocks[then].params = params.chain(own).collect();
    }
}

/// Where a value comes from, told by numbers that are the same for all memos with the same parameters.
#[derive(PartialEq, Debug)]
enum Origin {
    Param(usize),
    Made(OpKind, usize),
    Found(Fallible, usize),
}

/// The values of memos with the same parameters: two that are worked out in the same way have one number.
#[derive(Default)]
struct Numbers(Vec<Origin>);

impl Numbers {
    fn of(&mut self, origin: Origin) -> Value {
        let known = self.0.iter().position(|known| *known == origin);
        Value(known.unwrap_or_else(|| {
            self.0.push(origin);
            self.0.len() - 1
        }) as u32)
    }
}

/// What a memo does, in order.
enum Step {
    Compute {
        kind: OpKind,
        results: Vec<Value>,
        source: Option<SourceId>,
    },
    /// It goes on where the condition is this.
    Ask {
        condition: Value,
        is: bool,
    },
    /// It goes on with what is found.
    Find {
        op: Fallible,
        found: Vec<Value>,
    },
}

impl Step {
    /// What it asks.
    fn asks(&self) -> Option<String> {
        match self {
            Step::Ask { condition, is } => Some(format!("{condition:?} {is}")),
            Step::Find { op, .. } => Some(format!("{op:?}")),
            Step::Compute { .. } => None,
        }
    }
}

/// What a memo does that has one way: all values are told by their numbers.
struct Way {
    steps: Vec<Step>,
    results: Vec<Value>,
}

impl Way {
    /// What it asks, each once.
    fn asks(&self) -> BTreeSet<String> {
        self.steps.iter().filter_map(Step::asks).collect()
    }
}

/// What a memo does, if it has one way. Memos only read.
fn way(memo: &Function, numbers: &mut Numbers) -> Option<Way> {
    let body = &memo.body;
    let mut known: HashMap<Value, Value> = HashMap::default();
    for (at, param) in body.blocks[0].params.iter().enumerate() {
        known.insert(*param, numbers.of(Origin::Param(at)));
    }
    let (mut steps, mut at) = (Vec::new(), BlockId(0));
    loop {
        let block = &body.blocks[at.index()];
        for op in &block.ops {
            let mut kind = op.kind.clone();
            kind.for_each_operand_mut(&mut |operand| *operand = known[operand]);
            let results: Vec<Value> =
                (0..op.results.len()).map(|nth| numbers.of(Origin::Made(kind.clone(), nth))).collect();
            known.extend(op.results.iter().copied().zip(results.iter().copied()));
            steps.push(Step::Compute { kind, results, source: op.source });
        }
        let refuses = |target: &Target| {
            let block = &body.blocks[target.block.index()];
            block.ops.is_empty() && matches!(block.terminator, Terminator::Refuse { .. })
        };
        let on = match &block.terminator {
            Terminator::Yield { values } => {
                let results = values.iter().map(|value| known[value]).collect();
                return Some(Way { steps, results });
            }
            Terminator::Branch { condition, then, otherwise, .. } if refuses(then) != refuses(otherwise) => {
                let is = refuses(otherwise);
                steps.push(Step::Ask { condition: known[condition], is });
                if is {
                    then
                } else {
                    otherwise
                }
            }
            Terminator::Try { op: op @ Fallible::Find { .. }, then, otherwise } if refuses(otherwise) => {
                let mut op = op.clone();
                op.for_each_operand_mut(&mut |operand| *operand = known[operand]);
                let params = &body.blocks[then.block.index()].params;
                let found: Vec<Value> =
                    (0..params.len()).map(|nth| numbers.of(Origin::Found(op.clone(), nth))).collect();
                known.extend(params.iter().copied().zip(found.iter().copied()));
                steps.push(Step::Find { op, found });
                then
            }
            _ => return None,
        };
        if !on.args.is_empty() {
            return None;
        }
        at = on.block;
    }
}

/// One memo for several that ask the same, with the places of each one's results.
fn unite(automaton: &Automaton, first: &Function, several: &[Way]) -> (Function, Vec<Vec<usize>>) {
    let builder = BodyBuilder::new(&first.params);
    let given = builder.current().map(|entry| builder.params(entry).to_vec()).unwrap_or_default();
    // The numbers of parameters are the first ones.
    let values = given.iter().enumerate().map(|(at, param)| (Value(at as u32), *param)).collect();
    let mut paper = Paper::new(builder, values);
    let mut asked: BTreeSet<String> = BTreeSet::new();
    for step in several.iter().flat_map(|way| &way.steps) {
        do_step(automaton, step, &mut asked, &mut paper);
    }
    let (mut results, mut places): (Vec<(Value, usize)>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
    for way in several {
        let mut own = Vec::new();
        for (at, value) in way.results.iter().enumerate() {
            // What a memo returns twice has two places.
            let nth = way.results[..at].iter().filter(|other| *other == value).count();
            let known = results.iter().position(|known| *known == (*value, nth));
            own.push(known.unwrap_or_else(|| {
                results.push((*value, nth));
                results.len() - 1
            }));
        }
        places.push(own);
    }
    let values: Vec<Value> = results.iter().map(|(value, _)| paper.values[value]).collect();
    let types = values.iter().map(|value| paper.builder.type_of(*value)).collect();
    paper.builder.set_source(None);
    paper.builder.end(Terminator::Yield { values });
    if let Some(exit) = paper.exit {
        paper.builder.select(exit);
        paper.builder.end(Terminator::Refuse { values: Vec::new() });
    }
    let (name, params) = (first.name.clone(), first.params.clone());
    (Function { name, role: Role::Memo, params, results: types, body: paper.builder.finish() }, places)
}

/// Does a step, unless it was done.
fn do_step(automaton: &Automaton, step: &Step, asked: &mut BTreeSet<String>, paper: &mut Paper) {
    if step.asks().is_some_and(|asks| !asked.insert(asks)) {
        return;
    }
    paper.builder.set_source(None);
    match step {
        Step::Compute { kind, results, source } => {
            if results.iter().any(|result| !paper.values.contains_key(result)) {
                let mut kind = kind.clone();
                kind.for_each_operand_mut(&mut |operand| *operand = paper.values[operand]);
                paper.builder.set_source(*source);
                let made = paper.builder.op(automaton, kind);
                paper.values.extend(results.iter().copied().zip(made));
            }
        }
        Step::Ask { condition, is: true } => paper.only_if(paper.values[condition]),
        Step::Ask { condition, is: false } => {
            let next = paper.builder.block("", &[]);
            let (then, otherwise) = (to(paper.exit(), []), to(next, []));
            let condition = paper.values[condition];
            paper.builder.end(Terminator::Branch { condition, then, otherwise, likely: Some(0.001) });
            paper.builder.select(next);
        }
        Step::Find { op, found } => {
            let mut op = op.clone();
            op.for_each_operand_mut(&mut |operand| *operand = paper.values[operand]);
            let types = paper.builder.typing(automaton).results(&op).unwrap_or_default();
            let params: Vec<(String, Type)> = types.into_iter().map(|ty| (String::new(), ty)).collect();
            let next = paper.builder.block("", &params);
            let exit = to(paper.exit(), []);
            paper.values.extend(found.iter().copied().zip(paper.builder.params(next).to_vec()));
            paper.builder.end(Terminator::Try { op, then: to(next, []), otherwise: exit });
            paper.builder.select(next);
        }
    }
}

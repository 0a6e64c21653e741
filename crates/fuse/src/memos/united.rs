//! Makes memos that ask the same questions of one kind of object into one memo, which returns what each of them returned.
//!
//! The ways of a path part by what comes with a message, and behind that each has a memo of its own: the same object is
//! above, the same neighbour below. Apart, each takes a place in every object, and works out anew what the others know.
//!
//! It must keep: the united memo holds where each of its parts did, and only there. So only memos are united that ask the
//! same; what they compute may differ.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap as HashMap;

use mokume_reaction::{
    to, Automaton, BlockId, Body, BodyBuilder, Effects, Fallible, Function, FunctionId, OpKind, Operation, Role,
    SourceId, Terminator, Type, Value,
};

use super::paper::Paper;

/// Unites memos, which are the functions from number `first` on.
pub(super) fn united(automaton: &mut Automaton, first: usize) {
    let memos = automaton.functions.split_off(first);
    let mut apart: Vec<Vec<Told>> = Vec::new();
    let mut numbers: HashMap<Vec<Type>, Numbers> = HashMap::default();
    let alone = recalled_alone(automaton);
    for (at, memo) in memos.iter().enumerate() {
        let params: Vec<Type> = memo.params.iter().map(|(_, ty)| *ty).collect();
        let numbers = numbers.entry(params).or_default();
        let told = told(memo, numbers).filter(|_| alone.contains(&FunctionId::from(first + at)));
        let told = told.unwrap_or_else(|| Told { memo: at, steps: None, results: Vec::new() });
        let told = Told { memo: at, ..told };
        let is_same = |group: &&mut Vec<Told>| {
            let other = &memos[group[0].memo];
            let is_object = matches!(memo.params[..], [] | [(_, Type::Ref(_))]);
            let asks = told.asks().filter(|_| is_object);
            asks.is_some()
                && asks == group[0].asks()
                && memo.params.iter().map(|param| param.1).eq(other.params.iter().map(|param| param.1))
        };
        match apart.iter_mut().find(is_same) {
            Some(group) => group.push(told),
            None => apart.push(vec![told]),
        }
    }
    let mut places: HashMap<FunctionId, (FunctionId, Option<Vec<usize>>)> = HashMap::default();
    for group in &apart {
        let now = FunctionId::from(automaton.functions.len());
        let of = |told: &Told| FunctionId::from(first + told.memo);
        let function = match group.as_slice() {
            [one] => {
                places.insert(of(one), (now, None));
                memos[one.memo].clone()
            }
            several => {
                let (function, given) = unite(automaton, &memos[several[0].memo], several);
                places.extend(several.iter().zip(given).map(|(told, given)| (of(told), (now, Some(given)))));
                function
            }
        };
        automaton.functions.push(function);
    }
    let results: Vec<Vec<Type>> = automaton.functions.iter().map(|function| function.results.clone()).collect();
    for path in &mut automaton.paths {
        recall_united(&mut path.body, &places, &results);
    }
}

/// Memos whose results go to blocks of their own wherever they are recalled.
fn recalled_alone(automaton: &Automaton) -> BTreeSet<FunctionId> {
    let (mut alone, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for path in &automaton.paths {
        let mut ways_in = vec![0; path.body.blocks.len()];
        for target in path.body.blocks.iter().flat_map(|block| block.terminator.targets()) {
            ways_in[target.block.index()] += 1;
        }
        for block in &path.body.blocks {
            if let Terminator::Try { op: Fallible::Recall { memo, .. }, then, .. } = &block.terminator {
                let is_alone = ways_in[then.block.index()] == 1 && then.args.is_empty();
                if is_alone { &mut alone } else { &mut shared }.insert(*memo);
            }
        }
    }
    alone.difference(&shared).copied().collect()
}

/// Recalls what the memos have become: of each its number now and, where it was united with others, the places of its results.
fn recall_united(
    body: &mut Body,
    places: &HashMap<FunctionId, (FunctionId, Option<Vec<usize>>)>,
    results: &[Vec<Type>],
) {
    for at in 0..body.blocks.len() {
        let Terminator::Try { op: Fallible::Recall { memo, .. }, then, .. } = &mut body.blocks[at].terminator else {
            continue;
        };
        let Some((now, given)) = places.get(memo) else { continue };
        *memo = *now;
        let then = then.block;
        let Some(given) = given else { continue };
        let old = std::mem::take(&mut body.blocks[then.index()].params);
        let place = |of: usize| given.iter().position(|place| *place == of).map(|place| old[place]);
        let params = results[now.index()].iter().enumerate().map(|(at, ty)| {
            place(at).unwrap_or_else(|| {
                body.values.push(mokume_reaction::ValueInfo { ty: *ty, name: String::new() });
                Value(body.values.len() as u32 - 1)
            })
        });
        body.blocks[then.index()].params = params.collect();
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

/// A memo that has one way: all values are told by their numbers.
struct Told {
    memo: usize,
    /// `None` if it has several.
    steps: Option<Vec<Step>>,
    results: Vec<Value>,
}

impl Told {
    /// What it asks, each once, in an order of its own.
    fn asks(&self) -> Option<Vec<String>> {
        let asks = self.steps.as_ref()?.iter().filter_map(|step| match step {
            Step::Ask { condition, is } => Some(format!("{condition:?} {is}")),
            Step::Find { op, .. } => Some(format!("{op:?}")),
            Step::Compute { .. } => None,
        });
        Some(asks.collect::<BTreeSet<String>>().into_iter().collect())
    }
}

/// What a memo does, if it has one way and only reads.
fn told(memo: &Function, numbers: &mut Numbers) -> Option<Told> {
    let body = &memo.body;
    let mut known: HashMap<Value, Value> = HashMap::default();
    for (at, param) in body.blocks[0].params.iter().enumerate() {
        known.insert(*param, numbers.of(Origin::Param(at)));
    }
    let (mut steps, mut at) = (Vec::new(), BlockId(0));
    loop {
        let block = &body.blocks[at.index()];
        for op in &block.ops {
            if !(op.kind.effects() - Effects::READS).is_empty() {
                return None;
            }
            let mut kind = op.kind.clone();
            kind.for_each_operand_mut(&mut |operand| *operand = known[operand]);
            let results: Vec<Value> =
                (0..op.results.len()).map(|nth| numbers.of(Origin::Made(kind.clone(), nth))).collect();
            known.extend(op.results.iter().copied().zip(results.iter().copied()));
            steps.push(Step::Compute { kind, results, source: op.source });
        }
        let refuses = |target: &mokume_reaction::Target| {
            let block = &body.blocks[target.block.index()];
            block.ops.is_empty() && matches!(block.terminator, Terminator::Refuse { .. })
        };
        let on = match &block.terminator {
            Terminator::Yield { values } => {
                let results = values.iter().map(|value| known[value]).collect();
                return Some(Told { memo: 0, steps: Some(steps), results });
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
fn unite(automaton: &Automaton, first: &Function, several: &[Told]) -> (Function, Vec<Vec<usize>>) {
    let builder = BodyBuilder::new(&first.params);
    let given = builder.current().map(|entry| builder.params(entry).to_vec()).unwrap_or_default();
    // The numbers of parameters are the first ones.
    let values = given.iter().enumerate().map(|(at, param)| (Value(at as u32), *param)).collect();
    let mut paper = Paper { builder, values, exit: None };
    let mut asked: BTreeSet<String> = BTreeSet::new();
    for step in several.iter().filter_map(|told| told.steps.as_ref()).flatten() {
        do_step(automaton, step, &mut asked, &mut paper);
    }
    let (mut results, mut places): (Vec<(Value, usize)>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
    for told in several {
        let mut own = Vec::new();
        for (at, value) in told.results.iter().enumerate() {
            // What a memo returns twice has two places.
            let nth = told.results[..at].iter().filter(|other| *other == value).count();
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
        Step::Ask { condition, is } => {
            if asked.insert(format!("{condition:?} {is}")) {
                let next = paper.builder.block("", &[]);
                let (on, exit) = (to(next, []), to(paper.exit(), []));
                let ways = if *is { (on, exit, 0.999) } else { (exit, on, 0.001) };
                let (condition, likely) = (paper.values[condition], Some(ways.2));
                paper.builder.set_source(None);
                paper.builder.end(Terminator::Branch { condition, then: ways.0, otherwise: ways.1, likely });
                paper.builder.select(next);
            }
        }
        Step::Find { op, found } => {
            if asked.insert(format!("{op:?}")) {
                let mut op = op.clone();
                op.for_each_operand_mut(&mut |operand| *operand = paper.values[operand]);
                let types = paper.builder.typing(automaton).results(&op).unwrap_or_default();
                let params: Vec<(String, Type)> = types.into_iter().map(|ty| (String::new(), ty)).collect();
                let next = paper.builder.block("", &params);
                let exit = to(paper.exit(), []);
                paper.values.extend(found.iter().copied().zip(paper.builder.params(next).to_vec()));
                paper.builder.set_source(None);
                paper.builder.end(Terminator::Try { op, then: to(next, []), otherwise: exit });
                paper.builder.select(next);
            }
        }
    }
}

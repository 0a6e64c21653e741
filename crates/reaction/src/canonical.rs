//! The canonical form of automata: two automata that differ only in numbering or labels become equal.
//!
//! `parse(print(a)) == canonical(a)`; idempotent. Blocks keep their order if every result is then defined before its
//! uses in the text. Constants without a name stand directly before their use; values are numbered by their place of
//! definition.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::*;

impl Automaton {
    /// The automaton in canonical form.
    pub fn canonical(&self) -> Automaton {
        let mut automaton = self.clone();
        for function in &mut automaton.functions {
            function.body = canonical_body(&function.body);
            name_params(&mut function.params, &function.body, 0);
        }
        for handler in &mut automaton.handlers {
            handler.body = canonical_body(&handler.body);
            name_params(&mut handler.params, &handler.body, 1);
        }
        for path in &mut automaton.paths {
            path.body = canonical_body(&path.body);
        }
        automaton
    }
}

/// A body in canonical form; unchanged if it refers to values or blocks that do not exist.
pub fn canonical_body(body: &Body) -> Body {
    if !refers_within(body) {
        return body.clone();
    }
    let mut body = body.clone();
    if !is_in_text_order(&body) {
        order_blocks(&mut body);
    }
    place_constants(&mut body);
    renumber(&mut body);
    name_values(&mut body);
    name_blocks(&mut body);
    body
}

/// Whether the body has an entry, and all values and blocks that it mentions exist.
pub fn refers_within(body: &Body) -> bool {
    let value = |value: &Value| value.index() < body.values.len();
    let target = |target: &&Target| target.block.index() < body.blocks.len() && target.args.iter().all(value);
    !body.blocks.is_empty()
        && body.blocks.iter().all(|block| {
            block.params.iter().all(value)
                && block.ops.iter().all(|op| op.results.iter().all(value) && op.kind.operands().iter().all(value))
                && block.terminator.operands().iter().all(value)
                && block.terminator.targets().iter().all(target)
        })
}

pub(crate) fn name_params(params: &mut [(String, Type)], body: &Body, skip: usize) {
    let Some(entry) = body.blocks.first() else { return };
    for ((name, _), value) in params.iter_mut().zip(entry.params.iter().skip(skip)) {
        if let Some(info) = body.values.get(value.index()) {
            *name = info.name.clone();
        }
    }
}

fn terminator_uses(terminator: &Terminator) -> Vec<Value> {
    let mut uses = terminator.operands();
    uses.extend(terminator.targets().iter().flat_map(|target| target.args.iter().copied()));
    uses
}

fn is_in_text_order(body: &Body) -> bool {
    let mut defined: HashSet<Value> = body.blocks.iter().flat_map(|block| block.params.iter().copied()).collect();
    for block in &body.blocks {
        for op in &block.ops {
            if !op.kind.operands().iter().all(|value| defined.contains(value)) {
                return false;
            }
            defined.extend(op.results.iter().copied());
        }
        if !terminator_uses(&block.terminator).iter().all(|value| defined.contains(value)) {
            return false;
        }
    }
    true
}

/// Sorts blocks in reverse postorder from the entry, the first target's blocks first; removes unreachable blocks.
fn order_blocks(body: &mut Body) {
    let mut order = postorder(body);
    order.reverse();
    let new_index: HashMap<usize, u32> = order.iter().enumerate().map(|(new, old)| (*old, new as u32)).collect();
    let mut blocks: Vec<Block> = order.iter().map(|old| body.blocks[*old].clone()).collect();
    for block in &mut blocks {
        block.terminator.for_each_target_mut(|target| target.block = BlockId(new_index[&target.block.index()]));
    }
    body.blocks = blocks;
}

/// The reachable blocks in postorder.
pub fn postorder(body: &Body) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; body.blocks.len()];
    let mut stack = vec![(0usize, 0usize)];
    seen[0] = true;
    while let Some((block, visited)) = stack.pop() {
        let targets = body.blocks[block].terminator.targets();
        // Backwards, so that the first target follows its source in the reversed order.
        match targets.len().checked_sub(visited + 1) {
            Some(index) => {
                stack.push((block, visited + 1));
                let next = targets[index].block.index();
                if !std::mem::replace(&mut seen[next], true) {
                    stack.push((next, 0));
                }
            }
            None => order.push(block),
        }
    }
    order
}

fn is_constant(kind: &OpKind) -> bool {
    matches!(kind, OpKind::Const { .. } | OpKind::Null { .. })
}

/// Removes constants without a name, and puts a copy before each operand that uses one.
fn place_constants(body: &mut Body) {
    let values = &mut body.values;
    let mut constants: HashMap<Value, OpKind> = HashMap::default();
    for block in &mut body.blocks {
        block.ops.retain(|op| {
            let goes = is_constant(&op.kind) && op.results.len() == 1 && values[op.results[0].index()].name.is_empty();
            if goes {
                constants.insert(op.results[0], op.kind.clone());
            }
            !goes
        });
    }
    for block in &mut body.blocks {
        let mut ops = Vec::with_capacity(block.ops.len());
        for mut op in std::mem::take(&mut block.ops) {
            let source = op.source;
            op.kind.for_each_operand_mut(&mut |value| copy_constant(value, &constants, source, values, &mut ops));
            ops.push(op);
        }
        block.terminator.for_each_operand_mut(|value| copy_constant(value, &constants, None, values, &mut ops));
        block.ops = ops;
    }
}

fn copy_constant(
    value: &mut Value,
    constants: &HashMap<Value, OpKind>,
    source: Option<SourceId>,
    values: &mut Vec<ValueInfo>,
    ops: &mut Vec<Op>,
) {
    let Some(kind) = constants.get(value) else { return };
    values.push(values[value.index()].clone());
    *value = Value(values.len() as u32 - 1);
    ops.push(Op { kind: kind.clone(), results: vec![*value], source });
}

/// Numbers the parameters of all blocks first, then results, in order; values without a definition come last.
fn renumber(body: &mut Body) {
    let params = body.blocks.iter().flat_map(|block| block.params.iter());
    let results = body.blocks.iter().flat_map(|block| block.ops.iter().flat_map(|op| op.results.iter()));
    let used = body.blocks.iter().flat_map(|block| {
        block.ops.iter().flat_map(|op| op.kind.operands()).chain(terminator_uses(&block.terminator)).collect::<Vec<_>>()
    });
    let mut new_index: HashMap<Value, Value> = HashMap::default();
    let mut values = Vec::new();
    for value in params.chain(results).copied().chain(used) {
        new_index.entry(value).or_insert_with(|| {
            values.push(body.values[value.index()].clone());
            Value(values.len() as u32 - 1)
        });
    }
    let mut change = |value: &mut Value| *value = new_index[value];
    for block in &mut body.blocks {
        block.params.iter_mut().for_each(&mut change);
        for op in &mut block.ops {
            op.kind.for_each_operand_mut(&mut change);
            op.results.iter_mut().for_each(&mut change);
        }
        block.terminator.for_each_operand_mut(&mut change);
    }
    body.values = values;
}

/// Words that the text form would not read as a value's name.
const WORDS: &[&str] = &["true", "false", "null", "reason"];

fn name_values(body: &mut Body) {
    let placed = placed_constants(body);
    let mut taken = HashSet::default();
    for (index, info) in body.values.iter_mut().enumerate() {
        if !placed.contains(&Value(index as u32)) {
            info.name = free_name(&info.name, &format!("v{index}"), &mut taken);
        }
    }
}

/// The constants without a name; each stands before its use at this point.
fn placed_constants(body: &Body) -> HashSet<Value> {
    let ops = body.blocks.iter().flat_map(|block| &block.ops);
    let constants = ops.filter(|op| is_constant(&op.kind)).flat_map(|op| op.results.iter().copied());
    constants.filter(|value| body.values[value.index()].name.is_empty()).collect()
}

fn name_blocks(body: &mut Body) {
    let mut taken = HashSet::default();
    for (index, block) in body.blocks.iter_mut().enumerate() {
        let wanted = if index == 0 { "entry" } else { block.label.as_str() };
        block.label = free_name(wanted, &format!("b{index}"), &mut taken);
    }
}

/// `wanted` as an identifier that is not taken yet, or `otherwise` if it is empty.
fn free_name(wanted: &str, otherwise: &str, taken: &mut HashSet<String>) -> String {
    let mut name: String = wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.is_empty() {
        name = otherwise.to_owned();
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    if WORDS.contains(&name.as_str()) {
        name.push('_');
    }
    let base = name.clone();
    let mut count = 2;
    while !taken.insert(name.clone()) {
        name = format!("{base}_{count}");
        count += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks out of order, one constant with two uses, names and labels that are equal or not identifiers.
    fn untidy() -> Automaton {
        let mut automaton = Automaton { name: "untidy".into(), tick: 1, ..Automaton::default() };
        let mut builder = BodyBuilder::new(&[("a.b".into(), Type::U(8))]);
        let param = builder.params(BlockId(0))[0];
        let one = builder.constant(&automaton, Type::U(8), 1);
        let last = builder.block("same", &[("x".into(), Type::U(8))]);
        let middle = builder.block("same", &[]);
        builder.end(Terminator::Jump { to: to(middle, []) });
        builder.select(last);
        let x = builder.params(last)[0];
        let sum = builder.named(&automaton, "x", OpKind::Binary { op: Binary::AddWrap, a: x, b: one });
        builder.end(Terminator::Yield { values: vec![sum, one] });
        builder.select(middle);
        let twice = builder.value(&automaton, OpKind::Binary { op: Binary::AddWrap, a: param, b: one });
        builder.end(Terminator::Jump { to: to(last, [twice]) });
        // `last` uses a value that only `middle`, which comes later, defines.
        builder.select(last);
        let late = builder.named(&automaton, "true", OpKind::Binary { op: Binary::Xor, a: twice, b: one });
        builder.end(Terminator::Yield { values: vec![sum, late] });
        automaton.functions.push(Function {
            name: "f".into(),
            role: Role::Pure,
            params: vec![("a.b".into(), Type::U(8))],
            results: vec![Type::U(8), Type::U(8)],
            body: builder.finish(),
        });
        automaton
    }

    #[test]
    fn text_stands_for_the_canonical_form() {
        let automaton = untidy();
        assert_eq!(verify(&automaton), []);
        let text = crate::text::print(&automaton);
        let parsed = crate::text::parse(mokume_base::FileId(0), &text);
        assert_eq!(parsed.diagnostics, [], "{text}");
        let canonical = automaton.canonical();
        assert!(parsed.automaton == canonical, "{text}");
        assert!(canonical.canonical() == canonical);
        assert_eq!(verify(&canonical), []);
        assert_eq!(crate::text::print(&canonical), text);
        assert!(text.contains("add.wrap a_b, 1\n"), "{text}");
    }
}

//! Memos in C: their results are kept, beside their object, until something that they read has changed.
//!
//! One counter for all of them counts changes (`k->memos`); each memo stores the count at which it was computed. The
//! counter grows when a cell or a map that a memo reads is written, and when an object of a class that it reads ends.
//! With `MK_CHECK_MEMOS`, each recall recomputes the memo and stops if the result differs.
//!
//! It must keep: a memo whose stored count equals the counter has the result that its function would give now.

use rustc_hash::FxHashSet as HashSet;

use mokume_reaction::*;

use crate::plan::families::is_by_numbers;
use crate::plan::{mortal, Plan};
use crate::text::Text;
use crate::types::{c_type, declare, stored_octets};

/// The name of a memo's stored results, and of the functions that use them.
pub(crate) fn name(plan: &Plan, id: FunctionId) -> String {
    plan.names.functions[id.index()].clone()
}

/// The class beside whose objects it is kept; `None`: it is kept once in the instance, or by numbers.
fn class_of(function: &Function) -> Option<ClassId> {
    match function.params.first() {
        Some((_, Type::Ref(class))) => Some(*class),
        _ => None,
    }
}

/// Whether a memo is kept beside the objects of a class; with `None`, once in the instance.
fn is_of(function: &Function, class: Option<ClassId>) -> bool {
    function.is_memo() && class_of(function) == class && !is_by_numbers(function)
}

/// The memos of an automaton that are kept beside the objects of a class; with `None`, those kept once.
pub(crate) fn of(automaton: &Automaton, class: Option<ClassId>) -> impl Iterator<Item = &Function> {
    automaton.functions.iter().filter(move |function| is_of(function, class))
}

/// Octets of a memo's stored results, as `sizeof` gives them for what [`structs`] writes.
pub(crate) fn octets(automaton: &Automaton, function: &Function) -> u64 {
    let mortal = mortal(automaton);
    let mut end = 8u64;
    for (ty, there) in function.results.iter().zip(there(automaton, function)) {
        let has_record =
            matches!(*ty, Type::Ref(class) if there && (!automaton.is_unique(class) || mortal.contains(&class)));
        let record = has_record.then_some(8);
        for octets in record.into_iter().chain([u64::from(stored_octets(automaton, *ty))]) {
            end = end.next_multiple_of(octets.max(1)) + octets;
        }
    }
    end.next_multiple_of(8)
}

/// The memos that are kept beside the objects of a class; with `None`, those kept once.
pub(crate) fn all<'p>(plan: &'p Plan, of: Option<ClassId>) -> impl Iterator<Item = FunctionId> + 'p {
    let functions = plan.automaton.functions.iter().enumerate();
    functions.filter(move |(_, function)| is_of(function, of)).map(|(index, _)| FunctionId::from(index))
}

/// By result: whether it is a reference to an object that surely exists wherever the result is used. On ways without an
/// object the result is null.
pub(crate) fn there(automaton: &Automaton, function: &Function) -> Vec<bool> {
    let body = &function.body;
    let mut there = vec![true; function.results.len()];
    let mut open = vec![(BlockId(0), HashSet::default())];
    let lives = |value: Value| {
        let op = body.ops().find(|op| op.results.first() == Some(&value))?;
        if let OpKind::Lives { object } = op.kind {
            Some(object)
        } else {
            None
        }
    };
    let is_null = |value: Value| {
        let op = body.ops().find(|op| op.results.first() == Some(&value));
        op.is_some_and(|op| matches!(op.kind, OpKind::Null { .. }))
    };
    if let Some(own) = body.blocks[0].params.first() {
        open[0].1.insert(*own);
    }
    while let Some((at, mut known)) = open.pop() {
        let block = &body.blocks[at.index()];
        for op in &block.ops {
            if let (OpKind::Unique { .. }, [result]) = (&op.kind, &op.results[..]) {
                known.insert(*result);
            }
        }
        match &block.terminator {
            Terminator::Yield { values } => {
                for (place, value) in values.iter().enumerate() {
                    there[place] &=
                        matches!(function.results[place], Type::Ref(_)) && (known.contains(value) || is_null(*value));
                }
            }
            Terminator::Branch { condition, then, otherwise, .. } => {
                open.push((otherwise.block, known.clone()));
                known.extend(lives(*condition));
                open.push((then.block, known));
            }
            Terminator::Try { op, then, otherwise } => {
                open.push((otherwise.block, known.clone()));
                let by = op.cell().and_then(|(object, cell)| Some((body.class_of(object)?, cell)));
                let finds_objects = by.is_some_and(|(class, cell)| {
                    matches!(&automaton.cell(class, cell).kind, CellKind::Map { by, .. } if !by.is_empty())
                });
                if finds_objects {
                    known.extend(body.blocks[then.block.index()].params.first());
                }
                open.push((then.block, known));
            }
            Terminator::Return | Terminator::Refuse { .. } => {}
            Terminator::Jump { .. } | Terminator::Switch { .. } | Terminator::Match { .. } => {
                let targets = block.terminator.targets().into_iter();
                open.extend(targets.map(|target| (target.block, known.clone())));
            }
        }
    }
    there
}

/// The record of a result's object, if it has its own and surely exists.
fn record<'p>(plan: &'p Plan, ty: Type, there: bool) -> Option<&'p str> {
    match ty {
        Type::Ref(class) if there && !plan.is_sole(class) => Some(&plan.names.classes[class.index()]),
        _ => None,
    }
}

/// Writes the structs of the memos' stored results.
pub(crate) fn structs(plan: &Plan, text: &mut Text) {
    for (index, function) in plan.automaton.functions.iter().enumerate().filter(|(_, function)| function.is_memo()) {
        text.line(format!("/* {} */", function.name));
        text.open(format!("struct {}", plan.names.functions[index]));
        text.line("uint64_t memos; /* the count by which it was worked out, or its opposite where it does not hold */");
        for (place, (ty, there)) in function.results.iter().zip(there(plan.automaton, function)).enumerate() {
            if let Some(record) = record(plan, *ty, there) {
                text.line(format!("struct {record} *at_{place};"));
            }
            text.line(format!("{};", declare(c_type(plan.automaton, *ty), &format!("v{place}"))));
        }
        text.close(";");
        text.line("");
    }
}

/// `recall_…`: returns whether the memo holds; then its results are up to date.
pub(crate) fn functions(plan: &Plan, text: &mut Text) {
    for (index, function) in plan.automaton.functions.iter().enumerate().filter(|(_, function)| function.is_memo()) {
        let (stack, name) = (&plan.names.stack, &plan.names.functions[index]);
        let declared = |(place, (_, ty)): (usize, &(String, Type))| {
            format!(" {},", declare(c_type(plan.automaton, *ty), &format!("p{place}")))
        };
        let own: String = function.params.iter().enumerate().map(declared).collect();
        let passed: String = (0..function.params.len()).map(|place| format!(", p{place}")).collect();
        let there = there(plan.automaton, function);
        let results = |of: &str| (0..function.results.len()).map(|at| format!(", &{of}v{at}")).collect::<String>();
        text.function(format!(
            "static MK_UNUSED MK_APART bool refresh_{name}(struct {stack} *k,{own} struct {name} *memo)"
        ));
        text.line("if (memo->memos == ~k->memos)");
        text.line("    return false;");
        text.line(format!("bool holds = {name}(k{passed}{});", results("memo->")));
        for (place, (ty, there)) in function.results.iter().zip(there).enumerate() {
            if let Some(record) = record(plan, *ty, there) {
                let known = format!("holds && memo->v{place} != MK_NULL");
                text.line(format!("memo->at_{place} = {known} ? &k->{record}[mk_number(memo->v{place})] : NULL;"));
            }
        }
        text.line("memo->memos = holds ? k->memos : ~k->memos;");
        text.line("return holds;");
        text.end_function();
        text.line("#ifdef MK_CHECK_MEMOS");
        text.function(format!("static bool is_so_{name}(struct {stack} *k,{own} const struct {name} *memo)"));
        text.line(format!("struct {name} now = {{0}};"));
        text.line("(void)now, (void)memo;");
        let same = (0..function.results.len()).map(|at| format!(" && now.v{at} == memo->v{at}")).collect::<String>();
        text.line(format!("return {name}(k{passed}{}){same};", results("now.")));
        text.end_function();
        text.line("#endif");
        text.function(format!(
            "static MK_UNUSED inline bool recall_{name}(struct {stack} *k,{own} struct {name} *memo)"
        ));
        text.line("if (MK_UNLIKELY(memo->memos != k->memos))");
        text.line(format!("    return refresh_{name}(k{passed}, memo);"));
        text.line("#ifdef MK_CHECK_MEMOS");
        text.line(format!("if (!is_so_{name}(k{passed}, memo))"));
        text.line("    MK_CHECK_MEMOS;");
        text.line("#endif");
        text.line("return true;");
        text.end_function();
    }
}

/// The call that invalidates memos, where something changes that they read.
pub(crate) const FORGET: &str = "mk_forget";

//! What is known before the stack starts: the arguments of layers, and constants.
//!
//! An expression in a layer names the layer's parameters; [`Env`] gives their arguments.

use std::rc::Rc;

use mokume_semantics::constants::{eval_in, Known, Unknown, Value};
use mokume_semantics::program::{Expr, Program, RecordId, Type};

/// The arguments for the parameters of the current expression.
#[derive(Clone, Debug)]
pub enum Env<'p> {
    /// The parameters are those of the stack itself, or there are none.
    Stack,
    /// Arguments, which are expressions in an outer environment.
    Use(Rc<Used<'p>>),
}

/// The arguments of a layer or bundle.
#[derive(Clone, Debug)]
pub struct Used<'p> {
    pub args: &'p [Expr],
    pub outer: Env<'p>,
    /// How many layers it is over.
    pub below: u32,
}

impl<'p> Env<'p> {
    /// An inner environment: the parameters are these arguments, which are expressions in `outer`. The layer is over
    /// one other layer.
    pub fn used(args: &'p [Expr], outer: &Env<'p>) -> Env<'p> {
        Env::Use(Rc::new(Used { args, outer: outer.clone(), below: 1 }))
    }

    /// The same for a layer that is over several.
    pub fn over(&self, below: u32) -> Env<'p> {
        match self {
            Env::Stack => Env::Stack,
            Env::Use(used) => Env::Use(Rc::new(Used { below, ..(**used).clone() })),
        }
    }
}

/// The scalars of a type at a border ([`crate::parts`]), in order, each with the suffix for its name (`.left`).
/// Messages and handles are one scalar.
pub fn scalars(program: &Program, ty: Type) -> Vec<(String, Type)> {
    match ty {
        Type::Record(id) => record_scalars(program, id),
        Type::Unit => Vec::new(),
        plain => vec![(String::new(), plain)],
    }
}

fn record_scalars(program: &Program, id: RecordId) -> Vec<(String, Type)> {
    let fields = &program.records[id.index()].fields;
    let of_field = |field: &mokume_semantics::program::Field| {
        let inner = scalars(program, field.ty).into_iter();
        inner.map(|(rest, ty)| (format!(".{}{rest}", field.name.text), ty)).collect::<Vec<_>>()
    };
    fields.iter().flat_map(of_field).collect()
}

/// What is known in an environment; functions are evaluated.
impl Known for Env<'_> {
    fn param(&self, program: &Program, index: u32) -> Option<Value> {
        match self {
            Env::Use(used) => eval_in(program, &used.outer, used.args.get(index as usize)?).ok(),
            Env::Stack => None,
        }
    }

    fn below(&self) -> Option<u64> {
        match self {
            Env::Use(used) => Some(u64::from(used.below)),
            Env::Stack => None,
        }
    }

    fn calls(&self) -> bool {
        true
    }
}

/// The scalars of a constant expression; `None` if it depends on anything known only later.
pub fn fold(program: &Program, env: &Env<'_>, expr: &Expr) -> Option<Vec<u64>> {
    eval_in(program, env, expr).ok().map(|value| value.words())
}

/// A constant that is one scalar.
pub fn fold_one(program: &Program, env: &Env<'_>, expr: &Expr) -> Option<u64> {
    match fold(program, env, expr)?.as_slice() {
        [value] => Some(*value),
        _ => None,
    }
}

/// An index, as far as it is known before the stack starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index {
    Number(u64),
    /// It overflows, so no place has it.
    Nowhere,
}

/// The index that a constant expression gives; `None` if it depends on anything known only later.
pub fn fold_index(program: &Program, env: &Env<'_>, expr: &Expr) -> Option<Index> {
    match eval_in(program, env, expr) {
        Ok(value) => value.scalar().map(Index::Number),
        Err(Unknown::Overflow) => Some(Index::Nowhere),
        Err(Unknown::NotConstant) => None,
    }
}

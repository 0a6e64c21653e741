//! Evaluation of expressions whose value is known before a stack starts.

use crate::program::{Binary, CastKind, Expr, ExprKind, FunctionId, LocalId, Program, Stmt, StmtKind, Type};
use crate::types;

/// A constant: a scalar or a record of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A value of any scalar type, as in [`ExprKind::Number`].
    Scalar(u64),
    /// The values of its fields.
    Record(Vec<Value>),
}

impl Value {
    /// The scalars of the flattened value.
    pub fn words(&self) -> Vec<u64> {
        match self {
            Value::Scalar(value) => vec![*value],
            Value::Record(fields) => fields.iter().flat_map(Value::words).collect(),
        }
    }

    /// The number; `None` for a record.
    pub fn scalar(&self) -> Option<u64> {
        match self {
            Value::Scalar(value) => Some(*value),
            Value::Record(_) => None,
        }
    }
}

/// Why an expression has no constant value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// It depends on state, parameters or inputs.
    NotConstant,
    /// It does not fit its type, or it divides by zero.
    Overflow,
}

/// What is known at the place of an expression.
pub trait Known {
    /// The value of a parameter; `None` if it is not known yet.
    fn param(&self, program: &Program, index: u32) -> Option<Value>;

    /// How many layers the layer is over.
    fn below(&self) -> Option<u64> {
        None
    }

    /// What the nearest layer below publishes by this name; `None` if nobody does, or it is not known yet.
    fn published(&self, _: &Program, _name: &str) -> Option<Value> {
        None
    }

    /// Whether functions are evaluated. A constant of the language must not call any.
    fn calls(&self) -> bool {
        false
    }
}

/// Parameters by number, as far as they are known.
impl Known for &[Option<Value>] {
    fn param(&self, _: &Program, index: u32) -> Option<Value> {
        self.get(index as usize).cloned().flatten()
    }
}

/// The value of an expression without known parameters.
pub fn eval(program: &Program, expr: &Expr) -> Result<Value, Unknown> {
    eval_with(program, &[], expr)
}

/// The value of an expression with these parameters, as far as they are known.
pub fn eval_with(program: &Program, params: &[Option<Value>], expr: &Expr) -> Result<Value, Unknown> {
    eval_in(program, &params, expr)
}

/// The value of an expression with this knowledge.
pub fn eval_in(program: &Program, known: &dyn Known, expr: &Expr) -> Result<Value, Unknown> {
    Evaluator { program, known, locals: Vec::new() }.expr(expr)
}

/// The value of an expression in which a local, the counter of a loop, has this value.
pub fn eval_where(
    program: &Program,
    known: &dyn Known,
    (local, value): (LocalId, u64),
    expr: &Expr,
) -> Result<Value, Unknown> {
    Evaluator { program, known, locals: vec![(local, Value::Scalar(value))] }.expr(expr)
}

/// The only evaluator of constants; whatever it does not cover depends on state or inputs.
struct Evaluator<'a> {
    program: &'a Program,
    known: &'a dyn Known,
    /// The values of locals, the innermost last.
    locals: Vec<(LocalId, Value)>,
}

impl Evaluator<'_> {
    fn expr(&mut self, expr: &Expr) -> Result<Value, Unknown> {
        let known = match &expr.kind {
            ExprKind::Number(value) => return Ok(Value::Scalar(*value)),
            ExprKind::Param(index) => self.known.param(self.program, *index),
            ExprKind::BelowCount => self.known.below().map(Value::Scalar),
            ExprKind::Below { name, flow: None, index: None } => self.known.published(self.program, &name.text),
            ExprKind::Local(local) => {
                self.locals.iter().rev().find(|(known, _)| known == local).map(|(_, value)| value.clone())
            }
            ExprKind::Record { fields, .. } => {
                let fields = fields.iter().map(|field| self.expr(field)).collect::<Result<_, _>>()?;
                Some(Value::Record(fields))
            }
            ExprKind::RecordField { record, field } => match self.expr(record)? {
                Value::Record(fields) => fields.get(*field as usize).cloned(),
                Value::Scalar(_) => None,
            },
            ExprKind::If { condition, then, otherwise } => {
                let taken = if self.scalar(condition)? != 0 { then } else { otherwise };
                return self.expr(taken);
            }
            ExprKind::Let { local, value, body } => {
                let value = self.expr(value)?;
                self.locals.push((*local, value));
                let found = self.expr(body);
                self.locals.pop();
                return found;
            }
            ExprKind::Call { function, args } if self.known.calls() => return self.call(*function, args),
            _ => return self.computed(expr).map(Value::Scalar),
        };
        known.ok_or(Unknown::NotConstant)
    }

    fn scalar(&mut self, expr: &Expr) -> Result<u64, Unknown> {
        self.expr(expr)?.scalar().ok_or(Unknown::NotConstant)
    }

    fn computed(&mut self, expr: &Expr) -> Result<u64, Unknown> {
        let width = |ty| types::width(self.program, ty).unwrap_or(64);
        let mask = types::mask(width(expr.ty));
        match &expr.kind {
            // These evaluate only the operands that they need.
            ExprKind::Binary { op: Binary::And, a, .. } if self.scalar(a) == Ok(0) => Ok(0),
            ExprKind::Binary { op: Binary::Or, a, .. } if self.scalar(a) == Ok(1) => Ok(1),
            ExprKind::Binary { op, a, b } => {
                let width = width(a.ty);
                binary(*op, self.scalar(a)?, self.scalar(b)?, width, a.ty)
            }
            ExprKind::Not(a) => Ok(!self.scalar(a)? & mask),
            ExprKind::Cast { kind, a } => match (kind, self.scalar(a)?) {
                (CastKind::Truncate, value) => Ok(value & mask),
                (_, value) if value > mask => Err(Unknown::Overflow),
                (_, value) => Ok(value),
            },
            ExprKind::Fold16(a) => {
                let mut sum = self.scalar(a)?;
                while sum > 0xffff {
                    sum = (sum & 0xffff) + (sum >> 16);
                }
                Ok(sum)
            }
            _ => Err(Unknown::NotConstant),
        }
    }

    /// Evaluates a function that consists of `let`, `if` and `return`.
    fn call(&mut self, function: FunctionId, args: &[Expr]) -> Result<Value, Unknown> {
        let program = self.program;
        let function = &program.functions[function.index()];
        let mut locals = Vec::new();
        for (param, arg) in function.params.iter().zip(args) {
            locals.push((param.local, self.expr(arg)?));
        }
        let inside = Evaluator { program, known: &Calls, locals }.body(&function.body)?;
        inside.ok_or(Unknown::NotConstant)
    }

    /// The value that a block returns; `None` if it runs to its end.
    fn body(&mut self, block: &[Stmt]) -> Result<Option<Value>, Unknown> {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Let { local, value } | StmtKind::AssignLocal { local, value } => {
                    let value = self.expr(value)?;
                    self.locals.push((*local, value));
                }
                StmtKind::If { condition, then, otherwise, .. } => {
                    let taken = if self.scalar(condition)? != 0 { then } else { otherwise };
                    if let Some(result) = self.body(taken)? {
                        return Ok(Some(result));
                    }
                }
                StmtKind::Return { value: Some(value) } => return self.expr(value).map(Some),
                _ => return Err(Unknown::NotConstant),
            }
        }
        Ok(None)
    }
}

/// Inside a function of the program: its arguments are known, and it may call functions.
struct Calls;

impl Known for Calls {
    fn param(&self, _: &Program, _: u32) -> Option<Value> {
        None
    }

    fn calls(&self) -> bool {
        true
    }
}

fn binary(op: Binary, a: u64, b: u64, width: u8, ty: Type) -> Result<u64, Unknown> {
    use Binary::*;
    let mask = types::mask(width);
    let wraps = matches!(ty, Type::Seq(_));
    let fits = |value: Option<u64>, wrapped: u64| match value {
        Some(value) if value <= mask => Ok(value),
        _ if wraps => Ok(wrapped & mask),
        _ => Err(Unknown::Overflow),
    };
    let flag = |value: bool| Ok(u64::from(value));
    // Circular comparison: one may be less than the other, or at half of the circle neither (RFC 1982;
    // docs/semantics.md, A4).
    let before = |a: u64, b: u64| match wraps {
        true => a != b && b.wrapping_sub(a) & mask <= mask >> 1,
        false => a < b,
    };
    let (less, more) = (before(a, b), before(b, a));
    match op {
        Add => fits(a.checked_add(b), a.wrapping_add(b)),
        Sub => fits(a.checked_sub(b), a.wrapping_sub(b)),
        Mul => fits(a.checked_mul(b), a.wrapping_mul(b)),
        AddWrap => Ok(a.wrapping_add(b) & mask),
        SubWrap => Ok(a.wrapping_sub(b) & mask),
        MulWrap => Ok(a.wrapping_mul(b) & mask),
        Div => a.checked_div(b).ok_or(Unknown::Overflow),
        Rem => a.checked_rem(b).ok_or(Unknown::Overflow),
        BitAnd | And => Ok(a & b),
        BitOr | Or => Ok(a | b),
        BitXor => Ok(a ^ b),
        // All bits are shifted out: the author meant a wider number.
        Shl | Shr if b >= u64::from(width) => Err(Unknown::Overflow),
        Shl => Ok(a << b & mask),
        Shr => Ok(a >> b),
        Eq => flag(a == b),
        Ne => flag(a != b),
        Lt => flag(less),
        Le => flag(less || a == b),
        Gt => flag(more),
        Ge => flag(more || a == b),
        Min => Ok(if less { a } else { b }),
        Max => Ok(if less { b } else { a }),
    }
}

/// A value as an expression of a type.
pub fn lift(program: &Program, value: &Value, like: &Expr) -> Expr {
    let kind = match (value, like.ty) {
        (Value::Scalar(value), _) => ExprKind::Number(*value),
        (Value::Record(fields), Type::Record(id)) => {
            let types = program.records.get(id.index()).map_or(&[][..], |record| &record.fields);
            let fields = fields
                .iter()
                .zip(types)
                .map(|(value, field)| {
                    lift(program, value, &Expr { kind: ExprKind::Now, ty: field.ty, span: like.span })
                })
                .collect();
            ExprKind::Record { record: id, fields }
        }
        _ => like.kind.clone(),
    };
    Expr { kind, ty: like.ty, span: like.span }
}

//! The value of an expression that is known before a stack starts.

use crate::program::{Binary, CastKind, Expr, ExprKind, FunctionId, LocalId, Program, Stmt, StmtKind, Type};
use crate::types;

/// A constant: a scalar or a record of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// Of any scalar type, as [`ExprKind::Number`] holds it.
    Scalar(u64),
    /// One for each field.
    Record(Vec<Value>),
}

impl Value {
    /// The scalars that it flattens to.
    pub fn words(&self) -> Vec<u64> {
        match self {
            Value::Scalar(value) => vec![*value],
            Value::Record(fields) => fields.iter().flat_map(Value::words).collect(),
        }
    }

    /// The number; none of a record.
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
    /// It does not fit its type, or divides by zero.
    Overflow,
}

/// What is known where an expression stands.
pub trait Known {
    /// The value of a parameter; none if it is not known yet.
    fn param(&self, program: &Program, index: u32) -> Option<Value>;

    /// How many layers it stands on.
    fn below(&self) -> Option<u64> {
        None
    }

    /// Whether functions are computed. A constant of the language is one without them.
    fn calls(&self) -> bool {
        false
    }
}

/// Parameters as far as they are known, by their number.
impl Known for &[Option<Value>] {
    fn param(&self, _: &Program, index: u32) -> Option<Value> {
        self.get(index as usize).cloned().flatten()
    }
}

/// The value of an expression without parameters.
pub fn eval(program: &Program, expr: &Expr) -> Result<Value, Unknown> {
    eval_with(program, &[], expr)
}

/// The value of an expression whose parameters are these, as far as they are known.
pub fn eval_with(program: &Program, params: &[Option<Value>], expr: &Expr) -> Result<Value, Unknown> {
    eval_in(program, &params, expr)
}

/// The value of an expression where so much is known.
pub fn eval_in(program: &Program, known: &dyn Known, expr: &Expr) -> Result<Value, Unknown> {
    Evaluator { program, known, locals: Vec::new() }.expr(expr)
}

/// The one table of what can be known; whatever is not in it depends on state or inputs.
struct Evaluator<'a> {
    program: &'a Program,
    known: &'a dyn Known,
    /// The innermost last.
    locals: Vec<(LocalId, Value)>,
}

impl Evaluator<'_> {
    fn expr(&mut self, expr: &Expr) -> Result<Value, Unknown> {
        let known = match &expr.kind {
            ExprKind::Number(value) => return Ok(Value::Scalar(*value)),
            ExprKind::Param(index) => self.known.param(self.program, *index),
            ExprKind::BelowCount => self.known.below().map(Value::Scalar),
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
            // They evaluate only what they need.
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

    /// Functions of `let`s, `if`s and `return`s: what constants are computed by.
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

    /// What a block returns; nothing where it runs through.
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

/// A function of the program knows its arguments, and functions.
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
    // Around the circle one may be less, or the other, or, at half of it, neither (RFC 1982; docs/semantics.md, A4).
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
        // All bits are shifted out: meant as a number of more bits.
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

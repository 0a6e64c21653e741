//! The value of an expression that is known before a stack starts.

use crate::program::{Binary, CastKind, Expr, ExprKind, Program, Type};
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

/// The value of an expression without parameters.
pub fn eval(program: &Program, expr: &Expr) -> Result<Value, Unknown> {
    eval_with(program, &[], expr)
}

/// The value of an expression whose parameters are these, as far as they are known. One table of what can be known; whatever
/// is not in it depends on state or inputs.
pub fn eval_with(program: &Program, params: &[Option<Value>], expr: &Expr) -> Result<Value, Unknown> {
    let eval = |program: &Program, expr: &Expr| eval_with(program, params, expr);
    let scalar =
        |program: &Program, expr: &Expr| eval_with(program, params, expr)?.scalar().ok_or(Unknown::NotConstant);
    match &expr.kind {
        ExprKind::Param(index) => params.get(*index as usize).cloned().flatten().ok_or(Unknown::NotConstant),
        // They evaluate only what they need.
        ExprKind::Binary { op: Binary::And, a, .. } if scalar(program, a) == Ok(0) => Ok(Value::Scalar(0)),
        ExprKind::Binary { op: Binary::Or, a, .. } if scalar(program, a) == Ok(1) => Ok(Value::Scalar(1)),
        ExprKind::Number(value) => Ok(Value::Scalar(*value)),
        ExprKind::Record { fields, .. } => {
            Ok(Value::Record(fields.iter().map(|field| eval(program, field)).collect::<Result<_, _>>()?))
        }
        ExprKind::RecordField { record, field } => match eval(program, record)? {
            Value::Record(fields) => fields.get(*field as usize).cloned().ok_or(Unknown::NotConstant),
            Value::Scalar(_) => Err(Unknown::NotConstant),
        },
        ExprKind::If { condition, then, otherwise } => {
            let taken = if scalar(program, condition)? != 0 { then } else { otherwise };
            eval(program, taken)
        }
        ExprKind::Binary { op, a, b } => {
            let width = types::width(program, a.ty).unwrap_or(64);
            binary(*op, scalar(program, a)?, scalar(program, b)?, width, a.ty).map(Value::Scalar)
        }
        ExprKind::Not(a) => {
            let width = types::width(program, a.ty).unwrap_or(64);
            Ok(Value::Scalar(!scalar(program, a)? & types::mask(width)))
        }
        ExprKind::Cast { kind, a } => {
            let value = scalar(program, a)?;
            let mask = types::mask(types::width(program, expr.ty).unwrap_or(64));
            match kind {
                CastKind::Truncate => Ok(Value::Scalar(value & mask)),
                _ if value > mask => Err(Unknown::Overflow),
                _ => Ok(Value::Scalar(value)),
            }
        }
        ExprKind::Fold16(a) => {
            let mut sum = scalar(program, a)?;
            while sum > 0xffff {
                sum = (sum & 0xffff) + (sum >> 16);
            }
            Ok(Value::Scalar(sum))
        }
        _ => Err(Unknown::NotConstant),
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
    // Circular comparison, as `seqN` does at run time.
    let less = if wraps { a != b && a.wrapping_sub(b) & mask > mask >> 1 } else { a < b };
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
        Gt => flag(!less && a != b),
        Ge => flag(!less),
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

//! What is known before the stack starts: the arguments that a layer was used with, and constants.
//!
//! An expression that stands in a layer names the layer's parameters; [`Env`] says what they are there.

use std::rc::Rc;

use mokume_semantics::program::{Binary, CastKind, Expr, ExprKind, LocalId, Program, RecordId, Stmt, StmtKind, Type};

/// What the parameters of the expression at hand stand for.
#[derive(Clone, Debug)]
pub enum Env<'p> {
    /// Parameters of the stack itself, or of nothing.
    Stack,
    /// Arguments, which are expressions in an environment further out.
    Use(Rc<Used<'p>>),
}

/// What a layer or bundle was used with.
#[derive(Clone, Debug)]
pub struct Used<'p> {
    pub args: &'p [Expr],
    pub outer: Env<'p>,
    /// How many layers it stands on.
    pub below: u32,
}

impl<'p> Env<'p> {
    pub fn used(args: &'p [Expr], outer: &Env<'p>) -> Env<'p> {
        Env::Use(Rc::new(Used { args, outer: outer.clone(), below: 1 }))
    }

    /// The same for a layer that stands on several.
    pub fn over(&self, below: u32) -> Env<'p> {
        match self {
            Env::Stack => Env::Stack,
            Env::Use(used) => Env::Use(Rc::new(Used { below, ..(**used).clone() })),
        }
    }
}

/// The scalars of a type, in order, each with its name behind the value's (`.left`); messages and handles are one.
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

/// Where a field's scalars stand among those of its record.
pub fn field_range(program: &Program, record: RecordId, field: u32) -> std::ops::Range<usize> {
    let fields = &program.records[record.index()].fields;
    let before: usize = fields[..field as usize].iter().map(|field| scalars(program, field.ty).len()).sum();
    before..before + scalars(program, fields[field as usize].ty).len()
}

/// Bits of a scalar.
pub fn width(program: &Program, ty: Type) -> u32 {
    match ty {
        Type::Bool => 1,
        Type::UInt(bits) | Type::Seq(bits) => u32::from(bits),
        Type::Duration | Type::Instant => 64,
        Type::Enum(id) => u32::from(program.enums[id.index()].width),
        _ => 64,
    }
}

fn mask(bits: u32) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

/// The scalars of a constant expression; `None` if it depends on anything that is known later.
pub fn fold(program: &Program, env: &Env<'_>, expr: &Expr) -> Option<Vec<u64>> {
    Folder { program, env, locals: Vec::new() }.expr(expr)
}

/// A constant that is one scalar.
pub fn fold_one(program: &Program, env: &Env<'_>, expr: &Expr) -> Option<u64> {
    match fold(program, env, expr)?.as_slice() {
        [value] => Some(*value),
        _ => None,
    }
}

struct Folder<'a> {
    program: &'a Program,
    env: &'a Env<'a>,
    locals: Vec<(LocalId, Vec<u64>)>,
}

impl Folder<'_> {
    fn expr(&mut self, expr: &Expr) -> Option<Vec<u64>> {
        match &expr.kind {
            ExprKind::Number(value) => Some(vec![*value]),
            ExprKind::Param(index) => match self.env {
                Env::Use(used) => fold(self.program, &used.outer, used.args.get(*index as usize)?),
                Env::Stack => None,
            },
            ExprKind::BelowCount => match self.env {
                Env::Use(used) => Some(vec![u64::from(used.below)]),
                Env::Stack => None,
            },
            ExprKind::Local(local) => {
                self.locals.iter().rev().find(|(known, _)| known == local).map(|(_, values)| values.clone())
            }
            ExprKind::Record { fields, .. } => {
                let mut all = Vec::new();
                for field in fields {
                    all.extend(self.expr(field)?);
                }
                Some(all)
            }
            ExprKind::RecordField { record, field } => {
                let Type::Record(id) = record.ty else { return None };
                let range = field_range(self.program, id, *field);
                self.expr(record)?.get(range).map(<[u64]>::to_vec)
            }
            ExprKind::If { condition, then, otherwise } => {
                let taken = if self.one(condition)? != 0 { then } else { otherwise };
                self.expr(taken)
            }
            ExprKind::Let { local, value, body } => {
                let value = self.expr(value)?;
                self.locals.push((*local, value));
                let found = self.expr(body);
                self.locals.pop();
                found
            }
            ExprKind::Call { function, args } => self.call(function.index(), args),
            _ => self.scalar(expr).map(|value| vec![value]),
        }
    }

    fn one(&mut self, expr: &Expr) -> Option<u64> {
        self.expr(expr)?.first().copied()
    }

    fn scalar(&mut self, expr: &Expr) -> Option<u64> {
        let bits = mask(width(self.program, expr.ty));
        match &expr.kind {
            ExprKind::Not(a) => Some(!self.one(a)? & bits),
            ExprKind::Cast { kind, a } => {
                let value = self.one(a)?;
                let fits = value <= bits || *kind == CastKind::Truncate;
                fits.then_some(value & bits)
            }
            ExprKind::Fold16(a) => {
                let mut sum = self.one(a)?;
                while sum > 0xffff {
                    sum = (sum & 0xffff) + (sum >> 16);
                }
                Some(sum)
            }
            // Evaluated only as far as needed: the right side may not be known.
            ExprKind::Binary { op: Binary::And, a, .. } if self.one(a)? == 0 => Some(0),
            ExprKind::Binary { op: Binary::Or, a, .. } if self.one(a)? == 1 => Some(1),
            ExprKind::Binary { op, a, b } => {
                let operand = width(self.program, a.ty);
                let circular = matches!(a.ty, Type::Seq(_));
                let (a, b) = (self.one(a)?, self.one(b)?);
                binary(*op, a, b, operand, circular).map(|value| value & bits)
            }
            _ => None,
        }
    }

    /// Functions of one `return`, with `let`s before it: what constants are computed by.
    fn call(&mut self, function: usize, args: &[Expr]) -> Option<Vec<u64>> {
        let program = self.program;
        let function = &program.functions[function];
        let mut locals = Vec::new();
        for (param, arg) in function.params.iter().zip(args) {
            locals.push((param.local, self.expr(arg)?));
        }
        Folder { program, env: &Env::Stack, locals }.body(&function.body)?
    }

    /// What a block returns; the inner `None`: it runs through.
    fn body(&mut self, block: &[Stmt]) -> Option<Option<Vec<u64>>> {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Let { local, value } | StmtKind::AssignLocal { local, value } => {
                    let value = self.expr(value)?;
                    self.locals.push((*local, value));
                }
                StmtKind::If { condition, then, otherwise, .. } => {
                    let taken = if self.one(condition)? != 0 { then } else { otherwise };
                    if let Some(result) = self.body(taken)? {
                        return Some(Some(result));
                    }
                }
                StmtKind::Return { value: Some(value) } => return self.expr(value).map(Some),
                _ => return None,
            }
        }
        Some(None)
    }
}

fn binary(op: Binary, a: u64, b: u64, bits: u32, circular: bool) -> Option<u64> {
    let all = mask(bits);
    let exact = |value: Option<u64>| value.filter(|value| *value <= all);
    // RFC 1982: a < b when b - a is in 1 .. 2^(n-1).
    let less = |a: u64, b: u64| match circular {
        true => (1..1u64 << (bits - 1)).contains(&(b.wrapping_sub(a) & all)),
        false => a < b,
    };
    Some(match op {
        Binary::Add if !circular => exact(a.checked_add(b))?,
        Binary::Sub if !circular => a.checked_sub(b)?,
        Binary::Mul if !circular => exact(a.checked_mul(b))?,
        Binary::Add | Binary::AddWrap => a.wrapping_add(b) & all,
        Binary::Sub | Binary::SubWrap => a.wrapping_sub(b) & all,
        Binary::Mul | Binary::MulWrap => a.wrapping_mul(b) & all,
        Binary::Div => a.checked_div(b)?,
        Binary::Rem => a.checked_rem(b)?,
        Binary::BitAnd | Binary::And => a & b,
        Binary::BitOr | Binary::Or => a | b,
        Binary::BitXor => a ^ b,
        Binary::Shl => a.checked_shl(b as u32).unwrap_or(0),
        Binary::Shr => a.checked_shr(b as u32).unwrap_or(0),
        Binary::Eq => u64::from(a == b),
        Binary::Ne => u64::from(a != b),
        Binary::Lt => u64::from(less(a, b)),
        Binary::Le => u64::from(a == b || less(a, b)),
        Binary::Gt => u64::from(less(b, a)),
        Binary::Ge => u64::from(a == b || less(b, a)),
        Binary::Min => {
            if less(a, b) {
                a
            } else {
                b
            }
        }
        Binary::Max => {
            if less(a, b) {
                b
            } else {
                a
            }
        }
    })
}

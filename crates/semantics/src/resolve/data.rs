//! Enums with data: `enum Shape: u8 { Nothing, Circle(radius: u32) }`.
//!
//! A value is a record: the number, then the parts of all names, side by side; those of other names are 0. So behind this
//! file an enum with data is a record, in state, parameters and locals alike.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use super::body::{make, unknown, Body};
use super::{items, Context};
use crate::program::*;
use crate::{codes, tree};

/// A record for each enum with data, still empty.
pub(super) fn declare(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (index, (file, item)) in trees.enums.iter().enumerate() {
        if item.variants().iter().any(|variant| !variant.params().is_empty()) {
            let record = RecordId(cx.program.records.len() as u32);
            cx.program.records.push(Record {
                name: items::title(*file, item.name()),
                fields: Vec::new(),
                vector: None,
            });
            cx.program.enums[index].data = Some(record);
        }
    }
}

/// The fields of these records.
pub(super) fn parts(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (index, (file, item)) in trees.enums.iter().enumerate() {
        let Some(record) = cx.program.enums[index].data else { continue };
        let number = Name { text: ".number".into(), span: items::title(*file, item.name()).span };
        let mut fields = vec![Field { name: number, ty: Type::Enum(EnumId(index as u32)), big: None, common: None }];
        let mut parts = Vec::new();
        for (name, _) in cx.program.enums[index].names.clone() {
            let start = fields.len();
            let variants = item.variants();
            let variant = variants
                .iter()
                .find(|variant| tree::some_name(*file, variant.name()).is_some_and(|own| own.span == name.span));
            for param in variant.map_or(Vec::new(), |variant| variant.params()) {
                let Some(own) = tree::some_name(*file, param.name()) else { continue };
                let ty = items::value_type(cx, *file, param.ty());
                fields.push(Field {
                    name: Name { text: format!(".{}.{}", name.text, own.text), span: own.span },
                    ty,
                    big: None,
                    common: None,
                });
            }
            parts.push(start..fields.len());
        }
        cx.program.records[record.index()].fields = fields;
        cx.program.enums[index].parts = parts;
    }
}

impl Body<'_> {
    /// The enum whose values are of this type, if it has data.
    pub(super) fn data_of(&self, ty: Type) -> Option<EnumId> {
        let Type::Record(record) = ty else { return None };
        let found = self.cx.program.enums.iter().position(|item| item.data == Some(record))?;
        Some(EnumId(found as u32))
    }

    /// `Shape.Circle(3)`, `Shape.Nothing`; none if the enum has no data or no such name, or a pattern asks for the number.
    pub(super) fn data_value(
        &mut self,
        id: EnumId,
        name: &Name,
        args: Option<&[ast::Arg]>,
        span: Span,
    ) -> Option<Expr> {
        let item = self.cx.program.enums.get(id.index())?;
        let record = item.data.filter(|_| !self.pattern)?;
        let place = item.names.iter().position(|(known, _)| known.text == name.text)?;
        let (number, range) = (item.names[place].1, item.parts.get(place)?.clone());
        let title = format!("{}.{}", item.name.text, name.text);
        let fields = self.cx.program.records.get(record.index())?.fields.clone();
        if args.is_none() && !range.is_empty() {
            let help = format!("write `{title}(…)`, with a value for each of its parts");
            self.error(codes::DATA_PARTS, format!("`{title}` has parts"), span, "none is given", &help);
            return Some(unknown(span));
        }
        let params: Vec<Param> = fields[range.clone()]
            .iter()
            .enumerate()
            .map(|(at, field)| {
                let text = field.name.text.rsplit('.').next().unwrap_or_default().to_string();
                let name = Name { text, span: field.name.span };
                Param { name, ty: field.ty, default: None, local: LocalId(at as u32) }
            })
            .collect();
        let given = self.arguments(&title, &params, args.unwrap_or_default(), span);
        let mut values = vec![make(ExprKind::Number(number), Type::Enum(id), span)];
        for (at, field) in fields.iter().enumerate().skip(1) {
            values.push(match range.contains(&at) {
                true => given[at - range.start].clone(),
                false => self.zero(field.ty, span),
            });
        }
        Some(make(ExprKind::Record { record, fields: values }, Type::Record(record), span))
    }

    /// The value of a part that is not there.
    pub(super) fn zero(&self, ty: Type, span: Span) -> Expr {
        let Type::Record(record) = ty else { return make(ExprKind::Number(0), ty, span) };
        let fields = self.cx.program.records.get(record.index()).map_or(&[][..], |record| &record.fields);
        let fields = fields.iter().map(|field| self.zero(field.ty, span)).collect();
        make(ExprKind::Record { record, fields }, ty, span)
    }

    /// `Shape.Circle` of a pattern `Shape.Circle(r)`.
    pub(super) fn pattern_head(&self, pattern: Tree) -> Tree {
        match &pattern {
            Tree::Call(call) if self.pattern => call.callee().unwrap_or(pattern),
            _ => pattern,
        }
    }

    /// `match s { Shape.Circle(r) => { … } }`: by the number, the parts bound in each block.
    pub(super) fn match_data(
        &mut self,
        stmt: &ast::Match,
        (id, value): (EnumId, Expr),
        span: Span,
        done: &mut Vec<Stmt>,
    ) {
        let (ty, place) = (value.ty, value.span);
        let whole = self.hidden(place, ty);
        done.push(Stmt { kind: StmtKind::Let { local: whole, value }, span });
        let local = make(ExprKind::Local(whole), ty, place);
        let number = make(ExprKind::RecordField { record: Box::new(local.clone()), field: 0 }, Type::Enum(id), place);
        let arms = self.arms(stmt, &number);
        let mut cases = Vec::new();
        for (numbers, block) in arms.cases {
            let block = self.data_arm(stmt, block, (id, &local));
            cases.push((numbers, block));
        }
        let otherwise = self.data_arm(stmt, arms.otherwise, (id, &local));
        done.push(Stmt { kind: StmtKind::Match { value: number, cases, otherwise }, span });
    }

    /// A block with the names that its pattern binds.
    fn data_arm(&mut self, stmt: &ast::Match, block: Option<ast::Block>, (id, whole): (EnumId, &Expr)) -> Vec<Stmt> {
        let Some(block) = block else { return Vec::new() };
        self.scoped(|body| {
            let parts = body.arm_parts(stmt, &block, (id, whole)).into_iter();
            let mut statements: Vec<Stmt> =
                parts.map(|(local, value)| Stmt { span: value.span, kind: StmtKind::Let { local, value } }).collect();
            statements.extend(body.statements(&block.statements()));
            statements
        })
    }

    /// What the pattern in front of a block binds, in order.
    pub(super) fn arm_parts(
        &mut self,
        stmt: &ast::Match,
        block: &ast::Block,
        whole: (EnumId, &Expr),
    ) -> Vec<(LocalId, Expr)> {
        let arm = stmt.arms().into_iter().find(|arm| arm.body().as_ref() == Some(block));
        match arm.and_then(|arm| arm.pattern()).map(|pattern| tree::unparen(&pattern)) {
            Some(Tree::Call(call)) => self.bind_parts(&call, whole),
            _ => Vec::new(),
        }
    }

    fn bind_parts(&mut self, call: &ast::CallExpr, (id, whole): (EnumId, &Expr)) -> Vec<(LocalId, Expr)> {
        let span = self.span(call);
        let Some((_, name)) = call.callee().and_then(|callee| tree::name_field(self.file, &callee)) else {
            return Vec::new();
        };
        let item = &self.cx.program.enums[id.index()];
        let Some(place) = item.names.iter().position(|(known, _)| known.text == name.text) else { return Vec::new() };
        let (Some(range), Some(record)) = (item.parts.get(place).cloned(), item.data) else { return Vec::new() };
        let fields = self.cx.program.records[record.index()].fields.clone();
        let args: Vec<Tree> = call.args().iter().filter_map(|arg| arg.value()).collect();
        let names: Vec<Name> = args.iter().filter_map(|arg| tree::name_expr(self.file, arg)).collect();
        if names.len() != args.len() || names.len() != range.len() {
            let text = format!("`{}` has {} parts", name.text, range.len());
            self.error(
                codes::DATA_PARTS,
                text,
                span,
                "a name for each",
                "write a name for each of its parts, in order",
            );
            self.bind_unknown(&names);
            return Vec::new();
        }
        let mut bound = Vec::new();
        for (own, field) in names.iter().zip(range) {
            let ty = fields[field].ty;
            let value =
                make(ExprKind::RecordField { record: Box::new(whole.clone()), field: field as u32 }, ty, own.span);
            bound.push((self.bind(own, ty), value));
        }
        bound
    }
}

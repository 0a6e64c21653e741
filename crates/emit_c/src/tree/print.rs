//! Trees as text: parentheses only where C, or a compiler's warning, requires them; lines that are not too long.

use super::locals::Names;
use super::{Expr, Infix, Label, Lines, Local, Routine, Stmt, Unary};
use crate::text::{literal, octets, Text};
use crate::types::declare;

/// The width of a line, if it can be broken.
const WIDTH: usize = 110;
/// The octets of a constant array on one line.
const OCTETS: usize = 16;

/// The precedence of an expression, as in the grammar of C.
const PRIMARY: u8 = 15;
const PREFIX: u8 = 14;
const CONDITIONAL: u8 = 3;

fn tightness(sign: Infix) -> u8 {
    match sign {
        Infix::Mul | Infix::Div | Infix::Rem => 13,
        Infix::Add | Infix::Sub => 12,
        Infix::Shl | Infix::Shr => 11,
        Infix::Lt | Infix::Le | Infix::Gt | Infix::Ge => 10,
        Infix::Eq | Infix::Ne => 9,
        Infix::BitAnd => 8,
        Infix::BitXor => 7,
        Infix::BitOr => 6,
        Infix::And => 5,
        Infix::Or => 4,
    }
}

fn is_bitwise(sign: Infix) -> bool {
    matches!(sign, Infix::Shl | Infix::Shr | Infix::BitAnd | Infix::BitXor | Infix::BitOr)
}

/// Whether an operand of an operator needs parentheses: where the grammar requires them, and where compilers suspect a
/// mistake (`-Wparentheses`).
fn is_enclosed(around: Infix, operand: &Expr, is_second: bool) -> bool {
    match operand {
        Expr::Infix(inner, ..) => {
            let (outside, inside) = (tightness(around), tightness(*inner));
            let same = around == *inner && matches!(around, Infix::And | Infix::Or | Infix::BitAnd | Infix::BitOr);
            inside < outside
                || (inside == outside && is_second && !same)
                || (is_bitwise(around) && around != *inner)
                || (around == Infix::Or && *inner == Infix::And)
                || (around.inverse().is_some() && inner.inverse().is_some())
        }
        Expr::Conditional(_) => true,
        _ => false,
    }
}

/// A line under construction: its text, and where it may be broken, with the depth of brackets there.
#[derive(Default)]
struct Line {
    text: String,
    breaks: Vec<(usize, usize)>,
    depth: usize,
}

impl Line {
    fn of(text: &str) -> Line {
        Line { text: text.into(), ..Line::default() }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// A space at which the line may be broken.
    fn space(&mut self) {
        self.breaks.push((self.text.len(), self.depth));
        self.text.push(' ');
    }

    fn bracket(&mut self, open: &str, close: &str, inner: impl FnOnce(&mut Line)) {
        self.push(open);
        self.depth += 1;
        inner(self);
        self.depth -= 1;
        self.push(close);
    }

    /// Writes as many lines as needed; breaks at the outermost place that still fits.
    fn write(self, text: &mut Text) {
        let mut rest = 0;
        let mut step = "";
        loop {
            let room = WIDTH.saturating_sub(text.indentation() + step.len());
            if self.text.len() - rest <= room {
                return text.line(format!("{step}{}", &self.text[rest..]));
            }
            let fitting = self.breaks.iter().filter(|(at, _)| *at > rest && *at - rest <= room);
            let Some(depth) = fitting.clone().map(|(_, depth)| *depth).min() else {
                return text.line(format!("{step}{}", &self.text[rest..]));
            };
            let at = fitting.filter(|(_, own)| *own == depth).map(|(at, _)| *at).max().unwrap_or(rest);
            text.line(format!("{step}{}", &self.text[rest..at]));
            rest = at + 1;
            step = "    ";
        }
    }
}

struct Printer<'n> {
    names: &'n Names,
    function: &'n Routine,
    text: Text,
}

/// The lines of a function's body, indented by one step.
pub(super) fn body(function: &Routine, names: &Names) -> Text {
    let mut printer = Printer { names, function, text: Text::default() };
    printer.text.indent();
    printer.block(&function.body);
    printer.text
}

/// An expression without local variables.
pub(crate) fn expression(expr: &Expr) -> String {
    let (names, function) = (Names { locals: Vec::new(), labels: Vec::new() }, Routine::default());
    let printer = Printer { names: &names, function: &function, text: Text::default() };
    let mut line = Line::default();
    printer.expr(&mut line, expr);
    line.text
}

impl Printer<'_> {
    fn local(&self, local: Local) -> &str {
        self.names.locals.get(local.0).map_or("", String::as_str)
    }

    fn label(&self, label: Label) -> &str {
        &self.names.labels[label.0]
    }

    // -- expressions

    /// This is a table: an arm for each kind of expression.
    fn expr(&self, line: &mut Line, expr: &Expr) {
        match expr {
            Expr::Local(local) => line.push(self.local(*local)),
            Expr::Name(word) => line.push(word),
            Expr::Number(value) => line.push(&literal(*value)),
            Expr::Bool(value) => line.push(if *value { "true" } else { "false" }),
            Expr::Unary(sign, inner) => {
                line.push(match sign {
                    Unary::Not => "!",
                    Unary::AddressOf => "&",
                    Unary::Deref => "*",
                });
                self.operand(line, inner, holds(inner) < PREFIX);
            }
            Expr::Infix(sign, a, b) => {
                self.operand(line, a, is_enclosed(*sign, a, false));
                line.push(" ");
                line.push(sign.sign());
                line.space();
                self.operand(line, b, is_enclosed(*sign, b, true));
            }
            Expr::Conditional(parts) => self.conditional(line, parts),
            Expr::Cast(ty, inner) => {
                line.push(&format!("({ty})"));
                self.operand(line, inner, holds(inner) < PREFIX);
            }
            Expr::Call { function, args, .. } => {
                line.push(function);
                line.bracket("(", ")", |line| self.list(line, args));
            }
            Expr::Member(inner, member) => {
                self.operand(line, inner, holds(inner) < PRIMARY);
                line.push(&format!(".{member}"));
            }
            Expr::Arrow(inner, member) => {
                self.operand(line, inner, holds(inner) < PRIMARY);
                line.push(&format!("->{member}"));
            }
            Expr::Index(inner, place) => {
                self.operand(line, inner, holds(inner) < PRIMARY);
                line.bracket("[", "]", |line| self.expr(line, place));
            }
            Expr::Array(ty, items) => {
                line.push(&format!("({ty})"));
                line.bracket("{{", "}}", |line| self.list(line, items));
            }
            Expr::SizeOf(ty) => line.push(&format!("sizeof({ty})")),
            Expr::Expect(often, inner) => {
                line.push(if *often { "MK_LIKELY" } else { "MK_UNLIKELY" });
                line.bracket("(", ")", |line| self.expr(line, inner));
            }
        }
    }

    fn operand(&self, line: &mut Line, expr: &Expr, enclosed: bool) {
        match enclosed {
            true => line.bracket("(", ")", |line| self.expr(line, expr)),
            false => self.expr(line, expr),
        }
    }

    fn conditional(&self, line: &mut Line, parts: &[Expr; 3]) {
        let [condition, then, otherwise] = parts;
        self.operand(line, condition, holds(condition) <= CONDITIONAL);
        line.space();
        line.push("? ");
        self.operand(line, then, holds(then) <= CONDITIONAL);
        line.space();
        line.push(": ");
        self.expr(line, otherwise);
    }

    fn list(&self, line: &mut Line, list: &[Expr]) {
        for (place, expr) in list.iter().enumerate() {
            if place > 0 {
                line.push(",");
                line.space();
            }
            self.expr(line, expr);
        }
    }

    // -- statements

    fn block(&mut self, block: &Lines) {
        for (place, statement) in block.iter().enumerate() {
            match statement {
                Stmt::Label(label) => {
                    let next = block.get(place + 1);
                    // A label must be followed by a statement, and a declaration is not one.
                    let alone =
                        next.is_none_or(|next| matches!(next, Stmt::Let(..) | Stmt::Declare(_) | Stmt::Octets(..)));
                    let text = format!("{}:{}", self.label(*label), if alone { ";" } else { "" });
                    self.text.outdented(text);
                }
                other => self.statement(other),
            }
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Let(local, value) => {
                let variable = &self.function.locals[local.0];
                let head = declare(&variable.ty, self.local(*local));
                self.line(&format!("{head} = "), Some(without_cast(value, &variable.ty)), ";");
            }
            Stmt::Declare(local) => {
                let variable = &self.function.locals[local.0];
                let name = self.local(*local);
                let name = variable.array.map_or(name.to_string(), |places| format!("{name}[{places}]"));
                self.text.line(format!("{};", declare(&variable.ty, &name)));
            }
            Stmt::Set(place, sign, value) => self.assignment(place, *sign, value),
            Stmt::Octets(local, list) => {
                let head = format!("static const uint8_t {}[] = ", self.local(*local));
                self.octets(&head, list);
            }
            Stmt::Do(expr) => self.line(if is_call(expr) { "" } else { "(void)" }, Some(expr), ";"),
            Stmt::If { condition, then, otherwise } => self.choice("if (", condition, then, otherwise),
            Stmt::While { condition, body } => {
                self.line("while (", Some(condition), ") {");
                self.text.indent();
                self.block(body);
                self.text.close("");
            }
            Stmt::Switch { on, cases, default } => self.switch(on, cases, default),
            Stmt::Label(_) => {}
            Stmt::Goto(label) => self.text.line(format!("goto {};", self.label(*label))),
            Stmt::Return(None) => self.text.line("return;"),
            Stmt::Return(Some(value)) => self.line("return ", Some(value), ";"),
            Stmt::Unused(what) => self.line("(void)", Some(what), ";"),
        }
    }

    fn assignment(&mut self, place: &Expr, sign: Option<Infix>, value: &Expr) {
        let mut line = Line::default();
        self.expr(&mut line, place);
        let value = match place {
            Expr::Local(local) => without_cast(value, &self.function.locals[local.0].ty),
            _ => value,
        };
        match (sign, value) {
            (Some(Infix::Add), Expr::Number(1)) => return self.line(&format!("{}++", line.text), None, ";"),
            (Some(Infix::Sub), Expr::Number(1)) => return self.line(&format!("{}--", line.text), None, ";"),
            _ => {}
        }
        line.push(&format!(" {}= ", sign.map_or("", Infix::sign)));
        self.expr(&mut line, value);
        line.push(";");
        line.write(&mut self.text);
    }

    fn line(&mut self, before: &str, expr: Option<&Expr>, after: &str) {
        let mut line = Line::of(before);
        if let Some(expr) = expr {
            self.operand(&mut line, expr, before == "(void)" && holds(expr) < PREFIX);
        }
        line.push(after);
        line.write(&mut self.text);
    }

    fn octets(&mut self, head: &str, list: &[u8]) {
        if list.len() <= OCTETS {
            return self.text.line(format!("{head}{};", octets(list)));
        }
        self.text.open(head.trim_end());
        for part in list.chunks(OCTETS) {
            let part: Vec<String> = part.iter().map(|octet| format!("0x{octet:02x},")).collect();
            self.text.line(part.join(" "));
        }
        self.text.close(";");
    }

    fn choice(&mut self, head: &str, condition: &Expr, then: &Lines, otherwise: &Lines) {
        let short = is_short(then) && otherwise.is_empty();
        self.line(head, Some(condition), if short { ")" } else { ") {" });
        self.text.indent();
        self.block(then);
        self.text.outdent();
        if short {
            return;
        }
        match &otherwise[..] {
            [] => self.text.line("}"),
            [Stmt::If { condition, then, otherwise }] => self.choice("} else if (", condition, then, otherwise),
            _ => {
                self.text.line("} else {");
                self.text.indent();
                self.block(otherwise);
                self.text.close("");
            }
        }
    }

    fn switch(&mut self, on: &Expr, cases: &[(Expr, Lines)], default: &Lines) {
        self.line("switch (", Some(on), ") {");
        for (value, body) in cases {
            let mut line = Line::of("case ");
            self.expr(&mut line, value);
            self.case(&line.text, body);
        }
        self.case("default", default);
        self.text.line("}");
    }

    fn case(&mut self, head: &str, body: &Lines) {
        let declares = body.iter().any(|one| matches!(one, Stmt::Let(..) | Stmt::Declare(_) | Stmt::Octets(..)));
        self.text.line(format!("{head}:{}", if declares { " {" } else { "" }));
        self.text.indent();
        self.block(body);
        if !super::flatten::leaves(body) {
            self.text.line("break;");
        }
        self.text.outdent();
        if declares {
            self.text.line("}");
        }
    }
}

/// The precedence of the expression.
fn holds(expr: &Expr) -> u8 {
    match expr {
        Expr::Local(_)
        | Expr::Name(_)
        | Expr::Number(_)
        | Expr::Bool(_)
        | Expr::Call { .. }
        | Expr::Member(..)
        | Expr::Arrow(..)
        | Expr::Index(..)
        | Expr::Array(..)
        | Expr::SizeOf(_)
        | Expr::Expect(..) => PRIMARY,
        Expr::Unary(..) | Expr::Cast(..) => PREFIX,
        Expr::Infix(sign, ..) => tightness(*sign),
        Expr::Conditional(_) => CONDITIONAL,
    }
}

/// Removes a cast of a pointer to the variable's type, which the assignment does anyway. For numbers, [`super::narrow`]
/// decides which casts stay.
fn without_cast<'e>(value: &'e Expr, ty: &str) -> &'e Expr {
    match value {
        Expr::Cast(to, inner) if to == ty && ty.ends_with('*') => inner,
        other => other,
    }
}

fn is_call(expr: &Expr) -> bool {
    matches!(expr, Expr::Call { .. })
}

/// Whether it is one line, which needs no braces.
fn is_short(block: &Lines) -> bool {
    matches!(&block[..], [Stmt::Set(..) | Stmt::Do(_) | Stmt::Goto(_) | Stmt::Return(_)])
}

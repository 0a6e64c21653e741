//! Writes terms as SMT-LIB for solvers.

use std::collections::HashSet;

use crate::term::{Node, Operator, Sort, Term, Terms};

/// What an incremental solver has been told.
#[derive(Default)]
pub struct Told {
    terms: Vec<bool>,
    functions: HashSet<String>,
}

impl Terms {
    /// The lines that define the roots and their parts, as far as the solver has not been told them; also the new
    /// terms.
    pub fn definitions(&self, roots: &[Term], told: &mut Told) -> (Vec<String>, Vec<Term>) {
        told.terms.resize(self.len(), false);
        let (mut seen, mut stack, mut new) = (HashSet::new(), roots.to_vec(), Vec::new());
        while let Some(term) = stack.pop() {
            if !told.terms[term.0 as usize] && seen.insert(term) {
                stack.extend(self.children(term));
                new.push(term);
            }
        }
        new.sort_unstable();
        let mut lines = Vec::new();
        for term in &new {
            told.terms[term.0 as usize] = true;
            if let Node::Apply { name, .. } = self.node(*term) {
                if told.functions.insert(name.clone()) {
                    lines.extend(self.functions(&[*term]));
                }
            }
            lines.extend(self.definition(*term));
        }
        (lines, new)
    }

    /// An SMT-LIB script that asserts all of `facts`, checks them, and asks for the values of the variables.
    pub fn script(&self, facts: &[Term]) -> String {
        let order = self.below(facts);
        let mut lines = vec!["(set-option :produce-models true)".to_string(), "(set-logic ALL)".to_string()];
        lines.extend(self.functions(&order));
        lines.extend(order.iter().filter_map(|term| self.definition(*term)));
        lines.extend(facts.iter().map(|fact| format!("(assert {})", self.reference(*fact))));
        lines.push("(check-sat)\n".to_string());
        lines.join("\n")
    }

    /// Declarations of the functions that terms apply, once each.
    fn functions(&self, order: &[Term]) -> Vec<String> {
        let (mut declared, mut lines) = (Vec::new(), Vec::new());
        for term in order {
            let Node::Apply { name, args } = self.node(*term) else { continue };
            if !declared.contains(&name) {
                declared.push(name);
                let sorts: Vec<String> = args.iter().map(|arg| sort_text(self.sort(*arg))).collect();
                let result = sort_text(self.sort(*term));
                lines.push(format!("(declare-fun |{name}| ({}) {result})", sorts.join(" ")));
            }
        }
        lines
    }

    /// The line that defines a term; `None` for terms that are written where they are used.
    fn definition(&self, term: Term) -> Option<String> {
        let sort = sort_text(self.sort(term));
        match self.node(term) {
            Node::Variable { name } => Some(format!("(declare-const |{name}| {sort})")),
            Node::True | Node::False | Node::Number(_) => None,
            node => Some(format!("(define-fun t{} () {sort} {})", term.0, self.node_text(node))),
        }
    }

    /// The values that matter in an answer, each with a name for people and a reference for the solver: variables, and
    /// octets at known indices, as `name[3]`.
    pub fn questions(&self, roots: &[Term]) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for term in self.below(roots) {
            match self.node(term) {
                Node::Variable { name } if self.sort(term) != Sort::Octets => all.push((name.clone(), name.clone())),
                Node::Select(octets, index) => {
                    if let (Node::Variable { name }, Some(index)) = (self.node(*octets), self.constant(*index)) {
                        all.push((format!("{name}[{index}]"), format!("t{}", term.0)));
                    }
                }
                _ => {}
            }
        }
        all
    }

    /// The reference to a term that has been told.
    pub fn reference(&self, term: Term) -> String {
        match self.node(term) {
            Node::Variable { name } => format!("|{name}|"),
            Node::True => "true".into(),
            Node::False => "false".into(),
            Node::Number(value) => format!("(_ bv{value} {})", self.width(term)),
            _ => format!("t{}", term.0),
        }
    }

    fn node_text(&self, node: &Node) -> String {
        let list = |name: &str, parts: &[Term]| {
            let parts: Vec<String> = parts.iter().map(|part| self.reference(*part)).collect();
            format!("({name} {})", parts.join(" "))
        };
        match node {
            Node::Variable { .. } | Node::True | Node::False | Node::Number(_) => String::new(),
            Node::Not(a) => list("not", &[*a]),
            Node::All(parts) => list("and", parts),
            Node::Any(parts) => list("or", parts),
            Node::If(a, b, c) => list("ite", &[*a, *b, *c]),
            Node::Equal(a, b) => list("=", &[*a, *b]),
            Node::Less(a, b) => list("bvult", &[*a, *b]),
            Node::Binary(operator, a, b) => list(operator_name(*operator), &[*a, *b]),
            Node::Extract(high, low, a) => format!("((_ extract {high} {low}) {})", self.reference(*a)),
            Node::Concat(a, b) => list("concat", &[*a, *b]),
            Node::ZeroExtend(by, a) => format!("((_ zero_extend {by}) {})", self.reference(*a)),
            Node::Select(a, b) => list("select", &[*a, *b]),
            Node::Fold(a) => {
                let carried = |of: &str, width: u32| {
                    let (high, low) = (format!("((_ extract 31 16) {of})"), format!("((_ extract 15 0) {of})"));
                    match width {
                        16 => format!("(bvadd {high} {low})"),
                        _ => format!("(bvadd (concat #x0000 {high}) (concat #x0000 {low}))"),
                    }
                };
                format!("(let ((once {})) {})", carried(&self.reference(*a), 32), carried("once", 16))
            }
            Node::Apply { name, args } => list(&format!("|{name}|"), args),
        }
    }
}

fn sort_text(sort: Sort) -> String {
    match sort {
        Sort::Bool => "Bool".into(),
        Sort::Bits(width) => format!("(_ BitVec {width})"),
        Sort::Octets => "(Array (_ BitVec 32) (_ BitVec 8))".into(),
    }
}

fn operator_name(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "bvadd",
        Operator::Sub => "bvsub",
        Operator::Mul => "bvmul",
        Operator::Div => "bvudiv",
        Operator::Rem => "bvurem",
        Operator::And => "bvand",
        Operator::Or => "bvor",
        Operator::Xor => "bvxor",
        Operator::Shl => "bvshl",
        Operator::Shr => "bvlshr",
    }
}

//! Bodies: blocks in SSA form become structured C where a block has one way in, labels and `goto` elsewhere.
//!
//! It must keep: a value is declared where all its uses can see it. Where that is so is known only when the text is
//! complete, so definitions are marked and get their types, or a declaration at the top, at the end.

use std::collections::VecDeque;

use mokume_analyse::{Flow, Liveness};
use mokume_reaction::*;

use crate::plan::{Emissions, Plan};
use crate::text::{literal, Text};
use crate::types::{c_type, declare};

/// Blocks are written inside each other up to this depth.
const NESTING: usize = 10;

/// What a value is in C.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A variable, by its index; several values of one message share one.
    Variable(usize),
    /// An expression without effects that means the same wherever it stands.
    Expression(String),
}

struct Variable {
    name: String,
    c_type: String,
    /// The C scopes around its definition; a use that is not inside them all needs a declaration at the top.
    defined_in: Vec<usize>,
    hoisted: bool,
}

/// Writes one body.
pub(crate) struct BodyWriter<'p, 'a> {
    pub plan: &'p Plan<'a>,
    pub body: &'a Body,
    /// The handler, if the body is one.
    pub handler: Option<HandlerId>,
    pub text: Text,
    shapes: Vec<Option<Shape>>,
    /// References known to mean an object that is there.
    known: Vec<bool>,
    live: Liveness,
    variables: Vec<Variable>,
    scopes: Vec<usize>,
    next_scope: usize,
    next_name: usize,
    flow: Flow,
    pending: VecDeque<usize>,
    queued: Vec<bool>,
    pub coverage: bool,
    /// The block at hand, and the emissions that wait for the handler's ends: block, function, arguments.
    pub at_block: usize,
    pub sunk: Vec<(usize, String, Vec<Value>)>,
    /// The results of the branch at hand are handles of objects that are there.
    pub results_known: bool,
}

impl<'p, 'a> BodyWriter<'p, 'a> {
    pub fn new(plan: &'p Plan<'a>, body: &'a Body, handler: Option<HandlerId>) -> Self {
        BodyWriter {
            plan,
            body,
            handler,
            text: Text::default(),
            shapes: vec![None; body.values.len()],
            known: vec![false; body.values.len()],
            live: Liveness::of(body),
            variables: Vec::new(),
            scopes: Vec::new(),
            next_scope: 0,
            next_name: 0,
            flow: Flow::new(body),
            pending: VecDeque::new(),
            queued: vec![false; body.blocks.len()],
            coverage: false,
            at_block: 0,
            sunk: Vec::new(),
            results_known: false,
        }
    }

    /// The names of the entry block's parameters, for the function's head; they are declared there.
    pub fn parameters(&mut self) -> Vec<(String, &'static str)> {
        let params = &self.body.blocks[0].params;
        let mut found = Vec::new();
        for (place, param) in params.iter().enumerate() {
            let name = self.fresh(*param);
            let ty = c_type(self.plan.automaton, self.type_of(*param));
            self.variables.push(Variable {
                name: name.clone(),
                c_type: ty.into(),
                defined_in: Vec::new(),
                hoisted: false,
            });
            self.shapes[param.index()] = Some(Shape::Variable(self.variables.len() - 1));
            self.known[param.index()] = place == 0 && self.handler.is_some();
            found.push((name, ty));
        }
        found
    }

    /// Whether anything depends on the value.
    pub fn is_live(&self, value: Value) -> bool {
        self.live.is_live(value)
    }

    /// The body's text, one step in, with declarations at the top.
    pub fn write(mut self) -> Text {
        self.text.open("");
        self.block(0);
        while let Some(index) = self.pending.pop_front() {
            self.text.flush(format!("{}:", self.label(index)));
            self.text.open("");
            self.enter(|writer| writer.block(index));
            self.text.close("");
        }
        self.text.close("");
        let mut lines = std::mem::take(self.text.lines_mut());
        lines.pop();
        lines.remove(0);
        let mut text = Text::default();
        for variable in self.variables.iter().filter(|variable| variable.hoisted) {
            text.lines_mut().push(format!("    {};", declare(&variable.c_type, &variable.name)));
        }
        text.lines_mut().extend(lines.iter().map(|line| self.resolve(line)));
        text
    }

    /// Replaces the mark of a definition by the variable's name, with its type if this is its declaration.
    fn resolve(&self, line: &str) -> String {
        let Some((before, rest)) = line.split_once('\u{1}') else { return line.to_string() };
        let Some((index, after)) = rest.split_once('\u{2}') else { return line.to_string() };
        let variable = &self.variables[index.parse::<usize>().unwrap_or(0)];
        let name = match variable.hoisted {
            true => variable.name.clone(),
            false => declare(&variable.c_type, &variable.name),
        };
        format!("{before}{name}{after}")
    }

    // -- values

    pub fn type_of(&self, value: Value) -> Type {
        self.body.values[value.index()].ty
    }

    pub fn width_of(&self, value: Value) -> u8 {
        self.type_of(value).width(self.plan.automaton)
    }

    fn fresh(&mut self, value: Value) -> String {
        let name = &self.body.values[value.index()].name;
        match name.is_empty() {
            true => format!("v{}", value.0),
            false => format!("{}_{}", crate::names::identifier(name), value.0),
        }
    }

    /// A name that no value has.
    pub fn temporary(&mut self, what: &str) -> String {
        self.next_name += 1;
        format!("{what}{}_", self.next_name)
    }

    /// The value, to be read here.
    pub fn value(&mut self, value: Value) -> String {
        match self.shapes[value.index()].clone() {
            Some(Shape::Expression(text)) => text,
            Some(Shape::Variable(index)) => {
                let variable = &mut self.variables[index];
                let seen = self.scopes.starts_with(&variable.defined_in);
                variable.hoisted |= !seen;
                variable.name.clone()
            }
            // A value without a definition: the verifier refuses such a body.
            None => "0".into(),
        }
    }

    /// The variable of a value that is defined here, as text to be assigned to.
    pub fn define(&mut self, value: Value) -> String {
        let name = self.fresh(value);
        let c_type = c_type(self.plan.automaton, self.type_of(value)).to_string();
        self.variables.push(Variable { name, c_type, defined_in: self.scopes.clone(), hoisted: false });
        let index = self.variables.len() - 1;
        self.shapes[value.index()] = Some(Shape::Variable(index));
        format!("\u{1}{index}\u{2}")
    }

    /// `value = expression`; for its effect only if nothing depends on the value.
    pub fn assign(&mut self, value: Value, expression: String) {
        match self.is_live(value) {
            true => {
                let to = self.define(value);
                self.text.line(format!("{to} = {expression};"));
            }
            false => self.text.line(format!("(void){};", parenthesised(&expression))),
        }
    }

    /// The value is this expression wherever it is used.
    pub fn alias(&mut self, value: Value, expression: String) {
        self.shapes[value.index()] = Some(Shape::Expression(expression));
    }

    /// The value is another one: a message after an operation on it.
    pub fn same(&mut self, value: Value, as_value: Value) {
        self.shapes[value.index()] = self.shapes[as_value.index()].clone();
        self.known[value.index()] = self.known[as_value.index()];
    }

    pub fn set_known(&mut self, value: Value) {
        self.known[value.index()] = true;
    }

    pub fn is_known(&self, value: Value) -> bool {
        self.known[value.index()]
    }

    /// Runs `inner`, in which the reference is known to mean an object that is there.
    pub fn assume(&mut self, object: Value, inner: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.known[object.index()], true);
        inner(self);
        self.known[object.index()] = before;
    }

    pub fn class_of(&self, object: Value) -> ClassId {
        match self.type_of(object) {
            Type::Ref(class) => class,
            _ => ClassId(0),
        }
    }

    /// The object's place in its class; of one that is not there, the place that means nobody.
    pub fn place(&mut self, object: Value) -> String {
        let text = self.value(object);
        match self.is_known(object) {
            true => format!("mk_number({text})"),
            false => self.plan.place_in(self.class_of(object), &text),
        }
    }

    /// A cell of an object.
    pub fn cell(&mut self, object: Value, cell: CellId) -> String {
        let class = self.class_of(object);
        let place = self.place(object);
        let names = &self.plan.names;
        format!("k->{}[{place}].{}", names.classes[class.index()], names.cells[class.index()][cell.index()])
    }

    pub fn cell_kind(&self, object: Value, cell: CellId) -> &'a CellKind {
        &self.plan.automaton.cell(self.class_of(object), cell).kind
    }

    /// The index of an operation's place in the table of sources.
    pub fn source(&self, source: Option<SourceId>) -> String {
        match source {
            Some(id) => literal(u64::from(id.0)),
            None => "MK_NOBODY".into(),
        }
    }

    // -- control

    /// Runs `inner` in a C scope of its own.
    pub fn enter(&mut self, inner: impl FnOnce(&mut Self)) {
        self.scopes.push(self.next_scope);
        self.next_scope += 1;
        inner(self);
        self.scopes.pop();
    }

    fn label(&self, block: usize) -> String {
        let label = crate::names::identifier(&self.body.blocks[block].label);
        format!("{label}_b{block}")
    }

    fn block(&mut self, index: usize) {
        let block = &self.body.blocks[index];
        self.at_block = index;
        for op in &block.ops {
            self.op(op);
        }
        self.end(index, &block.end);
    }

    /// `if (condition) { then } else { otherwise }`, each given as the results that come first and the target.
    pub fn branch(
        &mut self,
        block: usize,
        condition: &str,
        then: (Vec<String>, &'a Target),
        otherwise: (Vec<String>, &'a Target),
    ) {
        self.text.open(format!("if ({condition})"));
        self.arm(block, 0, then.0, then.1);
        self.otherwise();
        self.arm(block, 1, otherwise.0, otherwise.1);
        self.text.close("");
        self.results_known = false;
    }

    /// `} else {`
    pub fn otherwise(&mut self) {
        self.text.close(" else {");
        self.text.indent();
    }

    /// One way out of a block, in a scope of its own.
    pub fn arm(&mut self, block: usize, number: usize, results: Vec<String>, target: &'a Target) {
        self.enter(|writer| {
            writer.cover(block, number);
            writer.edge(results, target);
        });
    }

    fn cover(&mut self, block: usize, number: usize) {
        let Some(handler) = self.handler.filter(|_| self.coverage) else { return };
        if let Some(index) = self.plan.branch_index.get(&(handler.index(), block, number)) {
            self.text.line(format!("k->coverage[{index}]++;"));
        }
    }

    /// Goes on in the target's block, its parameters set.
    pub fn edge(&mut self, results: Vec<String>, target: &'a Target) {
        let index = target.block.index();
        let inline = self.flow.edges_into(target.block) == 1 && index != 0 && self.scopes.len() < NESTING;
        let params = &self.body.blocks[index].params;
        let (first, own) = params.split_at(results.len().min(params.len()));
        let known = std::mem::take(&mut self.results_known);
        if inline {
            for (param, result) in first.iter().zip(results) {
                if self.is_live(*param) {
                    let to = self.define(*param);
                    self.text.line(format!("{to} = {result};"));
                } else {
                    self.alias(*param, "0".into());
                }
                self.known[param.index()] |= known;
            }
            for (param, arg) in own.iter().zip(&target.args) {
                self.same(*param, *arg);
            }
            self.block(index);
            return;
        }
        self.declare_params(index);
        let mut moves: Vec<(Value, String)> = first.iter().copied().zip(results).collect();
        let args: Vec<String> = target.args.iter().map(|arg| self.value(*arg)).collect();
        moves.extend(own.iter().copied().zip(args));
        self.move_all(moves);
        if !std::mem::replace(&mut self.queued[index], true) {
            self.pending.push_back(index);
        }
        self.text.line(format!("goto {};", self.label(index)));
    }

    /// Variables for the parameters of a block with several ways in.
    fn declare_params(&mut self, block: usize) {
        for param in &self.body.blocks[block].params {
            if self.shapes[param.index()].is_none() && self.is_live(*param) {
                self.define(*param);
                if let Some(variable) = self.variables.last_mut() {
                    variable.hoisted = true;
                    variable.defined_in = Vec::new();
                }
            }
        }
    }

    /// A parallel assignment. By way of temporaries where a source is overwritten before it is read.
    fn move_all(&mut self, moves: Vec<(Value, String)>) {
        let mut named: Vec<(String, String, &'static str)> = Vec::new();
        for (param, from) in moves {
            if !self.is_live(param) {
                continue;
            }
            let to = self.value(param);
            if to != from {
                named.push((to, from, c_type(self.plan.automaton, self.type_of(param))));
            }
        }
        let clash = (0..named.len()).any(|i| named[i + 1..].iter().any(|(_, from, _)| mentions(from, &named[i].0)));
        if !clash {
            for (to, from, _) in named {
                self.text.line(format!("{to} = {from};"));
            }
            return;
        }
        let mut back = Vec::new();
        for (to, from, ty) in named {
            let temporary = self.temporary("t");
            self.text.line(format!("{} = {from};", declare(ty, &temporary)));
            back.push(format!("{to} = {temporary};"));
        }
        for line in back {
            self.text.line(line);
        }
    }

    /// What a handler does last.
    pub fn leave(&mut self) {
        if let Some(handler) = self.handler {
            match self.plan.emissions[handler.index()] {
                Emissions::Agenda => self.text.line("mk_carry_out(&k->core, base);"),
                Emissions::AtEnd => self.carry_out(),
                Emissions::Calls | Emissions::None => {}
            }
        }
        self.text.line("return;");
    }
}

impl BodyWriter<'_, '_> {
    /// The emissions that have happened on the way to this end, as calls in their order.
    fn carry_out(&mut self) {
        let end = self.at_block;
        for (block, function, values) in self.sunk.clone() {
            if self.flow.dominates(BlockId::from(block), BlockId::from(end)) {
                let mut list = vec!["k".to_string()];
                list.extend(values.iter().map(|value| self.value(*value)));
                self.text.line(format!("{function}({});", list.join(", ")));
            }
        }
    }
}

/// Whether an expression names a variable.
pub(crate) fn mentions(expression: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    expression.split(|c: char| !is_part(c)).any(|word| word == name)
}

fn parenthesised(expression: &str) -> String {
    match expression.contains(' ') && !expression.ends_with(')') {
        true => format!("({expression})"),
        false => expression.to_string(),
    }
}

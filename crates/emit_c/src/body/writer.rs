//! The writer of bodies: the automaton's values as expressions of C, and the current block of the tree.
//!
//! It must keep: an expression that stands for a value means the same wherever the value may be used.

use mokume_analyse::{Bounds, Liveness, Quantity, Reuse};
use mokume_reaction::*;

use super::fresh::Fresh;
use super::octets::Octets;
use super::ranges::Ranges;
use crate::fault::Fault;
use crate::memos::FORGET;
use crate::plan::heads::Beside;
use crate::plan::{Asked, Plan};
use crate::state::stored::Stored;
use crate::tree::*;
use crate::types::{c_type, unsigned, value_type};

/// The reference to the object of a class that has exactly one, from the start to the end.
const SOLE: &str = "MK_SOLE";

/// Writes one body.
pub(crate) struct Writer<'p, 'a> {
    pub plan: &'p Plan<'a>,
    pub body: &'a Body,
    /// The handler, function or path of the body.
    pub unit: Unit,
    pub function: Routine,
    values: Vec<Option<Expr>>,
    /// References that are known to mean existing objects.
    known: Vec<bool>,
    /// By value, the record of the object that a known reference means.
    cells: Vec<Option<Local>>,
    /// By value, the place of the object that a reference means, or of null, where it was looked up once and for all: an
    /// object that exists does so until the reaction is over.
    looked_up: Vec<Option<Local>>,
    /// By value: how many operations ask for its cells.
    asked: Vec<usize>,
    /// By block of a path, up to which operation nothing is done yet.
    pub undone: Vec<usize>,
    /// The octets that messages on a path have at least, wherever they are read.
    pub least: std::collections::HashMap<Value, u64>,
    /// The representations of messages on a path.
    octets: std::collections::HashMap<Value, Octets>,
    /// Messages of the pool that a path has made.
    pub fresh: Fresh,
    /// By value of a path: the block and place of the operation that makes it; beside it, how often it is used.
    made: Vec<Option<(usize, usize)>>,
    uses: Vec<usize>,
    live: Liveness,
    /// Which arrays replace those that they are made of.
    reuse: Reuse,
    pub ranges: Ranges,
    /// What the conditions that were tested before say about numbers and sizes.
    bounds: Bounds<'a>,
    /// Places in tables of memos that recalls have found: the table, by which numbers, in which block, and where.
    pub kept: Vec<(usize, Vec<Value>, BlockId, Expr)>,
    block: Lines,
    /// The current block of the body; beside it, the emissions that wait for the handler's exits: block, function,
    /// arguments.
    pub at_block: BlockId,
    pub sunk: Vec<(BlockId, String, Vec<Value>)>,
    /// The agenda's top when the handler begins.
    pub base: Option<Local>,
}

impl<'p, 'a> Writer<'p, 'a> {
    /// A writer at the beginning of a body.
    pub fn new(plan: &'p Plan<'a>, body: &'a Body, unit: Unit) -> Self {
        let ranges = Ranges::of(plan.automaton, body, plan.planted);
        let bounds = Bounds::of(plan.automaton, body).with_most(ranges.recalled(plan.automaton, body));
        Writer {
            plan,
            body,
            unit,
            function: Routine::default(),
            values: vec![None; body.values.len()],
            known: vec![false; body.values.len()],
            cells: vec![None; body.values.len()],
            looked_up: vec![None; body.values.len()],
            asked: asked(body),
            undone: Vec::new(),
            least: std::collections::HashMap::new(),
            octets: std::collections::HashMap::new(),
            fresh: Fresh::default(),
            made: if matches!(unit, Unit::Path(_)) { made(body) } else { Vec::new() },
            uses: if matches!(unit, Unit::Path(_)) { mokume_analyse::uses(body) } else { Vec::new() },
            live: Liveness::of(body),
            reuse: Reuse::of(body),
            ranges,
            bounds,
            kept: Vec::new(),
            block: Lines::new(),
            at_block: BlockId(0),
            sunk: Vec::new(),
            base: None,
        }
    }

    /// The handler, if the body is one.
    pub fn handler(&self) -> Option<HandlerId> {
        match self.unit {
            Unit::Handler(id) => Some(id),
            Unit::Function(_) | Unit::Path(_) => None,
        }
    }

    fn function_at_work(&self) -> Option<&'a Function> {
        match self.unit {
            Unit::Handler(_) | Unit::Path(_) => None,
            Unit::Function(id) => Some(&self.plan.automaton.functions[id.index()]),
        }
    }

    /// Whether the body is a handler's, or a part of one.
    pub fn does(&self) -> bool {
        self.function_at_work().is_none_or(|function| function.procedure().is_some())
    }

    /// The path of the body, if it is one.
    pub fn path(&self) -> Option<&'a Path> {
        let Unit::Path(id) = self.unit else { return None };
        Some(&self.plan.automaton.paths[id.index()])
    }

    /// Whether it is a path.
    pub fn is_path(&self) -> bool {
        matches!(self.unit, Unit::Path(_))
    }

    /// The operation of a path that makes a value; `None` for parameters.
    pub fn made(&self, value: Value) -> Option<&'a Op> {
        let (block, place) = (*self.made.get(value.index())?)?;
        Some(&self.body.blocks[block].ops[place])
    }

    /// Whether a value of a path is used in one place only.
    pub fn is_used_once(&self, value: Value) -> bool {
        self.uses.get(value.index()) == Some(&1)
    }

    /// Whether a message surely has this many octets, plus `more`, at this place of the path.
    pub fn fits(&self, size: Value, more: u64, message: Value) -> bool {
        let (size, message) = ((Quantity::Value(size), more), Quantity::SizeOf(message));
        self.bounds.at_most(self.at_block, size, message)
    }

    /// Whether a number is certainly not larger than another one here, by the conditions that were tested before.
    pub fn is_at_most(&self, low: Value, high: Value) -> bool {
        self.bounds.at_most(self.at_block, (Quantity::Value(low), 0), Quantity::Value(high))
    }

    /// Whether a number is certainly less than so many here.
    pub fn is_below(&self, value: Value, limit: u64) -> bool {
        let by_range = self.ranges.largest(value) < limit;
        by_range || self.bounds.at_most(self.at_block, (Quantity::Value(value), 1), Quantity::Number(limit))
    }

    /// The representation of a message on a path.
    pub fn octets_of(&self, message: Value) -> Option<Octets> {
        self.octets.get(&message).cloned()
    }

    /// Sets the representation of a message on a path.
    pub fn set_octets(&mut self, message: Value, octets: Octets) {
        self.octets.insert(message, octets);
    }

    /// Whether the body is a procedure's that may refuse.
    pub fn may_refuse(&self) -> bool {
        self.function_at_work().is_some_and(Function::may_refuse)
    }

    /// What a procedure returns if it has no result to give.
    pub fn answer_of_nothing(&self) -> Option<Expr> {
        if self.is_path() {
            return Some(Expr::Bool(true));
        }
        let results = self.function_at_work().map_or(0, |function| function.results.len());
        match self.may_refuse() {
            true => Some(Expr::Bool(false)),
            false => (results == 1).then_some(Expr::Number(0)),
        }
    }

    /// Declares the body's parameters as those of the C function.
    pub fn parameters(&mut self) {
        let handler = match self.unit {
            Unit::Path(id) => Some(self.plan.automaton.paths[id.index()].handler),
            Unit::Handler(id) => Some(id),
            Unit::Function(_) => None,
        };
        let sole = handler.is_some_and(|handler| !self.plan.takes_self(handler));
        let mut lent = Vec::new();
        for (place, param) in self.body.blocks[0].params.iter().enumerate() {
            if place == 0 && sole {
                self.alias(*param, word(SOLE));
                continue;
            }
            if self.is_path() && self.type_of(*param) == Type::Msg {
                let is_lent = handler.is_some_and(|handler| !self.plan.automaton.is_at_port(handler));
                let hint = self.hint(*param).to_string();
                let mut parameter = |hint: String, ty: &'static str| {
                    let local = self.function.local(hint, ty);
                    self.function.locals[local.0].is_parameter = true;
                    local
                };
                if is_lent {
                    lent.push((*param, parameter(hint, "mk_message *")));
                    continue;
                }
                let size = format!("{hint}_size");
                let (at, size) = (parameter(hint, "const uint8_t *"), parameter(size, "uint32_t"));
                self.octets.insert(*param, Octets::Part { at: Expr::Local(at), size: Expr::Local(size) });
                continue;
            }
            let local = self.local_for(*param);
            self.function.locals[local.0].is_parameter = true;
            self.values[param.index()] = Some(Expr::Local(local));
        }
        for (param, local) in lent {
            let message = Expr::Local(local);
            let at = self.temporary("octets", "const uint8_t *", reads("mk_data", [message.clone()]));
            let size = self.temporary("size", "uint32_t", message.clone().arrow("view").member("size"));
            self.octets.insert(param, Octets::Lent { message, at, size });
        }
    }

    /// Returns all that was written.
    pub fn finish(mut self) -> Routine {
        self.function.body = self.block;
        self.function
    }

    // -- statements

    /// Adds a statement to the current block.
    pub fn push(&mut self, statement: Stmt) {
        self.block.push(statement);
    }

    /// Adds an expression for its effect.
    pub fn act(&mut self, expr: Expr) {
        self.push(Stmt::Do(expr));
    }

    /// Returns what `inner` writes as a separate block.
    pub fn inside(&mut self, inner: impl FnOnce(&mut Self)) -> Lines {
        let around = self.begin_inside();
        inner(self);
        self.end_inside(around)
    }

    /// Begins a separate block for what follows; returns the one around it, for [`Writer::end_inside`].
    pub fn begin_inside(&mut self) -> Lines {
        std::mem::take(&mut self.block)
    }

    /// Ends a separate block and returns its lines; continues in the block `around`.
    pub fn end_inside(&mut self, around: Lines) -> Lines {
        std::mem::replace(&mut self.block, around)
    }

    /// `if (condition) { inner }`; without a condition just what `inner` writes.
    pub fn only_if(&mut self, condition: Option<Expr>, inner: impl FnOnce(&mut Self)) {
        let Some(condition) = condition else { return inner(self) };
        let then = self.inside(inner);
        self.push(Stmt::If { condition, then, otherwise: Lines::new() });
    }

    /// A variable that no value of the body has.
    pub fn temporary(&mut self, hint: &str, ty: impl Into<Word>, value: Expr) -> Expr {
        let local = self.function.local(hint, ty);
        self.push(Stmt::Let(local, value));
        Expr::Local(local)
    }

    // -- values

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.body.values[value.index()].ty
    }

    /// The C type of a value.
    pub fn c_type_of(&self, value: Value) -> &'static str {
        c_type(self.plan.automaton, self.type_of(value))
    }

    /// The bits of a value.
    pub fn width_of(&self, value: Value) -> u8 {
        self.type_of(value).width(self.plan.automaton)
    }

    /// Whether anything depends on the value.
    pub fn is_live(&self, value: Value) -> bool {
        self.live.is_live(value)
    }

    /// Whether the array from which this one is made may be changed in place.
    pub fn is_in_place(&self, result: Value) -> bool {
        self.reuse.is_in_place(result)
    }

    /// The value's name in the source; empty if it has none. The automaton's text calls such values `v7`.
    pub fn hint(&self, value: Value) -> &str {
        let name = self.body.values[value.index()].name.as_str();
        let number = name.strip_prefix('v').unwrap_or("x");
        let is_numbered = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        if is_numbered {
            ""
        } else {
            name.trim_end_matches('_')
        }
    }

    /// A variable with the value's type and name.
    pub fn local_for(&mut self, value: Value) -> Local {
        let (hint, ty) = (self.hint(value).to_string(), value_type(self.plan.automaton, self.type_of(value)));
        self.function.local(hint, ty)
    }

    /// The value, to be read here.
    pub fn value(&self, value: Value) -> Expr {
        // A value without a definition. The verifier refuses such a body, so this is never printed. If it were, the C
        // compiler would refuse it.
        self.values[value.index()].clone().unwrap_or(word("MK_VALUE_WITHOUT_A_DEFINITION"))
    }

    /// Several values, to be read here.
    pub fn values(&self, values: &[Value]) -> Vec<Expr> {
        values.iter().map(|value| self.value(*value)).collect()
    }

    /// The variable of a parameter of a block with several predecessors.
    pub fn param(&mut self, value: Value) -> Local {
        if let Some(Expr::Local(local)) = self.values[value.index()] {
            return local;
        }
        let local = self.local_for(value);
        self.values[value.index()] = Some(Expr::Local(local));
        local
    }

    /// Uses this expression wherever the value is used.
    pub fn alias(&mut self, value: Value, expr: Expr) {
        self.values[value.index()] = Some(expr);
    }

    /// `value = expression`; only for its effect if nothing depends on the value.
    pub fn assign(&mut self, value: Value, expr: Expr) {
        if !self.is_live(value) {
            return self.act(expr);
        }
        let local = self.local_for(value);
        self.push(Stmt::Let(local, expr));
        self.values[value.index()] = Some(Expr::Local(local));
        self.look_up_once(value);
    }

    /// Where the value begins: looks the place of its object up, if several operations ask for it.
    pub fn look_up_once(&mut self, value: Value) {
        let Type::Ref(class) = self.type_of(value) else { return };
        // Paths learn from their guards which objects exist.
        let is_found = self.is_path() || self.is_known(value) || self.looked_up[value.index()].is_some();
        if is_found || !self.is_live(value) || self.plan.is_sole(class) || self.asked[value.index()] < 2 {
            return;
        }
        let hint = match self.hint(value) {
            "" => "place".to_string(),
            hint => format!("{hint}_place"),
        };
        let local = self.function.local(hint, "uint32_t");
        self.push(Stmt::Let(local, self.plan.place_in(class, self.value(value))));
        self.looked_up[value.index()] = Some(local);
    }

    /// Makes the value equal to another: a message after an operation on it.
    pub fn same(&mut self, value: Value, as_value: Value) {
        self.values[value.index()] = self.values[as_value.index()].clone();
        self.known[value.index()] = self.known[as_value.index()];
        self.cells[value.index()] = self.cells[as_value.index()];
        self.looked_up[value.index()] = self.looked_up[as_value.index()];
    }

    /// The index of an operation's place in the table of sources.
    pub fn source(&self, source: Option<SourceId>) -> Expr {
        source.map_or(word("MK_NOBODY"), |id| number(id.0))
    }

    // -- objects

    /// The class of a reference.
    pub fn class_of(&self, object: Value) -> ClassId {
        match self.type_of(object) {
            Type::Ref(class) => class,
            _ => ClassId(0),
        }
    }

    /// Whether the reference is known to mean an existing object.
    pub fn is_known(&self, object: Value) -> bool {
        self.known[object.index()]
    }

    /// The knowledge about an object, for [`Writer::know`].
    pub fn knowledge(&self, object: Value) -> (bool, Option<Local>) {
        (self.known[object.index()], self.cells[object.index()])
    }

    /// The knowledge about all objects, for [`Writer::know_all`].
    pub fn all_knowledge(&self) -> (Vec<bool>, Vec<Option<Local>>) {
        (self.known.clone(), self.cells.clone())
    }

    /// Restores the knowledge about all objects.
    pub fn know_all(&mut self, knowledge: (Vec<bool>, Vec<Option<Local>>)) {
        (self.known, self.cells) = knowledge;
    }

    /// Restores the knowledge about an object.
    pub fn know(&mut self, object: Value, knowledge: (bool, Option<Local>)) {
        (self.known[object.index()], self.cells[object.index()]) = knowledge;
    }

    /// From here on, the reference is known to mean an existing object.
    pub fn set_known(&mut self, object: Value) {
        let class = self.class_of(object);
        self.known[object.index()] = true;
        if self.plan.is_sole(class) || !self.is_live(object) {
            return;
        }
        let is_own = self.handler().is_some() && self.body.blocks[0].params.first() == Some(&object);
        let hint = match (is_own, self.hint(object)) {
            (true, _) => "self".to_string(),
            (false, "") => "cells".to_string(),
            (false, hint) => format!("{hint}_cells"),
        };
        let class_name = &self.plan.names.classes[class.index()];
        let cells = computes("MK_PLACE", [of_instance(class_name.clone()), self.place(object)]);
        self.set_cells(object, hint, cells);
    }

    /// From here on, the reference is known to mean an existing object with this record; not for the only object of a
    /// class.
    pub fn set_there(&mut self, object: Value, record: Expr) {
        self.known[object.index()] = true;
        if self.is_live(object) {
            let hint =
                if self.hint(object).is_empty() { "cells".to_string() } else { format!("{}_cells", self.hint(object)) };
            self.set_cells(object, hint, record);
        }
    }

    fn set_cells(&mut self, object: Value, hint: String, cells: Expr) {
        let class_name = &self.plan.names.classes[self.class_of(object).index()];
        let local = self.function.local(hint, format!("struct {class_name} *"));
        self.push(Stmt::Let(local, cells));
        self.cells[object.index()] = Some(local);
    }

    /// Runs `inner`, in which the reference is known to mean an existing object.
    pub fn assume(&mut self, object: Value, inner: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.known[object.index()], true);
        inner(self);
        self.known[object.index()] = before;
    }

    /// Runs `write`, which writes to the object, only if the object exists.
    pub fn guarded(&mut self, object: Value, write: impl FnOnce(&mut Self)) {
        let there = self.there(object);
        self.only_if(there, |writer| writer.assume(object, write));
    }

    /// Whether the object exists, as a condition; `None` if that is known.
    pub fn there(&self, object: Value) -> Option<Expr> {
        let (class, reference) = (self.class_of(object), self.value(object));
        if let (false, Some(place)) = (self.is_known(object), self.looked_up[object.index()]) {
            let [_, capacity] = self.plan.heads_of(class);
            return Some(Expr::Local(place).infix(Infix::Ne, capacity));
        }
        match (self.is_known(object), self.plan.is_sole(class)) {
            (true, _) => None,
            (_, true) => Some(reference.infix(Infix::Ne, word("MK_NULL"))),
            _ => Some(reads("mk_is_there", [self.plan.class_at(class), reference])),
        }
    }

    /// The object's place in its class; for an object that does not exist, the place of null.
    pub fn place(&self, object: Value) -> Expr {
        if let Some(place) = self.looked_up[object.index()] {
            return Expr::Local(place);
        }
        let (class, reference) = (self.class_of(object), self.value(object));
        match (self.is_known(object), self.plan.is_sole(class)) {
            (true, true) => Expr::Number(0),
            (false, true) => reference.infix(Infix::Eq, word("MK_NULL")),
            (true, false) => computes("mk_number", [reference]),
            (false, false) => self.plan.place_in(class, reference),
        }
    }

    /// A cell of an object; for the only object of its class, [`Writer::has_record`] says whether it may be read.
    pub fn cell(&self, object: Value, cell: CellId) -> Expr {
        let class = self.class_of(object);
        let names = &self.plan.names;
        let member = names.cells[class.index()][cell.index()].clone();
        match self.cells[object.index()].filter(|_| self.is_known(object)) {
            Some(cells) => Expr::Local(cells).arrow(member),
            None => of_instance(names.classes[class.index()].clone()).element(self.record(object)).member(member),
        }
    }

    /// The record of an existing object.
    pub fn record_of(&self, object: Value) -> Expr {
        match self.cells[object.index()] {
            Some(cells) => Expr::Local(cells).deref(),
            None => {
                of_instance(self.plan.names.classes[self.class_of(object).index()].clone()).element(self.record(object))
            }
        }
    }

    /// The index of the object's record; for an object that does not exist, that of null. The only object of a class
    /// has the only record.
    fn record(&self, object: Value) -> Expr {
        match self.plan.is_sole(self.class_of(object)) {
            true => Expr::Number(0),
            false => self.place(object),
        }
    }

    /// If the class has no record for null, and the reference may be null: the condition that it is not.
    pub fn has_record(&self, object: Value) -> Option<Expr> {
        self.there(object).filter(|_| self.plan.is_sole(self.class_of(object)))
    }

    /// The content of a cell with one value.
    pub fn got(&self, object: Value, cell: CellId) -> Expr {
        let member = self.cell(object, cell);
        let got = match self.stored(object, cell) {
            Stored::Whole | Stored::Bit | Stored::Narrow(_) => member,
            Stored::Nobody => conditional(member, word("MK_NULL"), word(SOLE)),
            Stored::Short => reads("mk_long", [member.address()]),
        };
        Expr::only_if(self.has_record(object), got, Expr::Number(0))
    }

    /// Writes a cell with one value.
    pub fn put(&mut self, object: Value, cell: CellId, value: Expr) {
        let member = self.cell(object, cell);
        match self.stored(object, cell) {
            Stored::Whole | Stored::Bit => self.push(set(member, value)),
            Stored::Narrow(bits) => self.push(set(member, value.cast(unsigned(bits)))),
            Stored::Nobody => self.push(set(member, value.infix(Infix::Eq, word("MK_NULL")))),
            Stored::Short => self.act(acts("mk_shorten", [member.address(), value])),
        }
    }

    /// Invalidates memos if one reads this map.
    pub fn forget(&mut self, object: Value, cell: CellId) {
        if self.plan.support.asked(self.class_of(object), cell).is_some() {
            self.forget_all();
        }
    }

    fn forget_all(&mut self) {
        self.act(acts(FORGET, [of_instance("memos").address()]));
    }

    /// Before a cell is written: invalidates memos if one reads it, and what it asks is answered differently now.
    pub fn forget_changed(&mut self, object: Value, cell: CellId, value: Value) {
        let Some(asked) = self.plan.support.asked(self.class_of(object), cell) else { return };
        let (old, new) = (self.got(object, cell), self.value(value));
        let differs = match asked {
            Asked::Content => old.infix(Infix::Ne, new),
            Asked::Equal(constants) => {
                let planted = (self.plan.planted == Some(Fault::OneConstant)).then_some(1);
                let told = constants.iter().take(planted.unwrap_or(usize::MAX)).map(|constant| {
                    let is = |content: &Expr| content.clone().infix(Infix::Eq, number(*constant));
                    match self.ranges.constant(value) {
                        Some(new) if new == *constant => is(&old).negated(),
                        Some(_) => is(&old),
                        None => is(&old).infix(Infix::Ne, is(&new)),
                    }
                });
                let Some(differs) = told.reduce(|one, other| one.infix(Infix::Or, other)) else { return };
                differs
            }
        };
        self.only_if(Some(differs), Self::forget_all);
    }

    fn stored(&self, object: Value, cell: CellId) -> Stored {
        match self.cell_kind(object, cell) {
            CellKind::Scalar { ty, .. } => {
                let class = self.plan.automaton.class(self.class_of(object));
                Stored::of(self.plan.automaton, class, *ty)
            }
            CellKind::Array { .. }
            | CellKind::Messages { .. }
            | CellKind::Map { .. }
            | CellKind::Timer
            | CellKind::Quota { .. }
            | CellKind::Counter => Stored::Whole,
        }
    }

    /// The kind of a cell.
    pub fn cell_kind(&self, object: Value, cell: CellId) -> &'a CellKind {
        &self.plan.automaton.cell(self.class_of(object), cell).kind
    }

    /// What the runtime keeps for an object beside its head.
    pub fn beside(&self, object: Value, beside: Beside) -> Expr {
        self.plan.beside(self.class_of(object), beside).element(self.place(object))
    }

    /// The head of an object.
    pub fn object(&self, object: Value) -> Expr {
        self.beside(object, Beside::Objects)
    }
}

/// By value: how many operations ask for cells of the object that it means.
fn asked(body: &Body) -> Vec<usize> {
    let mut asked = vec![0; body.values.len()];
    let attempted = body.attempts().filter_map(|op| op.cell());
    body.ops().filter_map(|op| op.kind.cell()).chain(attempted).for_each(|(object, _)| asked[object.index()] += 1);
    asked
}

/// By value: the block and place of the operation that makes it.
fn made(body: &Body) -> Vec<Option<(usize, usize)>> {
    let mut made = vec![None; body.values.len()];
    for (at, block) in body.blocks.iter().enumerate() {
        for (place, op) in block.ops.iter().enumerate() {
            op.results.iter().for_each(|result| made[result.index()] = Some((at, place)));
        }
    }
    made
}

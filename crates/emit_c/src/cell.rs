//! Operations on the cells of objects.

use mokume_reaction::*;

use crate::body::BodyWriter;

impl BodyWriter<'_, '_> {
    /// Runs `write`, which writes to the object, unless the object is not there.
    pub(crate) fn guarded(&mut self, object: Value, write: impl FnOnce(&mut Self)) {
        if self.is_known(object) {
            return write(self);
        }
        let there = self.there(object);
        self.text.open(format!("if ({there})"));
        self.assume(object, write);
        self.text.close("");
    }

    /// Whether the object is there, as a condition.
    pub(crate) fn there(&mut self, object: Value) -> String {
        match self.is_known(object) {
            true => "true".into(),
            false => format!("mk_is_there({}, {})", self.plan.class_at(self.class_of(object)), self.value(object)),
        }
    }

    /// The head of an object, as an expression.
    fn object(&mut self, object: Value) -> String {
        let class = self.class_of(object);
        let place = self.place(object);
        format!("k->{}_objects[{place}]", self.plan.names.classes[class.index()])
    }

    /// The number of places of an array or of a cell of messages.
    pub(crate) fn size_of(&self, object: Value, cell: CellId) -> u32 {
        match self.cell_kind(object, cell) {
            CellKind::Array { size, .. } | CellKind::Messages { size, .. } => *size,
            CellKind::Quota { amount } => *amount,
            _ => 0,
        }
    }

    /// One operation on a cell. A reference to nobody reads zeros and writes nothing.
    pub(crate) fn cell_op(&mut self, op: &Op) {
        match &op.kind {
            OpKind::Get { object, cell } | OpKind::Left { object, cell } => {
                let text = self.cell(*object, *cell);
                self.assign(op.results[0], text);
            }
            OpKind::IsArmed { object, cell } => {
                let text = format!("mk_timer_armed(&{})", self.cell(*object, *cell));
                self.assign(op.results[0], text);
            }
            OpKind::GetAt { object, cell, index } => {
                let (within, array) = self.within(*object, *cell, *index, op.source);
                self.assign(op.results[0], format!("{within} ? {array} : 0"));
            }
            OpKind::Holds { object, cell, index } => {
                let (within, place) = self.within(*object, *cell, *index, op.source);
                self.assign(op.results[0], format!("{within} && {place} != NULL"));
            }
            OpKind::Release { object } if !self.plan.mortal.contains(&self.class_of(*object)) => {}
            OpKind::Release { object } => {
                let class = self.plan.class_at(self.class_of(*object));
                let object = self.value(*object);
                self.text.line(format!("mk_release(&k->core, {class}, {object});"));
            }
            OpKind::Keep { object, message, .. } if !self.is_known(*object) => {
                let (there, message) = (self.there(*object), self.value(*message));
                self.text.open(format!("if ({there})"));
                self.assume(*object, |writer| writer.write_op(op));
                self.otherwise();
                self.text.line(format!("mk_gone(&k->core, {message});"));
                self.text.close("");
            }
            OpKind::Set { object, .. }
            | OpKind::SetAt { object, .. }
            | OpKind::Arm { object, .. }
            | OpKind::Disarm { object, .. }
            | OpKind::Count { object, .. }
            | OpKind::Give { object, .. }
            | OpKind::Keep { object, .. }
            | OpKind::Again { object } => self.guarded(*object, |writer| writer.write_op(op)),
            _ => {}
        }
    }

    /// Whether an index is within a cell's places, and the place.
    fn within(&mut self, object: Value, cell: CellId, index: Value, source: Option<SourceId>) -> (String, String) {
        let (there, size, source) = (self.there(object), self.size_of(object, cell), self.source(source));
        let index = self.value(index);
        let within = format!("mk_within(&k->core, {index}, {size}, {source})");
        let within = if there == "true" { within } else { format!("{there} && {within}") };
        let mut place = String::new();
        self.assume(object, |writer| place = format!("{}[{index}]", writer.cell(object, cell)));
        (within, place)
    }

    fn write_op(&mut self, op: &Op) {
        let source = self.source(op.source);
        match &op.kind {
            OpKind::Set { object, cell, value } => {
                let (to, value) = (self.cell(*object, *cell), self.value(*value));
                self.text.line(format!("{to} = {value};"));
            }
            OpKind::SetAt { object, cell, index, value } => {
                let (array, size) = (self.cell(*object, *cell), self.size_of(*object, *cell));
                let (index, value) = (self.value(*index), self.value(*value));
                self.text.line(format!("if (mk_within(&k->core, {index}, {size}, {source}))"));
                self.text.line(format!("    {array}[{index}] = {value};"));
            }
            OpKind::Arm { object, cell, deadline } => {
                let (head, timer) = (self.object(*object), self.cell(*object, *cell));
                let deadline = self.value(*deadline);
                self.text.line(format!("mk_do_arm(&k->core, &{head}, &{timer}, {deadline});"));
            }
            OpKind::Disarm { object, cell } => {
                let timer = self.cell(*object, *cell);
                self.text.line(format!("mk_timer_stop(&{timer});"));
            }
            OpKind::Count { object, cell, amount } => {
                let counter = (self.class_of(*object), *cell);
                let index = self.plan.counters.iter().position(|known| *known == counter).unwrap_or(0);
                let amount = self.value(*amount);
                self.text.line(format!("k->counters[{index}] += {amount};"));
            }
            OpKind::Give { object, cell, amount } => {
                let (left, total) = (self.cell(*object, *cell), self.size_of(*object, *cell));
                let amount = self.value(*amount);
                self.text.line(format!("mk_do_give(&k->core, &{left}, {total}, {amount}, {source});"));
            }
            OpKind::Keep { object, cell, index, message } => {
                let (places, size) = (self.cell(*object, *cell), self.size_of(*object, *cell));
                let (index, message) = (self.value(*index), self.value(*message));
                self.text.line(format!("mk_do_keep(&k->core, {places}, {size}, {index}, {message}, {source});"));
            }
            OpKind::Again { object } => {
                let own = self.handler.is_some_and(|id| self.plan.automaton.handler(id).trigger == Trigger::Settle)
                    && *object == self.body.blocks[0].params[0];
                if self.plan.settles.contains(&self.class_of(*object)) {
                    let head = self.object(*object);
                    let what = if own { "mk_again" } else { "mk_ask_again" };
                    self.text.line(format!("{what}(&k->core, &{head});"));
                }
            }
            _ => {}
        }
    }
}

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

    /// Whether an index is within a cell's places, and the place.
    pub(crate) fn within(
        &mut self,
        object: Value,
        cell: CellId,
        index: Value,
        source: Option<SourceId>,
    ) -> (String, String) {
        let (there, size, source) = (self.there(object), self.size_of(object, cell), self.source(source));
        let index = self.value(index);
        let within = format!("mk_within(&k->core, {index}, {size}, {source})");
        let within = if there == "true" { within } else { format!("{there} && {within}") };
        let mut place = String::new();
        self.assume(object, |writer| place = format!("{}[{index}]", writer.cell(object, cell)));
        (within, place)
    }

    pub(crate) fn set(&mut self, object: Value, cell: CellId, value: Value) {
        self.guarded(object, |writer| {
            let (to, value) = (writer.cell(object, cell), writer.value(value));
            writer.text.line(format!("{to} = {value};"));
        });
    }

    pub(crate) fn set_at(
        &mut self,
        object: Value,
        cell: CellId,
        (index, value): (Value, Value),
        source: Option<SourceId>,
    ) {
        self.guarded(object, |writer| {
            let source = writer.source(source);
            let (array, size) = (writer.cell(object, cell), writer.size_of(object, cell));
            let (index, value) = (writer.value(index), writer.value(value));
            writer.text.line(format!("if (mk_within(&k->core, {index}, {size}, {source}))"));
            writer.text.line(format!("    {array}[{index}] = {value};"));
        });
    }

    pub(crate) fn arm_timer(&mut self, object: Value, cell: CellId, deadline: Value) {
        self.guarded(object, |writer| {
            let (head, timer) = (writer.object(object), writer.cell(object, cell));
            let deadline = writer.value(deadline);
            writer.text.line(format!("mk_do_arm(&k->core, &{head}, &{timer}, {deadline});"));
        });
    }

    pub(crate) fn disarm(&mut self, object: Value, cell: CellId) {
        self.guarded(object, |writer| {
            let timer = writer.cell(object, cell);
            writer.text.line(format!("mk_timer_stop(&{timer});"));
        });
    }

    pub(crate) fn count(&mut self, object: Value, cell: CellId, amount: Value) {
        self.guarded(object, |writer| {
            let counter = (writer.class_of(object), cell);
            let index = writer.plan.counters.iter().position(|known| *known == counter).unwrap_or(0);
            let amount = writer.value(amount);
            writer.text.line(format!("k->counters[{index}] += {amount};"));
        });
    }

    pub(crate) fn give(&mut self, object: Value, cell: CellId, amount: Value, source: Option<SourceId>) {
        self.guarded(object, |writer| {
            let source = writer.source(source);
            let (left, total) = (writer.cell(object, cell), writer.size_of(object, cell));
            let amount = writer.value(amount);
            writer.text.line(format!("mk_do_give(&k->core, &{left}, {total}, {amount}, {source});"));
        });
    }

    /// A message for the place of an object that is not there is gone.
    pub(crate) fn keep(&mut self, object: Value, cell: CellId, index: Value, message: Value, source: Option<SourceId>) {
        if !self.is_known(object) {
            let (there, gone) = (self.there(object), self.value(message));
            self.text.open(format!("if ({there})"));
            self.assume(object, |writer| writer.keep(object, cell, index, message, source));
            self.otherwise();
            self.text.line(format!("mk_gone(&k->core, {gone});"));
            return self.text.close("");
        }
        let source = self.source(source);
        let (places, size) = (self.cell(object, cell), self.size_of(object, cell));
        let (index, message) = (self.value(index), self.value(message));
        self.text.line(format!("mk_do_keep(&k->core, {places}, {size}, {index}, {message}, {source});"));
    }

    pub(crate) fn release(&mut self, object: Value) {
        if self.plan.mortal.contains(&self.class_of(object)) {
            let class = self.plan.class_at(self.class_of(object));
            let object = self.value(object);
            self.text.line(format!("mk_release(&k->core, {class}, {object});"));
        }
    }

    pub(crate) fn again(&mut self, object: Value) {
        self.guarded(object, |writer| {
            let own = writer.handler.is_some_and(|id| writer.plan.automaton.handler(id).trigger == Trigger::Settle)
                && object == writer.body.blocks[0].params[0];
            if writer.plan.settles.contains(&writer.class_of(object)) {
                let head = writer.object(object);
                let what = if own { "mk_again" } else { "mk_ask_again" };
                writer.text.line(format!("{what}(&k->core, &{head});"));
            }
        });
    }
}

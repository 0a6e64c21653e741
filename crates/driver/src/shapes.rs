//! The shapes of values, from the types of the source.

use mokume_base::Notation;
use mokume_script::{Alternative, Shape};
use mokume_semantics::program::{Program, RecordId, Type};

/// The shape of a type; `written` is the notation of a number, or of a vector's elements, that a declaration gives it.
pub(crate) fn of(program: &Program, ty: Type, written: Option<Notation>) -> Shape {
    if let Some(vector) = program.vector(ty) {
        let element = of(program, vector.element, written);
        let octets = vector.element == Type::UInt(8) && element == Shape::Word(None);
        return Shape::Vector { element: Box::new(element), bound: vector.bound as usize, octets };
    }
    match (ty, program.form(ty, written)) {
        (Type::Message, _) => Shape::Message,
        (Type::Flow(_), _) => Shape::Flow,
        (Type::Record(_), Some(form)) => Shape::Whole(form),
        (Type::Record(id), None) => record(program, id),
        (_, form) => Shape::Word(form),
    }
}

fn record(program: &Program, id: RecordId) -> Shape {
    let fields = program.records.get(id.index()).map_or(&[][..], |record| &record.fields);
    let named = |name: &str, at: usize| {
        let field = &fields[at];
        (name.to_string(), of(program, field.ty, field.written))
    };
    let Some(choice) = program.enums.iter().find(|known| known.data == Some(id)) else {
        return Shape::Record(fields.iter().enumerate().map(|(at, field)| named(&field.name.text, at)).collect());
    };
    let alternatives = choice.names.iter().zip(&choice.parts).map(|((name, number), parts)| {
        // Their fields are called `.Wait.rounds`.
        let own = |at: usize| fields[at].name.text.rsplit('.').next().unwrap_or_default().to_string();
        let parts = parts.clone().map(|at| named(&own(at), at)).collect();
        Alternative { number: *number, name: format!("{}.{}", choice.name.text, name.text), parts }
    });
    Shape::Choice(alternatives.collect())
}

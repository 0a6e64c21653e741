//! How values of a type are shown: which parts they have, and how these are written.

use mokume_base::{Form, Notation};
use mokume_semantics::program::{Program, RecordId, Type};

/// How values of a type are put together from the parts that they are in code.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Shape {
    /// A number, an enum's value, an object.
    Word(Option<Form>),
    Message,
    /// Several parts that are written as one: `10.0.0.1/24`.
    Whole(Form),
    Record(Vec<(String, Shape)>),
    /// A bounded vector: its length, and the parts of its elements as arrays.
    Vector {
        element: Box<Shape>,
        bound: usize,
        octets: bool,
    },
    /// An enum with parts: its number, and the parts of all names side by side.
    Choice(Vec<Alternative>),
    Flow,
}

/// A name of an enum with parts.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Alternative {
    pub number: u64,
    /// `Plan.Wait`
    pub name: String,
    pub parts: Vec<(String, Shape)>,
}

impl Shape {
    /// The shape of a type; `written` is the notation of a number, or of a vector's elements, that a declaration gives it.
    pub fn of(program: &Program, ty: Type, written: Option<Notation>) -> Shape {
        if let Some(vector) = program.vector(ty) {
            let element = Shape::of(program, vector.element, written);
            let octets = vector.element == Type::UInt(8) && element == Shape::Word(None);
            return Shape::Vector { element: Box::new(element), bound: vector.bound as usize, octets };
        }
        match (ty, program.form(ty, written)) {
            (Type::Message, _) => Shape::Message,
            (Type::Flow(_), _) => Shape::Flow,
            (Type::Record(_), Some(form)) => Shape::Whole(form),
            (Type::Record(id), None) => Shape::record(program, id),
            (_, form) => Shape::Word(form),
        }
    }

    fn record(program: &Program, id: RecordId) -> Shape {
        let fields = program.records.get(id.index()).map_or(&[][..], |record| &record.fields);
        let named = |name: &str, at: usize| {
            let field = &fields[at];
            (name.to_string(), Shape::of(program, field.ty, field.written))
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

    /// How many numbers a value is, where vectors stand element by element.
    pub fn words(&self) -> usize {
        let sum = |parts: &[(String, Shape)]| parts.iter().map(|(_, shape)| shape.words()).sum::<usize>();
        match self {
            Shape::Vector { element, bound, .. } => 1 + bound * element.words(),
            Shape::Record(fields) => sum(fields),
            Shape::Choice(alternatives) => 1 + alternatives.iter().map(|one| sum(&one.parts)).sum::<usize>(),
            Shape::Word(_) | Shape::Message | Shape::Whole(_) | Shape::Flow => self.parts(),
        }
    }

    /// Whether it is put together from parts with names or numbers of their own.
    pub fn has_parts(&self) -> bool {
        matches!(self, Shape::Record(_) | Shape::Vector { .. } | Shape::Choice(_))
    }

    /// How many parts a value has in code.
    pub fn parts(&self) -> usize {
        let sum = |parts: &[(String, Shape)]| parts.iter().map(|(_, shape)| shape.parts()).sum::<usize>();
        match self {
            Shape::Word(_) | Shape::Message => 1,
            Shape::Whole(form) => form.words(),
            Shape::Record(fields) => sum(fields),
            Shape::Vector { element, .. } => 1 + element.parts(),
            Shape::Choice(alternatives) => 1 + alternatives.iter().map(|one| sum(&one.parts)).sum::<usize>(),
            // Its layers say.
            Shape::Flow => 0,
        }
    }
}

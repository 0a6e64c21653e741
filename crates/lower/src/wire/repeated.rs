//! The elements of a header's vector in a packet: nested optional parts, one for each possible element, present if the
//! length says so.
//!
//! Keeps: elements that are not in the packet are zero in the header, as in every vector; a length beyond the bound is
//! rejected.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::stack::Lowering;

/// A vector among the fields of a header's alternative: its length is field number `length`, followed by its elements.
#[derive(Clone, Copy)]
pub(crate) struct Repeated {
    pub length: usize,
    pub bound: usize,
    /// The scalars of an element.
    pub width: usize,
    pub of: s::Type,
}

/// The contents of an element, by the numbers of its scalars among the header's fields.
pub(crate) enum Part {
    Scalar(usize),
    /// The number of its length, and its elements.
    Vector(usize, Vec<Vec<Part>>),
}

impl Repeated {
    /// The number of an element's first scalar.
    pub fn element(&self, place: usize) -> usize {
        self.length + 1 + place * self.width
    }

    /// The number after the last element's last scalar.
    pub fn end(&self) -> usize {
        self.element(self.bound)
    }
}

impl Lowering<'_> {
    /// The parts of a value whose first scalar is `next`.
    pub(crate) fn parts_of(&self, ty: s::Type, next: &mut usize) -> Vec<Part> {
        if let Some(vector) = self.program.vector(ty) {
            let length = *next;
            *next += 1;
            let elements = (0..vector.bound).map(|_| self.parts_of(vector.element, next)).collect();
            return vec![Part::Vector(length, elements)];
        }
        let s::Type::Record(id) = ty else {
            *next += 1;
            return vec![Part::Scalar(*next - 1)];
        };
        let fields = self.program.records.get(id.index()).map_or(&[][..], |record| &record.fields);
        fields.iter().flat_map(|field| self.parts_of(field.ty, next)).collect()
    }

    /// Whether elements contain vectors.
    pub(crate) fn holds_vectors(&self, vector: &Repeated) -> bool {
        self.parts_of(vector.of, &mut 0).iter().any(|part| matches!(part, Part::Vector(..)))
    }

    /// The bound of a vector of an alternative; its name has `*` if it is in an element.
    pub(crate) fn most_of(&self, inst: usize, variant: usize, vector: &str) -> Option<usize> {
        let header = self.layer(inst).and_then(|layer| layer.header.as_ref())?;
        let mut parts = vector.split('.');
        let first = parts.next()?;
        let field = header.variants.get(variant)?.fields.iter().find(|field| field.name.text == first)?;
        let ty = parts.try_fold(field.ty, |ty, part| match part {
            "*" => Some(self.program.vector(ty)?.element),
            part => {
                let s::Type::Record(id) = ty else { return None };
                let fields = &self.program.records.get(id.index())?.fields;
                fields.iter().find(|field| field.name.text == part).map(|field| field.ty)
            }
        })?;
        Some(self.program.vector(ty)?.bound as usize)
    }

    /// The vectors of an alternative.
    pub(crate) fn repeated(&self, inst: usize, variant: usize) -> Vec<Repeated> {
        let layer = self.layer(inst).and_then(|layer| layer.header.as_ref());
        let Some(declared) = layer.and_then(|header| header.variants.get(variant)) else { return Vec::new() };
        let fields = &self.infos[inst].fields[variant];
        let found = declared.fields.iter().enumerate().filter_map(|(place, field)| {
            let vector = self.program.vector(field.ty)?;
            let own = |field: &crate::stack::HeaderField| field.own == Some(place as u32);
            let length = fields.iter().position(own)?;
            let scalars = fields.iter().filter(|field| own(field)).count();
            let bound = vector.bound as usize;
            Some(Repeated { length, bound, width: (scalars - 1) / bound, of: vector.element })
        });
        found.collect()
    }
}

/// A part for each element: present if `count`, which is `length * times + plus`, has room for one more.
pub(crate) fn nested(
    count: r::FieldIndex,
    (times, plus): (u64, u64),
    elements: Vec<Vec<r::WireItem>>,
) -> Option<r::WireItem> {
    let mut inner: Option<r::WireItem> = None;
    for (place, mut items) in elements.into_iter().enumerate().rev() {
        items.extend(inner);
        let when = vec![r::WireTest {
            left: r::WireExpression::Field(count),
            compare: r::Compare::Gt,
            right: r::WireExpression::Number(place as u64 * times + plus),
        }];
        inner = Some(r::WireItem::Optional { when, items });
    }
    inner
}

/// Adds a constraint to the counting field, with its reason.
pub(crate) fn at_most(count: &mut r::WireField, most: u64, otherwise: r::ReasonId) {
    count.constraints.push(r::WireConstraint {
        left: r::WireExpression::Field(count.index),
        compare: r::Compare::Le,
        right: r::WireExpression::Number(most),
        otherwise,
    });
}

/// Whether an option is present exactly if its list is not empty.
pub(crate) fn counted_by(present: &s::WireValue, each: &s::WireEach) -> bool {
    let (s::WireValue::Header { field, .. }, s::WireValue::Header { field: length, .. }) = (present, &each.length)
    else {
        return false;
    };
    length.text.strip_suffix(".length") == Some(field.text.as_str())
}

/// Numbers fields by their order of appearance, and updates what names them: each copy of an element's fields has its
/// own numbers.
pub(crate) fn renumber(items: &mut [r::WireItem]) {
    Numbers::default().items(items);
}

#[derive(Default)]
struct Numbers {
    next: u32,
    known: std::collections::HashMap<u32, u32>,
}

impl Numbers {
    fn items(&mut self, items: &mut [r::WireItem]) {
        for item in items {
            match item {
                r::WireItem::Field(field) => self.field(field),
                r::WireItem::Choice { on, arms, .. } => {
                    self.index(on);
                    arms.iter_mut().for_each(|arm| self.items(&mut arm.items));
                }
                r::WireItem::Optional { when, items } => {
                    for test in when {
                        self.expression(&mut test.left);
                        self.expression(&mut test.right);
                    }
                    self.items(items);
                }
                r::WireItem::Options(options) => {
                    self.expression(&mut options.until);
                    for arm in &mut options.arms {
                        if let r::OptionArm::Known { items, .. } = arm {
                            self.items(items);
                        }
                    }
                }
                r::WireItem::List(list) => list.elements.iter_mut().for_each(|element| self.items(element)),
                r::WireItem::Reach(to) => self.expression(to),
            }
        }
    }

    fn field(&mut self, field: &mut r::WireField) {
        self.known.insert(field.index.0, self.next);
        field.index = r::FieldIndex(self.next);
        self.next += 1;
        if let r::FieldValue::Computed { expression, .. } = &mut field.value {
            self.expression(expression);
        }
        for constraint in &mut field.constraints {
            self.expression(&mut constraint.left);
            self.expression(&mut constraint.right);
        }
    }

    fn index(&self, index: &mut r::FieldIndex) {
        index.0 = self.known.get(&index.0).copied().unwrap_or(index.0);
    }

    fn expression(&self, expression: &mut r::WireExpression) {
        use r::WireExpression as E;
        match expression {
            E::Field(index) => self.index(index),
            E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b) => {
                self.expression(a);
                self.expression(b);
            }
            _ => {}
        }
    }
}

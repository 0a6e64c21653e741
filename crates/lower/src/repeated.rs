//! The elements of a header's vector in a packet: a part for each that there may be, within the part of the one before it,
//! there if the length says so.
//!
//! Keeps: what is not in the packet is zero in the header, as in every vector; a length beyond the bound is refused.

use mokume_reaction as r;

use crate::lowering::Lowering;

/// A vector among the fields of a header's alternative: its length is number `length`, its elements stand behind it.
#[derive(Clone, Copy)]
pub(crate) struct Repeated {
    pub length: usize,
    pub bound: usize,
    /// Scalars of an element.
    pub width: usize,
}

impl Repeated {
    /// The number of the first scalar of an element.
    pub fn element(&self, place: usize) -> usize {
        self.length + 1 + place * self.width
    }

    pub fn end(&self) -> usize {
        self.element(self.bound)
    }
}

impl Lowering<'_> {
    /// The vectors of an alternative.
    pub(crate) fn repeated(&self, inst: usize, variant: usize) -> Vec<Repeated> {
        let layer = self.layer(inst).and_then(|layer| layer.header.as_ref());
        let Some(declared) = layer.and_then(|header| header.variants.get(variant)) else { return Vec::new() };
        let fields = &self.infos[inst].fields[variant];
        let found = declared.fields.iter().enumerate().filter_map(|(place, field)| {
            let vector = self.program.vector(field.ty)?;
            let own = |field: &crate::lowering::HeaderField| field.own == Some(place as u32);
            let length = fields.iter().position(own)?;
            let scalars = fields.iter().filter(|field| own(field)).count();
            let bound = vector.bound as usize;
            Some(Repeated { length, bound, width: (scalars - 1) / bound })
        });
        found.collect()
    }
}

/// A part for each element: there if `count`, which is `length * times + plus`, says that there is one more.
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

/// What the field that counts is refused for.
pub(crate) fn at_most(count: &mut r::WireField, most: u64, otherwise: r::ReasonId) {
    count.constraints.push(r::WireConstraint {
        left: r::WireExpression::Field(count.index),
        compare: r::Compare::Le,
        right: r::WireExpression::Number(most),
        otherwise,
    });
}

/// Fields by their order of appearance, and what names them: each copy of an element's fields has numbers of its own.
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

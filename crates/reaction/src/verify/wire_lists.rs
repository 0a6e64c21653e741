//! Lists of wires: counted where they stand, of equal elements, in whole octets, and self-contained.

use super::wires::{Checker, WirePath};
use crate::*;

const UNCOUNTED: &str = "how many elements a list has is not said in front of it";

impl<'a> Checker<'a, '_> {
    pub(super) fn list(&mut self, list: &'a WireList, paths: &mut [WirePath]) {
        let place = (list.header, list.variant, list.count);
        match list.to_end {
            Some(_) => paths.iter_mut().for_each(|path| path.covered.push(place)),
            None if paths.iter().any(|path| !path.covered.contains(&place)) => {
                self.fault(codes::WIRE_NAME, UNCOUNTED.to_owned());
            }
            None => {}
        }
        if paths.iter().any(|path| !path.bits.is_multiple_of(8)) {
            self.fault(codes::WIRE_OCTETS, "lists begin on an octet".to_owned());
        }
        self.list_elements(list, paths);
        for path in paths.iter_mut() {
            path.over = true;
            path.listed = list.to_end.is_none();
        }
    }

    fn list_elements(&mut self, list: &'a WireList, paths: &mut [WirePath]) {
        let first = list.elements.first().map_or(Vec::new(), |element| shape(element));
        let octets = first.split(|part| part.is_none()).all(|run| run.iter().flatten().sum::<u32>().is_multiple_of(8));
        let counts = first.first().is_some_and(Option::is_some);
        if !octets || !counts || list.elements.iter().any(|element| shape(element) != first) {
            let message = "a list has no elements that are alike, in whole octets, and begin with a field";
            self.fault(codes::WIRE_OCTETS, message.to_owned());
        }
        for element in &list.elements {
            // Each element counts its own lists.
            let mut inside = paths.first().cloned().unwrap_or_default();
            let (before, fields) = (inside.covered.len(), inside.fields.len());
            inside.bits = 0;
            let mut inside = [inside];
            element.iter().for_each(|item| self.list_item(item, &mut inside));
            let [inside] = inside;
            let own = &inside.fields[fields..];
            self.named_within(own);
            for path in paths.iter_mut() {
                path.covered.extend_from_slice(&inside.covered[before..]);
            }
        }
    }

    fn list_item(&mut self, item: &'a WireItem, inside: &mut [WirePath; 1]) {
        match item {
            WireItem::Field(field) => {
                let computed =
                    matches!(field.value, FieldValue::Computed { .. } | FieldValue::Tag | FieldValue::Placed);
                if computed || field.trims_packet {
                    let message = format!("`{}` is computed, or of a layer below, or trims, within a list", field.name);
                    self.fault(codes::WIRE_FIELD, message);
                }
                self.field(field, inside);
            }
            WireItem::List(list) if list.to_end.is_none() => {
                if !inside[0].covered.contains(&(list.header, list.variant, list.count)) {
                    self.fault(codes::WIRE_NAME, UNCOUNTED.to_owned());
                }
                self.list_elements(list, inside);
            }
            _ => self.fault(codes::WIRE_FIELD, "an element has fields, and lists that are counted".to_owned()),
        }
    }

    /// A constraint on an element's field is known when it is read, and names that field alone.
    fn named_within(&mut self, own: &[FieldIndex]) {
        for index in own {
            let Some(field) = self.fields.get(index.0 as usize).copied() else { continue };
            let alone = |expression: &WireExpression| match expression {
                WireExpression::Number(_) => true,
                WireExpression::Field(named) => named == index,
                _ => false,
            };
            if field.constraints.iter().any(|rule| !alone(&rule.left) || !alone(&rule.right)) {
                let message = format!("`{}` is held against more than a number, within a list", field.name);
                self.fault(codes::WIRE_NAME, message);
            }
        }
    }
}

/// The widths of the fields; `None` for a list.
fn shape(element: &[WireItem]) -> Vec<Option<u32>> {
    let part = |item: &WireItem| match item {
        WireItem::Field(field) => Some(u32::from(field.width)),
        _ => None,
    };
    element.iter().map(part).collect()
}

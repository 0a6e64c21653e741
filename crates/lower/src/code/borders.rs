//! Values that cross a border ([`crate::parts`]): spread into scalars, and packed again.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::writer::Writer;
use crate::parts::{has_arrays, places};

impl<'p> Writer<'_, 'p> {
    /// The scalars of a value.
    pub fn spread(&mut self, ty: s::Type, parts: Vec<r::Value>) -> Vec<r::Value> {
        if !has_arrays(self.program, ty) {
            return parts;
        }
        let places = places(self.program, ty).into_iter();
        let there = places.filter_map(|(part, item)| Some((*parts.get(part)?, item)));
        there.map(|(part, item)| item.map_or(part, |item| self.item(part, item))).collect()
    }

    /// A value from its scalars.
    pub fn gather(&mut self, ty: s::Type, scalars: Vec<r::Value>) -> Vec<r::Value> {
        if !has_arrays(self.program, ty) {
            return scalars;
        }
        let places = places(self.program, ty);
        let mut values = Vec::new();
        for (part, ty) in self.part_types(ty).into_iter().enumerate() {
            let own = places.iter().zip(&scalars).filter(|((of, _), _)| *of == part);
            let own: Vec<r::Value> = own.map(|(_, scalar)| *scalar).collect();
            values.push(self.part(ty, own));
        }
        values
    }

    /// A constant from its scalars at a border.
    pub fn known_value(&mut self, ty: s::Type, words: &[u64]) -> Vec<r::Value> {
        if !has_arrays(self.program, ty) {
            let types = self.border_types(ty);
            return words.iter().zip(types).map(|(word, ty)| self.constant(ty, *word)).collect();
        }
        let places = places(self.program, ty);
        let mut values = Vec::new();
        for (part, ty) in self.part_types(ty).into_iter().enumerate() {
            let own = places.iter().zip(words).filter(|((of, _), _)| *of == part);
            let mut own: Vec<u64> = own.map(|(_, word)| *word).collect();
            let item = ty.array().map(|(item, _)| item);
            // Items of an array that are not given are zero.
            while item.is_some() && own.last() == Some(&0) {
                own.pop();
            }
            let own = own.into_iter().map(|word| self.constant(item.unwrap_or(ty), word)).collect();
            values.push(self.part(ty, own));
        }
        values
    }

    /// One part from its scalars.
    fn part(&mut self, ty: r::Type, scalars: Vec<r::Value>) -> r::Value {
        match ty.array() {
            Some(_) => self.value(r::OpKind::Pack { ty, values: scalars }),
            None => scalars.first().copied().unwrap_or_else(|| self.zero(ty)),
        }
    }

    fn item(&mut self, array: r::Value, place: u32) -> r::Value {
        let index = self.constant(r::Type::U(32), u64::from(place));
        self.value(r::OpKind::Item { array, index })
    }

    /// A local's scalars at a border.
    pub fn local_at_border(&mut self, local: s::LocalId) -> Vec<r::Value> {
        let ty = self.decls.get(local.index()).map_or(s::Type::Unit, |decl| decl.ty);
        let parts = self.local(local);
        self.spread(ty, parts)
    }

    /// A value of a type, from the next scalars.
    pub fn taken(&mut self, ty: s::Type, scalars: &mut impl Iterator<Item = r::Value>) -> Vec<r::Value> {
        let count = self.border_types(ty).len();
        let own = scalars.take(count).collect();
        self.gather(ty, own)
    }

    /// Sets a local from the next scalars.
    pub fn take_local(&mut self, local: s::LocalId, scalars: &mut impl Iterator<Item = r::Value>) {
        let value = self.taken(self.decls[local.index()].ty, scalars);
        self.set_local(local, value);
    }
}

//! What layers push onto messages: their own records, with the keys of multiplexors.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::stack::{joined, unlike, HeaderField, KeyPart, Lowering};

impl<'p> Lowering<'p> {
    pub(super) fn declare_headers(&mut self, inst: usize) {
        let at = self.inst(inst);
        let Some(layer) = at.layer().filter(|_| self.plan.first_of_family(inst) == inst) else { return };
        let key = layer.key.as_ref().map_or(Vec::new(), |key| self.key_fields(inst, key));
        let alone = [];
        let variants: &[s::Variant] = layer.header.as_ref().map_or(&alone, |header| &header.variants);
        if variants.is_empty() && key.is_empty() {
            return;
        }
        let mut all = Vec::new();
        if variants.is_empty() {
            all.push((String::new(), key.clone()));
        }
        for variant in variants {
            let mut fields: Vec<HeaderField> = Vec::new();
            for (place, field) in variant.fields.iter().enumerate() {
                for (rest, ty) in self.border(inst, field.ty) {
                    let path = joined(&field.name.text, &rest);
                    let mut name = path.clone();
                    // A part of a field may be called as another field is: `list_length`.
                    let declared = variant.fields.iter().map(|other| other.name.text.as_str());
                    if !rest.is_empty() {
                        name = unlike(&name, declared.chain(fields.iter().map(|known| known.name.as_str())));
                    }
                    let known = key.iter().find(|part| part.name == name).and_then(|part| part.key);
                    let (own, big, common) = (Some(place as u32), field.big, field.common);
                    fields.push(HeaderField { name, path, ty, key: known, own, big, common, kept: None });
                }
            }
            let missing = key.iter().filter(|part| !fields.iter().any(|field| field.name == part.name));
            let fields = missing.cloned().chain(fields.iter().cloned()).collect();
            let is_record = layer.header.as_ref().is_some_and(s::Header::is_single);
            let name = if is_record { String::new() } else { variant.name.text.clone() };
            all.push((name, fields));
        }
        let variants = all
            .iter()
            .map(|(name, fields)| r::Variant {
                name: name.clone(),
                fields: fields.iter().map(|field| (field.name.clone(), field.ty)).collect(),
            })
            .collect();
        self.a.headers.push(r::Header { name: format!("{}.Header", at.name), variants });
        let id = r::HeaderId::from(self.a.headers.len() - 1);
        self.change(inst, |info| {
            info.header = Some(id);
            info.fields = all.into_iter().map(|(_, fields)| fields).collect();
        });
    }

    /// Gives a family's later members the headers of the first, and the places of their fields.
    pub(super) fn share_headers(&mut self) {
        for inst in 0..self.plan.insts.len() {
            let first = self.plan.first_of_family(inst);
            if first == inst {
                continue;
            }
            let of = self.info(first);
            self.change(inst, |info| {
                info.header = of.header;
                info.fields.clone_from(&of.fields);
                info.coding.placed.clone_from(&of.coding.placed);
                info.coding.size = of.coding.size;
            });
        }
    }

    /// `source` and `destination` for a key's field; one field with the key's name if it is symmetric.
    fn key_fields(&mut self, inst: usize, key: &s::Key) -> Vec<HeaderField> {
        let mut parts = Vec::new();
        for field in &key.fields {
            for (rest, ty) in self.border(inst, field.ty) {
                parts.push((joined(&field.name.text, &rest), ty, (field.big, field.common)));
            }
        }
        let make = |name: String, (ty, (big, common)), part, place| {
            let key = Some((part, place));
            let path = name.clone();
            HeaderField { name, path, ty, key, own: None, big, common, kept: None }
        };
        if key.symmetric {
            let fields = parts.into_iter().enumerate();
            return fields.map(|(at, (name, ty, big))| make(name, (ty, big), KeyPart::Both, at)).collect();
        }
        let ends = [(KeyPart::Source, "source"), (KeyPart::Destination, "destination")];
        let alone = parts.len() == 1;
        let mut fields = Vec::new();
        for (part, end) in ends {
            for (at, (name, ty, big)) in parts.iter().enumerate() {
                let name = if alone { end.to_owned() } else { format!("{end}_{name}") };
                fields.push(make(name, (*ty, *big), part, at));
            }
        }
        fields
    }
}

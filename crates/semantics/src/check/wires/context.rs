//! What the checks of one wire share, and what is known on the path that is followed.

use std::collections::BTreeMap;

use mokume_base::{Diagnostic, Span};

use crate::check::wires::headers::Seen;
use crate::program::*;
use crate::types;

#[derive(Clone, Default)]
pub struct Path<'a> {
    pub bits: u64,
    pub covered: BTreeMap<(&'a str, &'a str), Span>,
    /// Layer name and variant that the arms so far stand for.
    pub selected: Vec<(&'a str, &'a str)>,
    pub last: Option<Span>,
    /// Fields that have two places: their layers, and bits.
    pub twice: Vec<(&'a str, u8)>,
    /// What ended the header.
    pub over: Option<Span>,
    /// It was a list that is counted: other lists may follow.
    pub listed: bool,
    /// Fields of headers with alternatives, each with the layer and the alternative that it is of.
    pub of_alternatives: Vec<(&'a str, &'a str, &'a Name)>,
}

pub struct WireCheck<'a, 'b> {
    pub program: &'a Program,
    pub bundle: &'a Bundle,
    pub wire: &'a Wire,
    pub seen: Vec<Seen<'a>>,
    pub failed: bool,
    /// What is wrong with alternatives on some paths; said if nothing else is wrong.
    pub alone: Vec<Diagnostic>,
    pub covered_variants: Vec<(String, String)>,
    /// Fields that stand in packets of other alternatives, as reports name them.
    pub stray: Vec<String>,
    pub out: &'b mut Vec<Diagnostic>,
    /// How much had been told of other wires.
    pub from: usize,
}

impl<'a> WireCheck<'a, '_> {
    /// Reports what is wrong with the wire.
    pub fn fail(&mut self, diagnostic: Diagnostic) {
        self.failed = true;
        // The same wire under two bundles, or a field on two paths: say it once.
        if !self.out.contains(&diagnostic) {
            self.out.push(diagnostic);
        }
    }

    /// The bits of a header field, where it has a width.
    pub fn width(&self, layer: &str, field: &str) -> Option<u8> {
        let fields = self.layer(layer).into_iter().flat_map(|seen| &seen.variants).flat_map(|(_, fields)| fields);
        let ty = fields.into_iter().find(|known| known.name.text == field).map(|known| known.ty);
        ty.and_then(|ty| types::width(self.program, ty))
    }

    /// The header of a layer of the bundle, by the layer's name.
    pub fn layer(&self, name: &str) -> Option<&Seen<'a>> {
        self.seen.iter().find(|seen| seen.layer.name.text == name)
    }
}

//! The common state of the checks of one wire, and what is known on the current path.

use std::collections::BTreeMap;

use mokume_base::{Diagnostic, Span};

use crate::check::wires::headers::Seen;
use crate::check::wires::parts::part_of;
use crate::program::*;
use crate::types;

/// What is known at a place of a path through a wire.
#[derive(Clone, Default)]
pub struct Path<'a> {
    pub bits: u64,
    pub covered: BTreeMap<(&'a str, &'a str), Span>,
    /// The alternatives that the arms so far select: layer and alternative.
    pub selected: Vec<(&'a str, &'a str)>,
    pub last: Option<Span>,
    /// Fields that have two places on this path: layers, and bits.
    pub twice: Vec<(&'a str, u8)>,
    /// What ended the header.
    pub over: Option<Span>,
    /// The list that is read to the packet's end.
    pub to_end: Option<Span>,
    /// It ended with a counted list: other lists may follow.
    pub listed: bool,
    /// Fields of headers with alternatives, each with its layer and alternative.
    pub of_alternatives: Vec<(&'a str, &'a str, &'a Name)>,
}

/// The check of one wire of a bundle.
pub struct WireCheck<'a, 'b> {
    pub program: &'a Program,
    pub bundle: &'a Bundle,
    pub wire: &'a Wire,
    pub seen: Vec<Seen<'a>>,
    pub failed: bool,
    /// Reports about alternatives on some paths; shown if there are no others.
    pub alone: Vec<Diagnostic>,
    pub covered_variants: Vec<(String, String)>,
    /// Fields in packets of other alternatives, by their names in reports.
    pub stray: Vec<String>,
    pub out: &'b mut Vec<Diagnostic>,
    /// The number of reports before those of this wire.
    pub from: usize,
}

impl<'a> WireCheck<'a, '_> {
    /// Reports a fault of the wire.
    pub fn fail(&mut self, diagnostic: Diagnostic) {
        self.failed = true;
        // One wire may be in two bundles, and a field on two paths: report it once.
        if !self.out.contains(&diagnostic) {
            self.out.push(diagnostic);
        }
    }

    /// The width of a header field, or of a part of one (`list.*.port`), in bits, if it has one.
    pub fn width(&self, layer: &str, field: &str) -> Option<u8> {
        let fields = self.layer(layer).into_iter().flat_map(|seen| &seen.variants).flat_map(|(_, fields)| fields);
        let found = fields.into_iter().find_map(|known| part_of(self.program, known, field));
        found.and_then(|found| types::width(self.program, found.ty))
    }

    /// The header of a layer of the bundle, by the layer's name.
    pub fn layer(&self, name: &str) -> Option<&Seen<'a>> {
        self.seen.iter().find(|seen| seen.layer.name.text == name)
    }
}

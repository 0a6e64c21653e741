//! What `below.x` and `above.x` lead to: the declarations of the layers that stand below or above in stacks, and those of
//! vocabularies and signatures. A layer's own declaration is never meant.

use std::collections::BTreeSet;

use mokume_base::{FileId, Span};
use mokume_semantics::events;
use mokume_semantics::program::{Layer, Over, Program, Stack};
use mokume_semantics::signature::Claimed;
use mokume_syntax::{ast, SyntaxKind, SyntaxToken};

use crate::analysis::Analysis;
use crate::names::{self, Word};

/// What every device publishes.
pub const OF_DEVICES: [&str; 4] = ["mtu", "mac", "credit", "credit_octets"];

/// A word behind `below.` or `above.` in a layer.
pub struct Asked {
    pub name: String,
    down: bool,
    /// The file and place where the layer is declared: other analyses know it by these. Several have a part of layers.
    layers: BTreeSet<(String, u32)>,
    /// The names by which a stack may have the layers: their own, and those of their bundles.
    pub called: BTreeSet<String>,
}

/// What such a word leads to, as far as one analysis knows.
#[derive(Default)]
pub struct Led {
    pub places: Vec<Span>,
    /// Whether a stack has the layer.
    pub is_used: bool,
}

/// What is asked, if the word is behind `below.`, `below[i].` or `above.`
pub fn asked(analysis: &Analysis, file: FileId, word: &Word) -> Option<Asked> {
    let dot = before(&word.token).filter(|token| token.kind() == SyntaxKind::DOT)?;
    let mut owner = before(&dot)?;
    if owner.kind() == SyntaxKind::R_BRACKET {
        let index = owner.parent()?;
        let tokens = index.children_with_tokens().filter_map(|part| part.into_token());
        owner = before(&tokens.into_iter().find(|token| token.kind() == SyntaxKind::L_BRACKET)?)?;
    }
    let is_it = matches!(owner.text(), "below" | "above");
    let is_behind = before(&owner).is_some_and(|token| token.kind() == SyntaxKind::DOT);
    let at = ast::token_span(&owner, file);
    if !is_it || is_behind || names::is_mention(analysis, at) || names::is_mention(analysis, word.at) {
        return None;
    }
    let around =
        word.token.parent_ancestors().find(|node| matches!(node.kind(), SyntaxKind::LAYER | SyntaxKind::PART))?;
    let around = ast::span_of(&around, file);
    let is_in = |place: Span| place.file == file && around.start <= place.start && place.end <= around.end;
    let has_it = |layer: &&Layer| is_in(layer.name.span) || layer.handlers.iter().any(|handler| is_in(handler.span));
    let layers: Vec<&Layer> = analysis.checked.program.layers.iter().filter(has_it).collect();
    let file_of = |place: Span| analysis.checked.sources.file(place.file).name.clone();
    let mut asked = Asked {
        name: word.text.clone(),
        down: owner.text() == "below",
        layers: layers.iter().map(|layer| (file_of(layer.name.span), layer.name.span.start)).collect(),
        called: layers.iter().map(|layer| layer.name.text.clone()).collect(),
    };
    asked.learn(analysis);
    Some(asked)
}

fn before(token: &SyntaxToken) -> Option<SyntaxToken> {
    let mut token = token.prev_token()?;
    while token.kind().is_trivia() {
        token = token.prev_token()?;
    }
    Some(token)
}

impl Asked {
    fn is_layer(&self, analysis: &Analysis, layer: &Layer) -> bool {
        let place = layer.name.span;
        self.layers.contains(&(analysis.checked.sources.file(place.file).name.clone(), place.start))
    }

    /// Adds the names of the bundles that have the layer.
    pub fn learn(&mut self, analysis: &Analysis) {
        let program = &analysis.checked.program;
        for bundle in program.bundles.iter().filter(|bundle| bundle.name.text != "_") {
            let mut layers = bundle.parts.iter().flat_map(|part| program.layers_of(part));
            if layers.any(|layer| self.is_layer(analysis, layer)) {
                self.called.insert(bundle.name.text.clone());
            }
        }
    }

    /// What the word leads to in the stacks of an analysis, and what the layer's vocabularies and signatures declare.
    pub fn led(&self, analysis: &Analysis) -> Led {
        let program = &analysis.checked.program;
        let mut led = Led::default();
        let mut found = BTreeSet::new();
        let is_it = |layer: &Layer| self.is_layer(analysis, layer);
        led.is_used = walk(program, &is_it, self.down, &mut |layer| {
            let places = self.declared_by(analysis, layer);
            let is_there = !places.is_empty();
            found.extend(places);
            is_there
        });
        let own = program.layers.iter().filter(|layer| is_it(layer));
        own.for_each(|own| found.extend(self.promised(program, own)));
        led.places = found.into_iter().collect();
        led
    }

    /// The published value and the handlers of this name.
    fn declared_by(&self, analysis: &Analysis, layer: &Layer) -> Vec<Span> {
        let text = |place: Span| {
            let text = &analysis.checked.sources.file(place.file).text;
            text.get(place.start as usize..place.end as usize).unwrap_or_default()
        };
        let published = layer.publishes.iter().filter(|publish| self.down && publish.name.text == self.name);
        let handled = layer.handlers.iter().map(|handler| handler.span).filter(|place| text(*place) == self.name);
        published.map(|publish| publish.name.span).chain(handled).collect()
    }

    /// What the layer's vocabularies and signatures declare under this name.
    fn promised(&self, program: &Program, own: &Layer) -> Vec<Span> {
        let spoken = own.speaks.iter().filter_map(|(id, _)| program.vocabularies.get(id.index()));
        let spoken = spoken.map(|known| if self.down { &known.down } else { &known.up });
        let mut found: Vec<Span> = spoken
            .flatten()
            .map(|event| &event.name)
            .filter(|name| name.text == self.name)
            .map(|name| name.span)
            .collect();
        let claims = if self.down { &own.needs } else { &own.gives };
        for claim in claims {
            let Claimed::Signature(id) = claim.what else { continue };
            let Some(known) = program.signatures.get(id.index()) else { continue };
            let events = if self.down { &known.down } else { &known.up };
            let values = known.published.iter().filter(|_| self.down).map(|value| &value.name);
            let all = events.iter().map(|event| &event.name).chain(values);
            found.extend(all.filter(|name| name.text == self.name).map(|name| name.span));
        }
        found
    }

    /// What it is if nothing declares it, for people.
    pub fn explained(&self, is_used: bool) -> String {
        let (name, way) = (&self.name, if self.down { "below" } else { "above" });
        let known = if self.down { &events::DOWN[..] } else { &events::UP[..] };
        let is_event = known.contains(&name.as_str()) || events::GRANTS.contains(&name.as_str());
        let what = match (is_event, self.down && OF_DEVICES.contains(&name.as_str())) {
            (true, _) => format!("`{way}.{name}`: an event of the language, for the layer {way}"),
            (_, true) => format!("`{way}.{name}`: what a layer below publishes, or the device"),
            _ if self.down => format!("`{way}.{name}`: an event for a layer below, or a value that one publishes"),
            _ => format!("`{way}.{name}`: an event for a layer above"),
        };
        match is_used {
            true => format!("{what}\n\nNo layer {way} declares it in the stacks that have this one."),
            false => format!("{what}\n\nNo stack has this layer."),
        }
    }
}

/// Visits the layers below (or above) a layer, the nearest first, in all stacks that have it; a way ends where `visit`
/// says so. Returns whether a stack has the layer.
pub fn walk<'p>(
    program: &'p Program,
    is_it: &dyn Fn(&Layer) -> bool,
    down: bool,
    visit: &mut dyn FnMut(&'p Layer) -> bool,
) -> bool {
    let mut is_used = false;
    for stack in &program.stacks {
        let instances: Vec<Vec<&Layer>> =
            stack.instances.iter().map(|instance| program.layers_of(&instance.of)).collect();
        let all = instances.iter().enumerate().flat_map(|(at, layers)| (0..layers.len()).map(move |place| (at, place)));
        let begins: Vec<(usize, usize)> = all.filter(|(at, place)| is_it(instances[*at][*place])).collect();
        is_used |= !begins.is_empty();
        let (mut next, mut met) = (Vec::new(), BTreeSet::new());
        begins.iter().for_each(|begin| next.extend(beside(stack, &instances, *begin, down)));
        while let Some(here) = next.pop() {
            if met.insert(here) && !visit(instances[here.0][here.1]) {
                next.extend(beside(stack, &instances, here, down));
            }
        }
    }
    is_used
}

/// The layers next to one, by instance and place in it.
fn beside(stack: &Stack, instances: &[Vec<&Layer>], (at, place): (usize, usize), down: bool) -> Vec<(usize, usize)> {
    match (down, place.checked_sub(1)) {
        (true, _) if place + 1 < instances[at].len() => vec![(at, place + 1)],
        (false, Some(above)) => vec![(at, above)],
        (true, _) => {
            let unders = stack.instances[at].unders.iter();
            let lower =
                unders.filter_map(
                    |under| if let Over::Instance(lower) = under.over { Some(lower as usize) } else { None },
                );
            lower
                .filter(|lower| instances.get(*lower).is_some_and(|layers| !layers.is_empty()))
                .map(|lower| (lower, 0))
                .collect()
        }
        (false, None) => {
            let is_over = |upper: &usize| {
                stack.instances[*upper].unders.iter().any(|under| under.over == Over::Instance(at as u32))
            };
            let uppers = (0..instances.len()).filter(is_over);
            uppers.filter_map(|upper| Some((upper, instances[upper].len().checked_sub(1)?))).collect()
        }
    }
}

//! Warnings: handlers that replace a default continuation and then continue nothing: the layer above never learns that
//! its session exists or is over, or the one below never learns that it is to end (docs/language.md, section 6).
//!
//! Keeps: another handler of the layer may do the rest; a report needs that no code of the layer does it. A handler
//! that continues on some paths has to continue on all, unless another handler does.

use mokume_base::{Diagnostic, Span};

use crate::codes;
use crate::program::*;
use crate::signature::Carried;
use crate::visit::{self, Met};

/// Checks the workers and multiplexors of a program without errors.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    let passes_on = |layer: &&Layer| matches!(layer.shape, Shape::Worker | Shape::Multiplexor);
    for layer in program.layers.iter().filter(passes_on) {
        for handler in &layer.handlers {
            if let Some(silence) =
                Silence::of(layer.shape, &handler.event).filter(|silence| silence.is_kept(layer, handler))
            {
                out.push(silence.report(layer, handler));
            }
        }
    }
}

/// Warns of layers that are asked to end a view and never do: they keep an `all` event of a vocabulary in which an event
/// `ends` the view, and say none of the two.
pub fn held_views(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        for (id, _) in &layer.speaks {
            let Some(spoken) = program.vocabularies.get(id.index()) else { continue };
            let Some(end) = spoken.down.iter().find(|event| event.ends) else { continue };
            let asks = |event: &&Carried| event.of_all && !event.begins;
            let kept = spoken.up.iter().filter(asks).filter_map(|event| Some((event, keeps(layer, event, end)?)));
            out.extend(kept.map(|(event, at)| held(layer, event, end, at)));
        }
    }
}

/// Where a layer handles an event and nowhere passes it on, nor says what ends the view.
fn keeps(layer: &Layer, event: &Carried, end: &Carried) -> Option<Span> {
    let handles = |handler: &&Handler| match &handler.event {
        Event::Custom { name, from: Origin::Below, .. } => name.text == event.name.text,
        _ => false,
    };
    let handler = layer.handlers.iter().find(handles)?;
    let answers = |kind: &StmtKind| match kind {
        StmtKind::Emit(Emission::Custom { name, down, .. }) => {
            name.text == if *down { &end.name.text } else { &event.name.text }[..]
        }
        _ => false,
    };
    let said = visit::any_in_layer(layer, |met| matches!(met, Met::Stmt(stmt) if answers(&stmt.kind)));
    (!is_said(&handler.body, passes) && !said).then_some(handler.span)
}

fn held(layer: &Layer, event: &Carried, end: &Carried, at: Span) -> Diagnostic {
    let (layer, event, answer) = (&layer.name.text, &event.name.text, &end.name.text);
    let text = format!("`{layer}` keeps `{event}` and never says `{answer}`, so the view does not end");
    Diagnostic::warning(codes::HELD_VIEW, text)
        .at(at, "the layers below wait from here on")
        .label(end.name.span, "they wait for this")
        .help(format!("write `pass` to let the layers above say it; or, where none of them hears `{event}`, say `below.{answer}()` behind the last message"))
}

/// Whether a statement tells the neighbour.
type Says = fn(&StmtKind) -> bool;

/// What a neighbour never learns if a handler of an event is silent.
struct Silence {
    event: &'static str,
    stands_in: StandsIn,
    /// The statements that continue.
    says: Says,
    /// The statements that continue, in another handler of the layer.
    says_later: Says,
    kept: &'static str,
    help: &'static str,
}

/// When a handler replaces the default continuation.
#[derive(Clone, Copy, PartialEq)]
enum StandsIn {
    Always,
    /// If it continues on some path.
    IfItDecides,
    /// It may refuse on some paths: reported only if it never continues and does something else.
    OrRefuses,
}

/// Whether the statement ends the session below, or tells the layer above that its session is over.
fn ends(kind: &StmtKind) -> bool {
    use Emission as E;
    matches!(
        kind,
        StmtKind::Emit(E::Close | E::Abort | E::Closed | E::Failed { .. } | E::FailedAs { .. } | E::FailedFlow { .. })
    )
}

/// Whether the statement ends the session below. A worker's `above.closed()` tells only the layer above.
fn ends_below(kind: &StmtKind) -> bool {
    ends(kind) && !matches!(kind, StmtKind::Emit(Emission::Closed))
}

fn passes(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Pass)
}

fn tells(kind: &StmtKind, event: &str) -> bool {
    matches!(kind, StmtKind::Emit(Emission::Custom { name, down: false, .. }) if name.text == event)
}

impl Silence {
    fn of(shape: Shape, event: &Event) -> Option<Silence> {
        use Emission as E;
        use StandsIn::*;
        use StmtKind as S;
        let above = "the layer above never hears of it";
        // In a multiplexor both are the same.
        let (ends_all, goes): (Says, Says) = match shape {
            Shape::Worker => (ends_below, |kind| passes(kind) || ends_below(kind)),
            _ => (ends, |kind| passes(kind) || ends(kind)),
        };
        let silence = |event, stands_in, says, says_later, kept, help| {
            Some(Silence { event, stands_in, says, says_later, kept, help })
        };
        match event {
            Event::Opened => silence(
                "opened",
                Always,
                |kind| passes(kind) || ends(kind) || tells(kind, "opened"),
                |kind| tells(kind, "opened"),
                "its session does not open for the layer above",
                "write `pass` to tell it; if that has to wait, `above.opened()` where the session is ready, and `fail: reason` where it will not be",
            ),
            Event::Accepted { .. } => silence(
                "accepted",
                IfItDecides,
                |kind| passes(kind) || ends(kind) || tells(kind, "accepted"),
                |kind| tells(kind, "accepted"),
                "this session stays unknown to the layer above",
                "write `pass` on the ways that do not `fail`",
            ),
            Event::Open { .. } => silence(
                "open",
                IfItDecides,
                |kind| passes(kind) || ends(kind) || tells(kind, "opened") || matches!(kind, S::Emit(E::Open { .. })),
                |kind| tells(kind, "opened") || matches!(kind, S::Emit(E::Open { .. })),
                "nothing is opened below, and the layer above is told of no end",
                "write `pass` on the ways that do not `fail`",
            ),
            Event::Close => silence(
                "close",
                Always,
                goes,
                ends_all,
                "the session below never ends",
                "write `pass`; if something has to be done before, `below.close()` and `above.closed()` where it is done",
            ),
            Event::Abort => silence(
                "abort",
                Always,
                goes,
                ends_all,
                "the session below never ends",
                "write `pass`, or `below.abort()` and `above.closed()`",
            ),
            Event::Failed { .. } => silence(
                "failed",
                Always,
                |kind| passes(kind) || ends(kind),
                |_| false,
                above,
                "write `pass`, or `above.failed(reason)` with another reason",
            ),
            Event::Closed => silence(
                "closed",
                Always,
                |kind| passes(kind) || ends(kind),
                |_| false,
                above,
                "write `pass`, or `above.closed()`",
            ),
            Event::Listen { .. } => silence(
                "listen",
                OrRefuses,
                |kind| passes(kind) || matches!(kind, S::Emit(E::Listen { .. })),
                |kind| matches!(kind, S::Emit(E::Listen { .. })),
                "no layer below hears that somebody listens",
                "write `pass`; where nobody is to listen, leave the handler empty",
            ),
            Event::Bind { .. } => silence(
                "bind",
                OrRefuses,
                |kind| passes(kind) || matches!(kind, S::Emit(E::Bind { .. })),
                |kind| matches!(kind, S::Emit(E::Bind { .. })),
                "no layer below hears that somebody listens",
                "write `pass`; where nobody is to listen, leave the handler empty",
            ),
            Event::Unlisten { .. } => silence(
                "unlisten",
                OrRefuses,
                |kind| passes(kind) || matches!(kind, S::Emit(E::Unlisten { .. })),
                |kind| matches!(kind, S::Emit(E::Unlisten { .. })),
                "no layer below hears that nobody listens any more",
                "write `pass`",
            ),
            _ => None,
        }
    }

    fn is_kept(&self, layer: &Layer, handler: &Handler) -> bool {
        let others = layer.handlers.iter().filter(|other| !std::ptr::eq(*other, handler)).map(|other| &other.body);
        let later = |body: &Vec<Stmt>| is_said(body, self.says_later);
        if others.chain(layer.functions.iter().map(|function| &function.body)).any(later) {
            return false;
        }
        let decides = is_said(&handler.body, self.says);
        match self.stands_in {
            StandsIn::Always => !visit::always(layer, &handler.body, &self.says),
            StandsIn::IfItDecides => decides && !visit::always(layer, &handler.body, &self.says),
            StandsIn::OrRefuses => {
                let functions = layer.functions.iter().any(|function| is_said(&function.body, self.says));
                !handler.body.is_empty() && !decides && !functions
            }
        }
    }

    fn report(&self, layer: &Layer, handler: &Handler) -> Diagnostic {
        let (event, layer) = (self.event, &layer.name.text);
        let text = match is_said(&handler.body, self.says) {
            true => format!("on some ways `{layer}` does not say how it goes on behind `{event}`"),
            false => format!("`{layer}` does not say how it goes on behind `{event}`"),
        };
        Diagnostic::warning(codes::SILENT, text)
            .at(handler.span, self.kept)
            .note(format!("a handler of `{event}` stands in for what happens by itself: that it goes on"))
            .help(self.help)
    }
}

fn is_said(body: &[Stmt], is_it: fn(&StmtKind) -> bool) -> bool {
    visit::any(body, |met| matches!(met, Met::Stmt(stmt) if is_it(&stmt.kind)))
}

//! Faults of single frames: `frame 3 of a.device  lost`.

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode};

use super::named::device_of;
use crate::program::*;
use crate::resolve::context::Context;
use crate::resolve::expr::fixed;
use crate::{codes, tree};

/// Resolves a fault of a frame. `None` after a report.
pub(super) fn read(
    cx: &mut Context,
    file: FileId,
    item: &ast::FrameFault,
    network: &Network,
    broken: &[String],
) -> Option<FrameFault> {
    let number = fixed::number(cx, file, &item.number()?, Type::UInt(64))?;
    let span = item.span(file);
    if number == 0 {
        cx.error(codes::TOO_BIG, "frames are counted from 1", span, "no such frame", "write `frame 1 of …`");
    }
    let mut devices = item.devices().into_iter().map(|path| device_of(cx, file, &path, network, broken));
    let (from, to) = (devices.next()??, devices.next());
    let to = match to {
        Some(to) => Some(to?),
        None => None,
    };
    drop(devices);
    // What stands behind a word that is none belongs to it: `delayed by 4 ms`.
    let parts = item.parts();
    let what: Vec<Mishap> = parts.iter().map_while(|part| mishap(cx, file, part).ok()).flatten().collect();
    if item.parts().is_empty() {
        let help = "write `lost`, `late 4 ms`, `turned 12` or `twice 1 ms` behind it";
        cx.error(codes::MISSING_ARGUMENT, "what becomes of this frame?", span, "nothing is said", help);
    }
    if to == Some(from) {
        let help = "name the device that it goes to, or leave `to` out: then it is of all";
        cx.error(codes::MISMATCH, "no frame goes to the device that it comes from", span, "to itself", help);
    }
    let fault = FrameFault { number, from, to, what, span };
    said_once(cx, &fault, network);
    Some(fault)
}

/// Reports frames that go nowhere: from a device without a link, or to one on another link.
pub(super) fn on_their_way(cx: &mut Context, network: &Network) {
    let name = |(host, device): (u32, u32)| {
        let host = &network.hosts[host as usize];
        let stack = &cx.program.stacks[host.stack.index()];
        format!("{}.{}", host.name.text, stack.devices[device as usize].text)
    };
    let mut found = Vec::new();
    for fault in &network.faults {
        let link = network.links.iter().find(|link| link.devices.contains(&fault.from));
        match (link, fault.to) {
            (None, _) => {
                let text = format!("no frame of `{}` goes anywhere: it is on no link", name(fault.from));
                let help = "name it on a link: `link lan { a.device, b.device }`";
                found.push(Diagnostic::error(codes::LONELY_LINK, text).at(fault.span, "no such frame").help(help));
            }
            (Some(link), Some(to)) if !link.devices.contains(&to) => {
                let text =
                    format!("no frame of `{}` goes to `{}`, which is not on its link", name(fault.from), name(to));
                let others = link.devices.iter().filter(|device| **device != fault.from);
                let others: Vec<String> = others.map(|device| format!("`{}`", name(*device))).collect();
                let help = format!("its frames go to {}", others.join(", "));
                let diagnostic = Diagnostic::error(codes::MISMATCH, text).at(fault.span, "no such frame");
                found.push(diagnostic.label(link.name.span, "the link that it is on").help(help));
            }
            (Some(_), _) => {}
        }
    }
    found.into_iter().for_each(|diagnostic| cx.report(diagnostic));
}

/// Reports a mishap given twice for a frame, in one line or in two.
fn said_once(cx: &mut Context, fault: &FrameFault, network: &Network) {
    let of_it = |known: &&FrameFault| (known.number, known.from, known.to) == (fault.number, fault.from, fault.to);
    let mut known = network.faults.iter().filter(of_it);
    let is_said = |before: &FrameFault| fault.what.iter().any(|what| says(&before.what, what));
    let before = known.find(|before| is_said(before));
    // After `twice`, mishaps are those of the copy.
    let mut copies = fault.what.split(|what| matches!(what, Mishap::Twice(_)));
    let again = copies.any(|of_one| of_one.iter().enumerate().any(|(at, what)| says(&of_one[..at], what)));
    if before.is_some() || again {
        let first = before.map_or(fault.span, |before| before.span);
        cx.given_twice("what becomes of this frame", fault.span, first);
    }
}

/// Whether the mishap was given before; several bits may be flipped, each once.
fn says(before: &[Mishap], what: &Mishap) -> bool {
    before.iter().any(|known| match (known, what) {
        (Mishap::Turned(known), Mishap::Turned(bit)) => known == bit,
        (known, what) => std::mem::discriminant(known) == std::mem::discriminant(what),
    })
}

/// `Err` if it is reported and what follows makes no sense without it.
fn mishap(cx: &mut Context, file: FileId, part: &ast::FaultPart) -> Result<Option<Mishap>, ()> {
    const FORMS: &str = "write `lost`, `late 4 ms`, `turned 12` or `twice 1 ms`";
    let Some(name) = tree::some_name(file, part.name()) else { return Ok(None) };
    let mut value = |ty: Type| part.value().map(|value| fixed::number(cx, file, &value, ty));
    let found = match name.text.as_str() {
        "lost" => Some(Mishap::Lost).filter(|_| part.value().is_none()),
        "late" => value(Type::Duration).map(|late| Mishap::Late(late.unwrap_or(0))),
        "turned" => value(Type::UInt(32)).map(|bit| Mishap::Turned(bit.unwrap_or(0))),
        "twice" => Some(Mishap::Twice(value(Type::Duration).flatten().unwrap_or(0))),
        _ => {
            let text = format!("a frame does not become `{}`", name.text);
            let near = mokume_base::did_you_mean(&name.text, ["lost", "late", "turned", "twice"]);
            let help = near.map_or_else(|| FORMS.to_string(), |near| format!("did you mean `{near}`?"));
            cx.error(codes::UNKNOWN_PARAMETER, text, name.span, "unknown", &help);
            return Err(());
        }
    };
    if found.is_none() {
        cx.error(codes::MISMATCH, format!("`{}` is not written so", name.text), name.span, "here", FORMS);
    }
    Ok(found)
}

//! From a seed that fails to the smallest weather that still fails.
//!
//! The random fates of all frames become a list, from which as much as possible is removed. The rest is written as a
//! network whose links have no randomness.

use std::fmt::Write;

use mokume_base::world::World;
use mokume_base::FileId;
use mokume_simulate::{Ill, Member, Mishap};
use mokume_syntax::ast::{self, AstNode};

use super::{Failed, How, Keep, Prepared, Sky};
use crate::failure::Failure;

/// The smallest weather that was found.
pub struct Shrunk {
    pub mishaps: Vec<Mishap>,
    /// How many fates of frames there were before the failure became known.
    pub from: usize,
    /// How often the network was run.
    pub runs: u32,
    /// Whether no single fate can be removed; else the search ended early.
    pub is_smallest: bool,
    /// The failure with this weather.
    pub wrong: Failed,
    /// The text of the network with this weather.
    pub network: String,
    /// The network's name.
    pub name: String,
}

/// The most runs of one search.
const RUNS: u32 = 2000;

/// Shrinks the weather of a seed whose first failure is `failed`; `None` if calm weather with the same mishaps does not
/// show it. `heard` is told the number of runs and the remaining fates, and says whether to continue.
pub fn shrink(
    prepared: &Prepared<'_>,
    seed: u64,
    failed: &Failed,
    world: &dyn World,
    heard: &mut dyn FnMut(u32, usize) -> bool,
) -> Result<Option<Shrunk>, Failure> {
    let noted = prepared.run(how(seed, Sky::Noted), world, &mut |_| ())?.noted;
    // Later fates did not cause it.
    let all: Vec<Mishap> = noted.into_iter().filter(|(at, _)| *at <= failed.at).map(|(_, mishap)| mishap).collect();
    let mut search = Search { prepared, seed, failed, world, runs: 0, heard, is_over: false };
    if search.fault(&all)?.is_none() {
        return Ok(None);
    }
    let from = all.len();
    let mishaps = search.smallest(all)?;
    let is_over = search.is_over;
    let found = search.fault(&mishaps)?;
    let Some(wrong) = found else { return Ok(None) };
    let name = format!("{}Seed{seed}", prepared.network.name.text);
    let network = written(prepared, &mishaps, &name);
    let (runs, is_smallest) = (search.runs, !is_over);
    Ok(Some(Shrunk { mishaps, from, runs, is_smallest, wrong, network, name }))
}

fn how(seed: u64, weather: Sky) -> How {
    How { seed, keep: Keep::Reports, weather }
}

struct Search<'s, 'a> {
    prepared: &'s Prepared<'a>,
    seed: u64,
    failed: &'s Failed,
    world: &'s dyn World,
    runs: u32,
    heard: &'s mut dyn FnMut(u32, usize) -> bool,
    is_over: bool,
}

impl Search<'_, '_> {
    /// The same failure, if it is also the first with this weather: the printed network must fail like the seed, and
    /// not in another way before.
    fn fault(&mut self, mishaps: &[Mishap]) -> Result<Option<Failed>, Failure> {
        self.runs += 1;
        self.is_over |= !(self.heard)(self.runs, mishaps.len()) || self.runs >= RUNS;
        // What the other back end does otherwise is looked for only if that is the failure: it takes as long again.
        let compared = self.failed.is_of_comparing();
        let wrong = self.prepared.judged(self.seed, Sky::Calm(mishaps.to_vec()), compared, self.world)?;
        let first = wrong.into_iter().next();
        Ok(first.filter(|other| is_same(self.failed, other)))
    }

    /// Removes fates by kind, then in ever smaller pieces, until no single one can be removed.
    fn smallest(&mut self, mut left: Vec<Mishap>) -> Result<Vec<Mishap>, Failure> {
        for is_kind in [is_late, is_twice, is_turned, is_lost] {
            if self.is_over {
                return Ok(left);
            }
            let without: Vec<Mishap> = left.iter().filter(|mishap| !is_kind(mishap)).cloned().collect();
            if without.len() < left.len() && self.fault(&without)?.is_some() {
                left = without;
            }
        }
        let mut piece = left.len().div_ceil(2);
        while piece > 0 && !self.is_over {
            let before = left.len();
            let mut at = 0;
            while at < left.len() && !self.is_over {
                let mut without = left.clone();
                without.drain(at..(at + piece).min(left.len()));
                if self.fault(&without)?.is_some() {
                    left = without;
                } else {
                    at += piece;
                }
            }
            // A fate that was needed may be unnecessary now that others are gone.
            let again = piece == 1 && left.len() < before && !self.is_over;
            piece = if again { 1 } else { piece / 2 };
        }
        Ok(left)
    }
}

fn is_same(one: &Failed, other: &Failed) -> bool {
    (one.expectation, one.is_too_much, &one.place, &one.wanted)
        == (other.expectation, other.is_too_much, &other.place, &other.wanted)
        && (one.expectation.is_some() || !one.wanted.is_empty() || one.found == other.found)
}

fn is_late(mishap: &Mishap) -> bool {
    matches!(mishap.what[..], [Ill::Late(_)])
}

fn is_twice(mishap: &Mishap) -> bool {
    matches!(mishap.what[..], [Ill::Twice(_), ..])
}

fn is_turned(mishap: &Mishap) -> bool {
    matches!(mishap.what[..], [Ill::Turned(_)])
}

fn is_lost(mishap: &Mishap) -> bool {
    matches!(mishap.what[..], [Ill::Lost])
}

// ---- as a network ----

/// The random options of a link.
const CHANCE: [&str; 6] = ["loss", "duplicate", "reorder", "corrupt", "burst", "calm"];

/// The network's own text under another name, its links without randomness, and a line for each mishap.
fn written(prepared: &Prepared<'_>, mishaps: &[Mishap], name: &str) -> String {
    let old = &prepared.network.name;
    let file = old.span.file;
    let text = &prepared.checked.sources.file(file).text;
    let Some(item) = find(file, text, old.span.start) else { return String::new() };
    let begin = u32::from(item.syntax().text_range().start());
    let mut edits = calmed(file, text, &item);
    edits.push((old.span.start, old.span.end, name.to_string()));
    let own = super::faults(prepared.network, &prepared.automata());
    let mut joined: Vec<(Member, u64)> = Vec::new();
    let mut lines = String::new();
    for mishap in mishaps {
        let frame = (mishap.from, mishap.number);
        if joined.contains(&frame) {
            continue;
        }
        let is_of_it = |other: &&Mishap| (other.from, other.number) == frame;
        let all: Vec<&Mishap> = mishaps.iter().chain(own.iter().map(|(own, _)| own)).filter(is_of_it).collect();
        if !is_said_twice(prepared, &all) {
            let _ = write!(lines, "\n    {}", line(prepared, mishap));
            continue;
        }
        joined.push(frame);
        for mishap in one_for_each(prepared, &all) {
            let _ = write!(lines, "\n    {}", line(prepared, &mishap));
        }
        // Lines of the source are among them.
        let spans = own.iter().filter(|(own, _)| is_of_it(&own)).map(|(_, span)| span);
        edits.extend(spans.map(|span| (before_line(text, span.start), span.end, String::new())));
    }
    let place = place_of_lines(file, &item);
    edits.push((place, place, lines));
    edits.sort();
    let mut out = String::new();
    let mut done = begin;
    for (from, to, new) in edits {
        out.push_str(&text[done as usize..from as usize]);
        out.push_str(&new);
        done = to;
    }
    out.push_str(&text[done as usize..u32::from(item.syntax().text_range().end()) as usize]);
    mokume_syntax::format::format(FileId(0), &out).unwrap_or(out)
}

/// Whether these lines for one frame, each for itself, would give something twice (M0205).
fn is_said_twice(prepared: &Prepared<'_>, lines: &[&Mishap]) -> bool {
    let is_same = |one: &Ill, other: &Ill| match (one, other) {
        (Ill::Turned(one), Ill::Turned(other)) => one == other,
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    };
    let says = |one: &Mishap, other: &Mishap| one.what.iter().any(|ill| other.what.iter().any(|of| is_same(ill, of)));
    lines.iter().enumerate().any(|(at, one)| {
        let is_crowded = is_crowded(prepared, one);
        lines[..at].iter().any(|other| (one.to == other.to || !is_crowded) && says(one, other))
    })
}

/// A line for each member that hears the frame, which does what these lines do; one for all, if they hear the same.
fn one_for_each(prepared: &Prepared<'_>, lines: &[&Mishap]) -> Vec<Mishap> {
    let Some(Mishap { from, number, .. }) = lines.first() else { return Vec::new() };
    let medium = prepared.media.iter().find(|medium| medium.members.contains(from));
    let others = medium.into_iter().flat_map(|medium| &medium.members).filter(|member| *member != from);
    let of = |to: &Member| {
        let meant = lines.iter().filter(|line| line.to.is_none_or(|heard| heard == *to));
        let what = mokume_simulate::joined(meant.map(|line| &line.what[..]));
        Mishap { from: *from, number: *number, to: Some(*to), what }
    };
    let mut all: Vec<Mishap> = others.map(of).collect();
    if all.windows(2).all(|pair| pair[0].what == pair[1].what) {
        all.truncate(1);
        all.iter_mut().for_each(|mishap| mishap.to = None);
    }
    all.retain(|mishap| !mishap.what.is_empty());
    all
}

/// The end of the line before this place, if only white space is between.
fn before_line(text: &str, place: u32) -> u32 {
    text[..place as usize].trim_end().len() as u32
}

fn find(file: FileId, text: &str, name: u32) -> Option<ast::Network> {
    let root = mokume_syntax::parse(file, text).syntax();
    let holds = |item: &ast::Network| item.syntax().text_range().contains(name.into());
    root.children().filter_map(ast::Network::cast).find(holds)
}

/// The edits that remove randomness from the links: ranges, and their replacements.
fn calmed(file: FileId, text: &str, item: &ast::Network) -> Vec<(u32, u32, String)> {
    let mut edits = Vec::new();
    for member in item.members() {
        let ast::NetworkMember::Link(link) = member else { continue };
        for option in link.options() {
            let span = option.span(file);
            let word = option.name().map(|name| name.text()).unwrap_or_default();
            if CHANCE.contains(&word.as_str()) {
                edits.push((span.start, span.end, String::new()));
            } else if let Some(least) = option.range().and_then(|range| range.from()) {
                let least = least.span(file);
                edits.push((
                    span.start,
                    span.end,
                    format!("delay {}", &text[least.start as usize..least.end as usize]),
                ));
            }
        }
    }
    edits
}

/// Before the frames that the network itself names, so that those lines apply later; else after the links.
fn place_of_lines(file: FileId, item: &ast::Network) -> u32 {
    let members = item.members();
    let is_frame = |member: &&ast::NetworkMember| matches!(member, ast::NetworkMember::Frame(_));
    let is_link = |member: &&ast::NetworkMember| matches!(member, ast::NetworkMember::Link(_));
    let before = members.iter().position(|member| is_frame(&member)).and_then(|at| members.get(at.checked_sub(1)?));
    let last = before.or_else(|| members.iter().rfind(is_link)).or(members.last());
    last.map_or(item.span(file).end, |member| member.span(file).end)
}

/// `frame 3 of a.device to b.device  late 4 ms`
pub(super) fn line(prepared: &Prepared<'_>, mishap: &Mishap) -> String {
    let automata = prepared.automata();
    let member = |(host, port): (usize, mokume_reaction::PortId)| {
        format!("{}.{}", prepared.network.hosts[host].name.text, automata[host].ports[port.index()].name)
    };
    let heard = mishap.to.filter(|_| is_crowded(prepared, mishap));
    let to = heard.map_or(String::new(), |to| format!(" to {}", member(to)));
    let ills: Vec<String> = mishap.what.iter().map(ill).collect();
    format!("frame {} of {}{to}  {}", mishap.number, member(mishap.from), ills.join("  "))
}

/// Whether others receive the frame, too.
fn is_crowded(prepared: &Prepared<'_>, mishap: &Mishap) -> bool {
    prepared.media.iter().any(|medium| medium.members.contains(&mishap.from) && medium.members.len() > 2)
}

fn ill(ill: &Ill) -> String {
    match ill {
        Ill::Lost => "lost".to_string(),
        Ill::Late(late) => format!("late {late} ns"),
        Ill::Turned(bit) => format!("turned {bit}"),
        Ill::Twice(late) => format!("twice {late} ns"),
    }
}

//! Points at which a run stops: a line, an event, a reason for which a message ends, a report.

use mokume_interpret::{Cause, Moment, What};

use super::conditions::{self, Condition, Hits};
use super::facts::{event_of, is_head, Facts, Texts, GONE};
use super::shown::Stopped;
use crate::failure::Failure;

/// The place of a point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Where {
    /// A file, by its full name, and a line from 1.
    Line(String, u32),
    /// `send`, `Counts.send`, `app.Counts.send`, or an event of a port, `app.send_to`.
    Event(String),
    /// `no_room`, or `app.Counts.no_room`; `*` for any reason.
    Drop(String),
    /// Any report.
    Report,
}

/// A point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    pub number: u32,
    pub at: Where,
    /// If set, only on this host.
    pub host: Option<String>,
    /// When it counts, and the log text instead of a stop.
    pub only: Only,
    /// The number of moments before it was set: what was met there does not count.
    since: u64,
    /// How often it was met, with its condition, in this run.
    met: u64,
    /// Its handler has begun; it counts at the first statement, where all names are bound.
    waits: bool,
    /// How often its condition was asked in this run, and of these how often something of it had no meaning.
    asked: (u64, u64),
    /// What had none, the first time.
    doubt: Option<String>,
}

/// Restrictions of a point besides its place.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Only {
    pub when: Option<Condition>,
    pub hits: Option<Hits>,
    /// A log text, with `{name}` for values; the run then continues.
    pub log: Option<String>,
}

impl Only {
    /// A log text whose names the target has, `own is {own}`.
    pub fn log_text(text: &str, facts: &Facts) -> Result<String, Failure> {
        let named = text.split('{').skip(1).filter_map(|behind| behind.split_once('}')).map(|(name, _)| name.trim());
        match named.filter_map(|name| conditions::unknown(name, facts)).next() {
            Some(unknown) => Err(Failure::of_use(
                format!("`{text}`: {}", conditions::unknown_name(unknown)),
                "within braces stands the name of a value: `say own is {own}`",
            )),
            None => Ok(text.to_string()),
        }
    }
}

/// All points, by their numbers.
#[derive(Clone, Default, Debug)]
pub struct Points {
    all: Vec<Point>,
    last: u32,
    /// The number of moments of the run so far.
    now: u64,
}

impl Points {
    /// All points, in order.
    pub fn all(&self) -> &[Point] {
        &self.all
    }

    /// Adds a point; if it exists, returns the existing one.
    pub fn add(&mut self, at: Where, host: Option<String>) -> &Point {
        self.add_only(at, host, Only::default())
    }

    /// The point that stands at a place.
    pub fn standing(&self, at: &Where, host: Option<&str>) -> Option<&Point> {
        self.all.iter().find(|known| known.at == *at && known.host.as_deref() == host)
    }

    /// Adds a point with restrictions; an existing one at the same place gets these restrictions.
    pub fn add_only(&mut self, at: Where, host: Option<String>, only: Only) -> &Point {
        let known = self.all.iter().position(|known| known.at == at && known.host == host);
        let place = known.unwrap_or_else(|| {
            self.last += 1;
            let (number, only, since) = (self.last, Only::default(), self.now);
            self.all.push(Point { number, at, host, only, since, met: 0, waits: false, asked: (0, 0), doubt: None });
            self.all.len() - 1
        });
        let point = &mut self.all[place];
        if point.only != only {
            (point.only, point.since, point.met) = (only, self.now, 0);
            (point.asked, point.doubt) = ((0, 0), None);
        }
        point
    }

    /// Restarts from the beginning: all moments count.
    pub(super) fn restart(&mut self) {
        self.all.iter_mut().for_each(|point| point.since = 0);
    }

    /// The run begins again: nothing has been met yet.
    pub(super) fn begin(&mut self) {
        self.now = 0;
        for point in &mut self.all {
            (point.met, point.waits, point.asked, point.doubt) = (0, false, (0, 0), None);
        }
    }

    /// What to say of points whose conditions had no meaning each time that the run so far came to them.
    pub fn doubts(&self) -> Vec<String> {
        let never = self.all.iter().filter(|point| point.asked.0 > 0 && point.asked.0 == point.asked.1);
        let said = |point: &Point| {
            let doubt = point.doubt.as_ref()?;
            let times = match point.asked.0 {
                1 => "once".to_string(),
                times => format!("{times} times"),
            };
            Some(format!(
                "the condition of point {} was never met: the run came there {times}, but {doubt}",
                point.number
            ))
        };
        never.filter_map(said).collect()
    }

    /// Removes the point with this number; returns whether there was one.
    pub fn remove(&mut self, number: u32) -> bool {
        let before = self.all.len();
        self.all.retain(|known| known.number != number);
        self.all.len() < before
    }

    /// Removes all points for which `is_so` holds.
    pub fn clear(&mut self, is_so: impl Fn(&Point) -> bool) {
        self.all.retain(|known| !is_so(known));
    }

    /// The first point that stops at a moment, and the texts of log points. `here` shows the moment, if a point needs
    /// it.
    pub(super) fn met<'s>(
        &mut self,
        facts: &Facts,
        (host, moment, texts): (usize, &Moment<'_>, Texts),
        (count, here): (u64, &dyn Fn() -> Stopped<'s>),
    ) -> Met {
        self.now = count;
        let mut met = Met::default();
        for point in &mut self.all {
            let is_here = point.host.as_ref().is_none_or(|name| facts.hosts[host].name == *name);
            if !is_here || !point.is_reached(facts, moment, texts) || !point.holds(here) {
                continue;
            }
            point.met += u64::from(count > point.since);
            if point.only.hits.is_some_and(|hits| !hits.counts(point.met)) {
                continue;
            }
            match &point.only.log {
                Some(text) => met.said.push((point.number, conditions::said(text, &here()))),
                None => met.stops = met.stops.or(Some(point.number)),
            }
        }
        met
    }
}

/// The effect of points at a moment.
#[derive(Default)]
pub(super) struct Met {
    pub stops: Option<u32>,
    pub said: Vec<(u32, String)>,
}

impl Point {
    /// Whether a point is at a moment, or was at the beginning of the handler whose first statement this is. It waits
    /// for that statement if it needs the handler's bindings, or if only the statement tells which of several texts
    /// runs.
    fn is_reached(&mut self, facts: &Facts, moment: &Moment<'_>, texts: Texts) -> bool {
        let asks = self.only.when.is_some() || self.only.log.is_some();
        match moment.what {
            What::Begins => {
                let is_at = self.is_at(moment);
                self.waits = is_at && texts.has_statements && (asks || texts.are_several);
                is_at && !self.waits
            }
            What::Statement(_) if self.waits && !is_head(facts, moment) => {
                self.waits = false;
                true
            }
            // In the line of a head nothing is bound yet.
            What::Statement(_) if asks && texts.has_statements && !texts.are_several && is_head(facts, moment) => {
                self.waits |= self.is_at(moment);
                false
            }
            What::Statement(_) | What::Ends(_) | What::Gone(_) | What::Reports(_) => self.is_at(moment),
        }
    }

    /// Whether its condition holds, if it has one.
    fn holds<'s>(&mut self, here: &dyn Fn() -> Stopped<'s>) -> bool {
        let Some(when) = &self.only.when else { return true };
        let here = here();
        let holds = when.holds(&here);
        let doubt = if holds { None } else { when.doubt(&here) };
        self.asked = (self.asked.0 + 1, self.asked.1 + u64::from(doubt.is_some()));
        self.doubt = self.doubt.take().or(doubt);
        holds
    }

    fn is_at(&self, moment: &Moment<'_>) -> bool {
        let automaton = moment.automaton();
        match (&self.at, moment.what) {
            (Where::Line(file, line), What::Statement(source)) => {
                let source = automaton.sources.get(source.index());
                source.is_some_and(|source| source.line == *line && source.file == *file)
            }
            (Where::Event(name), What::Begins) => names_of(moment).iter().any(|known| is_called(known, name)),
            (Where::Drop(reason), What::Ends(of)) => {
                let of = automaton.reasons.get(of.index());
                reason == "*" || of.is_some_and(|of| is_called(&of.name, reason))
            }
            (Where::Drop(reason), What::Gone(_)) => reason == "*" || reason == GONE,
            (Where::Report, What::Reports(_)) => true,
            _ => false,
        }
    }
}

/// Whether a name, which may omit leading parts, means a qualified name.
fn is_called(full: &str, name: &str) -> bool {
    full.strip_suffix(name).is_some_and(|front| front.is_empty() || front.ends_with('.'))
}

/// All names of a handler that begins: by its layer, and by the port of its event.
fn names_of(moment: &Moment<'_>) -> Vec<String> {
    let automaton = moment.automaton();
    let handler = &automaton.handlers[moment.handler.index()];
    let layer = &automaton.layers[automaton.class(handler.class).layer.index()];
    let event = event_of(automaton, handler);
    let mut names = vec![format!("{}.{event}", layer.name), format!("{}.{event}", layer.of)];
    if let Cause::Input(port) = moment.cause {
        names.push(format!("{}.{event}", automaton.ports[port.index()].name));
    }
    names
}

impl Where {
    /// Parses a point behind which a host may stand: `send at b`.
    pub fn read_at_host(text: &str, file: &str, facts: &Facts) -> Result<(Where, Option<String>), Failure> {
        let Some((place, host)) = text.split_once(" at ") else { return Ok((Where::read(text, file, facts)?, None)) };
        let host = host.trim();
        if facts.hosts.iter().all(|known| known.name != host) {
            let known: Vec<&str> = facts.hosts.iter().map(|host| host.name.as_str()).collect();
            return Err(Failure::of_use(
                format!("there is no host `{host}`"),
                format!("there is {}", known.join(", ")),
            ));
        }
        Ok((Where::read(place, file, facts)?, Some(host.to_string())))
    }

    /// Parses a point: `12`, `file.mok:12`, `send`, `Counts.send`, `drop no_room`, `drop`, `report`. `file` is the
    /// default for a line.
    pub fn read(text: &str, file: &str, facts: &Facts) -> Result<Where, Failure> {
        let text = text.trim();
        match text.split_once(' ').map_or((text, ""), |(word, rest)| (word, rest.trim())) {
            ("", _) => Err(Failure::of_use("where to stop is not said", PLACES)),
            ("report", "") => Ok(Where::Report),
            ("drop", "") => Ok(Where::Drop("*".to_string())),
            ("drop", reason) => {
                let known = facts.reasons.iter().any(|known| is_called(known, reason));
                let unknown = || Failure::of_use(format!("no message ends for `{reason}`"), facts.reasons_shown());
                known.then(|| Where::Drop(reason.to_string())).ok_or_else(unknown)
            }
            _ => match text.rsplit_once(':').unwrap_or((file, text)) {
                (file, line) if line.chars().all(|c| c.is_ascii_digit()) => facts.line(file, line),
                _ => facts.event(text.strip_prefix("on ").unwrap_or(text)),
            },
        }
    }

    /// The text form.
    pub fn show(&self) -> String {
        match self {
            Where::Line(file, line) => format!("{file}:{line}"),
            Where::Event(name) => format!("on {name}"),
            Where::Drop(reason) if reason == "*" => "drop".to_string(),
            Where::Drop(reason) => format!("drop {reason}"),
            Where::Report => "report".to_string(),
        }
    }
}

const PLACES: &str =
    "a line (`12`, `file.mok:12`), an event (`send`, `Counts.send`), `drop REASON`, `drop` or `report`";

/// Whether a path ends by these parts.
fn ends_by(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|front| front.is_empty() || front.ends_with('/'))
}

impl Facts {
    /// Checks that a line has code; else the error names the nearest ones.
    fn line(&self, file: &str, line: &str) -> Result<Where, Failure> {
        let all: Vec<&String> = self.lines.keys().filter(|known| ends_by(known, file)).collect();
        if all.len() > 1 && all.iter().all(|name| *name != file) {
            let named: Vec<String> = all.iter().map(|name| format!("`{}:{line}`", self.short(name))).collect();
            return Err(Failure::of_use(
                format!("several files are called `{file}`"),
                format!("write {}", named.join(" or ")),
            ));
        }
        let whole = all.iter().find(|name| **name == file).or(all.first());
        let Some(name) = whole.copied() else {
            let known: Vec<String> = self.lines.keys().map(|name| self.short(name)).collect();
            return Err(Failure::of_use(
                format!("nothing of `{file}` runs here"),
                format!("there is code of {}", known.join(", ")),
            ));
        };
        let lines = &self.lines[name];
        let number: u32 = line.parse().unwrap_or(u32::MAX);
        if lines.contains(&number) {
            return Ok(Where::Line(name.clone(), number));
        }
        let before = lines.range(..number).next_back();
        let behind = lines.range(number..).next();
        let near: Vec<String> = before.into_iter().chain(behind).map(u32::to_string).collect();
        let help = match near.is_empty() {
            true => "it has no code at all".to_string(),
            false => format!("there is code in line {}", near.join(" and ")),
        };
        Err(Failure::of_use(format!("there is no code in line {line} of {}", self.short(name)), help))
    }

    /// A file by as much of the end of its path as tells it from the others.
    pub fn short(&self, file: &str) -> String {
        let mut ending = file.rsplit('/').next().unwrap_or(file);
        while self.lines.keys().any(|name| name != file && ends_by(name, ending)) && ending.len() < file.len() {
            let front = &file[..file.len() - ending.len() - 1];
            ending = &file[front.rfind('/').map_or(0, |at| at + 1)..];
        }
        ending.to_string()
    }

    fn event(&self, name: &str) -> Result<Where, Failure> {
        match self.events.iter().any(|known| is_called(known, name)) {
            true => Ok(Where::Event(name.to_string())),
            false => {
                // An event of a service as the layer calls it: `resolve.known`.
                let mut called = self.written.get(name).into_iter().flatten();
                if let (Some(only), None) = (called.next(), called.next()) {
                    return Ok(Where::Event(only.clone()));
                }
                match self.parts_of_handlers(name)[..] {
                    [] => {}
                    [(file, line)] => return Ok(Where::Line(file.clone(), line)),
                    ref several => {
                        let all: Vec<String> =
                            several.iter().map(|(file, line)| format!("`{}:{line}`", self.short(file))).collect();
                        return Err(Failure::of_use(
                            format!("several layers have `on {name}`"),
                            format!("say of which, `LAYER.{name}`, or write {}", all.join(" or ")),
                        ));
                    }
                }
                let plain: Vec<&str> = self.written.keys().map(String::as_str).collect();
                let near = name.split_once(' ').map(|(layer, event)| format!("{layer}.{}", event.trim()));
                let near = near.filter(|near| self.events.iter().any(|known| is_called(known, near)));
                let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                Err(Failure::of_use(
                    format!("there is no event `{name}` here"),
                    format!("{near}there is {}, each also behind a layer's name; or say {PLACES}", plain.join(", ")),
                ))
            }
        }
    }

    fn reasons_shown(&self) -> String {
        let mut plain: Vec<&str> = self.reasons.iter().map(|known| known.rsplit('.').next().unwrap_or(known)).collect();
        plain.sort_unstable();
        plain.dedup();
        format!("there is {}; `drop` alone is any", plain.join(", "))
    }
}

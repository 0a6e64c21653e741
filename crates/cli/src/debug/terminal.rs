//! The debugger's commands, one a line: from a terminal with history and completion, or from a pipe.

use std::io::{BufRead, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mokume_driver::debug::{
    self, time, unknown_name, By, Condition, End, Facts, Front, Go, Hits, Only, Points, Stopped, Variable, Where, Why,
};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};

use crate::print::Output;

/// The prompt.
const PROMPT: &str = "(mokume) ";

const HELP: &str = "\
step, s            the next statement, wherever it is
next, n            the next statement here, stepping over calls
out, o             until this call returns
reaction, r        the next reaction: an input, a frame, a timer
frame, f           the next frame that a host receives
continue, c        the next point, or the end
back WHAT          to the last statement before this; WHAT: next, reaction, frame, point
restart            from the beginning
break PLACE, b     stop there: 12, file.mok:12, send, Counts.send, drop no_room, drop, report; then `at HOST`,
                   `if own > 4`, `times 3` (`>= 3`, `% 3`), `say own is {own}`, in this order
breaks             lists the points; `delete N` deletes one, `delete` all
where, w           the host, the time, the running handler, and its callers
why                the chain of causes of this handler
locals, l          what is bound here; messages with their headers
print NAME         a local, else a variable of this object, else of a layer; `hosts[0]`, `hosts.length`, `flow.remote.port`
state [LAYER], p   the state of this host's layers; `state at HOST`, `state LAYER at HOST` of another one's
list               the lines around
quit, q
An empty line repeats the last step.";

/// The words that lines begin with.
const WORDS: [&str; 21] = [
    "back", "break", "breaks", "continue", "delete", "frame", "help", "list", "locals", "next", "out", "print", "quit",
    "reaction", "restart", "state", "step", "where", "why", "drop", "report",
];

/// A debugger for people.
pub struct Terminal {
    lines: Lines,
    /// What an empty line repeats.
    again: Option<Go>,
    output: Output,
    /// Whether nothing can be written any more: the command's end says so.
    is_closed: bool,
    /// Set by Ctrl-C while the run goes on.
    interrupted: Option<Arc<AtomicBool>>,
}

/// The source of the commands.
enum Lines {
    Terminal(Box<Editor<Words, DefaultHistory>>),
    /// Lines of a pipe or a file. They are echoed, so that the output alone can be read.
    Pipe(std::io::BufReader<std::io::Stdin>),
}

/// The words that completion offers.
struct Words(Arc<Mutex<Vec<String>>>);

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, place: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let from = line[..place].rfind(' ').map_or(0, |at| at + 1);
        let typed = &line[from..place];
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((from, known.iter().filter(|word| word.starts_with(typed)).cloned().collect()))
    }
}

impl Hinter for Words {
    type Hint = String;
}
impl Highlighter for Words {}
impl Validator for Words {}
impl Helper for Words {}

impl Terminal {
    /// Reads commands from the standard input.
    pub fn new(facts: &Facts, output: Output) -> Terminal {
        let last = |name: &String| name.rsplit('.').next().unwrap_or(name).to_string();
        let mut words: Vec<String> = WORDS.map(str::to_string).to_vec();
        words.extend(facts.events.iter().cloned());
        words.extend(facts.events.iter().map(last));
        words.extend(facts.reasons.iter().map(last));
        words.extend(facts.hosts.iter().map(|host| host.name.clone()));
        words.extend(facts.lines.keys().map(|file| format!("{}:", facts.short(file))));
        words.sort();
        words.dedup();
        let editor = || {
            let mut editor = Editor::<Words, DefaultHistory>::new().ok()?;
            editor.set_helper(Some(Words(Arc::new(Mutex::new(words.clone())))));
            Some(Lines::Terminal(Box::new(editor)))
        };
        let is_terminal = std::io::stdin().is_terminal();
        let pipe = || Lines::Pipe(std::io::BufReader::new(std::io::stdin()));
        let lines = is_terminal.then(editor).flatten().unwrap_or_else(pipe);
        let interrupted = is_terminal.then(debug::interrupted).and_then(Result::ok);
        let mut terminal = Terminal { lines, again: None, output, is_closed: false, interrupted };
        terminal.say(&format!("{}; `help` says what can be done", facts.name));
        terminal
    }

    fn say(&mut self, text: &str) {
        self.is_closed |= writeln!(self.output, "{text}").is_err();
    }

    /// The next line; `None` at the end of the input.
    fn read(&mut self) -> Option<String> {
        if self.is_closed {
            return None;
        }
        match &mut self.lines {
            Lines::Terminal(editor) => loop {
                match editor.readline(PROMPT) {
                    Ok(line) => {
                        let _ = editor.add_history_entry(line.as_str());
                        return Some(line);
                    }
                    // Ctrl-C discards the line; the debugger goes on.
                    Err(ReadlineError::Interrupted) => {}
                    Err(_) => return None,
                }
            },
            Lines::Pipe(from) => {
                let mut line = Vec::new();
                let is_there = from.read_until(b'\n', &mut line).is_ok_and(|octets| octets > 0);
                let line = String::from_utf8_lossy(&line).trim_end().to_string();
                is_there.then(|| self.say(&format!("{PROMPT}{line}")))?;
                Some(line)
            }
        }
    }

    /// Reads commands until one lets the run go on. `here` is where the run stands; `None` after its end.
    fn led(&mut self, here: Option<&Stopped<'_>>, facts: &Facts, points: &mut Points) -> Go {
        self.interrupted.iter().for_each(|flag| flag.store(false, Ordering::Relaxed));
        loop {
            let Some(line) = self.read() else { return Go::Quit };
            let line = line.trim();
            if line.is_empty() {
                match self.again.filter(|go| here.is_some() || matches!(go, Go::Back(_))) {
                    Some(go) => return go,
                    None => continue,
                }
            }
            let (word, rest) = line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest.trim()));
            match self.command((word, rest), here, facts, points) {
                Ok(Some(go)) => {
                    self.again = matches!(go, Go::On | Go::Forward(_) | Go::Back(_)).then_some(go);
                    return go;
                }
                Ok(None) => {}
                Err(why) => self.say(&why),
            }
        }
    }

    fn command(
        &mut self,
        (word, rest): (&str, &str),
        here: Option<&Stopped<'_>>,
        facts: &Facts,
        points: &mut Points,
    ) -> Result<Option<Go>, String> {
        let forward = |by| match here {
            Some(_) => Ok(Some(Go::Forward(by))),
            None => Err("the run has ended: `back` goes to its last statement, `restart` to its beginning".to_string()),
        };
        let stands = || {
            here.ok_or_else(|| "the run has ended, and nothing is bound: `back` goes to its last statement, and the page of `mokume sim --html` has the state of all hosts at the end".to_string())
        };
        if ALONE.contains(&word) && !rest.is_empty() {
            return Err(format!("nothing stands behind `{word}`, so `{rest}` is not known: nothing was done"));
        }
        match word {
            "step" | "s" => forward(By::Statement),
            "next" | "n" => forward(By::Over),
            "out" | "o" => forward(By::Out),
            "reaction" | "r" => forward(By::Reaction),
            "frame" | "f" => forward(By::Frame),
            "continue" | "c" => forward(By::Point).map(|go| go.map(|_| Go::On)),
            "back" => match rest {
                "" | "step" | "s" => Ok(Some(Go::Back(By::Statement))),
                "next" | "n" => Ok(Some(Go::Back(By::Over))),
                "reaction" | "r" => Ok(Some(Go::Back(By::Reaction))),
                "frame" | "f" => Ok(Some(Go::Back(By::Frame))),
                "point" | "p" | "continue" | "c" => Ok(Some(Go::Back(By::Point))),
                other => Err(format!(
                    "there is no way back by `{other}`: say `back`, or behind it `next`, `reaction`, `frame`, `point`"
                )),
            },
            "restart" => Ok(Some(Go::Restart)),
            "quit" | "q" | "exit" => Ok(Some(Go::Quit)),
            "help" | "h" | "?" => self.told(HELP),
            "break" | "b" => {
                let text = self.set_point(rest, here, facts, points)?;
                self.told(&text)
            }
            "breaks" => {
                let all: Vec<String> = points.all().iter().map(|point| shown_point(point, facts)).collect();
                self.told(&if all.is_empty() { "there is none: `break PLACE`".to_string() } else { all.join("\n") })
            }
            "delete" => {
                match rest.parse::<u32>() {
                    _ if rest.is_empty() => points.clear(|_| true),
                    Ok(number) if points.remove(number) => {}
                    _ => return Err(format!("there is no point `{rest}`: `breaks` lists them")),
                }
                Ok(None)
            }
            "where" | "w" => {
                let here = stands()?;
                let text = format!("{}\n{}", head(here), calls(here));
                self.told(&text)
            }
            "why" => {
                let text = stands()?.causes().join("\n  ");
                self.told(&text)
            }
            "locals" | "l" => {
                let found = stands()?.locals();
                let text =
                    if found.is_empty() { "nothing is bound here yet".to_string() } else { tree(&found, 0, false) };
                self.told(&text)
            }
            "print" if !rest.is_empty() => {
                let here = stands()?;
                let value = here.value(rest).map(Ok).unwrap_or_else(|| {
                    let known = "`locals` and `state` say what there is; a name alone is shown";
                    state(here, rest).map_err(|_| format!("{}: {known}", unknown_name(rest)))
                });
                self.told(&value?)
            }
            "state" | "p" | "print" => {
                let here = stands()?;
                let (layer, host) = match rest.strip_prefix("at ") {
                    Some(host) => ("", host),
                    None => rest.split_once(" at ").unwrap_or((rest, here.host_name())),
                };
                let text = here.at_host(host.trim(), |there| state(there, layer.trim()))??;
                self.told(&text)
            }
            "list" => {
                let text = around(stands()?, 4)?;
                self.told(&text)
            }
            other => Err(format!("there is no command `{other}`: `help` says what there is")),
        }
    }

    fn told(&mut self, text: &str) -> Result<Option<Go>, String> {
        self.say(text.trim_end());
        Ok(None)
    }

    fn set_point(
        &self,
        rest: &str,
        here: Option<&Stopped<'_>>,
        facts: &Facts,
        points: &mut Points,
    ) -> Result<String, String> {
        // Searched from the end: the message may contain these words too.
        let cut = |text: &str, word: &str| match text.split_once(word) {
            Some((before, behind)) => (before.to_string(), Some(behind.trim().to_string())),
            None => (text.to_string(), None),
        };
        // A host may be called `at`.
        let is_open = |word: &&&str| rest.strip_suffix(**word).is_some_and(|before| !before.ends_with(" at"));
        if let Some(word) = [" if", " times", " say", " at"].iter().find(is_open) {
            return Err(format!("what belongs behind `{}` is missing", word.trim()));
        }
        let (rest, log) = cut(rest, " say ");
        let (rest, hits) = match times_in(&rest) {
            Some(at) => (rest[..at].to_string(), Some(rest[at + TIMES.len()..].trim().to_string())),
            None => (rest, None),
        };
        let (rest, when) = cut(&rest, " if ");
        let failed = |failure: mokume_driver::Failure| format!("{}: {}", failure.message, failure.help);
        let only = Only {
            when: when.map(|when| Condition::read(&when, facts)).transpose().map_err(failed)?,
            hits: hits.map(|hits| Hits::read(&hits)).transpose().map_err(failed)?,
            log: log.map(|log| Only::log_text(&log, facts)).transpose().map_err(failed)?,
        };
        let (at, host) = Where::read_at_host(&rest, Self::file_meant(here, facts), facts).map_err(failed)?;
        let replaced = |only_then: &Only| *only_then != Only::default() && *only_then != only;
        let other = points.standing(&at, host.as_deref()).is_some_and(|known| replaced(&known.only));
        let shown = shown_point(points.add_only(at, host, only), facts);
        Ok(if other { format!("{shown}  (in place of what stood there: a place has one point)") } else { shown })
    }

    /// The file of a line number without a file: the file where the run stands, or the file on the command line as long
    /// as the run has not moved, and when it has ended.
    fn file_meant<'h>(here: Option<&'h Stopped<'_>>, facts: &'h Facts) -> &'h str {
        let asked = here.is_none_or(|here| here.why == Why::Beginning).then_some(facts.file.as_str());
        let asked = asked.filter(|file| facts.lines.contains_key(*file));
        let first = || facts.lines.keys().next().map_or("", String::as_str);
        asked.unwrap_or_else(|| here.and_then(Stopped::place).map_or_else(first, |place| &place.file))
    }
}

/// Commands that are one word.
const ALONE: [&str; 24] = [
    "step", "s", "next", "n", "out", "o", "reaction", "r", "frame", "f", "continue", "c", "restart", "quit", "q",
    "exit", "breaks", "where", "w", "why", "locals", "l", "list", "?",
];

const TIMES: &str = " times ";

/// Where a point says how often; a name in its condition may be the same word.
fn times_in(text: &str) -> Option<usize> {
    let is_name = |at: usize| [" if", " and", " or", " not"].iter().any(|word| text[..at].ends_with(word));
    text.rmatch_indices(TIMES).map(|(at, _)| at).find(|at| !is_name(*at))
}

impl Front for Terminal {
    fn interrupts(&mut self) -> bool {
        self.interrupted.as_ref().is_some_and(|flag| flag.swap(false, Ordering::Relaxed))
    }

    fn stopped(&mut self, at: &Stopped<'_>, points: &mut Points) -> Go {
        if at.why == Why::AskedOnTheWayBack {
            return Go::Home;
        }
        let text = match around(at, 0) {
            Ok(line) => format!("{}\n{line}", head(at)),
            Err(_) => head(at),
        };
        self.say(text.trim_end());
        self.led(Some(at), at.facts, points)
    }

    fn said(&mut self, host: &str, point: u32, text: &str) {
        self.say(&format!("{host}  {text}  (point {point})"));
    }

    fn turned(&mut self, host: &str, at: u64, begins: bool) {
        self.say(&format!("{host}  {}  {}", time(at), if begins { "begins anew" } else { "crashes" }));
    }

    fn ended(&mut self, end: &End, facts: &Facts, points: &mut Points) -> Go {
        self.say("the run has ended");
        points.doubts().iter().for_each(|doubt| self.say(doubt));
        end.failed.iter().for_each(|failed| self.say(&format!("FAILED {failed}")));
        self.led(None, facts, points)
    }
}

/// `a  2 ms  reaction 3  app.Counts: on send  (point 1)`
fn head(at: &Stopped<'_>) -> String {
    let why = match at.why {
        Why::Beginning => "  (the beginning)".to_string(),
        Why::Stepped => String::new(),
        Why::Asked | Why::AskedOnTheWayBack => "  (stopped by Ctrl-C)".to_string(),
        Why::Home => "  (not gone back: stopped by Ctrl-C)".to_string(),
        Why::Point(number) => format!("  (point {number})"),
    };
    let name = at.calls().first().map_or(String::new(), |(name, _)| name.clone());
    let what = match at.what().as_str() {
        "statement" => String::new(),
        other if other.starts_with("begins") => "  begins".to_string(),
        other => format!("  {other}"),
    };
    format!("{}  {}  reaction {}  {name}{what}{why}", at.host_name(), time(at.now()), at.reaction())
}

fn calls(at: &Stopped<'_>) -> String {
    let line = |(name, place): &(String, Option<&mokume_reaction::Source>)| {
        let place =
            place.map_or("in no source".to_string(), |place| format!("{}:{}", at.facts.short(&place.file), place.line));
        format!("  {name}  {place}")
    };
    at.calls().iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The lines around the current one, `beside` on either side.
fn around(at: &Stopped<'_>, beside: u32) -> Result<String, String> {
    let place = at.place().ok_or_else(|| "this is of no source: `step` goes to the next statement".to_string())?;
    let text = at.facts.texts.get(&place.file).map_or("", String::as_str);
    let (first, last) = (place.line.saturating_sub(beside).max(1), place.line + beside);
    let lines = text.lines().zip(1u32..).filter(|(_, number)| (first..=last).contains(number));
    let shown = lines.map(|(line, number)| {
        let mark = if number == place.line { "->" } else { "  " };
        match beside {
            0 => format!("{}:{number}  {}", at.facts.short(&place.file), line.trim()),
            _ => format!("{mark} {number:4}  {line}").trim_end().to_string(),
        }
    });
    Ok(shown.collect::<Vec<_>>().join("\n"))
}

fn state(at: &Stopped<'_>, layer: &str) -> Result<String, String> {
    let all = at.state();
    // A bundle's name stands for all layers in it.
    let declared = at.layers_of(layer);
    let is_meant = |known: &&Variable| {
        let is_within = known.name.starts_with(&format!("{layer}."));
        let is_declared = declared.contains(&known.name.as_str());
        layer.is_empty()
            || known.name == layer
            || is_within
            || is_declared
            || known.name.ends_with(&format!(".{layer}"))
    };
    let found: Vec<Variable> = all.iter().filter(is_meant).cloned().collect();
    match (found.is_empty(), layer) {
        (false, _) => Ok(tree(&found, 0, true)),
        (true, "") => Ok("this host has no layer".to_string()),
        (true, _) => {
            let known: Vec<&str> = all.iter().map(|known| known.name.as_str()).collect();
            Err(format!("this host has no layer `{layer}`: there is {}", known.join(", ")))
        }
    }
}

/// Whether a value is a list of octets, shown as one text.
fn octets_begin(value: &str) -> bool {
    value.starts_with('"') || value.starts_with("x\"")
}

/// The most characters of a record that is shown in one line.
const WIDE: usize = 120;

fn tree(all: &[Variable], depth: usize, is_state: bool) -> String {
    let mut text = String::new();
    for one in all {
        let blanks = "    ".repeat(depth);
        let line = match one.value.is_empty() {
            true => format!("{blanks}{}", one.name),
            // A layer without state.
            false if depth == 0 && is_state => format!("{}: {}", one.name, one.value),
            false => format!("{blanks}{} = {}", one.name, one.value),
        };
        text.push_str(&line);
        text.push('\n');
        // A record in one line says its parts, and a text its octets.
        let is_whole = one.value.starts_with('{') && one.value.len() <= WIDE || octets_begin(&one.value);
        if !is_whole {
            text.push_str(&tree(&one.within, depth + 1, is_state));
        }
    }
    text
}

fn shown_point(point: &mokume_driver::debug::Point, facts: &Facts) -> String {
    let host = point.host.as_ref().map_or(String::new(), |host| format!(" at {host}"));
    let at = match &point.at {
        Where::Line(file, line) => format!("{}:{line}", facts.short(file)),
        other => other.show(),
    };
    let Only { when, hits, log } = &point.only;
    let when = when.as_ref().map_or(String::new(), |when| format!(" if {}", when.show()));
    let hits = hits.map_or(String::new(), |hits| format!(" times {}", hits.show()));
    let log = log.as_ref().map_or(String::new(), |log| format!(" say {log}"));
    format!("point {}: {at}{host}{when}{hits}{log}", point.number)
}

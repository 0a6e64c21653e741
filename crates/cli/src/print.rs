//! What people and scripts read: text, or one JSON object a line. Decides nothing.

use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mokume_base::render::{self, Colour};
use mokume_base::{Diagnostic, RealWorld, SourceMap, World};
use mokume_driver::dissect::text::Ink;
use mokume_driver::Failure;

use crate::arguments::{Format, When};

/// A line on a terminal that changes, for what takes long.
pub struct Status {
    is_on: bool,
    /// From when on it is shown.
    due: Instant,
    /// When it is said anew.
    next: Instant,
    shown: Option<ProgressBar>,
}

/// What is over before this needs no line.
const SHORT: Duration = Duration::from_millis(700);

/// How often the line is said anew, and how often it moves.
const OFTEN: Duration = Duration::from_millis(100);

impl Status {
    /// Shown some time after now; never where nobody looks, or objects are wanted.
    pub fn new(printer: &Printer) -> Self {
        let is_on = !printer.is_json() && io::stderr().is_terminal();
        let now = Instant::now();
        Status { is_on, due: now + SHORT, next: now, shown: None }
    }

    /// How it stands.
    pub fn show(&mut self, text: impl FnOnce() -> String) {
        let now = Instant::now();
        if self.is_on && (now >= self.next || self.shown.is_none()) {
            self.next = now + OFTEN;
            let due = self.due;
            self.shown.get_or_insert_with(|| moving(due.saturating_duration_since(now))).set_message(text());
        }
    }

    /// The line goes away, for others to be printed; what is said then begins another.
    pub fn end(&mut self) {
        if let Some(shown) = self.shown.take() {
            shown.finish_and_clear();
        }
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.end();
    }
}

/// A line that moves by itself, from then on.
fn moving(after: Duration) -> ProgressBar {
    let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
    let line = line.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    let shown = line.clone();
    std::thread::spawn(move || {
        std::thread::sleep(after);
        if !shown.is_finished() {
            shown.set_draw_target(ProgressDrawTarget::stderr());
            shown.enable_steady_tick(OFTEN);
        }
    });
    line
}

/// Where all that a command prints goes: results to the standard output, diagnostics and failures to the standard
/// error, in JSON all to the standard output.
pub struct Printer {
    pub format: Format,
    colour: Colour,
    /// Whether the standard output takes colour.
    pub ink: Ink,
    /// Why the standard output did not take what we printed: a full disk must not look like a good end.
    lost: RefCell<Option<io::Error>>,
}

impl Printer {
    /// A printer that finds out by itself, for `When::Auto`, whether each of the two outputs takes colour.
    pub fn new(format: Format, color: When) -> Self {
        let on = |terminal: bool| match color {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && RealWorld.environment("NO_COLOR").is_none(),
        };
        let colour = if on(io::stderr().is_terminal()) { Colour::On } else { Colour::Off };
        let ink = if on(io::stdout().is_terminal()) { Ink::Coloured } else { Ink::Plain };
        Printer { format, colour, ink, lost: RefCell::new(None) }
    }

    /// Whether objects are wanted and not text.
    pub fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// A line on the standard output.
    pub fn line(&self, text: impl AsRef<str>) {
        let wrote = writeln!(io::stdout(), "{}", text.as_ref());
        let closed = || Err(io::Error::other("it is closed"));
        if let Err(error) = wrote.and_then(|()| if mokume_driver::takes_output() { Ok(()) } else { closed() }) {
            self.lost.borrow_mut().get_or_insert(error);
        }
    }

    /// Fails if something that was printed did not arrive; ends quietly where the reader has gone away.
    pub fn arrived(&self) -> Result<(), Failure> {
        match self.lost.take() {
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => mokume_driver::end_by_closed_pipe(),
            Some(error) => Err(Failure::of_use(
                format!("cannot write to the standard output: {error}"),
                "is there room where it goes?",
            )),
            None => Ok(()),
        }
    }

    /// A JSON object on the standard output. Numbers of more than 53 bits are text, as readers in JavaScript would round them.
    pub fn object(&self, object: &serde_json::Value) {
        self.line(with_digits(object).to_string());
    }

    /// A word on the standard error, for people only.
    pub fn note(&self, text: impl AsRef<str>) {
        if !self.is_json() {
            let _ = writeln!(io::stderr(), "{}", text.as_ref());
        }
    }

    /// Prints diagnostics in the order of files and places, each with its source.
    pub fn diagnostics(&self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        let mut sorted = diagnostics.to_vec();
        render::sort(&mut sorted);
        if self.is_json() {
            sorted.iter().for_each(|diagnostic| self.line(render::json_line(diagnostic, sources).trim_end()));
        } else {
            let _ = write!(io::stderr(), "{}", render::render_all(&sorted, sources, self.colour));
        }
    }

    /// Prints what ended the command; its exit code is the caller's to return.
    pub fn failure(&self, failure: &Failure) {
        if self.is_json() {
            self.object(&serde_json::json!({ "error": failure.message, "help": failure.help }));
        } else {
            let _ = writeln!(io::stderr(), "mokume: {failure}");
        }
    }
}

/// `3 errors and 1 warning`.
pub fn counted(diagnostics: &[Diagnostic]) -> String {
    let errors = diagnostics.iter().filter(|d| d.severity == mokume_base::Severity::Error).count();
    let warnings = diagnostics.len() - errors;
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    match (errors, warnings) {
        (0, 0) => "no errors".to_string(),
        (0, w) => plural(w, "warning"),
        (e, 0) => plural(e, "error"),
        (e, w) => format!("{} and {}", plural(e, "error"), plural(w, "warning")),
    }
}

/// `1.25 s`, `20 ms`.
pub fn time(nanoseconds: u64) -> String {
    match nanoseconds {
        0..1_000_000 => format!("{} µs", nanoseconds / 1_000),
        1_000_000..1_000_000_000 => format!("{:.1} ms", nanoseconds as f64 / 1e6),
        _ => format!("{:.3} s", nanoseconds as f64 / 1e9),
    }
}

/// The same with text for numbers that are wider than 53 bits.
fn with_digits(value: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Number(number) if number.as_u64().is_some_and(|number| number >= 1 << 53) => {
            Value::String(number.to_string())
        }
        Value::Array(all) => Value::Array(all.iter().map(with_digits).collect()),
        Value::Object(all) => all.iter().map(|(name, value)| (name.clone(), with_digits(value))).collect(),
        other => other.clone(),
    }
}

//! Output for people and scripts: text, or one JSON object a line. Makes no decisions.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mokume_base::render::{self, Colour};
use mokume_base::{Diagnostic, RealWorld, SourceMap, World};
use mokume_driver::dissect::text::Ink;
use mokume_driver::Failure;

use crate::arguments::{Format, When};

/// A progress line on a terminal, for long work.
pub struct Status {
    is_on: bool,
    /// When the line first appears.
    due: Instant,
    /// When its text changes next.
    next: Instant,
    shown: Option<ProgressBar>,
}

/// Work shorter than this shows no line.
const SHORT: Duration = Duration::from_millis(700);

/// How often the text changes, and how often the line moves.
const OFTEN: Duration = Duration::from_millis(100);

impl Status {
    /// A line that appears after a short time; never if the standard error is no terminal, or JSON is printed.
    pub fn new(printer: &Printer) -> Self {
        let is_on = !printer.is_json() && io::stderr().is_terminal();
        let now = Instant::now();
        Status { is_on, due: now + SHORT, next: now, shown: None }
    }

    /// Shows the current state.
    pub fn show(&mut self, text: impl FnOnce() -> String) {
        let now = Instant::now();
        if self.is_on && (now >= self.next || self.shown.is_none()) {
            self.next = now + OFTEN;
            let due = self.due;
            self.shown.get_or_insert_with(|| moving(due.saturating_duration_since(now))).set_message(text());
        }
    }

    /// Removes the line so that others can be printed; the next `show` begins a new one.
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

/// A line that moves by itself after this time.
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

/// The destination of all output: results go to the standard output, diagnostics and failures to the standard error; in
/// JSON all go to the standard output.
pub struct Printer {
    pub format: Format,
    colour: Colour,
    /// Whether the standard output takes colour.
    pub ink: Ink,
    /// The first error of writing to the standard output: a full disk must not look like success.
    lost: Lost,
}

/// The first error of writing to the standard output.
type Lost = Arc<Mutex<Option<io::Error>>>;

/// The standard output, for what a printer does not print itself: [`Printer::arrived`] knows what was lost here, too.
pub struct Output(Lost);

impl Output {
    fn noted<T>(&self, wrote: io::Result<T>) -> io::Result<T> {
        let wrote = wrote.and_then(|wrote| match mokume_driver::takes_output() {
            true => Ok(wrote),
            false => Err(io::Error::other("it is closed")),
        });
        wrote.map_err(|error| {
            let same = error.raw_os_error().map_or_else(|| io::Error::from(error.kind()), io::Error::from_raw_os_error);
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            same
        })
    }
}

impl Write for Output {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.noted(io::stdout().write(octets))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.noted(io::stdout().flush())
    }
}

impl Printer {
    /// A printer. For `When::Auto` it finds out whether each of the two outputs takes colour.
    pub fn new(format: Format, color: When) -> Self {
        let on = |terminal: bool| match color {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && RealWorld.environment("NO_COLOR").is_none(),
        };
        let colour = if on(io::stderr().is_terminal()) { Colour::On } else { Colour::Off };
        let ink = if on(io::stdout().is_terminal()) { Ink::Coloured } else { Ink::Plain };
        Printer { format, colour, ink, lost: Lost::default() }
    }

    /// Whether the output is JSON instead of text.
    pub fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Prints a line on the standard output.
    pub fn line(&self, text: impl AsRef<str>) {
        self.wrote(writeln!(io::stdout(), "{}", text.as_ref()));
    }

    /// The standard output.
    pub fn output(&self) -> Output {
        Output(Arc::clone(&self.lost))
    }

    /// Notes whether something was written on the standard output, for [`Printer::arrived`].
    pub fn wrote(&self, wrote: io::Result<()>) {
        let _ = self.output().noted(wrote);
    }

    /// Fails if some output could not be written; ends the process quietly if the reader has gone.
    pub fn arrived(&self) -> Result<(), Failure> {
        match self.lost.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => mokume_driver::end_by_closed_pipe(),
            Some(error) => Err(Failure::of_use(
                format!("cannot write to the standard output: {error}"),
                "is there room where it goes?",
            )),
            None => Ok(()),
        }
    }

    /// Prints a JSON object on the standard output. Numbers of more than 53 bits become strings, as readers in
    /// JavaScript would round them.
    pub fn object(&self, object: &serde_json::Value) {
        self.line(with_digits(object).to_string());
    }

    /// Prints a remark on the standard error; text output only.
    pub fn note(&self, text: impl AsRef<str>) {
        if !self.is_json() {
            let _ = writeln!(io::stderr(), "{}", text.as_ref());
        }
    }

    /// Tells of a file or folder that was written: what it holds, and how many of these. A remark, or an object.
    pub fn told_written(&self, name: &str, (holds, count): (&str, u64), remark: impl AsRef<str>) {
        match self.is_json() {
            true => self.object(&serde_json::json!({ "written": name, "holds": holds, "count": count })),
            false => self.note(remark),
        }
    }

    /// Prints diagnostics, sorted by file and place, each with its source.
    pub fn diagnostics(&self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        let mut sorted = diagnostics.to_vec();
        render::sort(&mut sorted);
        if self.is_json() {
            sorted.iter().for_each(|diagnostic| self.line(render::json_line(diagnostic, sources).trim_end()));
        } else {
            let _ = write!(io::stderr(), "{}", render::render_all(&sorted, sources, self.colour));
        }
    }

    /// Prints why the command failed; the caller returns the exit code.
    pub fn failure(&self, failure: &Failure) {
        if self.is_json() {
            self.object(&serde_json::json!({ "error": failure.message, "help": failure.help }));
        }
        // Where the output cannot be written, nothing else would say why.
        if !self.is_json() || self.arrived().is_err() {
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

/// The same value with strings for numbers wider than 53 bits.
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

//! Diagnostics as data: a code, a place, a reason and a way out.

use crate::Span;

/// A diagnostic's stable code, such as `M0214`; `mokume explain` has a page for each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Code(pub &'static str);

/// Declares codes, one constant each (`NAME = "M0214";`), and `CODES`, the list of all of them. The page of a code says
/// what it means.
#[macro_export]
macro_rules! codes {
    ($($name:ident = $code:literal;)*) => {
        $(
            #[doc = concat!("`docs/diagnostics/", $code, ".md`")]
            pub const $name: $crate::Code = $crate::Code($code);
        )*

        /// All codes that this call declares.
        pub const CODES: &[$crate::Code] = &[$($name),*];
    };
}

/// The page of a code: a file of `docs/diagnostics`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page<'t> {
    pub code: &'t str,
    /// What is wrong, in a few words.
    pub title: &'t str,
    /// Markdown: why it is wrong, and what to write instead; ends with a line break.
    pub text: &'t str,
}

impl Page<'_> {
    /// Reads a page from its file, whose first line is `# M0214: title`; `None` if the first line has another form.
    pub fn read(file: &str) -> Option<Page<'_>> {
        let (heading, text) = file.strip_prefix("# ")?.split_once("\n\n")?;
        let (code, title) = heading.split_once(": ")?;
        Some(Page { code, title, text })
    }
}

/// An error keeps a program from being run; a warning does not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Severity {
    Error,
    Warning,
}

/// A place in the source, and the text to show there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// One message to the user. `primary` is where to look first; `notes` say why, `helps` say what to write instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    pub message: String,
    pub primary: Option<Label>,
    pub labels: Vec<Label>,
    pub notes: Vec<String>,
    pub helps: Vec<String>,
    /// The three fields below are never shown. They decide which reports are dropped as consequences of others: what
    /// this report says is missing, what it depends on, and what is missing because of it. A report that says why a
    /// thing is missing replaces the reports that only say that it is.
    pub lacks: Vec<Thing>,
    pub needs: Vec<Thing>,
    pub loses: Vec<Thing>,
}

/// Something that reports are about. Two reports mean the same thing if their names are equal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Thing(pub String);

impl Diagnostic {
    /// An error that has no place yet: [`Diagnostic::at`] sets it. The message is one line, without a full stop.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary: None,
            labels: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
            lacks: Vec::new(),
            needs: Vec::new(),
            loses: Vec::new(),
        }
    }

    /// A warning that has no place yet.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Sets the primary place, with a short text under it.
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.primary = Some(Label { span, text: text.into() });
        self
    }

    /// Adds a further place that explains the primary one.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a note: why it is so. Each note is a paragraph; they keep the order given.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds a help: what to write instead. Each help is a paragraph; they keep the order given.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.helps.push(text.into());
        self
    }

    /// This report makes sense only if `thing` exists.
    pub fn needs(mut self, thing: Thing) -> Self {
        self.needs.push(thing);
        self
    }

    /// This report says that `thing` is missing, but not why. Such a report is shown once for each thing.
    pub fn lacks(mut self, thing: Thing) -> Self {
        self.lacks.push(thing);
        self
    }

    /// This report says why `thing` is missing.
    pub fn loses(mut self, thing: Thing) -> Self {
        self.loses.push(thing);
        self
    }
}

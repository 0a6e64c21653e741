//! Diagnostics as data: a code, a place, a reason and a way out.

use crate::Span;

/// A diagnostic's stable code, such as `M0214`; `mokume explain` has a page for each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Code(pub &'static str);

/// Constants for codes, `NAME = "M0214";` each, and `CODES`, the list of them. What a code means stands on its page.
#[macro_export]
macro_rules! codes {
    ($($name:ident = $code:literal;)*) => {
        $(
            #[doc = concat!("`docs/diagnostics/", $code, ".md`")]
            pub const $name: $crate::Code = $crate::Code($code);
        )*

        /// All of these codes.
        pub const CODES: &[$crate::Code] = &[$($name),*];
    };
}

/// A code's page: a file of `docs/diagnostics`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page<'t> {
    pub code: &'t str,
    /// What is wrong, in a few words.
    pub title: &'t str,
    /// Markdown: why it is wrong, and what to write instead; ends with a line break.
    pub text: &'t str,
}

impl Page<'_> {
    /// A page from its file, whose first line is `# M0214: title`; none of another text.
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

/// A place and what is to be said about it there.
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
    /// Never shown: what it says is not there, what it would not be told without, and what is not there because of it. Whoever says
    /// why a thing is not there speaks for all others.
    pub lacks: Vec<Thing>,
    pub needs: Vec<Thing>,
    pub loses: Vec<Thing>,
}

/// Something that reports are about, by a name that those who mean it agree on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Thing(pub String);

impl Diagnostic {
    /// An error without a place so far: [`Diagnostic::at`] gives it one. The message is one line, without a full
    /// stop.
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

    /// A warning without a place so far.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// The place to look at first, with a short text under it.
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.primary = Some(Label { span, text: text.into() });
        self
    }

    /// A further place that explains the first.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Why it is so; each note is a paragraph of its own, in the order given.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// What to write instead; each help is a paragraph of its own, in the order given.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.helps.push(text.into());
        self
    }

    /// It means something only if this is there.
    pub fn needs(mut self, thing: Thing) -> Self {
        self.needs.push(thing);
        self
    }

    /// It says that this is not there, and not why: said once.
    pub fn lacks(mut self, thing: Thing) -> Self {
        self.lacks.push(thing);
        self
    }

    /// It says why this is not there.
    pub fn loses(mut self, thing: Thing) -> Self {
        self.loses.push(thing);
        self
    }
}

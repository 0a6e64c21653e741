//! The passes that make a path. Each has a name, by which it can be switched off.
//!
//! It must keep: a path without a pass does the same with more instructions, or there is no path.

/// A part of the work that can be switched off.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Pass {
    Usual,
    Parting,
    HandingOver,
    Choosing,
    Facts,
    Order,
    Implied,
    Octets,
    Memos,
    Gathering,
    Lifting,
    Alike,
    Uniting,
}

/// A set of passes that run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passes(u16);

impl Pass {
    /// All passes, in the order in which they run.
    pub const ALL: [Pass; 13] = [
        Pass::Usual,
        Pass::Parting,
        Pass::HandingOver,
        Pass::Choosing,
        Pass::Facts,
        Pass::Order,
        Pass::Implied,
        Pass::Octets,
        Pass::Memos,
        Pass::Gathering,
        Pass::Lifting,
        Pass::Alike,
        Pass::Uniting,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// What it does, as the rest of a sentence that begins with its name.
    pub fn does(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> (&'static str, &'static str) {
        match self {
            Pass::Usual => {
                ("usual", "uses what networks have shown of the library's layers, beside what the source says")
            }
            Pass::Parting => ("parting", "lets a path branch where several ways are likely"),
            Pass::HandingOver => {
                ("handing-over", "ends paths at layers that are not followed, and begins others inside")
            }
            Pass::Choosing => ("choosing", "computes both sides of a branch that only computes, and selects"),
            Pass::Facts => ("facts", "derives ranges of numbers from earlier guards"),
            Pass::Order => ("order", "evaluates the most decisive guards first, and look-ups early"),
            Pass::Implied => ("implied", "leaves out guards that others imply"),
            Pass::Octets => ("octets", "compares adjacent octets at once"),
            Pass::Memos => ("memos", "caches guards on state that seldom changes"),
            Pass::Gathering => {
                ("gathering", "gathers constant parts of sums, of octets in front of messages and of bounds")
            }
            Pass::Lifting => {
                ("lifting", "asks once, before ways part, what memos of all of them ask, and gives what they need")
            }
            Pass::Alike => ("alike", "merges ways that differ only in the results of a memo"),
            Pass::Uniting => ("uniting", "makes memos that ask the same into one"),
        }
    }

    /// The pass of that name.
    pub fn named(name: &str) -> Option<Pass> {
        Pass::ALL.into_iter().find(|pass| pass.name() == name)
    }
}

impl Passes {
    /// All passes.
    pub const ALL: Passes = Passes((1 << Pass::ALL.len()) - 1);

    /// These passes without one.
    pub fn without(self, pass: Pass) -> Self {
        Passes(self.0 & !(1 << pass as u16))
    }

    /// Whether a pass runs.
    pub fn has(self, pass: Pass) -> bool {
        self.0 & (1 << pass as u16) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_left_out_by_name() {
        for pass in Pass::ALL {
            assert_eq!(Pass::named(pass.name()), Some(pass));
            let left = Passes::ALL.without(pass);
            assert!(Pass::ALL.iter().all(|other| left.has(*other) == (*other != pass)));
        }
        assert_eq!(Pass::named("facts "), None);
    }
}

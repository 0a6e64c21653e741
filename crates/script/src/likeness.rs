//! How near what came is to what was expected.

/// How near an output is to a pattern: the more of its arguments match the nearer; of equals, the more fields of packets, then
/// the more octets before the first that differs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Likeness {
    pub args: usize,
    pub fields: usize,
    pub octets: usize,
}

impl Likeness {
    pub(crate) fn add(&mut self, other: Likeness) {
        self.args += other.args;
        self.fields += other.fields;
        self.octets += other.octets;
    }
}

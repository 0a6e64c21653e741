//! Messages of the pool that a path has made of the caller's octets, and what is still known of them.
//!
//! It must keep: what is known of a message holds in the block that made it only, since other ways of the path may differ.

use mokume_reaction::BlockId;

use crate::tree::{word, Expr, Infix};

/// The messages, and parts of the caller's octets.
#[derive(Default)]
pub(crate) struct Fresh {
    messages: Vec<Made>,
    /// By the address of a part of the caller's octets, where these begin.
    begins: Vec<(Expr, Expr)>,
}

struct Made {
    block: BlockId,
    /// The octets of which it was made: their address and number.
    at: Expr,
    size: Expr,
    message: Expr,
    /// Whether it has the same octets since.
    is_same: bool,
    /// The headers that are on it: how many octets they take at most, and the size of each; `None`: not known.
    headers: Option<(u32, Vec<Expr>)>,
}

impl Fresh {
    /// A message was made of these octets; it has no headers.
    pub fn note(&mut self, block: BlockId, (at, size): (Expr, Expr), message: Expr) {
        self.messages.push(Made { block, at, size, message, is_same: true, headers: Some((0, Vec::new())) });
    }

    /// A part of the caller's octets begins at `at`; `of`: at the part of which it is one.
    pub fn note_part(&mut self, at: Expr, of: &Expr) {
        let begins = self.beginning(of);
        self.begins.push((at, begins));
    }

    /// From here on the octets of all these messages may be others.
    pub fn forget_octets(&mut self) {
        self.messages.iter_mut().for_each(|made| made.is_same = false);
    }

    /// From here on it is not known which headers are on the message.
    pub fn forget_headers(&mut self, message: &Expr) {
        self.messages.iter_mut().filter(|made| made.message == *message).for_each(|made| made.headers = None);
    }

    /// A message with just these octets.
    pub fn of(&self, block: BlockId, at: &Expr, size: &Expr) -> Option<Expr> {
        let made = self.same(block).find(|made| (&made.at, &made.size) == (at, size))?;
        Some(made.message.clone())
    }

    /// A message that was made of the octets of which these are a part, and where those begin.
    pub fn of_whole(&self, block: BlockId, at: &Expr) -> Option<(Expr, Expr)> {
        let begins = self.beginning(at);
        let made = self.same(block).find(|made| made.at == begins)?;
        Some((made.message.clone(), begins))
    }

    /// A header of this size, and of at most `most` octets, goes onto the message: where its top is then. `None` if it is not known which
    /// headers are on it, or if they may take more than `room`.
    pub fn top(&mut self, block: BlockId, message: &Expr, (most, size): (u32, Expr), room: u32) -> Option<Expr> {
        let made = self.messages.iter_mut().find(|made| made.block == block && made.message == *message)?;
        let (all, sizes) = made.headers.as_mut()?;
        *all += most;
        sizes.push(size);
        let top = sizes.iter().fold(word("HEADERS"), |top, size| top.infix(Infix::Sub, size.clone()));
        (*all <= room).then(|| top.cast("uint32_t"))
    }

    fn same(&self, block: BlockId) -> impl Iterator<Item = &Made> {
        self.messages.iter().filter(move |made| made.is_same && made.block == block)
    }

    fn beginning(&self, at: &Expr) -> Expr {
        self.begins.iter().find(|begins| begins.0 == *at).map_or(at, |begins| &begins.1).clone()
    }
}

//! The names of events that the language itself knows, by direction.

/// Events that go down, from the layer above.
pub const DOWN: [&str; 7] = ["send", "open", "listen", "bind", "unlisten", "close", "abort"];
/// Events that go up, from the layer below.
pub const UP: [&str; 5] = ["deliver", "opened", "failed", "accepted", "closed"];
/// Events of back-pressure: up and down. A layer without a handler passes them; they stop at both edges of a stack.
pub const GRANTS: [&str; 2] = ["grant_sends", "grant_delivers"];

//! Names of events that the language itself knows, by the way that they go.

/// Events that go down, from who stands above a layer.
pub const DOWN: [&str; 7] = ["send", "open", "listen", "bind", "unlisten", "close", "abort"];
/// Events that go up, from who stands below a layer.
pub const UP: [&str; 5] = ["deliver", "opened", "failed", "accepted", "closed"];
/// Events of back-pressure: up and down. Who does not handle them lets them pass; at both edges of a stack they stop.
pub const GRANTS: [&str; 2] = ["grant_sends", "grant_delivers"];

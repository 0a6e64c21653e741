//! The context of a body, which decides what it may contain.

/// What a body is part of: this decides which names it sees and which statements it may contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyKind {
    /// A constant: no state, no parameters, only constants and enum numbers.
    Constant,
    /// An argument or a size: parameters only.
    Argument,
    /// An initial or published value: state, but no effects.
    Value,
    Function,
    Handler(Role),
}

/// Handlers in which some statements are allowed that are not allowed elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Start,
    Open,
    Unmatched,
    Arrives,
    Settle,
    /// An expiry: its event has no direction in which it could continue.
    Expiry,
    Service,
    Other,
}

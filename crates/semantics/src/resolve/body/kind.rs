//! What a body is part of, which decides what may stand in it.

/// What a body is part of; decides which names it sees and which statements it may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyKind {
    /// No state, no parameters: constants, enum numbers.
    Constant,
    /// Parameters only: sizes, arguments in stacks and bundles.
    Argument,
    /// Initial values, published values: state, no effects.
    Value,
    Function,
    Handler(Role),
}

/// The handlers in which some statements are allowed that are not elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Start,
    Open,
    Unmatched,
    Arrives,
    Settle,
    /// Its event comes from nobody that it could go on to.
    Expiry,
    Service,
    Other,
}

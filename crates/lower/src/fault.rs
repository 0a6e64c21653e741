//! Planted faults: wrong lowerings that the run tests must find. Only test builds can enable one.

/// A planted fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(test), allow(dead_code))]
pub enum Fault {
    /// A multiplexor swaps source and destination.
    KeysSwapped,
    /// A listener of any local address comes before the exact one.
    ListenerOrder,
    /// The message that began a passive session is dropped.
    FirstMessageLost,
    /// `stop` is forgotten.
    TimerNotStopped,
    /// A narrower operand is not widened: its high bits are lost.
    WideningDropped,
    /// Placed fields are one octet off.
    PlacedOffset,
    /// The local and the remote part of a flow are swapped on the way up.
    FlowPermuted,
    /// A loop ends one round early.
    LoopBound,
    /// A session that has ended is still found.
    SessionKept,
    /// Instead of evicting the oldest object, the new one is refused.
    NoEviction,
    /// The code for a full container is left out.
    FullIgnored,
    /// The bound key is missing in the flow of messages that go down.
    BoundKeyLost,
    /// `and` always evaluates its right side.
    NoShortCircuit,
    /// A checked narrowing does not report.
    NarrowingSilent,
    /// Applications ignore credit.
    CreditIgnored,
    /// A layer's own checksum field is included in the sum.
    OwnFieldSummed,
    /// An attribute is not written.
    AttributeLost,
    /// Joins keep the locals of the first branch.
    JoinForgets,
    /// The second part of a split message has no headers of the layers above.
    RestBare,
    /// Messages from below always come from the first of several layers.
    WayForgotten,
    /// No match gets a copy.
    ShareLost,
    /// A quote is read as if the other end had sent it.
    QuoteTurned,
    /// A change is told, but not remembered as told.
    ChangeToldAgain,
    /// A layer calls the declared function, not the one that it was given.
    FunctionNotGiven,
    /// A layer's parameter is 0, whatever its argument.
    ArgumentLost,
    /// The remote end of a listener is ignored.
    RemoteIgnored,
    /// The two numbers of a grant are swapped.
    GrantTurned,
}

#[cfg(test)]
#[allow(dead_code)]
impl Fault {
    pub const ALL: [Fault; 27] = [
        Fault::KeysSwapped,
        Fault::ListenerOrder,
        Fault::FirstMessageLost,
        Fault::TimerNotStopped,
        Fault::WideningDropped,
        Fault::PlacedOffset,
        Fault::FlowPermuted,
        Fault::LoopBound,
        Fault::SessionKept,
        Fault::NoEviction,
        Fault::FullIgnored,
        Fault::BoundKeyLost,
        Fault::NoShortCircuit,
        Fault::NarrowingSilent,
        Fault::CreditIgnored,
        Fault::OwnFieldSummed,
        Fault::AttributeLost,
        Fault::JoinForgets,
        Fault::RestBare,
        Fault::WayForgotten,
        Fault::ShareLost,
        Fault::QuoteTurned,
        Fault::ChangeToldAgain,
        Fault::RemoteIgnored,
        Fault::GrantTurned,
        Fault::FunctionNotGiven,
        Fault::ArgumentLost,
    ];
}

//! Planted faults: wrong lowerings that the run tests must find. Only test builds can switch one on.

/// One way to be wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(test), allow(dead_code))]
pub enum Fault {
    /// A multiplexor writes its source where the destination belongs.
    KeysSwapped,
    /// A listener of any local address goes before the exact one.
    ListenerOrder,
    /// The message that began a passive session is dropped.
    FirstMessageLost,
    /// `stop` is forgotten.
    TimerNotStopped,
    /// A narrower operand is not widened: its high bits are lost.
    WideningDropped,
    /// Placed fields are one octet too far.
    PlacedOffset,
    /// The local and the remote part of a flow change places on the way up.
    FlowPermuted,
    /// A loop ends one round early.
    LoopBound,
    /// A session that ended is still found.
    SessionKept,
    /// The oldest object is not evicted but the new one refused.
    NoEviction,
    /// What a container without room should bring about is left out.
    FullIgnored,
    /// The bound key is not put into the flow of what goes down.
    BoundKeyLost,
    /// `and` looks at its right side always.
    NoShortCircuit,
    /// A checked narrowing does not report.
    NarrowingSilent,
    /// Credit is not looked at by applications.
    CreditIgnored,
    /// A layer's own checksum field is part of the sum.
    OwnFieldSummed,
    /// An attribute is not written.
    AttributeLost,
    /// Branches that meet keep the locals of the first.
    JoinForgets,
    /// The second part of a message that is split has no headers of the layers above.
    RestBare,
    /// What comes from below is always from the first of several layers.
    WayForgotten,
    /// Of all who match nobody gets a share.
    ShareLost,
    /// A quote is read as if the other end had sent it.
    QuoteTurned,
    /// Of another value all are told, and nobody remembers that they were.
    ChangeToldAgain,
    /// A layer calls the function that it declares, not the one that it was given.
    FunctionNotGiven,
    /// A layer's parameter is 0, whatever it was given.
    ArgumentLost,
    /// What a listener says of the remote end is not looked at.
    RemoteIgnored,
    /// The two numbers of a grant change places.
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

//! What comparisons imply about each other, and about numbers with known bounds.

use mokume_reaction::Compare;

/// The comparison of `b` with `a` that is equivalent to this one of `a` with `b`.
pub fn turned(op: Compare) -> Compare {
    match op {
        Compare::Eq | Compare::Ne => op,
        Compare::Lt => Compare::Gt,
        Compare::Le => Compare::Ge,
        Compare::Gt => Compare::Lt,
        Compare::Ge => Compare::Le,
    }
}

/// The comparison that holds exactly if this one does not.
pub fn opposite(op: Compare) -> Compare {
    match op {
        Compare::Eq => Compare::Ne,
        Compare::Ne => Compare::Eq,
        Compare::Lt => Compare::Ge,
        Compare::Le => Compare::Gt,
        Compare::Gt => Compare::Le,
        Compare::Ge => Compare::Lt,
    }
}

/// The result of a comparison, if it is the same for all values of two ranges.
pub fn apart(op: Compare, (a0, a1): (u64, u64), (b0, b1): (u64, u64)) -> Option<bool> {
    let less = if a1 < b0 {
        Some(true)
    } else if a0 >= b1 {
        Some(false)
    } else {
        None
    };
    let most = if a1 <= b0 {
        Some(true)
    } else if a0 > b1 {
        Some(false)
    } else {
        None
    };
    match op {
        Compare::Lt => less,
        Compare::Ge => less.map(|less| !less),
        Compare::Le => most,
        Compare::Gt => most.map(|most| !most),
        Compare::Eq if a1 < b0 || b1 < a0 => Some(false),
        Compare::Ne if a1 < b0 || b1 < a0 => Some(true),
        Compare::Eq | Compare::Ne => None,
    }
}

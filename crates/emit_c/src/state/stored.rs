//! How a cell of one value stands in an object's record: as small as can be, whatever the value is in a variable.
//!
//! Invariant: zero octets are what a cell of nobody reads as, zero (docs/semantics.md, L4): an object of place 0 and generation 0 for
//! references.

use mokume_reaction::{Automaton, Class, ClassId, Type};

use crate::types::{c_type, declare, stored_octets, unsigned};

/// Places up to this number have short references: what nobody has is their least number that is negative.
const MOST_SHORT: u32 = 1 << 15;
/// Objects of a class with so many places have short references: to read one takes four instructions more.
pub(crate) const MANY: u32 = 1000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stored {
    /// As in a variable.
    Whole,
    /// A condition, in one bit.
    Bit,
    /// A reference to the only object of its class, in one bit: set where it is to nobody.
    Nobody,
    /// A reference, of one of many objects, to one of not too many: `mk_short`.
    Short,
    /// A number of this many bits.
    Narrow(u8),
}

impl Stored {
    /// In the record of a class.
    pub fn of(automaton: &Automaton, owner: &Class, ty: Type) -> Stored {
        match ty {
            Type::Bool => Stored::Bit,
            Type::Ref(class) => Stored::reference(automaton, owner, class),
            Type::Reason => match automaton.reasons.len() {
                0..=0x100 => Stored::Narrow(8),
                0x101..=0x1_0000 => Stored::Narrow(16),
                _ => Stored::Whole,
            },
            Type::U(_) | Type::Seq(_) | Type::Enum(_) | Type::Msg | Type::Array(..) => Stored::Whole,
        }
    }

    fn reference(automaton: &Automaton, owner: &Class, class: ClassId) -> Stored {
        match automaton.class(class).capacity {
            _ if automaton.is_unique(class) => Stored::Nobody,
            0..=MOST_SHORT if owner.capacity >= MANY => Stored::Short,
            _ => Stored::Whole,
        }
    }

    /// To what the member is aligned, and its octets; none of a bit.
    pub fn octets(self, automaton: &Automaton, ty: Type) -> Option<(u64, u64)> {
        match self {
            Stored::Bit | Stored::Nobody => None,
            Stored::Short => Some((2, 6)),
            Stored::Narrow(bits) => Some((u64::from(bits / 8), u64::from(bits / 8))),
            Stored::Whole if ty == Type::Msg => Some((8, 8)),
            Stored::Whole => Some((stored_octets(automaton, ty).into(), stored_octets(automaton, ty).into())),
        }
    }

    /// The member's declaration.
    pub fn member(self, automaton: &Automaton, ty: Type, name: &str) -> String {
        match self {
            Stored::Bit | Stored::Nobody => format!("bool {name} : 1;"),
            Stored::Short => format!("mk_short {name};"),
            Stored::Narrow(bits) => format!("{} {name};", unsigned(bits)),
            Stored::Whole => format!("{};", declare(c_type(automaton, ty), name)),
        }
    }

    /// The member's value, as C.
    pub fn read(self, member: &str) -> String {
        match self {
            Stored::Whole | Stored::Bit | Stored::Narrow(_) => member.to_owned(),
            Stored::Nobody => format!("({member} ? MK_NULL : MK_SOLE)"),
            Stored::Short => format!("mk_long(&{member})"),
        }
    }

    /// A statement that gives the member a value.
    pub fn write(self, member: &str, value: &str) -> String {
        match self {
            Stored::Whole | Stored::Bit | Stored::Narrow(_) => format!("{member} = {value};"),
            Stored::Nobody => format!("{member} = {value} == MK_NULL;"),
            Stored::Short => format!("mk_shorten(&{member}, {value});"),
        }
    }
}

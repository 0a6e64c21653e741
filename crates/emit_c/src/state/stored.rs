//! How a cell of one value is stored in an object's record: as small as possible, independent of its type in variables.
//!
//! Invariant: zero octets mean zero, which cells of null read as (docs/semantics.md, L4); for references they mean the
//! object at place 0 with generation 0.

use mokume_reaction::{Automaton, Class, ClassId, Type};

use crate::types::{c_type, declare, stored_octets, unsigned, MANY};

/// Places up to this number have short references; the least negative number means null.
const MOST_SHORT: u32 = 1 << 15;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stored {
    /// As in a variable.
    Whole,
    /// A condition, in one bit.
    Bit,
    /// A reference to the only object of its class, in one bit: set if it is null.
    Nobody,
    /// A reference in a class of many objects, to a class of not too many: `mk_short`.
    Short,
    /// A number of this many bits.
    Narrow(u8),
}

impl Stored {
    /// How a value of this type is stored in the record of a class.
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

    /// The alignment and the octets of the member; `None` for a bit.
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

    /// A statement that sets the member.
    pub fn write(self, member: &str, value: &str) -> String {
        match self {
            Stored::Whole | Stored::Bit | Stored::Narrow(_) => format!("{member} = {value};"),
            Stored::Nobody => format!("{member} = {value} == MK_NULL;"),
            Stored::Short => format!("mk_shorten(&{member}, {value});"),
        }
    }
}

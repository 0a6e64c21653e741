//! Arithmetic and comparison: the words of the form, what they are defined on, and which may report.

use crate::Type;

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// In the order of their declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// As the text form writes it.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// The one that is written so; none if the word is no such.
            pub fn of_word(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)* _ => None }
            }
        }
    };
}

words! {
    /// On two numbers of one type; the result has it too.
    Binary {
        /// Modulo 2^n, by intent.
        AddWrap "add.wrap",
        SubWrap "sub.wrap",
        MulWrap "mul.wrap",
        /// Modulo 2^n, and a carry is reported, but for `Seq`.
        Add "add",
        Sub "sub",
        Mul "mul",
        /// Division by zero is 0 and reported.
        Div "div",
        Rem "rem",
        And "and",
        Or "or",
        Xor "xor",
        /// Shifts by the width or more give 0.
        Shl "shl",
        Shr "shr",
        Min "min",
        Max "max",
        /// The first below the second; else it is out of bounds, which is reported, and is the largest number of its width.
        Within "within",
    }
}

words! {
    /// On `Seq` values `Lt … Ge` are circular. References, reasons and arrays know `Eq` and `Ne` only.
    Compare {
        Eq "eq",
        Ne "ne",
        Lt "lt",
        Le "le",
        Gt "gt",
        Ge "ge",
    }
}

words! {
    /// The order of the octets of a number.
    Endian {
        Big "be",
        Little "le",
    }
}

impl Binary {
    /// Whether it is a sum or a difference.
    pub fn adds(self) -> bool {
        matches!(self, Binary::Add | Binary::Sub | Binary::AddWrap | Binary::SubWrap)
    }

    /// Whether it may report (a carry, a division by zero, an index out of bounds), which is an effect.
    pub fn may_report(self) -> bool {
        matches!(self, Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Rem | Binary::Within)
    }

    /// Whether both operands may have this type: numbers, and truth values for `and`, `or` and `xor`.
    pub fn is_defined_on(self, ty: Type) -> bool {
        match ty {
            Type::U(_) | Type::Seq(_) => true,
            Type::Bool => matches!(self, Binary::And | Binary::Or | Binary::Xor),
            Type::Enum(_) | Type::Ref(_) | Type::Msg | Type::Reason | Type::Array(..) => false,
        }
    }
}

impl Compare {
    /// All, so that the first whose [`Compare::sign`] a text begins with is the one that stands there.
    pub const AS_READ: [Compare; 6] = [Compare::Eq, Compare::Ne, Compare::Le, Compare::Ge, Compare::Lt, Compare::Gt];

    /// `==` … `>=`: as the text form, C and people write it.
    pub fn sign(self) -> &'static str {
        match self {
            Compare::Eq => "==",
            Compare::Ne => "!=",
            Compare::Lt => "<",
            Compare::Le => "<=",
            Compare::Gt => ">",
            Compare::Ge => ">=",
        }
    }

    /// Whether both operands may have this type: order needs numbers, equality anything but messages
    /// (docs/semantics.md, A10).
    pub fn is_defined_on(self, ty: Type) -> bool {
        match ty {
            Type::U(_) | Type::Seq(_) => true,
            Type::Bool | Type::Enum(_) | Type::Ref(_) | Type::Reason | Type::Array(..) => {
                matches!(self, Compare::Eq | Compare::Ne)
            }
            Type::Msg => false,
        }
    }
}

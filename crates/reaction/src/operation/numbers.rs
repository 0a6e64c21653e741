//! Arithmetic and comparison: their words, the types they are defined on, and which may report.

use crate::Type;

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// All, in the order of their declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// Its word in the text form.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// The one with this word.
            pub fn of_word(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)* _ => None }
            }
        }
    };
}

words! {
    /// Arithmetic on two numbers of one type; the result has the same type.
    Binary {
        /// Modulo 2^n, intentionally.
        AddWrap "add.wrap",
        SubWrap "sub.wrap",
        MulWrap "mul.wrap",
        /// Modulo 2^n; reports an overflow, except on `Seq`.
        Add "add",
        Sub "sub",
        Mul "mul",
        /// Division by zero gives 0 and is reported.
        Div "div",
        Rem "rem",
        And "and",
        Or "or",
        Xor "xor",
        /// A shift by the width or more gives 0.
        Shl "shl",
        Shr "shr",
        Min "min",
        Max "max",
        /// The first operand, if it is below the second; else reports out of bounds and gives the largest number of the
        /// width.
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

    /// Whether it may report (overflow, division by zero, out of bounds), which is an effect.
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
    /// All comparisons, ordered so that the first whose [`Compare::sign`] begins a text is the right one.
    pub const AS_READ: [Compare; 6] = [Compare::Eq, Compare::Ne, Compare::Le, Compare::Ge, Compare::Lt, Compare::Gt];

    /// `==` … `>=`: its sign in the text form, in C and for people.
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

//! Index types: numbers that name things by their positions in lists.

/// Declares an index type for each list, so that an index into one list cannot be used for another: `ids! { /// A
/// layer. LayerId }`.
#[macro_export]
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);
        impl $name {
            /// The position in its list.
            pub fn index(self) -> usize { self.0 as usize }
        }
        impl From<usize> for $name {
            fn from(index: usize) -> Self { $name(index as u32) }
        }
    )* };
}

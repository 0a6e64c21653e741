//! Numbers that name things by their places in lists.

/// Types of their own for the places in lists, so that none is taken for that of another list: `ids! { /// A layer. LayerId }`.
#[macro_export]
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);
        impl $name {
            /// The place in its list.
            pub fn index(self) -> usize { self.0 as usize }
        }
        impl From<usize> for $name {
            fn from(index: usize) -> Self { $name(index as u32) }
        }
    )* };
}

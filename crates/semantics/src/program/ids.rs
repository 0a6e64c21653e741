//! Numbers of things: places in the lists of a program, of a layer or of a body.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);
        impl $name {
            /// The place in its list.
            pub fn index(self) -> usize { self.0 as usize }
        }
    )* };
}
ids! {
    /// Among [`super::Program::signatures`].
    SignatureId,
    /// Among [`super::Program::vocabularies`].
    VocabularyId,
    /// Among [`super::Program::enums`].
    EnumId,
    /// Among [`super::Program::records`].
    RecordId,
    /// Among [`super::Program::attributes`].
    AttributeId,
    /// Among [`super::Program::services`].
    ServiceId,
    /// Among [`super::Program::functions`].
    FunctionId,
    /// Among [`super::Program::layers`].
    LayerId,
    /// Among [`super::Program::bundles`].
    BundleId,
    /// Among [`super::Program::wires`].
    WireId,
    /// Among [`super::Program::stacks`].
    StackId,
    /// Among the objects of the layer at hand.
    ObjectId,
    /// Among the locals of the body at hand.
    LocalId,
}

//! Numbers of things: places in the lists of a program, of a layer or of a body.

macro_rules! ids {
    ($($name:ident),* $(,)?) => { $(
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);
        impl $name { pub fn index(self) -> usize { self.0 as usize } }
    )* };
}
ids! { SignatureId, VocabularyId, EnumId, RecordId, AttributeId, ServiceId, FunctionId, LayerId, BundleId, WireId, StackId, ObjectId, LocalId }

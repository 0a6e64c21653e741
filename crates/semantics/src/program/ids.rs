//! Numbers of things: places in the lists of a program, of a layer or of a body.

mokume_base::ids! {
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

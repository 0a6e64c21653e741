//! Index types: positions in the lists of a program, of a layer or of a body.

mokume_base::ids! {
    /// Index into [`super::Program::signatures`].
    SignatureId,
    /// Index into [`super::Program::vocabularies`].
    VocabularyId,
    /// Index into [`super::Program::enums`].
    EnumId,
    /// Index into [`super::Program::records`].
    RecordId,
    /// Index into [`super::Program::attributes`].
    AttributeId,
    /// Index into [`super::Program::services`].
    ServiceId,
    /// Index into [`super::Program::functions`].
    FunctionId,
    /// Index into [`super::Program::layers`].
    LayerId,
    /// Index into [`super::Program::bundles`].
    BundleId,
    /// Index into [`super::Program::wires`].
    WireId,
    /// Index into [`super::Program::stacks`].
    StackId,
    /// Index into the object classes of the current layer.
    ObjectId,
    /// Index into the locals of the current body.
    LocalId,
}

//! The trees of items, kept until they are resolved.

use mokume_base::FileId;
use mokume_syntax::ast;

/// An item whose value is computed on demand.
#[derive(Clone)]
pub enum Lazy<A, T> {
    Waiting(FileId, A),
    /// Being computed: a second request closes a cycle.
    Busy,
    Done(T),
}

/// Trees of items, by the ids of the program.
#[derive(Default)]
pub struct Trees {
    pub records: Vec<(FileId, ast::Record)>,
    pub enums: Vec<(FileId, ast::Enum)>,
    pub attributes: Vec<(FileId, ast::Attribute)>,
    pub services: Vec<(FileId, ast::Service)>,
    pub signatures: Vec<(FileId, ast::Signature)>,
    pub vocabularies: Vec<(FileId, ast::Vocabulary)>,
    pub functions: Vec<(FileId, ast::Function)>,
    pub layers: Vec<(FileId, ast::Layer)>,
    pub parts: Vec<(FileId, ast::Part)>,
    pub bundles: Vec<(FileId, ast::Bundle)>,
    pub wires: Vec<(FileId, ast::Wire)>,
    pub stacks: Vec<(FileId, ast::Stack)>,
    pub networks: Vec<(FileId, ast::Network)>,
    pub tests: Vec<(FileId, ast::Test)>,
    pub suites: Vec<(FileId, ast::Suite)>,
    pub runs: Vec<(FileId, ast::Run)>,
    pub containers: Vec<(FileId, ast::Container)>,
}

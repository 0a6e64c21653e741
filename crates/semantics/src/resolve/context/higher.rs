//! Parameters of layers and bundles that are no values, and what was made of definitions that have them.

use std::collections::{BTreeMap, HashMap};

use mokume_base::Span;
use mokume_syntax::ast;

use crate::program::*;

/// A parameter that is no value.
#[derive(Clone)]
pub struct Higher {
    pub name: Name,
    /// Its place among all parameters.
    pub at: usize,
    pub kind: Kind,
    pub default: Option<ast::Expr>,
}

impl Higher {
    /// Of a parameter that is a container: its name, and which it is if nothing is said.
    pub fn container(&self) -> Option<(String, ContainerId)> {
        match &self.kind {
            Kind::Container { standin } => Some((self.name.text.clone(), *standin)),
            Kind::Function { .. } | Kind::Layer { .. } => None,
        }
    }
}

/// Whether a function or a layer is asked for.
#[derive(Clone)]
pub enum Kind {
    /// `standin` is called in its place until it is known.
    Function {
        params: Vec<Type>,
        result: Type,
        standin: FunctionId,
    },
    Layer {
        wanted: Wanted,
        standin: LayerId,
    },
    /// The definition is read with the one that stands for it if nothing else is given.
    Container {
        standin: ContainerId,
    },
}

/// A container, by its place among [`Trees::containers`](super::Trees::containers).
pub type ContainerId = usize;

/// `worker`, `layer`, or the name of a signature.
#[derive(Clone, Copy)]
pub enum Wanted {
    Any,
    Shape(Shape),
    Signature(SignatureId),
}

/// What stands for such parameters while a definition is read.
#[derive(Clone, Default)]
pub struct Given {
    pub functions: HashMap<String, FunctionId>,
    pub layers: HashMap<String, Use>,
    pub containers: HashMap<String, ContainerId>,
}

impl Given {
    /// Stand-ins for all of a definition's parameters.
    pub fn standins(higher: &[Higher]) -> Given {
        let mut given = Given::default();
        for higher in higher {
            match &higher.kind {
                Kind::Function { standin, .. } => {
                    given.functions.insert(higher.name.text.clone(), *standin);
                }
                Kind::Layer { standin, .. } => {
                    let of = Definition::Layer(*standin);
                    given.layers.insert(higher.name.text.clone(), Use { of, args: Vec::new(), span: higher.name.span });
                }
                Kind::Container { standin } => {
                    given.containers.insert(higher.name.text.clone(), *standin);
                }
            }
        }
        given
    }
}

/// A definition made for what it was given.
#[derive(Clone, PartialEq)]
pub struct Made {
    pub of: Definition,
    pub functions: Vec<FunctionId>,
    pub layers: Vec<Definition>,
    pub containers: Vec<(String, ContainerId)>,
    pub result: Definition,
}

/// Such parameters, by layer and by bundle of the text, and what was made of their definitions.
#[derive(Default)]
pub struct HigherTables {
    pub layers: Vec<Vec<Higher>>,
    pub bundles: Vec<Vec<Higher>>,
    /// Layers that were read once more with other containers: as which layer of the text.
    pub copies: BTreeMap<LayerId, LayerId>,
    /// The containers that names stand for in a layer.
    pub containers: Vec<(LayerId, String, ContainerId)>,
    pub made: Vec<Made>,
    /// Bundles that are being made: one that comes again has no end.
    pub making: Vec<BundleId>,
    /// Where each of these is applied.
    pub places: Vec<Span>,
    /// One that is larger than the compiler can work with was told of.
    pub too_large: bool,
}

impl HigherTables {
    /// The parameters that are no values of a layer, or of the one of the text that it is a copy of.
    pub fn of_layer(&self, id: LayerId) -> &[Higher] {
        let written = self.copies.get(&id).unwrap_or(&id);
        self.layers.get(written.index()).map_or(&[], Vec::as_slice)
    }
}

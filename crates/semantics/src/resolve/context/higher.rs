//! Parameters of layers and bundles that are not values, and the instances of definitions with such parameters.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap as HashMap;

use mokume_base::Span;
use mokume_syntax::ast;

use crate::program::*;

/// A parameter that is not a value.
#[derive(Clone)]
pub struct Higher {
    pub name: Name,
    /// Its index among all parameters.
    pub at: usize,
    pub kind: Kind,
    pub default: Option<ast::Expr>,
}

impl Higher {
    /// For a container: its name, and the default container.
    pub fn container(&self) -> Option<(String, ContainerId)> {
        match &self.kind {
            Kind::Container { standin } => Some((self.name.text.clone(), *standin)),
            Kind::Function { .. } | Kind::Layer { .. } => None,
        }
    }
}

/// What kind of argument is expected.
#[derive(Clone)]
pub enum Kind {
    /// A function; the code calls `standin` until the argument is known.
    Function {
        params: Vec<Type>,
        result: Type,
        standin: FunctionId,
    },
    Layer {
        wanted: Wanted,
        standin: LayerId,
    },
    /// A container; the definition is resolved with the default one until another is given.
    Container {
        standin: ContainerId,
    },
}

/// Index into [`Trees::containers`](super::Trees::containers).
pub type ContainerId = usize;

/// The kind of layer: `worker`, `layer`, or the name of a signature.
#[derive(Clone, Copy)]
pub enum Wanted {
    Any,
    Shape(Shape),
    Signature(SignatureId),
}

/// What stands for such parameters while a definition is resolved.
#[derive(Clone, Default)]
pub struct Given {
    pub functions: HashMap<String, FunctionId>,
    pub layers: HashMap<String, Use>,
    pub containers: HashMap<String, ContainerId>,
}

impl Given {
    /// Stand-ins for all such parameters of a definition.
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

/// An instance of a definition.
#[derive(Clone, PartialEq)]
pub struct Made {
    pub of: Definition,
    pub functions: Vec<FunctionId>,
    pub layers: Vec<Definition>,
    pub containers: Vec<(String, ContainerId)>,
    pub result: Definition,
}

/// Such parameters of the layers and bundles of the text, and the instances made so far.
#[derive(Default)]
pub struct HigherTables {
    pub layers: Vec<Vec<Higher>>,
    pub bundles: Vec<Vec<Higher>>,
    /// For each layer that was resolved again with other containers: the layer of the text.
    pub copies: BTreeMap<LayerId, LayerId>,
    /// The containers that names stand for in a layer.
    pub containers: Vec<(LayerId, String, ContainerId)>,
    pub made: Vec<Made>,
    /// Bundles that are being instantiated: one that occurs again is infinite.
    pub making: Vec<BundleId>,
    /// The place of each of these applications.
    pub places: Vec<Span>,
    /// Whether a definition was already reported as too large.
    pub too_large: bool,
}

impl HigherTables {
    /// Such parameters of a layer, or of the layer of the text that it is a copy of.
    pub fn of_layer(&self, id: LayerId) -> &[Higher] {
        let written = self.copies.get(&id).unwrap_or(&id);
        self.layers.get(written.index()).map_or(&[], Vec::as_slice)
    }
}

//! The layers of a stack by name, each with its definition.

use std::cell::RefCell;
use std::collections::BTreeSet;

use mokume_base::{Code, Diagnostic, FileId};
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::bundle::apply::{self, Scene};
use crate::resolve::context::{twice, Context, Given};
use crate::{suggest, tree};

/// The layers of a stack as written.
#[derive(Default)]
pub(super) struct Layers {
    pub known: Vec<Known>,
    /// Names of layers with an unknown definition, so that layers over them are not reported.
    broken: Vec<String>,
    /// Whether a name occurs twice: an unknown name may be what one of them should have been.
    is_doubled: bool,
    /// Names that were reported.
    told: RefCell<BTreeSet<String>>,
}

/// A layer of a stack whose definition is known.
pub(super) struct Known {
    pub name: Name,
    pub tree: ast::StackLayer,
    pub of: Use,
}

impl Layers {
    /// The index of a layer among the known ones.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.known.iter().position(|known| known.name.text == name)
    }

    /// Reports that a name is neither a layer nor one of `others`; `None` if its definition is unknown.
    pub fn unknown(&self, name: &Name, code: Code, others: &[Name]) -> Option<Diagnostic> {
        if self.is_doubled || self.broken.contains(&name.text) || !self.told.borrow_mut().insert(name.text.clone()) {
            return None;
        }
        let known = self.known.iter().map(|known| &known.name).chain(others).map(|name| name.text.as_str());
        let text = format!("this stack has no layer `{}`", name.text);
        let mut diagnostic = Diagnostic::error(code, text).at(name.span, "unknown");
        diagnostic.helps.extend(suggest::help(&name.text, known));
        Some(diagnostic)
    }
}

/// Resolves the layers of a stack whose parameters and devices are known.
pub(super) fn read(cx: &mut Context, file: FileId, item: &ast::Stack, stack: &Stack) -> Layers {
    let mut layers = Layers::default();
    let said = cx.out.len();
    let all = named(cx, file, item, stack);
    layers.is_doubled = cx.out.len() > said;
    for (name, tree) in all {
        let given = Given::default();
        let scene = Scene { file, params: &stack.params, devices: &stack.devices, given: &given };
        match apply::chain(cx, &tree.layers(), scene) {
            Some(of) => layers.known.push(Known { name, tree, of }),
            None => layers.broken.push(name.text),
        }
    }
    layers
}

/// The lines of layers with unique names.
fn named(cx: &mut Context, file: FileId, item: &ast::Stack, stack: &Stack) -> Vec<(Name, ast::StackLayer)> {
    let mut layers: Vec<(Name, ast::StackLayer)> = Vec::new();
    for member in item.members() {
        let ast::StackMember::Layer(layer) = member else { continue };
        let Some(name) = tree::some_name(file, layer.name()) else { continue };
        let mut taken = layers.iter().map(|(name, _)| name).chain(&stack.devices);
        match taken.find(|first| first.text == name.text) {
            Some(first) => cx.report(twice("layer", &name, first)),
            None => layers.push((name, layer)),
        }
    }
    layers
}

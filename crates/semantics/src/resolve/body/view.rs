//! The view from a body: whose state, parameters and devices its names may mean.

use std::rc::Rc;

use mokume_base::Span;

use crate::program::*;
use crate::resolve::context::Inside;

/// A name that a layer, bundle or stack has as a parameter.
pub struct ParamName {
    pub name: String,
    pub ty: Type,
    /// Where it is declared.
    pub place: Span,
}

/// What can be seen from a body. Empty: of a file alone.
#[derive(Default)]
pub struct View {
    pub layer: Option<LayerId>,
    /// The object in whose own code this stands.
    pub object: Option<ObjectId>,
    /// The part of the layer in whose text this stands.
    pub part: Option<usize>,
    /// The container whose code this is: it sees nothing else.
    pub inside: Option<Rc<Inside>>,
    pub params: Vec<ParamName>,
    /// Devices of a stack: `device.mac`.
    pub devices: Vec<String>,
}

impl View {
    /// What is seen of a file and parameters.
    pub fn of_params(params: &[Param]) -> View {
        let params = params
            .iter()
            .map(|param| ParamName { name: param.name.text.clone(), ty: param.ty, place: param.name.span })
            .collect();
        View { params, ..View::default() }
    }

    /// The layer whose state is seen.
    pub fn layer<'p>(&self, program: &'p Program) -> Option<&'p Layer> {
        self.layer.and_then(|layer| program.layers.get(layer.index()))
    }

    /// A parameter by its name: its index and type.
    pub fn param(&self, name: &str) -> Option<(u32, Type)> {
        let index = self.params.iter().position(|param| param.name == name)?;
        Some((index as u32, self.params[index].ty))
    }

    /// The state of that name: of the container, object or part whose code this is, then of the layer's scopes.
    pub fn state(&self, program: &Program, name: &str) -> Option<(ScopeKind, u32)> {
        if let Some(inside) = &self.inside {
            return inside.member(name);
        }
        let layer = self.layer(program)?;
        if let Some(object) = self.object {
            if let Some(member) = position(&layer.objects.get(object.index())?.members, name) {
                return Some((ScopeKind::Object(object), member));
            }
        }
        if let Some(own) = self.part.and_then(|part| layer.parts.get(part)?.member(name)) {
            return Some(own);
        }
        layer.scopes.iter().find_map(|scope| Some((scope.kind, position(&scope.members, name)?)))
    }

    /// The names of state that can be named without a handle.
    pub fn state_names(&self, program: &Program) -> Vec<String> {
        let Some(layer) = self.layer(program) else { return Vec::new() };
        let own = self.object.and_then(|object| layer.objects.get(object.index())).map(|class| &class.members);
        let members = layer.scopes.iter().map(|scope| &scope.members).chain(own).flatten();
        let part = self.part.and_then(|part| layer.parts.get(part)).map(|part| &part.members);
        let in_part = part.into_iter().flatten().map(|(name, ..)| name.clone());
        let names = members.map(|member| &member.name.text);
        let of_layer = names.filter(|name| matches!(layer.owner_of(name), Owner::Layer(_))).cloned();
        of_layer.chain(in_part).collect()
    }

    /// The part that has state of that name, and what it is called, when this is not its code.
    pub fn owner_part(&self, program: &Program, name: &str) -> Option<(Name, String)> {
        let layer = self.layer(program)?;
        let is_its = |part: &&Part| part.member(name).is_some() || part.objects.iter().any(|(own, _)| own == name);
        let part = layer.parts.iter().find(is_its)?;
        Some((part.name.clone(), part.called.clone()))
    }

    /// The class of objects that has a member of that name, when this is not its code.
    pub fn hidden_owner(&self, program: &Program, name: &str) -> Option<String> {
        let layer = self.layer(program)?;
        let class = layer.objects.iter().find(|class| position(&class.members, name).is_some())?;
        Some(class.name.text.clone())
    }
}

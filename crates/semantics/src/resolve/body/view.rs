//! What a body sees: the state, parameters and devices that its names may mean.

use std::rc::Rc;

use mokume_base::Span;

use crate::program::*;
use crate::resolve::context::Inside;

/// A parameter of a layer, bundle or stack by name.
pub struct ParamName {
    pub name: String,
    pub ty: Type,
    /// The place of its declaration.
    pub place: Span,
}

/// What a body sees. If empty: only what its file sees.
#[derive(Default)]
pub struct View {
    pub layer: Option<LayerId>,
    /// The object class whose own code this is.
    pub object: Option<ObjectId>,
    /// The part of the layer whose text this is.
    pub part: Option<usize>,
    /// The container whose code this is: such code sees nothing else.
    pub inside: Option<Rc<Inside>>,
    pub params: Vec<ParamName>,
    /// Devices of a stack: `device.mac`.
    pub devices: Vec<String>,
}

impl View {
    /// A view of a file and of parameters.
    pub fn of_params(params: &[Param]) -> View {
        let params = params
            .iter()
            .map(|param| ParamName { name: param.name.text.clone(), ty: param.ty, place: param.name.span })
            .collect();
        View { params, ..View::default() }
    }

    /// The layer whose state is visible.
    pub fn layer<'p>(&self, program: &'p Program) -> Option<&'p Layer> {
        self.layer.and_then(|layer| program.layers.get(layer.index()))
    }

    /// A parameter by its name: its index and type.
    pub fn param(&self, name: &str) -> Option<(u32, Type)> {
        let index = self.params.iter().position(|param| param.name == name)?;
        Some((index as u32, self.params[index].ty))
    }

    /// The state of this name: in the current container, object or part, then in the layer's scopes.
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

    /// The names of state that need no handle.
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

    /// The part that has state of this name, and its qualified name, if this is not that part's code.
    pub fn owner_part(&self, program: &Program, name: &str) -> Option<(Name, String)> {
        let layer = self.layer(program)?;
        let is_its = |part: &&Part| part.member(name).is_some() || part.objects.iter().any(|(own, _)| own == name);
        let part = layer.parts.iter().find(is_its)?;
        Some((part.name.clone(), part.called.clone()))
    }

    /// The class of objects that has a member of this name, if this is not its code.
    pub fn hidden_owner(&self, program: &Program, name: &str) -> Option<String> {
        let layer = self.layer(program)?;
        let class = layer.objects.iter().find(|class| position(&class.members, name).is_some())?;
        Some(class.name.text.clone())
    }
}

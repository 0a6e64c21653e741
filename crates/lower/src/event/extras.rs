//! What a port has besides messages: attributes of each message, and published values that the application can ask for
//! (`export udp with ttl, mtu`; docs/language.md, section 10).

use mokume_reaction as r;
use mokume_reaction::border::plain_name;
use mokume_semantics::program as s;

use crate::code::{Flow, Writer};
use crate::stack::{joined, Lowering, Reading};

/// The input that asks for published values of layers below, and its answer: for a session.
pub const VALUES: &str = "values";
/// The same for a flow.
pub const VALUES_TO: &str = "values_to";

/// An attribute of messages at a port.
#[derive(Clone, Debug)]
pub struct Beside {
    pub name: String,
    pub attribute: r::AttributeId,
    pub ty: r::Type,
    /// The value in messages in which no layer has set it.
    pub default: u64,
}

impl<'p> Lowering<'p> {
    fn extras(&self, inst: usize) -> Option<&'p s::Extras> {
        let name = self.inst(inst).name.strip_suffix(".application")?;
        self.stack.extras.iter().find(|extras| extras.export.text == name)
    }

    /// The attributes that the application can set, as a layer below reads them; and those that it is told, as a layer
    /// below writes them.
    pub fn beside(&mut self, inst: usize) -> (Vec<Beside>, Vec<Beside>) {
        let Some(extras) = self.extras(inst) else { return Default::default() };
        let below = self.all_below(inst);
        let (mut given, mut told) = (Vec::new(), Vec::new());
        for (name, id) in &extras.attributes {
            let attribute = self.attribute(*id);
            let r::Attribute { ty, default, .. } = &self.a.attributes[attribute.index()];
            let of_this_name = extras.attributes.iter().filter(|(other, _)| other.plain() == name.plain()).count();
            // Of two of one name, each has its module's name in front.
            let name = if of_this_name > 1 { plain_name(&name.text) } else { name.plain().to_owned() };
            let beside = Beside { name, attribute, ty: *ty, default: *default };
            if below.iter().any(|layer| layer.reads.contains(id)) {
                given.push(beside.clone());
            }
            if below.iter().any(|layer| layer.writes.contains(id)) {
                told.push(beside);
            }
        }
        (given, told)
    }

    /// The values that can be asked for: of a session all, of a flow those that need no session's state.
    fn told_of(&self, inst: usize, of_flow: bool) -> Vec<&'p s::Name> {
        let (Some(extras), Some(below)) = (self.extras(inst), self.inst(inst).below) else { return Vec::new() };
        let told = |name: &&s::Name| !of_flow || self.reading(below, &name.text) != Reading::Session;
        extras.values.iter().filter(told).collect()
    }

    /// The scalars of these values, with their names.
    pub fn values(&mut self, inst: usize, of_flow: bool) -> Vec<(String, r::Type)> {
        let Some(below) = self.inst(inst).below else { return Vec::new() };
        let mut params = Vec::new();
        for value in self.told_of(inst, of_flow) {
            let Some(ty) = self.published_type(below, &value.text) else { continue };
            let parts = self.border(below, ty);
            params.extend(parts.into_iter().map(|(rest, ty)| (joined(&value.text, &rest), ty)));
        }
        params
    }

    fn all_below(&self, inst: usize) -> Vec<&'p s::Layer> {
        let mut found: Vec<&s::Layer> = Vec::new();
        let mut next = self.inst(inst).lowers().to_vec();
        while let Some(at) = next.pop() {
            found.extend(self.layer(at));
            next.extend(self.inst(at).lowers());
        }
        found
    }
}

impl Writer<'_, '_> {
    /// A message from the application, with the attributes in the values after it.
    pub(super) fn with_given(&mut self, message: r::Value, values: &[r::Value]) -> r::Value {
        let (given, _) = self.lowering.beside(self.inst);
        given.iter().zip(values).fold(message, |message, (beside, value)| {
            let value = self.cast(*value, beside.ty);
            self.value(r::OpKind::SetAttribute { message, attribute: beside.attribute, value })
        })
    }

    /// The attributes of a message that the application is told.
    pub(super) fn told_beside(&mut self, message: r::Value) -> Vec<r::Value> {
        let (_, told) = self.lowering.beside(self.inst);
        told.iter().map(|b| self.value(r::OpKind::GetAttribute { message, attribute: b.attribute })).collect()
    }

    /// The answer with the published values of layers below, for the current session or for a flow.
    pub(super) fn values_told(&mut self, flow: Option<Flow>) -> (&'static str, Vec<r::Value>) {
        let mut args: Vec<r::Value> = match &flow {
            Some(flow) => flow.to_vec(),
            None => self.runs.session.into_iter().collect(),
        };
        for value in self.lowering.told_of(self.inst, flow.is_some()) {
            args.extend(self.value_below(value, flow.as_ref()));
        }
        (if flow.is_some() { VALUES_TO } else { VALUES }, args)
    }
}

//! Containers and state of them.

use super::{
    child, children, doc_of, node, Arg, ArgList, Function, Handler, Name, NamedType, Param, ParamList, State, Type,
};

node! {
    /// `container queue<T>(room: u32) { … }`
    Container = CONTAINER;
    /// `<T>`
    TypeParams = TYPE_PARAMS;
    /// `queue<Message> waiting(8) from kept`
    Contained = CONTAINED;
    /// `<Message>`
    TypeArgs = TYPE_ARGS;
    /// `or refuse`
    MayRefuse = MAY_REFUSE;
}

impl Container {
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    pub fn doc(&self) -> String {
        doc_of(&self.0)
    }
    /// The names that stand for types of elements.
    pub fn types(&self) -> Vec<Name> {
        child::<TypeParams>(&self.0).map_or(Vec::new(), |list| children(&list.0))
    }
    pub fn params(&self) -> Vec<Param> {
        child::<ParamList>(&self.0).map_or(Vec::new(), |list| list.params())
    }
    pub fn states(&self) -> Vec<State> {
        children(&self.0)
    }
    pub fn functions(&self) -> Vec<Function> {
        children(&self.0)
    }
    /// The language has none there.
    pub fn handlers(&self) -> Vec<Handler> {
        children(&self.0)
    }
}

impl Contained {
    /// The container that it is one of.
    pub fn container(&self) -> Option<Name> {
        child::<NamedType>(&self.0).and_then(|named| named.name())
    }
    pub fn types(&self) -> Vec<Type> {
        child::<TypeArgs>(&self.0).map_or(Vec::new(), |list| children(&list.0))
    }
    /// `None` without parentheses.
    pub fn args(&self) -> Vec<Arg> {
        child::<ArgList>(&self.0).map_or(Vec::new(), |list| list.args())
    }
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The quota behind `from`.
    pub fn quota(&self) -> Option<Name> {
        children::<Name>(&self.0).into_iter().nth(1)
    }
}

impl Function {
    /// `or refuse`: who calls it says what happens then.
    pub fn may_refuse(&self) -> bool {
        child::<MayRefuse>(&self.0).is_some()
    }
}

//! Containers, and state that is a container.

use super::{
    child, children, doc_of, node, Arg, ArgList, Expr, Function, Handler, LimitClause, Name, NamedType, Param,
    ParamList, State, Type,
};
use crate::kinds::{SyntaxKind, SyntaxNode};

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
    /// `extern`
    Extern = EXTERN;
    /// `from "cipher.c"`
    FromFile = FROM_FILE;
    /// `link "sodium"`
    LinkWith = LINK_WITH;
}

impl Container {
    /// The name by which state is declared with it.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The documentation in front of it.
    pub fn doc(&self) -> String {
        doc_of(&self.0)
    }
    /// The names that stand for types of elements.
    pub fn types(&self) -> Vec<Name> {
        child::<TypeParams>(&self.0).map_or(Vec::new(), |list| children(&list.0))
    }
    /// Sizes and other values that a declaration gives.
    pub fn params(&self) -> Vec<Param> {
        child::<ParamList>(&self.0).map_or(Vec::new(), |list| list.params())
    }
    /// Its state.
    pub fn states(&self) -> Vec<State> {
        children(&self.0)
    }
    /// Its functions.
    pub fn functions(&self) -> Vec<Function> {
        children(&self.0)
    }
    /// Handlers, which the language does not allow there.
    pub fn handlers(&self) -> Vec<Handler> {
        children(&self.0)
    }
}

impl Contained {
    /// The container that it is an instance of.
    pub fn container(&self) -> Option<Name> {
        child::<NamedType>(&self.0).and_then(|named| named.name())
    }
    /// The types of its elements.
    pub fn types(&self) -> Vec<Type> {
        child::<TypeArgs>(&self.0).map_or(Vec::new(), |list| children(&list.0))
    }
    /// `None` without parentheses.
    pub fn args(&self) -> Vec<Arg> {
        child::<ArgList>(&self.0).map_or(Vec::new(), |list| list.args())
    }
    /// Its name in the layer.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The quota behind `from`.
    pub fn quota(&self) -> Option<Name> {
        children::<Name>(&self.0).into_iter().nth(1)
    }
}

impl Function {
    /// `or refuse`: the caller says what happens if it refuses.
    pub fn may_refuse(&self) -> bool {
        child::<MayRefuse>(&self.0).is_some()
    }
    /// `extern`: the function is in C, and its body is a model of it.
    pub fn is_extern(&self) -> bool {
        child::<Extern>(&self.0).is_some()
    }
    /// By how many octets it may make a message longer.
    pub fn grows(&self) -> Option<Expr> {
        child::<LimitClause>(&self.0).and_then(|clause| clause.value())
    }
    /// The file in C, beside this one.
    pub fn file(&self) -> Option<String> {
        child::<FromFile>(&self.0).and_then(|clause| texts(&clause.0).into_iter().next())
    }
    /// Libraries that the file in C needs.
    pub fn libraries(&self) -> Vec<String> {
        child::<LinkWith>(&self.0).map_or(Vec::new(), |clause| texts(&clause.0))
    }
}

/// The texts in quotes of a node.
pub(super) fn texts(node: &SyntaxNode) -> Vec<String> {
    let tokens = node.children_with_tokens().filter_map(|element| element.into_token());
    let strings = tokens.filter(|token| token.kind() == SyntaxKind::STRING);
    strings.filter_map(|token| String::from_utf8(crate::lexer::string_octets(token.text())?).ok()).collect()
}

//! Items: the declarations of a file (wires, stacks and tests are in files of their own).

use super::{
    child, children, choice, doc_of, first_token, has_word, node, token, AstNode, Block, Container, Expr, Member, Name,
    Network, Run, Signature, Stack, Suite, Test, Vocabulary, Wire,
};
use crate::kinds::SyntaxKind;

choice! {
    /// An item of a file.
    Item {
        Use(Use), Const(Const), TypeAlias(TypeAlias), Record(Record), Enum(Enum), Attribute(Attribute),
        Service(Service), Signature(Signature), Vocabulary(Vocabulary), Function(Function), Layer(Layer),
        Bundle(Bundle), Wire(Wire), Stack(Stack), Network(Network), Test(Test), Container(Container),
        Part(Part), Suite(Suite), Run(Run),
    }
}

node! {
    /// `use ethernet, "mine.mok"`
    Use = USE;
    /// One name or file of a `use`.
    UsePath = USE_PATH;
    /// `const NAME: T = e` at the top of a file.
    Const = CONST;
    /// `type Name = T`
    TypeAlias = TYPE_ALIAS;
    /// `written dotted(8)`, `written colons(16) short`, `written address/prefix`
    Written = WRITTEN;
    /// `record Pair { left: u32, right: u32 }`
    Record = RECORD;
    /// `{ left: u32, right: u32 }`
    FieldList = FIELD_LIST;
    /// `left: u32`, in records, headers, keys and addresses.
    Field = FIELD;
    /// `enum Kind: u8 { Ask = 1, Tell }`
    Enum = ENUM;
    /// `Ask = 1`
    Variant = VARIANT;
    /// `attribute ttl: u8 = 64`
    Attribute = ATTRIBUTE;
    /// `service Resolve { … }`
    Service = SERVICE;
    /// `ask(next_hop: u32)`, `out known(…)`
    Signal = SIGNAL;
    /// `fn f(a: u32) -> u32 { … }`, at the top of a file or in a layer
    Function = FUNCTION;
    /// `(a: u32, b: u32)`
    ParamList = PARAM_LIST;
    /// `grant: u16 = 32`; in handlers often the name alone
    Param = PARAM;
    /// A worker, multiplexor, router or endpoint.
    Layer = LAYER;
    /// `part Output of Connection { … }`
    Part = PART;
    /// `bundle Udp(…) = Ports / Length encoded Rfc768`
    Bundle = BUNDLE;
    /// `InetChecksum(checksums)`: a layer, bundle or stack with its arguments
    LayerUse = LAYER_USE;
    /// `u32`, `Kind`
    NamedType = NAMED_TYPE;
    /// `[u32; 8]`
    ArrayType = ARRAY_TYPE;
    /// `[u32; ..8]`
    VectorType = VECTOR_TYPE;
    /// `[u32 -> u48; 64]`, `[(u32, u16) -> u8; 64]`
    MapType = MAP_TYPE;
    /// `fn(u32, u8) -> bool`, of a parameter
    FnType = FN_TYPE;
}

choice! {
    /// A type as it is written.
    Type { Named(NamedType), Array(ArrayType), Vector(VectorType), Map(MapType), Fn(FnType) }
}

/// The shape of a layer, by its keyword.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// `worker`
    Worker,
    /// `multiplexor`
    Multiplexor,
    /// `router`
    Router,
    /// `endpoint`
    Endpoint,
}

impl Shape {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            Shape::Worker => "worker",
            Shape::Multiplexor => "multiplexor",
            Shape::Router => "router",
            Shape::Endpoint => "endpoint",
        }
    }
}

macro_rules! named {
    ($($node:ident),*) => {$(
        impl $node {
            /// Its name.
            pub fn name(&self) -> Option<Name> {
                child(&self.0)
            }

            /// The documentation in front of it.
            pub fn doc(&self) -> String {
                doc_of(&self.0)
            }
        }
    )*};
}
named!(
    Const, TypeAlias, Record, Field, Enum, Variant, Attribute, Service, Signal, Function, Param, Layer, Bundle, Part
);

impl Item {
    /// The item's name; `use`, `test` and `run` have none.
    pub fn name(&self) -> Option<Name> {
        match self {
            Item::Use(_) | Item::Test(_) | Item::Run(_) => None,
            item => child(item.syntax()),
        }
    }
}

impl Use {
    /// The paths, in order.
    pub fn paths(&self) -> Vec<UsePath> {
        children(&self.0)
    }
}

/// The target of a `use`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum UseTarget {
    /// A module of the library.
    Module(String),
    /// A file beside this one.
    File(String),
}

impl UsePath {
    /// The target; `None` if the string is not valid.
    pub fn target(&self) -> Option<UseTarget> {
        let token = first_token(&self.0)?;
        if token.kind() == SyntaxKind::IDENT {
            return Some(UseTarget::Module(token.text().to_string()));
        }
        let octets = crate::lexer::string_octets(token.text())?;
        Some(UseTarget::File(String::from_utf8(octets).ok()?))
    }
}

impl Const {
    /// The type behind the colon.
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
    /// The value behind the `=`.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Attribute {
    /// The type behind the colon.
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
    /// The value of messages in which no layer has written it.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl TypeAlias {
    /// The type that it is a name for.
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
    /// How its values are written.
    pub fn written(&self) -> Option<Written> {
        child(&self.0)
    }
}

impl Written {
    /// The word of the form, or both fields of a pair.
    pub fn names(&self) -> Vec<Name> {
        children(&self.0)
    }
    /// The bits of a part; `None` for a pair, or if it is not a number.
    pub fn bits(&self) -> Option<u64> {
        crate::lexer::number(token(&self.0, SyntaxKind::NUMBER)?.text())
    }
    /// `short`
    pub fn is_short(&self) -> bool {
        has_word(&self.0, "short")
    }
}

impl Record {
    /// How its values are written.
    pub fn written(&self) -> Option<Written> {
        child(&self.0)
    }
    /// The fields, in order.
    pub fn fields(&self) -> Vec<Field> {
        child::<FieldList>(&self.0).map_or(Vec::new(), |list| list.fields())
    }
}

impl FieldList {
    /// The fields, in order.
    pub fn fields(&self) -> Vec<Field> {
        children(&self.0)
    }
}

impl Field {
    /// The type behind the colon.
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
    /// The byte order, if this field is in no wire.
    pub fn byte_order(&self) -> Option<super::ByteOrder> {
        super::wires::byte_order(&self.0)
    }
    /// The value that it has in most packets, behind `commonly`.
    pub fn common(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Enum {
    /// Whether it also has values without a name.
    pub fn is_open(&self) -> bool {
        super::has_word(&self.0, "open")
    }
    /// The type of its numbers.
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
    /// The variants, in order.
    pub fn variants(&self) -> Vec<Variant> {
        children(&self.0)
    }
}

impl Variant {
    /// The parameters of a variant with data: `Circle(radius: u32)`.
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
    /// The number, if it is written.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Service {
    /// The signals, in order.
    pub fn signals(&self) -> Vec<Signal> {
        children(&self.0)
    }
}

impl Signal {
    /// Whether the server sends it to its users.
    pub fn is_out(&self) -> bool {
        has_word(&self.0, "out")
    }
    /// In a vocabulary: whether a layer need neither send nor handle it.
    pub fn is_optional(&self) -> bool {
        has_word(&self.0, "may")
    }
    /// In a vocabulary: whether it goes to all layers on that side, through layers of any shape, and is about no flow.
    pub fn is_of_all(&self) -> bool {
        has_word(&self.0, "all")
    }
    /// In a vocabulary: whether it begins a view.
    pub fn begins_view(&self) -> bool {
        has_word(&self.0, "begins")
    }
    /// In a vocabulary: whether its sender sends nothing more in this view.
    pub fn ends_view(&self) -> bool {
        has_word(&self.0, "ends")
    }
    /// Its parameters.
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
}

fn params(node: &crate::kinds::SyntaxNode) -> Vec<Param> {
    child::<ParamList>(node).map_or(Vec::new(), |list| list.params())
}

impl ParamList {
    /// The parameters, in order.
    pub fn params(&self) -> Vec<Param> {
        children(&self.0)
    }
}

impl Param {
    /// Behind the colon; often left out in handlers.
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
    /// The default value.
    pub fn default(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Function {
    /// The parameters, in order.
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
    /// The type behind the arrow; `None` if the function returns nothing.
    pub fn result(&self) -> Option<Type> {
        child(&self.0)
    }
    /// The body; `None` for functions that are part of the language.
    pub fn body(&self) -> Option<Block> {
        child(&self.0)
    }
}

impl Layer {
    /// The keyword.
    pub fn shape(&self) -> Shape {
        // A misspelt keyword was reported and read as the one that was meant.
        let word = first_token(&self.0);
        let words = ["worker", "multiplexor", "router", "endpoint", "group"];
        match word.as_ref().and_then(|word| mokume_base::did_you_mean(word.text(), words)) {
            Some("multiplexor") => Shape::Multiplexor,
            Some("router") => Shape::Router,
            Some("endpoint") => Shape::Endpoint,
            _ => Shape::Worker,
        }
    }
    /// Whether it is a `group`: a worker among the members of a view.
    pub fn is_group(&self) -> bool {
        first_token(&self.0).is_some_and(|word| word.text() == "group")
    }
    /// The parameters, which bundles and stacks set.
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
    /// The members, in order.
    pub fn members(&self) -> Vec<Member> {
        children(&self.0)
    }
}

impl Part {
    /// The layer that it is a part of.
    pub fn layer(&self) -> Option<Name> {
        children::<Name>(&self.0).into_iter().nth(1)
    }
    /// The members, in order.
    pub fn members(&self) -> Vec<Member> {
        children(&self.0)
    }
}

impl Bundle {
    /// The parameters, which stacks and other bundles set.
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
    /// The layers, top to bottom.
    pub fn layers(&self) -> Vec<LayerUse> {
        children(&self.0)
    }
    /// The wire that `encoded` names.
    pub fn wire(&self) -> Option<Name> {
        children::<Name>(&self.0).into_iter().nth(1)
    }
    /// `encoded compressed`: the compiler makes one common layout for the headers.
    pub fn is_compressed(&self) -> bool {
        has_word(&self.0, "compressed")
    }
}

impl LayerUse {
    /// The layer, bundle or stack.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The arguments, in order.
    pub fn args(&self) -> Vec<super::Arg> {
        child::<super::ArgList>(&self.0).map_or(Vec::new(), |list| list.args())
    }
}

impl Stack {
    /// The parameters, including devices.
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
}

impl Network {
    /// Parameters, which the language does not allow there.
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
}

impl super::Publish {
    /// The parameters of a published value of a flow; `None` without parentheses.
    pub fn params(&self) -> Option<Vec<Param>> {
        child::<ParamList>(&self.0).map(|list| list.params())
    }
}

impl NamedType {
    /// The name of the type.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
}

impl FnType {
    /// The types in front of the arrow.
    pub fn params(&self) -> Vec<Type> {
        let mut types = children::<Type>(&self.0);
        types.pop();
        types
    }
    /// The type behind the arrow.
    pub fn result(&self) -> Option<Type> {
        children::<Type>(&self.0).pop()
    }
}

impl ArrayType {
    /// The type of each element.
    pub fn element(&self) -> Option<Type> {
        child(&self.0)
    }
    /// How many elements.
    pub fn length(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl VectorType {
    /// The type of each element.
    pub fn element(&self) -> Option<Type> {
        child(&self.0)
    }
    /// The most elements.
    pub fn bound(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl MapType {
    /// The types in front of the arrow.
    pub fn keys(&self) -> Vec<Type> {
        let mut types = children::<Type>(&self.0);
        types.pop();
        types
    }
    /// The type behind the arrow.
    pub fn value(&self) -> Option<Type> {
        children::<Type>(&self.0).pop()
    }
    /// The most entries.
    pub fn capacity(&self) -> Option<Expr> {
        child(&self.0)
    }
}

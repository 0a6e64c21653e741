//! Items: what stands at the top of a file (wires, stacks and tests have files of their own).

use super::{
    child, children, choice, doc_of, first_token, has_word, node, AstNode, Block, Container, Expr, Member, Name,
    Network, Signature, Stack, Test, Vocabulary, Wire,
};
use crate::kinds::{SyntaxKind, SyntaxToken};

choice! {
    /// What a file holds.
    Item {
        Use(Use), Const(Const), TypeAlias(TypeAlias), Record(Record), Enum(Enum), Attribute(Attribute),
        Service(Service), Signature(Signature), Vocabulary(Vocabulary), Function(Function), Layer(Layer),
        Bundle(Bundle), Wire(Wire), Stack(Stack), Network(Network), Test(Test), Container(Container),
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
    /// `record Pair { left: u32, right: u32 }`
    Record = RECORD;
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
    ParamList = PARAM_LIST;
    /// `grant: u16 = 32`; in handlers often the name alone
    Param = PARAM;
    /// A worker, multiplexor, router or endpoint.
    Layer = LAYER;
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

choice! { Type { Named(NamedType), Array(ArrayType), Vector(VectorType), Map(MapType), Fn(FnType) } }

/// The shape of a layer, by its keyword.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    Worker,
    Multiplexor,
    Router,
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
named!(Const, TypeAlias, Record, Field, Enum, Variant, Attribute, Service, Signal, Function, Param, Layer, Bundle);

impl Item {
    /// The item's name; `use` and `test` have none.
    pub fn name(&self) -> Option<Name> {
        match self {
            Item::Use(_) | Item::Test(_) => None,
            item => child(item.syntax()),
        }
    }
}

impl Use {
    pub fn paths(&self) -> Vec<UsePath> {
        children(&self.0)
    }
}

/// Where a `use` leads.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum UseTarget {
    /// A module of the library.
    Module(String),
    /// A file beside this one.
    File(String),
}

impl UsePath {
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
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Attribute {
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl TypeAlias {
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
}

impl Record {
    pub fn fields(&self) -> Vec<Field> {
        child::<FieldList>(&self.0).map_or(Vec::new(), |list| list.fields())
    }
}

impl FieldList {
    pub fn fields(&self) -> Vec<Field> {
        children(&self.0)
    }
}

impl Field {
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
    /// Where no wire says it.
    pub fn byte_order(&self) -> Option<super::ByteOrder> {
        super::wires::byte_order(&self.0)
    }
    /// The value that it has in most packets, behind `commonly`.
    pub fn common(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Enum {
    /// The type of its numbers.
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
    pub fn variants(&self) -> Vec<Variant> {
        children(&self.0)
    }
}

impl Variant {
    /// The parts of a value of this name: `Circle(radius: u32)`.
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
    /// The number, where it is written.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Service {
    pub fn signals(&self) -> Vec<Signal> {
        children(&self.0)
    }
}

impl Signal {
    /// Whether it goes from the server to its users.
    pub fn is_out(&self) -> bool {
        has_word(&self.0, "out")
    }
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
}

fn params(node: &crate::kinds::SyntaxNode) -> Vec<Param> {
    child::<ParamList>(node).map_or(Vec::new(), |list| list.params())
}

impl ParamList {
    pub fn params(&self) -> Vec<Param> {
        children(&self.0)
    }
}

impl Param {
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
    /// The value when none is given.
    pub fn default(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Function {
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
    pub fn result(&self) -> Option<Type> {
        child(&self.0)
    }
    pub fn body(&self) -> Option<Block> {
        child(&self.0)
    }
}

impl Layer {
    pub fn shape(&self) -> Shape {
        match first_token(&self.0).as_ref().map(SyntaxToken::text) {
            Some("multiplexor") => Shape::Multiplexor,
            Some("router") => Shape::Router,
            Some("endpoint") => Shape::Endpoint,
            _ => Shape::Worker,
        }
    }
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
    pub fn members(&self) -> Vec<Member> {
        children(&self.0)
    }
}

impl Bundle {
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
    /// Top to bottom.
    pub fn layers(&self) -> Vec<LayerUse> {
        children(&self.0)
    }
    /// The wire that `encoded` names.
    pub fn wire(&self) -> Option<Name> {
        children::<Name>(&self.0).into_iter().nth(1)
    }
    /// `encoded compressed`: the compiler lays the headers out together.
    pub fn is_compressed(&self) -> bool {
        has_word(&self.0, "compressed")
    }
}

impl LayerUse {
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    pub fn args(&self) -> Vec<super::Arg> {
        child::<super::ArgList>(&self.0).map_or(Vec::new(), |list| list.args())
    }
}

impl Stack {
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
}

impl Network {
    pub fn params(&self) -> Vec<Param> {
        params(&self.0)
    }
}

impl super::Publish {
    /// The parameters of a value per flow; `None` without parentheses.
    pub fn params(&self) -> Option<Vec<Param>> {
        child::<ParamList>(&self.0).map(|list| list.params())
    }
}

impl NamedType {
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
}

impl FnType {
    pub fn params(&self) -> Vec<Type> {
        let mut types = children::<Type>(&self.0);
        types.pop();
        types
    }
    pub fn result(&self) -> Option<Type> {
        children::<Type>(&self.0).pop()
    }
}

impl ArrayType {
    pub fn element(&self) -> Option<Type> {
        child(&self.0)
    }
    pub fn length(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl VectorType {
    pub fn element(&self) -> Option<Type> {
        child(&self.0)
    }
    /// How many elements there are at most.
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
    pub fn value(&self) -> Option<Type> {
        children::<Type>(&self.0).pop()
    }
    pub fn capacity(&self) -> Option<Expr> {
        child(&self.0)
    }
}

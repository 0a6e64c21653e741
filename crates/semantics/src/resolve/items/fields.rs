//! Fields of records, keys and headers.

use mokume_base::FileId;
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::{twice, Context};
use crate::resolve::expr::{annotations, fixed};
use crate::{codes, tree};

/// What the fields belong to: a record of values of all kinds, a key of numbers, or a header in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldUse {
    Values,
    /// The key of an object: state of a layer, where flows are known.
    Keys,
    Key,
    Header,
}

/// The fields with their types; reports repeated names.
pub fn read(cx: &mut Context, file: FileId, list: &[ast::Field], what: FieldUse) -> Vec<Field> {
    let scalars = matches!(what, FieldUse::Key | FieldUse::Header);
    let mut fields: Vec<Field> = Vec::new();
    for field in list {
        let Some(name) = tree::some_name(file, field.name()) else { continue };
        if let Some(first) = fields.iter().find(|first| first.name.text == name.text) {
            let diagnostic = twice("field", &name, &first.name);
            cx.report(diagnostic);
            continue;
        }
        let ty = match (what, field.ty()) {
            (FieldUse::Values, ty) => annotations::stored(cx, file, ty),
            (FieldUse::Keys, ty) => annotations::of_key(cx, file, ty),
            (FieldUse::Header, ty) => annotations::of_header(cx, file, ty),
            (FieldUse::Key, ty) => annotations::scalar(cx, file, ty),
        };
        let big = field.byte_order().map(|order| order == ast::ByteOrder::Big);
        if big.is_some() && !scalars {
            let help = "leave it out: only headers and keys lie in packets";
            cx.error(codes::BYTE_ORDER, "this field never travels", name.span, "no byte order", help);
        }
        let common = field.common().and_then(|value| common(cx, file, &value, ty, scalars));
        let written = annotations::notation(cx, file, field.ty());
        fields.push(Field { name, ty, big, common, written });
    }
    fields
}

/// `commonly 0`: a number constant in the text, so that both ends agree.
fn common(cx: &mut Context, file: FileId, value: &ast::Expr, ty: Type, travels: bool) -> Option<u64> {
    let number = matches!(ty, Type::Bool | Type::UInt(_) | Type::Seq(_) | Type::Enum(_));
    if travels && number {
        return fixed::number(cx, file, value, ty);
    }
    if ty != Type::Unknown {
        let help = "leave it out: only numbers in headers and keys can be left out of packets";
        cx.error(codes::COMMON, "this field has no common value", value.span(file), "not here", help);
    }
    None
}

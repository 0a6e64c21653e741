//! Values of fields that packets of tests leave out: `default 64`, `default checksum(packet, pseudo)`; and the contents
//! of a pseudo header. Nothing that a stack writes or reads depends on these.

use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::program::*;
use crate::resolve::wire::reader::WireReader;
use crate::resolve::wire::values;
use crate::{codes, tree, types};

/// `default 64`: for the field before it.
pub(super) fn read(reader: &mut WireReader, default: &ast::WireDefault, items: &[WireItem]) {
    let Some(value) = default.value() else { return };
    let span = value.span(reader.file);
    let Some(WireItem::Field(field)) = items.last() else {
        let help = "write it behind the field that it is of";
        return reader.cx.error(codes::WIRE_VALUE, "`default` stands behind a field", span, "no field in front", help);
    };
    if !matches!(field.value, WireValue::Header { .. } | WireValue::Unread | WireValue::Preserved) {
        let help = "leave it out: the wire itself says what stands there";
        return reader.cx.error(codes::WIRE_VALUE, "this field has a value", span, "not needed", help);
    }
    let (name, width) = (field.name.text.clone(), field.width);
    if let Some(number) = reader.number(&value).filter(|number| *number > types::mask(width)) {
        let text = format!("{number} does not fit `{name}: u{width}`");
        let help = format!("the largest is {}", types::mask(width));
        return reader.cx.error(codes::WIRE_CONSTANT, text, span, "too big", &help);
    }
    let found = match is_pseudo_checksum(reader, &value) {
        true => Some(WireDefault::PseudoChecksum),
        false => values::expr(reader, &value).map(WireDefault::Of),
    };
    reader.defaults.extend(found.map(|found| (name, found)));
}

/// `checksum(packet, pseudo)`
fn is_pseudo_checksum(reader: &WireReader, value: &Tree) -> bool {
    let Tree::Call(call) = value else { return false };
    let name = |value: Option<Tree>| value.and_then(|value| tree::name_expr(reader.file, &value)).map(|name| name.text);
    let args: Vec<Option<String>> = call.args().iter().map(|arg| name(arg.value())).collect();
    let args: Vec<Option<&str>> = args.iter().map(|arg| arg.as_deref()).collect();
    name(call.callee()).as_deref() == Some("checksum") && args == [Some("packet"), Some("pseudo")]
}

/// `pseudo source, destination, protocol`
pub(super) fn pseudo(reader: &mut WireReader, pseudo: &ast::WirePseudo) {
    for name in pseudo.fields().iter().map(|name| tree::name(reader.file, name)) {
        if let Some(known) = reader.fields.iter().find(|field| field.name.text == name.text) {
            reader.cx.mention(&name, known.name.span);
            reader.pseudo.push(name);
            continue;
        }
        let diagnostic = reader.not_in_front(&name);
        reader.cx.report(diagnostic);
    }
}

//! `choice kind { 1 => Data { … } }`: an arm for each number of a tag.

use mokume_base::Diagnostic;
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::Item;
use crate::resolve::wire;
use crate::resolve::wire::reader::WireReader;
use crate::{codes, lost, suggest, tree, types};

/// `choice kind { … }`
pub(super) fn read(reader: &mut WireReader, choice: &ast::WireChoice) -> Option<WireItem> {
    let name = tree::some_name(reader.file, choice.field())?;
    let span = name.span;
    let on = reader.fields.iter().position(|field| field.name.text == name.text);
    let Some(on) = on.filter(|on| reader.fields[*on].tag) else {
        let text = match on {
            Some(_) => format!("`{}` has a value already, so nothing is left to choose", name.text),
            None => format!("there is no field `{}` in front of this", name.text),
        };
        let tags = reader.fields.iter().filter(|field| field.tag).map(|field| field.name.text.as_str());
        let near = suggest::nearest(&name.text, tags).filter(|_| on.is_none());
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write it in front, without a value: `{}: u8`", name.text),
        };
        reader.cx.error(codes::WIRE_TAG, text, name.span, "no tag", &help);
        return None;
    };
    reader.cx.mention(&name, reader.fields[on].name.span);
    let width = reader.fields[on].width;
    let mut tags: Vec<(u64, mokume_base::Span)> = Vec::new();
    let mut arms = Vec::new();
    for arm in choice.arms() {
        arms.extend(arm_of(reader, &arm, width, &mut tags));
    }
    Some(WireItem::Choice { on: on as u32, arms, span })
}

fn arm_of(
    reader: &mut WireReader,
    arm: &ast::WireArm,
    width: u8,
    tags: &mut Vec<(u64, mokume_base::Span)>,
) -> Option<WireArm> {
    let value = arm.value()?;
    let span = value.span(reader.file);
    let tag = reader.number(&value);
    if tag.is_none() {
        reader.cx.error(
            codes::NOT_CONSTANT,
            "an arm begins with a number",
            span,
            "not constant",
            "write `1 => Data { … }`",
        );
    }
    if let Some((_, first)) = tag.and_then(|tag| tags.iter().find(|(known, _)| *known == tag)) {
        let written = value.syntax().text().to_string();
        let mut diagnostic = Diagnostic::error(codes::WIRE_TAG_TWICE, format!("two arms for {}", written.trim()))
            .at(span, "again here")
            .label(*first, "first here")
            .help("give each alternative a number of its own");
        let of = tree::name_field(reader.file, &value).and_then(|(of, _)| reader.cx.item_at(reader.file, &of));
        if let Some(Item::Enum(id)) = of {
            diagnostic.needs.push(lost::numbers(&reader.cx.program.enums[id.index()].name));
        }
        reader.cx.report(diagnostic);
    }
    if tag.is_some_and(|tag| tag > types::mask(width)) {
        let text = format!("{} does not fit u{width}", tag.unwrap_or(0));
        reader.cx.error(codes::WIRE_CONSTANT, text, span, "too big", "use a wider field for the choice");
    }
    tags.extend(tag.map(|tag| (tag, span)));
    let path = arm.alternative().map_or(Vec::new(), |path| tree::parts(reader.file, &path));
    let selects = match path.as_slice() {
        [variant] => Some((None, variant.clone())),
        [layer, variant] => Some((Some(layer.clone()), variant.clone())),
        _ => None,
    };
    let items = wire::hidden(reader, &arm.members());
    let place = path.last().map_or(span, |name| name.span);
    Some(WireArm { tag: tag.unwrap_or(0), selects, items, span: place })
}

//! Options, each beginning with its kind and length.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, BinaryOp, Expr as Tree};

use crate::program::*;
use crate::resolve::expr::annotations;
use crate::resolve::wire;
use crate::resolve::wire::reader::WireReader;
use crate::resolve::wire::values;
use crate::{codes, tree, types};

/// `options kind: u8 length: u8 = size(option) until … { … }`
pub(super) fn read(reader: &mut WireReader, options: &ast::WireOptions) -> Option<WireItem> {
    let span = options.span(reader.file);
    let kind = option_part(reader, &options.kind()?)?;
    let length = option_part(reader, &options.length()?)?;
    let (times, plus) = option_size(reader, &options.length()?, span)?;
    let until_at = options.until()?.span(reader.file);
    let until = values::expr(reader, &options.until()?)?;
    let pad = options.pad().map_or(Some(1), |pad| padding(reader, &pad))?;
    let mut made = WireOptions {
        kind,
        length,
        times,
        plus,
        until,
        until_at,
        pad,
        pads_with: None,
        ends_with: None,
        arms: Vec::new(),
        skips: false,
        span,
    };
    let mut has_else = false;
    for arm in options.arms() {
        if arm.is_else() {
            has_else = true;
            made.skips = arm.word() == Some(ast::OptionWord::Skip);
        } else {
            let found = option(reader, &arm, &made);
            made.arms.extend(found);
        }
    }
    if !has_else {
        let help = "write `else => skip`, or `else => refuse`";
        let text = "what happens to other options is not said";
        reader.cx.error(codes::WIRE_OPTION_KIND, text, span, "no `else`", help);
    }
    if options.pads_first() {
        made.pads_with = filler(reader, &made);
    }
    made.ends_with = end_to_write(&made);
    Some(WireItem::Options(made))
}

/// Where options go to the packet's end, the kind that says that they end, if there is one: the first `end`.
fn end_to_write(options: &WireOptions) -> Option<u64> {
    let end = options.arms.iter().find(|arm| matches!(arm.what, OptionForm::End));
    end.filter(|_| matches!(options.until, WireExpr::PacketSize)).map(|end| end.kind)
}

/// The kind of one octet with which options are padded in front: the first `single`.
fn filler(reader: &mut WireReader, options: &WireOptions) -> Option<u64> {
    let single = options.arms.iter().find(|arm| matches!(arm.what, OptionForm::Single));
    match single.filter(|_| options.kind.1 == 8) {
        Some(single) => Some(single.kind),
        None => {
            let text = "nothing is there that fills options up in front of them";
            let help = "let the kind be a `u8`, and say which option is one octet alone: `1 => single`";
            reader.cx.error(codes::WIRE_OPTION_LENGTH, text, options.until_at, "in front of what ends here", help);
            None
        }
    }
}

fn option_part(reader: &mut WireReader, field: &ast::WireField) -> Option<(Name, u8)> {
    let name = tree::some_name(reader.file, field.name())?;
    let ty = annotations::read(reader.cx, reader.file, field.ty());
    match types::width(&reader.cx.program, ty) {
        Some(width @ (8 | 16 | 32)) => Some((name, width)),
        _ => {
            let text = format!("`{}` is not of whole octets", name.text);
            let help = "kinds and lengths of options are `u8`, `u16` or `u32`";
            reader.cx.error(codes::WIRE_OPTION_LENGTH, text, name.span, "expected `u8`", help);
            None
        }
    }
}

/// `size(option)`, `size(option) / 8`, `size(option) - 2`: factor and summand of the inverse.
fn option_size(reader: &mut WireReader, field: &ast::WireField, span: Span) -> Option<(u64, u64)> {
    let value = field.value();
    let found = value.as_ref().and_then(|value| scale(reader, &tree::unparen(value)));
    if found.is_none() {
        let place = value.map_or(span, |value| value.span(reader.file));
        let help = "write `length: u8 = size(option)`, `size(option) / 8` or `size(option) - 2`";
        let text = "the length does not say how many octets the option has";
        reader.cx.error(codes::WIRE_OPTION_LENGTH, text, place, "expected `size(option)`", help);
    }
    found
}

fn scale(reader: &mut WireReader, value: &Tree) -> Option<(u64, u64)> {
    match value {
        Tree::Call(call) => {
            let name = call.callee().and_then(|callee| tree::name_expr(reader.file, &callee))?;
            let of = call.args().first().and_then(|arg| arg.value());
            let of = of.and_then(|value| tree::name_expr(reader.file, &value))?;
            (name.text == "size" && of.text == "option").then_some((1, 0))
        }
        Tree::Binary(binary) => {
            let (left, right) = (tree::unparen(&binary.left()?), binary.right()?);
            let number = reader.number(&right)?;
            let (times, plus) = scale(reader, &left)?;
            match binary.op()? {
                BinaryOp::Div if number > 0 && number <= 256 => Some((times * number, plus)),
                BinaryOp::Sub if times == 1 && number <= 256 => Some((times, plus + number)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn padding(reader: &mut WireReader, value: &Tree) -> Option<u32> {
    let number = reader.number(value).filter(|number| (1..=256).contains(number));
    if number.is_none() {
        let text = "options are padded to a multiple of 1 to 256 octets";
        reader.cx.error(codes::WIRE_OPTION_LENGTH, text, value.span(reader.file), "not such a number", "write `pad 4`");
    }
    number.map(|number| number as u32)
}

fn option(reader: &mut WireReader, arm: &ast::WireOption, options: &WireOptions) -> Option<WireOption> {
    let value = arm.kind()?;
    let span = value.span(reader.file);
    let Some(kind) = reader.number(&value) else {
        let help = "write `2 => Layer.has_mss { … }`";
        reader.cx.error(codes::NOT_CONSTANT, "an option begins with a number", span, "not constant", help);
        return None;
    };
    let twice = options.arms.iter().find(|known| known.kind == kind).map(|known| known.span);
    let wide = kind > types::mask(options.kind.1);
    if twice.is_some() || wide {
        let text = match wide {
            true => format!("{kind} does not fit u{}", options.kind.1),
            false => format!("two options of kind {kind}"),
        };
        let mut diagnostic = Diagnostic::error(codes::WIRE_OPTION_KIND, text).at(span, "no kind of its own");
        if let Some(first) = twice {
            diagnostic = diagnostic.label(first, "first here");
        }
        reader.cx.report(diagnostic.help("give each option a kind of its own that fits"));
    }
    let what = match arm.word() {
        Some(ast::OptionWord::End) => OptionForm::End,
        Some(ast::OptionWord::Single) => OptionForm::Single,
        _ => known_option(reader, arm, options, span)?,
    };
    Some(WireOption { kind, span, what })
}

fn known_option(
    reader: &mut WireReader,
    arm: &ast::WireOption,
    options: &WireOptions,
    span: Span,
) -> Option<OptionForm> {
    let path = arm.present().map_or(Vec::new(), |path| tree::parts(reader.file, &path));
    let place = path.last().map_or(span, |name| name.span);
    let present = values::header(reader, &path, 1, 0, place);
    let items = wire::hidden(reader, &arm.members());
    let octets = option_octets(reader, &items, options, place);
    let head = u64::from(options.kind.1 / 8 + options.length.1 / 8);
    if let Some(octets) = octets.map(|octets| octets + head) {
        let rest = octets.checked_sub(options.plus).filter(|rest| rest.is_multiple_of(options.times));
        if rest.is_none_or(|rest| rest / options.times > types::mask(options.length.1)) {
            let text = format!("no length says that this option has {octets} octets");
            let help = "add a field `reserved: u8 = 0`, or make the length wider";
            reader.cx.error(codes::WIRE_OPTION_LENGTH, text, place, &format!("{octets} octets"), help);
        }
    }
    Some(OptionForm::Known { present: present?, items })
}

/// The octets of an option's fields: plain fields, each known when it is reached.
fn option_octets(reader: &mut WireReader, items: &[WireItem], options: &WireOptions, place: Span) -> Option<u64> {
    let mut bits = 0;
    for (place_of, item) in items.iter().enumerate() {
        // Its elements, as many as the length has room for, end the option.
        if let (WireItem::Each(each), true) = (item, place_of + 1 == items.len()) {
            if each.moves() {
                let text = "elements of an option that differ in size";
                let help = "the option's length says how many of one size there are: leave `until` out, and let each \
                            element hold fields alone";
                reader.cx.error(codes::WIRE_OPTION_LIST, text, each.span, "not within an option", help);
            }
            continue;
        }
        let WireItem::Field(field) = item else {
            let help = "an option holds fields alone; a part of its own goes into an option of its own";
            reader.cx.error(codes::WIRE_OPTION_FIELDS, "a part within an option", place, "here", help);
            return None;
        };
        let plain = !matches!(field.value, WireValue::Computed(_) | WireValue::Tag) && field.trims.is_none();
        if !plain {
            let text = format!("`{}` depends on more than this option", field.name.text);
            let help = "an option's fields are header fields, constants and `unread`; its length is written by itself";
            reader.cx.error(codes::WIRE_OPTION_FIELDS, text, field.name.span, "not within an option", help);
        }
        for (left, _, right) in &field.constraints {
            values::known_early(reader, left, field.name.span);
            values::known_early(reader, right, field.name.span);
        }
        bits += u64::from(field.width);
    }
    if !bits.is_multiple_of(8) {
        let text = format!("the fields of the option `{}` are {bits} bits", options.kind.0.text);
        let help = format!("add a field such as `reserved: u{} = 0`", 8 - bits % 8);
        reader.cx.error(codes::WIRE_OPTION_FIELDS, text, place, "no whole octets", &help);
        return None;
    }
    Some(bits / 8)
}

//! Whether a wire reads its own packets back: its computed sizes are tried on packets of each path through it.
//!
//! Keeps: what depends on header fields is decided by the layers and not judged, except a field that is always the
//! message's size.

use std::collections::BTreeSet;

use mokume_base::Diagnostic;

use crate::check::wires::context::WireCheck;
use crate::check::wires::{messages, names};
use crate::codes;
use crate::program::*;
use crate::{types, visit};

/// The sizes of the messages that are tried, in octets.
fn messages() -> impl Iterator<Item = u64> {
    (0..=64).chain([100, 255, 256, 300, 512, 1000, 1400, 1500, 4000, 9000, 20_000, 40_000, 65_000, 100_000])
}

/// A packet that the wire would write.
struct Packet {
    header: u64,
    message: u64,
    /// The values of its fields, as far as the wire alone determines them.
    fields: Vec<(u32, Option<u64>)>,
}

/// The items on one path through the choices, the values of its tags, and the arms.
#[derive(Clone, Default)]
struct Way<'a> {
    items: Vec<&'a WireItem>,
    tags: Vec<(u32, u64)>,
    arms: Vec<&'a WireArm>,
}

/// Reports sizes that are impossible, and those that the wire's own reader would misread.
pub(super) fn check(check: &mut WireCheck) {
    let wire = check.wire;
    // Of those whose end is said by the packet itself nothing is known here.
    let mut ways = ways(&wire.items, vec![Way::default()]);
    ways.retain(|way| !way.items.iter().copied().any(reaches));
    for way in &ways {
        ends_of_options(check, way);
        padding_is_read(check, way);
        trims(check, way);
        never_fits(check, way);
        never_passes(check, way, ways.len() == 1);
        sums_of_sums(check, way);
        rounded(check, way);
    }
    for way in &ways {
        trims_to_messages(check, way);
    }
}

/// Reports a fault of a field once, even if it is on several paths.
fn tell(check: &mut WireCheck, diagnostic: Diagnostic) {
    if !is_told(check, &diagnostic) {
        check.fail(diagnostic);
    }
}

fn is_told(check: &WireCheck, diagnostic: &Diagnostic) -> bool {
    let place = |found: &Diagnostic| found.primary.as_ref().map(|label| label.span);
    check.out.iter().any(|known| known.code == diagnostic.code && place(known) == place(diagnostic))
}

fn reaches(item: &WireItem) -> bool {
    match item {
        WireItem::Reach(..) => true,
        WireItem::Each(each) => each.moves(),
        WireItem::Choice { .. } | WireItem::Optional { .. } | WireItem::Field(_) | WireItem::Options(_) => false,
    }
}

/// All paths through choices and optional parts; `paths` has checked that they are few.
fn ways<'a>(items: &'a [WireItem], before: Vec<Way<'a>>) -> Vec<Way<'a>> {
    items.iter().fold(before, |so_far, item| match item {
        WireItem::Choice { on, arms, .. } => {
            let arm = |arm: &'a WireArm| {
                let mut into = so_far.clone();
                for way in &mut into {
                    way.tags.push((*on, arm.tag));
                    way.arms.push(arm);
                }
                ways(&arm.items, into)
            };
            arms.iter().flat_map(arm).collect()
        }
        WireItem::Optional { items, .. } => [so_far.clone(), ways(items, so_far)].concat(),
        item => {
            let with = |mut way: Way<'a>| {
                way.items.push(item);
                way
            };
            so_far.into_iter().map(with).collect()
        }
    })
}

fn fields<'a>(way: &Way<'a>) -> impl Iterator<Item = &'a WireField> + use<'a> {
    let items = way.items.clone();
    items.into_iter().filter_map(|item| match item {
        WireItem::Field(field) => Some(field),
        _ => None,
    })
}

/// A packet with this many octets of options and of message.
fn packet(way: &Way, options: u64, elements: u64, message: u64) -> Packet {
    let mut bits: u64 = 0;
    for item in &way.items {
        match item {
            WireItem::Field(field) => bits += u64::from(field.width),
            WireItem::Each(each) => bits += elements * bits_of(&each.items),
            WireItem::Options(part) => {
                bits = (bits.div_ceil(8) + options).next_multiple_of(u64::from(part.pad.max(1))) * 8
            }
            WireItem::Choice { .. } | WireItem::Optional { .. } | WireItem::Reach(..) => {}
        }
    }
    let mut made = Packet { header: bits.div_ceil(8), message, fields: Vec::new() };
    for field in fields(way) {
        let value = match &field.value {
            WireValue::Constant(number) => Some(*number),
            WireValue::Computed(expr) => value(&made, expr).filter(|value| *value <= types::mask(field.width)),
            WireValue::Tag => way.tags.iter().find(|(on, _)| *on == field.index).map(|(_, tag)| *tag),
            WireValue::Unread => Some(0),
            WireValue::Header { .. } | WireValue::Preserved => None,
        };
        made.fields.push((field.index, value));
    }
    made
}

/// A header alone with this many octets of options, the last part of its way, if they were padded to a multiple of `pad`.
fn packet_padded(way: &Way, options: &WireOptions, pad: u32, size: u64) -> Packet {
    let other = WireItem::Options(WireOptions { pad, ..options.clone() });
    let items = way.items[..way.items.len() - 1].iter().copied().chain([&other]).collect();
    packet(&Way { items, ..way.clone() }, size, 0, 0)
}

fn bits_of(items: &[WireItem]) -> u64 {
    let bits = |item: &WireItem| match item {
        WireItem::Field(field) => u64::from(field.width),
        _ => 0,
    };
    items.iter().map(bits).sum()
}

/// The value that the encoder computes; `None` if it depends on more than sizes.
fn value(packet: &Packet, expr: &WireExpr) -> Option<u64> {
    match expr {
        WireExpr::Number(number) => Some(*number),
        WireExpr::Field(index) => packet.fields.iter().find(|(known, _)| known == index).and_then(|(_, value)| *value),
        WireExpr::PacketSize => Some(packet.header + packet.message),
        WireExpr::HeaderSize => Some(packet.header),
        WireExpr::PayloadSize => Some(packet.message),
        WireExpr::HeaderChecksum | WireExpr::PacketChecksum => None,
        WireExpr::Binary { op, a, b } => {
            let (a, b) = (value(packet, a)?, value(packet, b)?);
            match op {
                Binary::Add => Some(a.wrapping_add(b)),
                Binary::Sub => Some(a.wrapping_sub(b)),
                Binary::Mul => Some(a.wrapping_mul(b)),
                Binary::Div => Some(a.checked_div(b).unwrap_or(0)),
                _ => None,
            }
        }
    }
}

/// The sizes of options that packets may have, in octets: none, each option alone, all.
fn sizes_of_options(options: &WireOptions) -> Vec<u64> {
    let head = u64::from(options.kind.1 / 8 + options.length.1 / 8);
    let known = options.arms.iter().filter_map(|arm| match &arm.what {
        OptionForm::Known { items, .. } => Some(head + octets_with_one(items)),
        OptionForm::End | OptionForm::Single => None,
    });
    let each: Vec<u64> = known.collect();
    let all = each.iter().sum();
    [vec![0], each, vec![all]].concat()
}

/// Octets of the items, with one element if they end with a list.
fn octets_with_one(items: &[WireItem]) -> u64 {
    let bits = |item: &WireItem| match item {
        WireItem::Each(each) => bits_of(&each.items),
        item => bits_of(std::slice::from_ref(item)),
    };
    items.iter().map(bits).sum::<u64>() / 8
}

/// Reports a header's size that is counted in larger units than it has: what is left over is not counted.
fn rounded(check: &mut WireCheck, way: &Way) {
    for field in fields(way) {
        let WireValue::Computed(computed) = &field.value else { continue };
        let Some(unit) = unit_of_headers(computed) else { continue };
        let tried = option_sizes(way).into_iter().flat_map(|options| [(options, 0), (options, 1)]);
        let mut headers = tried.map(|(options, elements)| packet(way, options, elements, 0).header);
        let Some(header) = headers.find(|header| header % unit != 0) else { continue };
        let text = format!("`{}` counts in units of {unit} octets, and a header has {header}", field.name.text);
        let left = format!("leaves {} of {header} out", header % unit);
        let found = Diagnostic::warning(codes::WIRE_ROUNDED, text).at(field.name.span, left);
        let found =
            found.note(format!("{} is written: who reads by this field takes the rest for the message", header / unit));
        if !is_told(check, &found) {
            let help = format!("fill the header to a multiple of {unit}, by `rest: u8 = 0` or by `pad {unit}` behind options, or count octets");
            check.out.push(found.help(help));
        }
    }
}

/// `n` of `size(header) / n`.
fn unit_of_headers(expr: &WireExpr) -> Option<u64> {
    match expr {
        WireExpr::Binary { op: Binary::Div, a, b } => match (&**a, &**b) {
            (WireExpr::HeaderSize, WireExpr::Number(unit)) if *unit > 0 => Some(*unit),
            _ => unit_of_headers(a),
        },
        WireExpr::Binary { a, b, .. } => unit_of_headers(a).or_else(|| unit_of_headers(b)),
        _ => None,
    }
}

/// Checks the end of the options on a packet that is a header alone.
fn ends_of_options(check: &mut WireCheck, way: &Way) {
    let Some(WireItem::Options(options)) = way.items.last() else { return };
    let sizes = sizes_of_options(options);
    let wrong = |packet: &Packet| value(packet, &options.until).is_some_and(|until| until != packet.header);
    let bare = sizes.iter().map(|size| packet(way, *size, 0, 0)).find(wrong);
    let is_bare = bare.is_some();
    // With elements up to the packet's end there is no message behind them.
    let Some(found) =
        bare.or_else(|| Some(packet(way, 0, 0, 4)).filter(|full| sends_messages(check, way) && wrong(full)))
    else {
        return;
    };
    let until = value(&found, &options.until).unwrap_or_default();
    let end = found.header;
    let text = format!(
        "`{}` does not read its own packets: options that end at octet {end} end at {until} by `until`",
        check.wire.name.text
    );
    let mut diagnostic = Diagnostic::error(codes::WIRE_OWN, text).at(options.until_at, format!("{until}, not {end}"));
    let counting = fields(way).find(|field| options.until.names(field.index));
    if let Some(field) = counting {
        diagnostic = diagnostic.label(field.name.span, said_in(&found, field));
    }
    let padded = |pad: u32| sizes.iter().all(|size| !wrong(&packet_padded(way, options, pad, *size)));
    let help = match [1, 2, 4, 8, 16, 32].into_iter().find(|pad| is_bare && padded(*pad)) {
        Some(pad) => format!("fill them to what the field counts in: `pad {pad}`"),
        None if is_bare => {
            "let the same unit stand at both: `words: u8 = size(header) / 4 … until words * 4 pad 4`".to_string()
        }
        None if matches!(options.until, WireExpr::PacketSize) => {
            "a message stands behind them, and is read as options: send `message()`, or let a field say where they end"
                .to_string()
        }
        None => "a message stands behind them: count the header alone, `size(header)`".to_string(),
    };
    tell(check, diagnostic.help(help));
}

/// Reports padding behind options that is read as an option: zeros, where no arm says what kind 0 is.
fn padding_is_read(check: &mut WireCheck, way: &Way) {
    let Some(WireItem::Options(options)) = way.items.last() else { return };
    let is_known = |arm: &WireOption| arm.kind == 0 && matches!(arm.what, OptionForm::End | OptionForm::Single);
    let ends = options.pads_with.is_some() || options.ends_with.is_some();
    if options.pad < 2 || ends || options.arms.iter().any(is_known) {
        return;
    }
    let header = |pad: u32, size: u64| packet_padded(way, options, pad, size).header;
    let pads = sizes_of_options(options).into_iter().any(|size| header(options.pad, size) != header(1, size));
    if !pads {
        return;
    }
    let text = format!(
        "`{}` does not read its own packets: zeros behind the options are read as an option of kind 0",
        check.wire.name.text
    );
    let diagnostic = Diagnostic::error(codes::WIRE_OWN, text)
        .at(options.span, format!("filled to a multiple of {}", options.pad))
        .help("say that the options end there: `0 => end`")
        .help("or that each zero is one: `0 => single`");
    tell(check, diagnostic);
}

/// Whether messages go behind the headers of this way.
fn sends_messages<'a>(check: &WireCheck<'a, '_>, way: &Way<'a>) -> bool {
    let selected: Vec<(&str, &str)> = way.arms.iter().filter_map(|arm| names::owner(check, arm)).collect();
    messages::go_behind(check, &selected)
}

fn said_in(packet: &Packet, field: &WireField) -> String {
    let value = packet.fields.iter().find(|(index, _)| *index == field.index).and_then(|(_, value)| *value);
    value.map_or_else(|| "counted here".to_string(), |value| format!("it is {value} then"))
}

/// Checks the length that a computed field trims the packet to.
fn trims<'a>(check: &mut WireCheck<'a, '_>, way: &Way<'a>) {
    for field in fields(way) {
        let (Some(plus), WireValue::Computed(_) | WireValue::Constant(_)) = (field.trims, &field.value) else {
            continue;
        };
        let (mut first, mut lacks) = (None, BTreeSet::new());
        let is_wrong = |message: u64| {
            let packet = packet(way, 0, 0, message);
            let said = packet.fields.iter().find(|(index, _)| *index == field.index).and_then(|(_, value)| *value);
            let said = said?;
            let all = packet.header + packet.message;
            // The report shows the first packet that carries something.
            first = first.or(Some((all, said.wrapping_add(plus))).filter(|_| message == 4));
            lacks.insert(all.checked_sub(said.wrapping_add(plus)));
            Some(said.wrapping_add(plus) != all)
        };
        let all: Vec<Option<bool>> = messages().map(is_wrong).collect();
        let right = all.iter().filter(|wrong| **wrong == Some(false)).count();
        // Of one size it is right by chance: without a message, most often.
        let is_computed = matches!(field.value, WireValue::Computed(_));
        let is_chance = || is_computed && right == 1 && all.contains(&Some(true)) && sends_messages(check, way);
        let Some((whole, kept)) = first.filter(|_| right == 0 || is_chance()) else { continue };
        let name = &field.name;
        let text = format!(
            "`{}` does not read its own packets: one of {whole} octets is trimmed to {kept}",
            check.wire.name.text
        );
        let mut diagnostic = Diagnostic::error(codes::WIRE_OWN, text)
            .at(name.span, format!("by `trim packet to {}`", shown(&name.text, plus)));
        // The same number of octets is always missing.
        if let (1, Some(Some(lacks))) = (lacks.len(), lacks.first()) {
            diagnostic =
                diagnostic.help(format!("add what it leaves out: `trim packet to {} + {}`", name.text, plus + lacks));
        }
        let diagnostic = diagnostic.help(format!(
            "let it count all octets, header and message: `{}: u{} = size(packet)`",
            name.text, field.width
        ));
        tell(check, diagnostic);
    }
}

/// The sizes that the options at a path's end may have; 0 alone if it has none.
fn option_sizes(way: &Way) -> Vec<u64> {
    match way.items.last() {
        Some(WireItem::Options(options)) => sizes_of_options(options),
        _ => vec![0],
    }
}

/// Packets with all messages that are tried, with and without options.
fn packets_of<'a>(way: &'a Way<'a>) -> impl Iterator<Item = Packet> + use<'a> {
    option_sizes(way).into_iter().flat_map(move |size| messages().map(move |message| packet(way, size, 0, message)))
}

/// Reports a size that no packet of this path has.
fn never_fits(check: &mut WireCheck, way: &Way) {
    for field in fields(way) {
        let WireValue::Computed(expr) = &field.value else { continue };
        let mut least = None;
        let fits = |packet: Packet| {
            let said = value(&packet, expr);
            least = least.or(said.map(|said| (packet.header + packet.message, said)));
            said.is_none_or(|said| said <= types::mask(field.width))
        };
        if packets_of(way).any(fits) {
            continue;
        }
        let Some((octets, said)) = least else { continue };
        let (wire, name, width) = (&check.wire.name.text, &field.name.text, field.width);
        let said = match said > u64::MAX / 2 {
            true => "less than nothing".to_string(),
            false => said.to_string(),
        };
        let text = format!("`{wire}` does not read its own packets: `{name}` is {said} in one of {octets} octets, and has {width} bits");
        let diagnostic = Diagnostic::error(codes::WIRE_OWN, text)
            .at(field.name.span, "fits no packet")
            .help("widen the field, or let it count larger units: `size(header) / 4`");
        tell(check, diagnostic);
    }
}

/// Reports a constraint that no packet of this path meets, whatever its size; or the only one, if all packets have one.
fn never_passes(check: &mut WireCheck, way: &Way, is_only: bool) {
    let one_size =
        is_only && messages::are_bare(check) && way.items.iter().all(|item| matches!(item, WireItem::Field(_)));
    for field in fields(way) {
        for (a, op, b) in &field.constraints {
            let fails = |packet: Packet| match (value(&packet, a), value(&packet, b)) {
                (Some(a), Some(b)) => op.is_met(a, b) == Some(false),
                _ => false,
            };
            // A packet whose sizes do not fit their fields is not sent.
            let tried = packets_of(way).filter(|packet| !one_size || packet.message == 0);
            let mut sent = tried.filter(|packet| sizes_fit(way, packet)).peekable();
            if sent.peek().is_none() || !sent.all(fails) {
                continue;
            }
            let text = format!("`{}` does not read its own packets: none of them passes", check.wire.name.text);
            let diagnostic = Diagnostic::error(codes::WIRE_OWN, text)
                .at(field.name.span, "its `where` is true of none")
                .help("look at the numbers, and at which side is the larger");
            tell(check, diagnostic);
        }
    }
}

/// Reports two checksums in one packet: each would cover the other.
fn sums_of_sums(check: &mut WireCheck, way: &Way) {
    let is_sum = |field: &&WireField| {
        matches!(field.value, WireValue::Computed(WireExpr::HeaderChecksum | WireExpr::PacketChecksum))
    };
    let sums: Vec<&WireField> = fields(way).filter(is_sum).collect();
    let [first, second, ..] = &sums[..] else { return };
    let text =
        format!("`{}` does not read its own packets: each of two sums would cover the other", check.wire.name.text);
    let diagnostic = Diagnostic::error(codes::WIRE_OWN, text)
        .at(second.name.span, "the second")
        .label(first.name.span, "the first")
        .help("leave one out; or let a layer make the other of the message alone, with `sum16`");
    tell(check, diagnostic);
}

/// Whether all sizes that the wire computes fit their fields.
fn sizes_fit(way: &Way, packet: &Packet) -> bool {
    fields(way).all(|field| match &field.value {
        WireValue::Computed(expr) => value(packet, expr).is_none_or(|value| value <= types::mask(field.width)),
        _ => true,
    })
}

fn shown(name: &str, plus: u64) -> String {
    match plus {
        0 => name.to_string(),
        plus => format!("{name} + {plus}"),
    }
}

/// Reports a field that is the size of the message, where the header must be counted too.
fn trims_to_messages(check: &mut WireCheck, way: &Way) {
    for field in fields(way) {
        let (Some(plus), WireValue::Header { layer, variant, field: of, times: 1, plus: more }) =
            (field.trims, &field.value)
        else {
            continue;
        };
        let header = packet(way, 0, 0, 0).header;
        let counted = plus + more;
        if counted >= header || !is_message_size(check, &layer.text, variant.as_ref(), &of.text) {
            continue;
        }
        let text = format!(
            "`{}` does not read its own packets: `{}.{}` is the size of the message, and the packet has {header} octets of header, too",
            check.wire.name.text, layer.text, of.text
        );
        let missing = header - plus;
        let diagnostic = Diagnostic::error(codes::WIRE_OWN, text)
            .at(field.name.span, format!("{} octets too few", header - counted))
            .help(format!(
                "count the header: `{}: u{} = {}.{} + {missing}`",
                field.name.text, field.width, layer.text, of.text
            ))
            .help(format!("or trim to both: `trim packet to {} + {header}`", field.name.text));
        tell(check, diagnostic);
    }
}

/// Whether exactly one layer of the bundle writes this field when it sends, and always writes `msg.size`.
fn is_message_size(check: &WireCheck, layer: &str, variant: Option<&Name>, field: &str) -> bool {
    let sends = |seen: &Layer| seen.handlers.iter().any(|handler| matches!(handler.event, Event::Send { .. }));
    let below = check.seen.iter().skip_while(|seen| seen.layer.name.text != layer).skip(1);
    let Some(seen) = check.layer(layer).filter(|_| !below.into_iter().any(|seen| sends(seen.layer))) else {
        return false;
    };
    let Some(header) = &seen.layer.header else { return false };
    let is_it = |known: &&Variant| variant.is_none_or(|wanted| wanted.text == known.name.text);
    let Some(at) = header.variants.iter().position(|known| is_it(&known)) else { return false };
    let Some(place) = header.variants[at].fields.iter().position(|known| known.name.text == field) else {
        return false;
    };
    let (mut any, mut all) = (false, true);
    visit::walk_layer(seen.layer, &mut |met| {
        let visit::Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Send { fields: Some(fields), .. }), .. }) = met
        else {
            return;
        };
        if fields.variant as usize != at {
            return;
        }
        any = true;
        all &= fields.values.get(place).is_some_and(is_size);
    });
    any && all
}

fn is_size(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::MessageSize(_) => true,
        ExprKind::Cast { a, .. } => is_size(a),
        _ => false,
    }
}

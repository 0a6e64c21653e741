//! The wires of a stack: those that bundles name, and generated ones; and the places of placed fields in packets.

mod compressed;
mod hash;
mod headers;
mod layout;
mod options;
mod placed;
mod repeated;

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::stack::{HeaderField, Lowering, PlacedField};

use repeated::{at_most, renumber};

/// The place of the next field of a wire, in bits; `None` after a choice.
struct Cursor {
    bits: Option<u32>,
    /// Header variants that the current arm selects.
    selected: Vec<(r::HeaderId, r::VariantId)>,
    /// The numbers of the current elements, outermost first, which `*` stands for.
    elements: Vec<usize>,
}

struct Context<'a> {
    name: String,
    big: bool,
    members: &'a [usize],
    /// Members from this index on are placed.
    placed_from: usize,
}

impl<'p> Lowering<'p> {
    /// Declares headers, and the wires that carry them.
    pub fn declare_wires(&mut self) {
        for inst in 0..self.plan.insts.len() {
            self.declare_headers(inst);
        }
        let plan = self.plan;
        for group in 0..plan.groups.len() {
            let members = &plan.groups[group].members;
            let barrier = plan.barrier(group);
            let placed_from = members.iter().position(|at| Some(*at) == barrier).unwrap_or(members.len());
            let wire = match plan.groups[group].wire {
                Some(wire) => Some(self.named_wire(wire, members, placed_from)),
                None if plan.groups[group].compressed => self.compressed_wire(members),
                None => self.generated_wire(members),
            };
            let Some(wire) = wire else { continue };
            let barrier = barrier.is_some().then_some(placed_from);
            for column in plan.columns(group) {
                let Some(lowest) = column.last().copied() else { continue };
                match barrier {
                    Some(barrier) => {
                        self.change(column[barrier], |info| info.coding.above = Some(wire));
                        self.change(lowest, |info| info.coding.validated = Some(wire));
                    }
                    None => self.change(lowest, |info| info.coding.below = Some(wire)),
                }
            }
        }
        self.share_headers();
    }

    pub(crate) fn headers_of(&self, members: &[usize]) -> Vec<r::HeaderId> {
        members.iter().rev().filter_map(|at| self.infos[*at].header).collect()
    }

    /// The wire with the headers of an instance's group.
    pub fn wire_of(&self, inst: usize) -> Option<r::WireId> {
        let members = &self.plan.groups[self.inst(inst).group?].members;
        members.iter().find_map(|at| self.infos[*at].coding.wire())
    }

    /// The wire in the stack for a definition, the nearest one below an instance.
    pub fn wire_below(&self, inst: usize, wire: s::WireId) -> Option<r::WireId> {
        let mut at = Some(inst);
        while let Some(here) = at {
            let group = self.inst(here).group;
            if group.and_then(|group| self.plan.groups[group].wire) == Some(wire) {
                return self.wire_of(here);
            }
            at = self.inst(here).below;
        }
        None
    }

    /// Whether an instance is below the point where octets become the headers of the wire, though in its bundle.
    pub fn meets_later(&self, inst: usize, wire: s::WireId) -> bool {
        let of = self.inst(inst).group.and_then(|group| self.plan.groups[group].wire);
        of == Some(wire) && self.infos[inst].coding.placed.is_some()
    }

    // -- wires of the text

    fn named_wire(&mut self, wire: s::WireId, members: &[usize], placed_from: usize) -> r::WireId {
        let definition = &self.program.wires[wire.index()];
        let mut name = definition.name.text.clone();
        if self.a.wire_named(&name).is_some() {
            let inst = members.first().map_or(String::new(), |at| self.inst(*at).name.clone());
            let own = format!("{}.{name}", inst.split('.').next().unwrap_or_default());
            let numbered = (2..).map(|number| own.replacen('.', &format!("_{number}."), 1));
            let mut names = std::iter::once(own.clone()).chain(numbered);
            name = names.find(|name| self.a.wire_named(name).is_none()).unwrap_or(own);
        }
        let context = Context { name: name.clone(), big: definition.big, members, placed_from };
        let headers = self.headers_of(&members[..placed_from]);
        for at in &members[placed_from..] {
            let fields = self.infos[*at].fields.first().map_or(0, Vec::len);
            self.change(*at, |info| info.coding.placed = Some(vec![None; fields]));
        }
        let mut cursor = Cursor { bits: Some(0), selected: Vec::new(), elements: Vec::new() };
        let mut items = self.wire_items(&context, &definition.items, &mut cursor);
        let looks = members.get(placed_from).and_then(|at| self.layer(*at)).map(|layer| &layer.name);
        self.placed_are_zero(definition, &items, looks);
        renumber(&mut items);
        for at in members {
            let size = cursor.bits.map(|bits| bits / 8);
            self.change(*at, |info| info.coding.size = size);
        }
        let short = self.a.reason(&format!("{name}.short"));
        self.a.wires.push(r::Wire { name, headers, endian: endian(definition.big), items, short });
        r::WireId::from(self.a.wires.len() - 1)
    }

    fn wire_items(&mut self, context: &Context, items: &[s::WireItem], cursor: &mut Cursor) -> Vec<r::WireItem> {
        let mut all = Vec::new();
        for item in items {
            all.push(match item {
                s::WireItem::Field(field) => r::WireItem::Field(self.wire_field(context, field, cursor)),
                s::WireItem::Choice { on, arms, .. } => {
                    let tag = field_name(items, *on).unwrap_or("choice");
                    let unknown = self.a.reason(&format!("{}.{tag}", context.name));
                    let arms = arms.iter().map(|arm| self.wire_arm(context, arm, cursor)).collect();
                    cursor.bits = None;
                    r::WireItem::Choice { on: r::FieldIndex(*on), arms, unknown }
                }
                s::WireItem::Optional { when, items, .. } => {
                    cursor.bits = None;
                    let test = |(left, compare, right): &(s::WireExpr, s::Binary, s::WireExpr)| r::WireTest {
                        left: expression_of(left),
                        compare: compare_of(*compare),
                        right: expression_of(right),
                    };
                    let when = when.iter().map(test).collect();
                    r::WireItem::Optional { when, items: self.wire_items(context, items, cursor) }
                }
                s::WireItem::Options(options) => {
                    cursor.bits = None;
                    r::WireItem::Options(self.wire_options(context, options, cursor))
                }
                s::WireItem::Reach(to, _) => r::WireItem::Reach(expression_of(to)),
                s::WireItem::Each(each) => {
                    cursor.bits = None;
                    let moves = each.moves() || !cursor.elements.is_empty();
                    let found = match moves || matches!(all.last(), Some(r::WireItem::List(_))) {
                        true => self.list(context, each, cursor).map(r::WireItem::List),
                        false => self.counted_elements(context, each, &all, cursor),
                    };
                    match found {
                        Some(item) => item,
                        None => continue,
                    }
                }
            });
        }
        all
    }

    /// The header field that the text names: its layer's index in the bundle, and the field.
    fn header_place(
        &self,
        context: &Context,
        (layer, variant, field): (&s::Name, Option<&s::Name>, &s::Name),
        cursor: &Cursor,
    ) -> Option<HeaderPlace> {
        let of = |at: &usize| self.layer(*at).is_some_and(|known| known.name.text == layer.text);
        let place = context.members.iter().position(of)?;
        let info = &self.infos[context.members[place]];
        let header = info.header?;
        let named = variant.and_then(|variant| {
            self.named_variant(context, Some(&layer.text), &variant.text).map(|(_, variant)| variant)
        });
        let selected = cursor.selected.iter().find(|(of, _)| *of == header).map(|(_, variant)| *variant);
        let variant = named.or(selected).unwrap_or(r::VariantId(0));
        let fields = info.fields.get(variant.index())?;
        let mut name = field.text.replace('.', "_");
        for element in &cursor.elements {
            name = name.replacen('*', &element.to_string(), 1);
        }
        let first = field.text.split('.').next().unwrap_or_default();
        let declared = self.layer(context.members[place])?.header.as_ref().and_then(|header| {
            let fields = &header.variants.get(variant.index())?.fields;
            fields.iter().position(|known| known.name.text == first).map(|at| at as u32)
        });
        let is_it = |known: &HeaderField| known.path == name && (known.own.is_none() || known.own == declared);
        let at = fields.iter().position(is_it)?;
        Some((place, header, variant, at, fields[at].ty))
    }

    fn wire_arm(&mut self, context: &Context, arm: &s::WireArm, cursor: &Cursor) -> r::WireArm {
        let mut selects = Vec::new();
        if let Some((layer, variant)) = &arm.selects {
            match self.named_variant(context, layer.as_ref().map(|name| name.text.as_str()), &variant.text) {
                Some(found) => selects.push(found),
                None => {
                    let message = format!("no layer of the bundle has an alternative `{}`", variant.text);
                    self.error("M0728", message, Some(variant.span), "name it as `Layer.Alternative`");
                }
            }
        }
        let selected = [cursor.selected.clone(), selects.clone()].concat();
        let mut inner = Cursor { bits: cursor.bits, selected, elements: cursor.elements.clone() };
        let items = self.wire_items(context, &arm.items, &mut inner);
        r::WireArm { tag: arm.tag, selects, commons: Vec::new(), items }
    }

    fn named_variant(
        &self,
        context: &Context,
        layer: Option<&str>,
        variant: &str,
    ) -> Option<(r::HeaderId, r::VariantId)> {
        context.members.iter().find_map(|at| {
            let definition = self.layer(*at).filter(|known| layer.is_none_or(|name| known.name.text == name))?;
            let place = definition.header.as_ref()?.variants.iter().position(|known| known.name.text == variant)?;
            Some((self.infos[*at].header?, r::VariantId::from(place)))
        })
    }

    fn wire_field(&mut self, context: &Context, field: &s::WireField, cursor: &mut Cursor) -> r::WireField {
        let name = &field.name.text;
        let otherwise = self.a.reason(&format!("{}.{name}", context.name));
        let value = match &field.value {
            s::WireValue::Constant(value) => r::FieldValue::Constant { value: *value, otherwise },
            s::WireValue::Computed(expression) => {
                r::FieldValue::Computed { expression: expression_of(expression), otherwise }
            }
            s::WireValue::Tag => r::FieldValue::Tag,
            s::WireValue::Unread => r::FieldValue::Reserved,
            s::WireValue::Preserved => self.preserved(context, field),
            s::WireValue::Header { .. } => self.header_value(context, field, otherwise, cursor),
        };
        let constraints = field.constraints.iter().map(|(left, compare, right)| r::WireConstraint {
            left: expression_of(left),
            compare: compare_of(*compare),
            right: expression_of(right),
            otherwise,
        });
        let constraints = constraints.collect();
        let bounded = self.most_counted(context, &field.value, cursor);
        cursor.bits = cursor.bits.map(|bits| bits + u32::from(field.width));
        let mut made = r::WireField {
            index: r::FieldIndex(field.index),
            name: name.clone(),
            width: field.width,
            endian: endian(field.big),
            value,
            constraints,
            trims_packet: field.trims.is_some(),
            trims_plus: field.trims.unwrap_or(0),
        };
        if let Some(most) = bounded {
            at_most(&mut made, most, otherwise);
        }
        made
    }

    /// The largest value of a field that holds a vector's length.
    fn most_counted(&self, context: &Context, value: &s::WireValue, cursor: &Cursor) -> Option<u64> {
        let s::WireValue::Header { layer, variant, field, times, plus } = value else { return None };
        let (place, _, variant, ..) = self.header_place(context, (layer, variant.as_ref(), field), cursor)?;
        let bound = self.most_of(context.members[place], variant.index(), field.text.strip_suffix(".length")?)?;
        Some(bound as u64 * times + plus)
    }

    fn header_value(
        &mut self,
        context: &Context,
        field: &s::WireField,
        otherwise: r::ReasonId,
        cursor: &Cursor,
    ) -> r::FieldValue {
        let s::WireValue::Header { layer, variant, field: name, times, plus } = &field.value else {
            return r::FieldValue::Reserved;
        };
        let found = self.header_place(context, (layer, variant.as_ref(), name), cursor);
        let Some((place, header, variant, at, ty)) = found else {
            let message = format!("`{}.{}` is no field of a layer of this bundle", layer.text, name.text);
            self.error("M0728", message, Some(name.span), "");
            return r::FieldValue::Reserved;
        };
        if place >= context.placed_from {
            if self.a.gaps(ty, ty.width(&self.a)).is_some() {
                let message = format!("whether `{}` has a name cannot be checked here", name.text);
                let help = "the layer stands below one that looks at octets: write `open` behind the type of the enum's numbers";
                self.error("M0728", message, Some(name.span), help);
            }
            self.note_placed(context.members[place], at, field, cursor, (*times, *plus));
            return r::FieldValue::Placed;
        }
        let plain = *times == 1 && *plus == 0 && ty.width(&self.a) >= field.width && !matches!(ty, r::Type::Enum(_));
        let otherwise = (!plain).then_some(otherwise);
        r::FieldValue::Header { header, variant, field: at as u32, times: *times, plus: *plus, otherwise }
    }

    /// A preserved bit field: a header field above the coding point that is an attribute of the message.
    fn preserved(&mut self, context: &Context, field: &s::WireField) -> r::FieldValue {
        let above = &context.members[..context.placed_from];
        let alone = |at: &&usize| self.infos[**at].header.is_some() && self.infos[**at].fields.len() == 1;
        let Some(carrier) = above.iter().rev().find(alone).copied() else {
            let message = format!("no layer of the bundle can keep `{}`", field.name.text);
            let help = "a layer above the one that looks at octets, with a header of one form, is needed";
            self.error("M0727", message, Some(field.name.span), help);
            return r::FieldValue::Reserved;
        };
        let Some(header) = self.infos[carrier].header else { return r::FieldValue::Reserved };
        let ty = r::Type::U(field.width);
        let definition = context.name.rsplit('.').next().unwrap_or_default();
        let name = format!("{definition}.{}", field.name.text);
        let known = self.a.attributes.iter().position(|known| known.name == name);
        let kept = known.unwrap_or_else(|| {
            self.a.attributes.push(r::Attribute { name: name.clone(), ty, default: 0 });
            self.a.attributes.len() - 1
        });
        let at = self.a.headers[header.index()].variants[0].fields.len() as u32;
        let label = format!("kept_{}", field.name.text);
        self.a.headers[header.index()].variants[0].fields.push((label.clone(), ty));
        let kept = Some(r::AttributeId::from(kept));
        let path = label.clone();
        let added = HeaderField { name: label, path, ty, key: None, own: None, big: None, common: None, kept };
        self.change(carrier, |info| info.fields[0].push(added));
        let variant = r::VariantId(0);
        r::FieldValue::Header { header, variant, field: at, times: 1, plus: 0, otherwise: None }
    }

    fn note_placed(
        &mut self,
        inst: usize,
        at: usize,
        field: &s::WireField,
        cursor: &Cursor,
        (times, plus): (u64, u64),
    ) {
        let whole = matches!(field.width, 8 | 16 | 24 | 32 | 48 | 64);
        let Some(bits) = cursor.bits.filter(|bits| bits % 8 == 0 && whole) else {
            let (name, width) = (&field.name.text, field.width);
            let is_fixed = cursor.bits.is_some_and(|bits| bits % 8 == 0);
            let (why, help) = match is_fixed && width.is_multiple_of(8) {
                true => (format!("and has {width} bits"), "give it 8, 16, 24, 32, 48 or 64 bits"),
                false => ("but does not stand at a fixed octet".into(), "put it before every choice, in whole octets"),
            };
            let message = format!("`{name}` is written by a layer below the coding point, {why}");
            self.error("M0727", message, Some(field.name.span), help);
            return;
        };
        let shifted = u32::from(self.faulty(Fault::PlacedOffset));
        let placed =
            PlacedField { octet: bits / 8 + shifted, width: field.width, endian: endian(field.big), times, plus };
        self.change(inst, |info| {
            if let Some(slot) = info.coding.placed.as_mut().and_then(|fields| fields.get_mut(at)) {
                *slot = Some(placed);
            }
        });
    }
}

/// A header field of the text: its layer's index in the bundle, and the field.
type HeaderPlace = (usize, r::HeaderId, r::VariantId, usize, r::Type);

pub(crate) fn endian(big: bool) -> r::Endian {
    if big {
        r::Endian::Big
    } else {
        r::Endian::Little
    }
}

fn field_name(items: &[s::WireItem], index: u32) -> Option<&str> {
    items.iter().find_map(|item| match item {
        s::WireItem::Field(field) if field.index == index => Some(field.name.text.as_str()),
        _ => None,
    })
}

fn compare_of(op: s::Binary) -> r::Compare {
    match op {
        s::Binary::Ne => r::Compare::Ne,
        s::Binary::Lt => r::Compare::Lt,
        s::Binary::Le => r::Compare::Le,
        s::Binary::Gt => r::Compare::Gt,
        s::Binary::Ge => r::Compare::Ge,
        _ => r::Compare::Eq,
    }
}

/// An expression of a wire in the automaton's form.
pub fn expression_of(expression: &s::WireExpr) -> r::WireExpression {
    use r::WireExpression as E;
    match expression {
        s::WireExpr::Number(value) => E::Number(*value),
        s::WireExpr::Field(index) => E::Field(r::FieldIndex(*index)),
        s::WireExpr::PacketSize => E::PacketSize,
        s::WireExpr::HeaderSize => E::HeaderSize,
        s::WireExpr::PayloadSize => E::PayloadSize,
        s::WireExpr::HeaderChecksum => E::HeaderChecksum,
        s::WireExpr::PacketChecksum => E::PacketChecksum,
        s::WireExpr::Binary { op, a, b } => {
            let (a, b) = (Box::new(expression_of(a)), Box::new(expression_of(b)));
            match op {
                s::Binary::Sub | s::Binary::SubWrap => E::Sub(a, b),
                s::Binary::Mul | s::Binary::MulWrap => E::Mul(a, b),
                s::Binary::Div => E::Div(a, b),
                _ => E::Add(a, b),
            }
        }
    }
}

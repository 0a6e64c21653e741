//! Options and lists of a wire, which occur as often as a header above says.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::repeated::{counted_by, nested};
use super::{endian, expression_of, Context, Cursor};
use crate::stack::Lowering;

impl Lowering<'_> {
    pub(super) fn wire_options(
        &mut self,
        context: &Context,
        options: &s::WireOptions,
        cursor: &mut Cursor,
    ) -> r::WireOptions {
        let part = |(name, width): &(s::Name, u8)| r::OptionPart { name: name.text.clone(), width: *width };
        let malformed = self.a.reason(&format!("{}.{}", context.name, options.length.0.text));
        let unknown = (!options.skips).then(|| self.a.reason(&format!("{}.{}", context.name, options.kind.0.text)));
        let arms = options.arms.iter().filter_map(|arm| self.wire_option(context, arm, cursor)).collect();
        r::WireOptions {
            kind: part(&options.kind),
            length: part(&options.length),
            times: options.times,
            plus: options.plus,
            endian: endian(context.big),
            until: expression_of(&options.until),
            pad: options.pad,
            pads_with: options.pads_with,
            ends_with: options.ends_with,
            arms,
            unknown,
            malformed,
        }
    }

    fn wire_option(&mut self, context: &Context, arm: &s::WireOption, cursor: &mut Cursor) -> Option<r::OptionArm> {
        let kind = arm.kind;
        Some(match &arm.what {
            s::OptionForm::End => r::OptionArm::End { kind },
            s::OptionForm::Single => r::OptionArm::Single { kind },
            s::OptionForm::Known { present, items } => {
                let list =
                    items.iter().find_map(|item| if let s::WireItem::Each(each) = item { Some(each) } else { None });
                let counts = list.filter(|each| counted_by(present, each));
                let present = counts.map_or(present, |each| &each.length);
                let (header, variant, at) = self.option_field(context, present, cursor)?;
                let fixed =
                    items.iter().filter(|item| matches!(item, s::WireItem::Field(_))).cloned().collect::<Vec<_>>();
                let mut items = self.wire_items(context, &fixed, cursor);
                let mut repeat = None;
                if let Some(each) = list {
                    let (_, _, count) = self.option_field(context, &each.length, cursor)?;
                    let elements = self.elements(context, each, cursor)?;
                    let per = elements.first().map_or(0, Vec::len) as u32;
                    repeat = Some(r::OptionRepeat { count, from: items.len() as u32, each: per });
                    items.extend(elements.into_iter().flatten());
                }
                r::OptionArm::Known { kind, header, variant, field: at, items, repeat }
            }
        })
    }

    /// The field of a header above the coding point that says whether an option is present, or how many elements it
    /// has.
    fn option_field(
        &mut self,
        context: &Context,
        value: &s::WireValue,
        cursor: &Cursor,
    ) -> Option<(r::HeaderId, r::VariantId, u32)> {
        let s::WireValue::Header { layer, variant, field, .. } = value else { return None };
        let found = self.header_place(context, (layer, variant.as_ref(), field), cursor);
        let Some((_, header, variant, at, _)) = found.filter(|found| found.0 < context.placed_from) else {
            let message = format!("`{}.{}` is no header field above the coding point", layer.text, field.text);
            self.error("M0727", message, Some(field.span), "let a layer above the barrier say it");
            return None;
        };
        Some((header, variant, at as u32))
    }

    /// The fields of each possible element.
    fn elements(
        &mut self,
        context: &Context,
        each: &s::WireEach,
        cursor: &mut Cursor,
    ) -> Option<Vec<Vec<r::WireItem>>> {
        let s::WireValue::Header { layer, variant, field, .. } = &each.length else { return None };
        let (place, _, variant, ..) = self.header_place(context, (layer, variant.as_ref(), field), cursor)?;
        let bound = self.most_of(context.members[place], variant.index(), field.text.strip_suffix(".length")?)?;
        let mut all = Vec::new();
        for element in 0..bound {
            cursor.elements.push(element);
            all.push(self.wire_items(context, &each.items, cursor));
            cursor.elements.pop();
        }
        Some(all)
    }

    /// Elements whose sizes may differ.
    pub(super) fn list(&mut self, context: &Context, each: &s::WireEach, cursor: &mut Cursor) -> Option<r::WireList> {
        let (header, variant, at) = self.option_field(context, &each.length, cursor)?;
        let s::WireValue::Header { field, .. } = &each.length else { return None };
        let vector = field.text.trim_end_matches(".length");
        let to_end = each.to_end.then(|| self.a.reason(&format!("{}.{vector}", context.name)));
        let elements = self.elements(context, each, cursor)?;
        Some(r::WireList { header, variant, count: at, to_end, elements })
    }

    /// Elements that an earlier field counts, which is the vector's length.
    pub(super) fn counted_elements(
        &mut self,
        context: &Context,
        each: &s::WireEach,
        before: &[r::WireItem],
        cursor: &mut Cursor,
    ) -> Option<r::WireItem> {
        let (header, variant, at) = self.option_field(context, &each.length, cursor)?;
        let counts = |field: &&r::WireField| {
            matches!(&field.value, r::FieldValue::Header { header: h, variant: v, field: f, .. }
                if (*h, *v, *f) == (header, variant, at))
        };
        let count = r::WireItem::fields(before).into_iter().find(counts).cloned();
        let Some((count, r::FieldValue::Header { times, plus, .. })) = count.map(|count| (count.index, count.value))
        else {
            let message = "how many elements there are does not stand in front of them, beside them".to_owned();
            let help = "write the field that counts them in the same part of the wire";
            self.error("M0727", message, Some(each.span), help);
            return None;
        };
        let elements = self.elements(context, each, cursor)?;
        nested(count, (times, plus), elements)
    }
}

//! Parts of wires that are not in every packet, against the bundle: what they cover, and that nothing stands behind an end.

use mokume_base::Diagnostic;

use super::wires::{Check, Path};
use crate::program::*;
use crate::{codes, types};

impl<'a> Check<'a, '_> {
    pub(super) fn option_names(&mut self, options: &'a WireOptions) {
        for arm in &options.arms {
            let OptionForm::Known { present, items } = &arm.what else { continue };
            let found = self.header_field(present);
            let is_bit = found.as_ref().is_none_or(|field| types::width(self.program, field.ty) == Some(1));
            let list = items.iter().find_map(|item| if let WireItem::Each(each) = item { Some(each) } else { None });
            // A vector is there if it is not empty.
            let is_bit = is_bit || list.is_some_and(|each| self.is_counted(present, each, items));
            if let (false, Some(field)) = (is_bit, found) {
                let text = format!("`{}` does not say whether a packet has this option", field.name.text);
                let diagnostic = Diagnostic::error(codes::WIRE_PRESENT, text)
                    .at(arm.span, "no bit of a header says it")
                    .label(field.name.span, types::show(self.program, field.ty))
                    .help("give the header a field such as `has_mss: bool`, and name it here");
                self.fail(diagnostic);
            }
            for item in items {
                match item {
                    WireItem::Field(field) => self.field_names(field),
                    WireItem::Each(each) => self.each_names(each),
                    _ => {}
                }
            }
        }
    }

    /// In a packet without the part its header fields are zero.
    pub(super) fn leave_out(&mut self, items: &'a [WireItem], path: &mut Path<'a>) {
        for item in items {
            match item {
                WireItem::Field(field) => self.cover(&field.value, field.name.span, path),
                WireItem::Optional { items, .. } => self.leave_out(items, path),
                WireItem::Options(options) => self.options(options, path),
                WireItem::Each(each) => self.cover_elements(each, path),
                WireItem::Choice { .. } | WireItem::Reach(..) => {}
            }
        }
    }

    pub(super) fn options(&mut self, options: &'a WireOptions, path: &mut Path<'a>) {
        if !path.bits.is_multiple_of(8) {
            let text = format!("the options of `{}` begin within an octet", self.wire.name.text);
            let diagnostic = Diagnostic::error(codes::WIRE_OCTETS, text)
                .at(options.span, format!("{} bits in front of them", path.bits))
                .help(format!("add a field such as `reserved: u{} = 0`", 8 - path.bits % 8));
            self.fail(diagnostic);
        }
        for arm in &options.arms {
            let OptionForm::Known { present, items } = &arm.what else { continue };
            if !self.names_vector(present) {
                self.cover(present, arm.span, path);
            }
            for item in items {
                match item {
                    WireItem::Field(field) => self.cover(&field.value, field.name.span, path),
                    WireItem::Each(each) => {
                        self.cover(&each.length, each.span, path);
                        self.cover_elements(each, path);
                    }
                    _ => {}
                }
            }
        }
        path.over = Some(options.span);
    }

    pub(super) fn behind_the_end(&mut self, item: &WireItem, path: &Path<'a>) {
        let Some(over) = path.over else { return };
        if matches!(item, WireItem::Each(_)) && path.listed {
            return;
        }
        let span = match item {
            WireItem::Field(field) => field.name.span,
            WireItem::Choice { span, .. } | WireItem::Optional { span, .. } | WireItem::Reach(_, span) => *span,
            WireItem::Options(options) => options.span,
            WireItem::Each(each) => each.span,
        };
        let diagnostic = Diagnostic::error(codes::WIRE_LAST, "a part of the header behind its end")
            .at(span, "no place for it")
            .label(over, "the header ends with this")
            .help("put it in front of the options, of `header to`, or of the list whose elements differ in size");
        self.fail(diagnostic);
    }
}

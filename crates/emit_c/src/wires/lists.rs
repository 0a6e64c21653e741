//! Lists at the end of a wire's header: one element after the other, with places relative to `head`, the current octet.
//!
//! The code has each possible element once, so it grows with their number, not with that of the ways.

use mokume_reaction::*;

use super::decoder::{Decoder, State};
use super::encoder::{put, Encoder};

/// A number that identifies a list: that of its first field.
fn number(list: &WireList) -> u32 {
    let first = list.elements.iter().flat_map(|element| WireItem::fields(element)).next();
    first.map_or(0, |field| field.index.0)
}

impl<'a> Decoder<'_, 'a> {
    pub(crate) fn list(&mut self, state: &mut State<'a>, list: &'a WireList) {
        if state.size.is_none() {
            self.text.line(format!("uint32_t head = {};", state.octets(state.at / 8)));
            state.size = Some("head".into());
        }
        list.elements.iter().for_each(|element| self.declare_fields(state, element));
        let Some(malformed) = list.to_end else { return self.counted(state, list) };
        let count = format!("n{}", number(list));
        self.text.line(format!("uint64_t {count} = 0;"));
        self.text.line(format!("(void){count};"));
        for element in &list.elements {
            self.text.open("if (head < end)");
            self.element(state, element);
            self.text.line(format!("{count}++;"));
            self.text.close("");
        }
        self.refuse_if("head < end".into(), malformed);
        self.set(state, (list.header, list.variant, list.count), count);
    }

    fn counted(&mut self, state: &mut State<'a>, list: &'a WireList) {
        let known = state.headers.iter().find(|known| known.header == list.header);
        let count = known.and_then(|known| known.value(list.variant, list.count));
        let count = count.unwrap_or_else(|| "0".into());
        for (place, element) in list.elements.iter().enumerate() {
            self.text.open(format!("if ({count} > {place})"));
            self.element(state, element);
            self.text.close("");
        }
    }

    /// Makes the same refusals in the same order as `mokume-wire`: field by field.
    fn element(&mut self, state: &mut State<'a>, element: &'a [WireItem]) {
        let (mut bit, mut checked) = (0, 0);
        for item in element {
            match item {
                WireItem::Field(field) => {
                    let octets = (bit + u32::from(field.width)).div_ceil(8);
                    if octets > checked {
                        self.refuse_if(format!("end - head < {octets}"), self.wire.short);
                        checked = octets;
                    }
                    self.inner_field(state, field, ("(packet + head)", bit), &format!("v{}", field.index.0));
                    bit += u32::from(field.width);
                }
                WireItem::List(list) => {
                    self.text.line(format!("head += {};", bit / 8));
                    (bit, checked) = (0, 0);
                    self.counted(state, list);
                }
                _ => {}
            }
        }
        self.text.line(format!("head += {};", bit / 8));
    }
}

impl<'a> Encoder<'_, 'a> {
    /// `head`: the octets of the header with the elements that are present.
    pub(crate) fn lists_size(&mut self, begins: &str, lists: &[&'a WireList]) {
        self.text.line(format!("uint32_t head = {begins};"));
        lists.iter().for_each(|list| self.list_size(list));
    }

    fn list_size(&mut self, list: &'a WireList) {
        let Some(count) = self.read_header(list.header, list.variant, list.count) else { return };
        let (name, most) = (format!("n{}", number(list)), list.most());
        self.text.line(format!("uint64_t {name} = {count};"));
        self.text.line(format!("narrow |= {name} > {most};"));
        for (place, element) in list.elements.iter().enumerate() {
            self.text.open(format!("if ({name} > {place})"));
            let bits: u32 = element.iter().map(plain_bits).sum();
            self.text.line(format!("head += {};", bits / 8));
            for item in element {
                if let WireItem::List(inner) = item {
                    self.list_size(inner);
                }
            }
            self.text.close("");
        }
    }

    pub(crate) fn write_lists(&mut self, begins: &str, lists: &[&'a WireList]) {
        self.text.line(format!("uint8_t *place = packet + {begins};"));
        self.text.line(format!("memset(place, 0, head - {begins});"));
        lists.iter().for_each(|list| self.write_list(list));
        self.text.line("(void)place;");
    }

    fn write_list(&mut self, list: &'a WireList) {
        let Some(count) = self.read_header(list.header, list.variant, list.count) else { return };
        for (place, element) in list.elements.iter().enumerate() {
            self.text.open(format!("if ({count} > {place})"));
            self.write_element(element);
            self.text.close("");
        }
    }

    fn write_element(&mut self, element: &'a [WireItem]) {
        let mut bit = 0;
        for item in element {
            match item {
                WireItem::Field(field) => {
                    let value = self.element_value(field);
                    put(self.text, "place", (bit, field.width), field.endian, &value);
                    bit += u32::from(field.width);
                }
                WireItem::List(list) => {
                    self.text.line(format!("place += {};", bit / 8));
                    bit = 0;
                    self.write_list(list);
                }
                _ => {}
            }
        }
        self.text.line(format!("place += {};", bit / 8));
    }
}

fn plain_bits(item: &WireItem) -> u32 {
    match item {
        WireItem::Field(field) => u32::from(field.width),
        _ => 0,
    }
}

//! Headers with fields of odd widths, and wires for them.

use std::fmt::Write;

use mokume_base::Random;

use super::numbers::Number;

/// A header: its fields. The first fields are a session's key.
pub(crate) struct Header {
    layer: usize,
    pub fields: Vec<Number>,
    keys: usize,
    /// The one-bit field that says whether the last field is present.
    flag: Option<usize>,
    /// Whether another header, which has two kinds, is in front of it.
    pub has_kinds: bool,
}

/// Widths of fields; some fill whole octets, others do not.
const WIDTHS: &[u32] = &[8, 8, 16, 16, 32, 1, 3, 4, 4, 5, 12, 13, 20, 24, 48, 64];

impl Header {
    /// A random header of a layer.
    pub fn random(random: &mut Random, layer: usize, has_sessions: bool) -> Header {
        let keys = if has_sessions { 1 + random.place(3) } else { 0 };
        let mut fields = Vec::new();
        for at in 0..keys + 1 + random.place(4) {
            let width = *random.one_of(WIDTHS);
            let is_seq = at >= keys && width >= 8 && random.percent(15);
            fields.push(Number { width, is_seq });
        }
        let flag = (fields.len() > keys + 1 && random.percent(25)).then_some(fields.len() - 2);
        if let Some(flag) = flag {
            fields[flag] = Number::of(1);
        }
        Header { layer, fields, keys, flag, has_kinds: random.percent(25) }
    }

    /// The types of a session's key.
    pub fn keys(&self) -> &[Number] {
        &self.fields[..self.keys]
    }

    /// Whether the last field is optional.
    pub fn has_flag(&self) -> bool {
        self.flag.is_some()
    }

    /// Its declaration in the text form.
    pub fn declared(&self) -> String {
        let fields: Vec<String> =
            self.fields.iter().enumerate().map(|(at, field)| format!("f{at}: {}", field.name())).collect();
        let i = self.layer;
        let kinds = match self.has_kinds {
            true => format!("header l{i}.Kind {{\n  Data{{n: u8}}\n  Ack{{n: u16, b: u4}}\n}}\n"),
            false => String::new(),
        };
        format!("header l{i}.Hdr {{ {} }}\n{kinds}", fields.join(", "))
    }

    /// Its wire, optionally with the header of the layer above in it: the fields in some order, with constants, lengths
    /// and sums between them.
    pub fn wire(&self, random: &mut Random, inner: Option<&Header>) -> String {
        let layer = self.layer;
        let order = *random.one_of(&["big", "big", "big", "little"]);
        let above = inner.map_or(String::new(), |inner| format!(", l{}.Hdr", inner.layer));
        let kinds = if self.has_kinds { format!("l{layer}.Kind, ") } else { String::new() };
        let mut text =
            format!("wire w{layer} {order} {{\n  headers {kinds}l{layer}.Hdr{above}\n  short l{layer}.short\n");
        let tag = *random.one_of(&[8, 16, 4]);
        if self.has_kinds {
            let _ = writeln!(text, "  field kind: {tag} tag");
            if tag == 4 {
                text += "  field beside: 4 = 5 else ";
                let _ = writeln!(text, "l{layer}.bad");
            }
        }
        if let Some(inner) = inner {
            self.laid_out(&mut text, random, None);
            let end = if random.percent(50) { self.layer } else { inner.layer };
            inner.laid_out(&mut text, random, Some(end));
        } else {
            self.laid_out(&mut text, random, Some(self.layer));
        }
        if self.has_kinds {
            let most = Number::of(tag).most();
            let _ = write!(
                text,
                "  choice kind else l{layer}.bad {{\n    case {} select l{layer}.Kind.Data {{\n      field n: 8 from l{layer}.Kind.Data.n\n    }}\n    \
                 case {} select l{layer}.Kind.Ack {{\n      field b: 4 from l{layer}.Kind.Ack.b\n      field c: 4 reserved\n      \
                 field n: 16 little from l{layer}.Kind.Ack.n\n    }}\n  }}\n",
                random.below(3),
                most - random.below(2),
            );
        }
        text + "}\n"
    }

    /// `end`: whether lengths and sums may follow the fields; it gives the layer whose reason is used to refuse a
    /// packet.
    fn laid_out(&self, text: &mut String, random: &mut Random, end: Option<usize>) {
        let layer = self.layer;
        let mut places: Vec<usize> = (0..self.fields.len()).collect();
        if let Some(flag) = self.flag {
            // After all others.
            places.retain(|place| *place != flag + 1);
        }
        for at in (1..places.len()).rev() {
            places.swap(at, random.place(at + 1));
        }
        // A sum covers an even number of octets, in fixed order.
        let is_summed = end.is_some() && self.flag.is_none() && random.percent(20);
        let (mut bits, mut number, mut all) = (0, 0, 0);
        let mut fill = |text: &mut String, bits: &mut u32, random: &mut Random| {
            if !bits.is_multiple_of(8) {
                let width = 8 - *bits % 8;
                number += 1;
                let is_known = random.percent(50);
                let what = match is_known {
                    true => format!("= {} else l{layer}.bad", random.below(1 << width)),
                    false => "reserved".to_owned(),
                };
                let _ = writeln!(text, "  field fill{layer}_{number}: {width} {what}");
                *bits = 0;
            }
        };
        for place in places {
            let field = self.fields[place];
            if field.width.is_multiple_of(8) || bits % 8 + field.width > 64 {
                fill(text, &mut bits, random);
            }
            if bits.is_multiple_of(8) && random.percent(12) {
                let width = *random.one_of(&[8, 16, 32]);
                all += width;
                let _ = writeln!(
                    text,
                    "  field magic{layer}_{place}: {width} = {} else l{layer}.bad",
                    random.word() & Number::of(width).most()
                );
            }
            let own = match field.width.is_multiple_of(8) && field.width > 8 {
                true if is_summed => " big",
                true => *random.one_of(&["", "", " big", " little"]),
                false => "",
            };
            if bits == 0 {
                all = all.next_multiple_of(8);
            }
            all += field.width;
            let _ = writeln!(text, "  field f{layer}_{place}: {}{own} from l{layer}.Hdr.f{place}", field.width);
            bits = (bits + field.width) % 8;
        }
        fill(text, &mut bits, random);
        if let Some(flag) = self.flag {
            let place = flag + 1;
            let _ = writeln!(text, "  optional f{layer}_{flag} == 1 {{");
            let field = self.fields[place];
            let _ = writeln!(text, "    field f{layer}_{place}: {} from l{layer}.Hdr.f{place}", field.width);
            if !field.width.is_multiple_of(8) {
                let _ = writeln!(text, "    field behind{layer}: {} reserved", 8 - field.width % 8);
            }
            text.push_str("  }\n");
        } else if let Some(layer) = end {
            if random.percent(30) {
                all += 16;
                let own = if is_summed { &" big" } else { random.one_of(&["", " big", " little"]) };
                let _ = writeln!(text, "  field length: 16{own} computed packet_size() else l{layer}.bad trims");
            }
            if is_summed {
                if all.div_ceil(8) % 2 == 1 {
                    let _ = writeln!(text, "  field even{layer}: 8 reserved");
                }
                let sum = random.one_of(&["header_checksum()", "packet_checksum()"]);
                let _ = writeln!(text, "  field sum: 16 big computed {sum} else l{layer}.bad");
            }
        }
    }
}

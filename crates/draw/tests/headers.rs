//! Pictures of headers against expected files (`BLESS=1` rewrites them), and what holds of every picture.

use std::path::Path;

use mokume_base::SourceMap;
use mokume_draw::*;
use mokume_reaction::*;

fn blessed(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, actual).expect("the tests' folder can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{name} differs; if it should, run with BLESS=1. Now:\n{actual}");
}

/// Optional parts, options, a header that reaches into the message, arms that leave fields out; and long fields.
fn automaton() -> Automaton {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reaction/form/wire_parts.ra");
    let text = std::fs::read_to_string(file).expect("a file of the repository");
    let text = text.replace("header r.Hdr { words: u8 }", "header r.Hdr { words: u8, mac: u48, way: u64, bit: u1, many: u23 }").replace(
        "  reach (words * 4)",
        "  field mac: 48 big from r.Hdr.mac\n  field way: 64 from r.Hdr.way\n  field bit: 1 from r.Hdr.bit\n  field many: 23 from r.Hdr.many\n  reach (words * 4)",
    );
    let mut sources = SourceMap::default();
    text::parse(sources.add("parts.ra", &text), &text).automaton
}

#[test]
fn headers_are_drawn_as_in_an_rfc() {
    let pictures = header_pictures(&automaton());
    blessed("headers.txt", &headers_text(&pictures));
    blessed("headers.svg", &headers_svg("wire_parts", &pictures));
}

/// One element of a list stands for all.
fn drawn_fields(items: &[WireItem]) -> Vec<&WireField> {
    let mut found = Vec::new();
    for item in items {
        match item {
            WireItem::Field(field) => found.push(field),
            WireItem::List(list) => found.extend(list.elements.first().map_or(Vec::new(), |first| drawn_fields(first))),
            item => item.inner().into_iter().for_each(|items| found.extend(drawn_fields(items))),
        }
    }
    found
}

/// Every field once, with its width; each part begins where the previous one ends.
#[test]
fn every_field_is_in_one_part() {
    let automaton = automaton();
    for (picture, wire) in header_pictures(&automaton).iter().zip(&automaton.wires) {
        let cells: Vec<&HeaderBits> = picture.parts.iter().flat_map(|part| &part.cells).collect();
        let fields = drawn_fields(&wire.items);
        // Kind and length of an option are not fields of the wire.
        let of_option = |cell: &HeaderBits| cell.says.starts_with("= ") || cell.says.ends_with(" octets");
        let drawn = cells.iter().filter(|cell| !of_option(cell)).map(|cell| (cell.name.as_str(), cell.bits));
        let drawn: Vec<(&str, u32)> = drawn.collect();
        assert_eq!(drawn, fields.iter().map(|field| (field.name.as_str(), field.width.into())).collect::<Vec<_>>());
        let text = headers_text(std::slice::from_ref(picture));
        assert!(text.lines().all(|line| !line.starts_with('+') || line.len() <= 65), "{text}");
        // A planted fault: a field that is one bit wider moves all that follows it.
        let mut wider = picture.clone();
        wider.parts[0].cells[0].bits += 1;
        assert_ne!(headers_text(&[wider]), text);
    }
}

/// Of a vector's elements one is drawn, where they are alike.
#[test]
fn one_element_stands_for_all() {
    let of = |second: &str| {
        let text = format!(
            "automaton v\nheader r.Hdr {{ many: u8, at_0: u16, at_1: u16, at_2: u{second}, last: u8 }}\nreason r.short\nreason r.many\n\
             layer r\nclass r.E capacity 1 {{\n}}\nwire r big {{\n  headers r.Hdr\n  short r.short\n\
             \x20 field many: 8 from r.Hdr.many\n    require many <= 3 else r.many\n\
             \x20 optional many > 0 {{\n    field at: 16 from r.Hdr.at_0\n    optional many > 1 {{\n      field at: 16 from r.Hdr.at_1\n\
             \x20     optional many > 2 {{\n        field at: {second} from r.Hdr.at_2\n      }}\n    }}\n  }}\n\
             \x20 field last: 8 from r.Hdr.last\n}}\n"
        );
        let mut sources = SourceMap::default();
        let parsed = text::parse(sources.add("vector.ra", &text), &text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics.first());
        header_pictures(&parsed.automaton).remove(0)
    };
    let cells = |picture: &HeaderPicture| -> Vec<(String, u32, Vec<String>)> {
        let says = |part: &HeaderPart| part.cells.iter().map(|cell| format!("{}: {}", cell.name, cell.says)).collect();
        picture.parts.iter().map(|part| (part.title.clone(), part.start, says(part))).collect()
    };
    assert_eq!(
        cells(&of("16")),
        [
            (String::new(), 0, vec!["many: r.Hdr.many, where many <= 3".to_string()]),
            ("each of up to 3: many".to_string(), 8, vec!["at: r.Hdr.at".to_string()]),
            ("behind it".to_string(), 24, vec!["last: r.Hdr.last".to_string()]),
        ]
    );
    // One that is not as the others is drawn by itself, and so are they.
    assert_eq!(of("8").parts.iter().filter(|part| part.title.starts_with("if many > ")).count(), 3);
}

/// In the picture of a stack a vector is one field of its type.
#[test]
fn a_vector_is_a_field_of_a_box() {
    let of = |third: &str| {
        let text = format!(
            "automaton v\nheader r.Hdr {{ first: u8, hosts_length: u8, hosts_0: u32, hosts_1: u32, hosts_2: {third}, last: u8 }}\n\
             layer r\nclass r.E capacity 1 {{\n}}\n"
        );
        let mut sources = SourceMap::default();
        let parsed = text::parse(sources.add("vector.ra", &text), &text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics.first());
        Stack::of(&parsed.automaton, &[]).nodes[0].lines.join("; ")
    };
    assert_eq!(of("u32"), "first: u8, hosts: [u32; ..3], last: u8");
    assert_eq!(of("u16"), "first: u8, hosts: [u32; ..2], hosts_2: u16, last: u8");
}

/// A stack without headers says so.
#[test]
fn no_header_is_said() {
    assert_eq!(headers_text(&[]), "no layer of this stack has a header\n");
    assert!(headers_svg("Alone", &[]).contains("no layer of this stack has a header"));
    let picture = HeaderPicture { wire: "Sum".into(), headers: vec![], order: "big endian", parts: vec![] };
    assert_eq!(headers_text(&[picture]), "Sum, big endian\n\n");
}

/// Names of all sizes in cells of all sizes: nothing panics, no line is longer than its row.
#[test]
fn any_name_fits_any_cell() {
    for bits in 1..=64 {
        for start in [0, 1, 8, 31] {
            let name = "a name that is far too long for a field of so few bits ".repeat(3);
            let cells = vec![
                HeaderBits { name: name.clone(), bits, says: "<&>".into() },
                HeaderBits { name: "é".into(), bits: 1, says: String::new() },
            ];
            let part = HeaderPart { title: name, start, cells, notes: vec!["<note>".into()] };
            let picture = HeaderPicture { wire: "w".into(), headers: vec![], order: "big endian", parts: vec![part] };
            let text = headers_text(std::slice::from_ref(&picture));
            assert!(text.lines().filter(|line| line.contains('|')).all(|line| line.chars().count() <= 65));
            assert!(!headers_svg("<t>", &[picture]).contains("<note>"));
        }
    }
}

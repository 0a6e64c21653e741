//! The text form: what is written can be read completely; text that is not a record is refused with its line.

use mokume_record::packet::{Dropped, Field, Layer, Malformed, NotDecoded, Packet, WrongSum};
use mokume_record::steps::{self, Cell, Change, Did, Life, Lines, Ring, Source, Step};
use mokume_record::{read, Arg, Event, Failed, Head, Host, Kind, Loss, Lost, Run, Value, What, VERSION};

fn run() -> Run {
    let head = Head {
        record: VERSION,
        kind: Kind::Network,
        name: "Street".into(),
        place: None,
        seed: u64::MAX,
        backend: "c".into(),
        link: 147,
        hosts: ["a", "b"]
            .map(|name| Host { name: name.into(), stack: "Host".into(), lowest: vec!["ethernet".into()] })
            .to_vec(),
        media: vec!["lan".into()],
    };
    let wide = Arg { name: "host".into(), value: Value::Number { numbers: vec![1 << 53, 3], written: "x".into() } };
    let message = Arg { name: "msg".into(), value: Value::Message { octets: (0..=255).collect() } };
    let session = Arg { name: "s".into(), value: Value::Session { object: 3, generation: 1 } };
    let args = vec![wide, message, session, Arg { name: "t".into(), value: Value::NoSession }];
    let copy = mokume_record::Copy { to: "b".into(), at: (1 << 53) - 1, turned: vec![7, 1 << 60] };
    let lost = Lost { to: "b".into(), by: Loss::Partition };
    let whats = vec![
        What::Starts,
        What::Input { port: "app".into(), name: "send".into(), args, refused: true },
        What::Sends {
            frame: 1,
            port: "device".into(),
            medium: "lan".into(),
            about: "Tell \"x\"".into(),
            octets: vec![0, 255],
            copies: vec![copy],
            lost: vec![lost],
            packet: Some(Box::new(packet())),
        },
        What::Receives { frame: 1, port: "device".into(), about: None, octets: None, refused: false, packet: None },
        What::Receives {
            frame: 1,
            port: "device".into(),
            about: None,
            octets: Some(vec![]),
            refused: false,
            packet: None,
        },
        What::Receives {
            frame: 2,
            port: "device".into(),
            about: Some("Tell".into()),
            octets: Some(vec![1, 2, 3]),
            refused: true,
            packet: None,
        },
        What::Gone { count: 2 },
        What::Reports { report: "overflow".into(), place: "x.mok:3".into() },
        What::Ends {
            failed: vec![Failed { at: 1, place: "x.mok:9:1".into(), wanted: "w".into(), found: "f".into() }],
            restless: Some("why".into()),
        },
    ];
    let event = |(place, what): (usize, What)| Event {
        id: place as u64 + 1,
        cause: (place as u64).checked_sub(1),
        at: u64::MAX - place as u64,
        host: Some("a".into()),
        did: matches!(what, What::Starts).then(|| Box::new(did())),
        what,
    };
    let sources = vec![Source { source: "x.mok".into(), text: "// \"x\"\nworker X {}\n".into() }];
    Run { head, sources, events: whats.into_iter().enumerate().map(event).collect() }
}

fn packet() -> Packet {
    let field = Field {
        name: "value".into(),
        alternative: Some("Tell".into()),
        octet: 3,
        bit: 4,
        bits: 64,
        value: u64::MAX,
        written: Some("all".into()),
        read: true,
    };
    let layer = Layer {
        name: "meter".into(),
        wire: "MeterWire".into(),
        may_be_for_another: true,
        alternatives: vec!["Tell".into()],
        octet: 2,
        octets: 9,
        fields: vec![field],
        malformed: Some(Malformed { reason: "MeterWire.kind".into(), octet: 2, bit: 1 }),
        dropped: vec![Dropped { reason: "meter.old".into(), place: None }],
        cut: false,
        wrong_sum: Some(WrongSum { field: "sum".into(), octet: 4, right: 7 }),
        padding: 1,
    };
    Packet { layers: vec![layer], not_decoded: NotDecoded { octet: 11, octets: 0, part: false } }
}

fn did() -> Did {
    let (layer, class, object, generation) = ("meter.Metering".to_string(), "session".to_string(), 3, 1);
    let ran = vec![Lines { file: "x.mok".into(), lines: vec![3, 1] }];
    let cell = Cell {
        name: "asked".into(),
        kind: steps::Kind::Map,
        at: Some("7".into()),
        from: None,
        to: Some(u64::MAX.to_string()),
    };
    Did {
        rings: vec![Ring {
            layer: layer.clone(),
            class: class.clone(),
            object,
            generation,
            timer: "t".into(),
            due: 1 << 60,
        }],
        steps: vec![Step { layer: layer.clone(), on: "expiry t".into(), ran }],
        changes: vec![Change { layer, class, object, generation, life: Life::GoesOn, cells: vec![cell] }],
    }
}

#[test]
fn what_is_written_is_read_again() {
    let (one, two) = (run(), Run { sources: Vec::new(), events: Vec::new(), ..run() });
    let text = one.text() + &two.text();
    assert_eq!(read(&text), Ok(vec![one, two]));
}

/// JavaScript reads each number as a double.
#[test]
fn no_number_is_beyond_53_bits() {
    fn numbers(value: &serde_json::Value, found: &mut Vec<u64>) {
        match value {
            serde_json::Value::Number(number) => found.push(number.as_u64().expect("whole")),
            serde_json::Value::Array(all) => all.iter().for_each(|one| numbers(one, found)),
            serde_json::Value::Object(all) => all.values().for_each(|one| numbers(one, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for line in run().text().lines() {
        numbers(&serde_json::from_str(line).unwrap(), &mut found);
    }
    assert!(found.len() > 20 && found.iter().all(|number| *number < 1 << 53), "{found:?}");
    assert!(run().text().contains(&format!("\"{}\"", u64::MAX)));
}

#[test]
fn what_is_no_record_is_refused_with_its_line() {
    let text = run().text();
    let good = text.lines().count();
    for (wrong, line, why) in [
        (text.replace("\"record\":4", "\"record\":5"), 1, "version 5, and this program reads 1 to 4"),
        (text.replace("\"record\":4", "\"record\":\"1\""), 1, "version no number"),
        (text.lines().skip(1).collect::<Vec<_>>().join("\n"), 1, "begins with its head"),
        (format!("{text}{{"), good + 1, "the record is cut off: its last line is not whole"),
        (format!("{text}{{\n"), good + 1, "EOF while parsing an object, at column 1"),
        (text.replace("\"event\":\"gone\"", "\"event\":\"went\""), 9, "went"),
        (text.replace("00ff", "00f"), 5, "hexadecimal"),
        (text.replace("\"00ff\"", "\"00é\""), 5, "hexadecimal"),
        (text.replace("\"18446744073709551615\"", "\"18446744073709551616\""), 1, "64 bits"),
        (text.replace("\"name\":\"Street\"", "\"nom\":\"Street\""), 1, "nom"),
    ] {
        let unread = read(&wrong).expect_err(&wrong);
        assert!(unread.line == line && unread.reason.contains(why), "{unread}; {why} of line {line}");
    }
}

/// As the log prints it.
#[test]
fn events_are_lines() {
    let run = run();
    let lines: Vec<String> = run.events.iter().filter_map(|event| run.line(event)).collect();
    assert_eq!(
        lines,
        [
            "<- app.send(x, x\"000102030405060708090a0b0c0d0e0f1011121314151617…\", session 3 (2nd), null) REFUSED",
            "sends #1 on lan: 2 octets (b lost by a partition): Tell \"x\"",
            "receives #1",
            "receives #1",
            "receives #2: 3 octets: Tell REFUSED",
            "loses 2 with the session or object they were for",
            "REPORT overflow at x.mok:3",
        ]
    );
}

/// Records of versions 1 to 3 can be read.
#[test]
fn the_versions_before_are_read() {
    let text = include_str!("first.jsonl");
    let runs = read(text).unwrap_or_else(|unread| panic!("{unread}"));
    assert!(runs[0].head.record == 1 && runs[0].events.len() > 20 && runs[0].sources.is_empty());
    assert_eq!(runs[0].text(), text);
    let text = include_str!("second.jsonl");
    let runs = read(text).unwrap_or_else(|unread| panic!("{unread}"));
    assert!(runs[0].head.record == 2 && runs[0].events.len() > 10 && runs[0].sources.len() == 1);
    // Version 2 does not have the field, which is then false.
    assert_eq!(runs[0].text().replace("\"may_be_for_another\":false,", ""), text);
    let text = include_str!("third.jsonl");
    let runs = read(text).unwrap_or_else(|unread| panic!("{unread}"));
    assert!(runs[0].head.record == 3 && runs[0].events.len() > 3);
    assert_eq!(runs[0].text(), text);
}

/// The message gives the line and column once, not twice.
#[test]
fn what_is_cut_off_names_one_line() {
    let text = run().text();
    for length in [text.len() - 2, text.len() - 30] {
        let unread = read(&text[..length]).expect_err("cut");
        let said = format!("line {}: the record is cut off: its last line is not whole", text.lines().count());
        assert_eq!(unread.to_string(), said);
    }
}

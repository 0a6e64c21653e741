//! The layout by example, and faults that each check of the formatter must find.

use super::*;

fn formatted(text: &str) -> String {
    let once = format(FileId(0), text).unwrap_or_else(|refused| panic!("{refused:?}\n{text}"));
    let twice = format(FileId(0), &once).expect("the result is read again");
    assert_eq!(once, twice, "not idempotent");
    once
}

#[track_caller]
fn becomes(text: &str, expected: &str) {
    assert_eq!(formatted(text), expected);
}

#[test]
fn blanks_and_indentation() {
    becomes(
        "worker  W(a:u32=1){\non deliver( msg , seq ){\n      above . deliver ( msg )\n}\n\ton send(msg) {below.send(msg,seq:a-%! b) }\n}",
        "worker W(a: u32 = 1) {\n    on deliver(msg, seq) {\n        above.deliver(msg)\n    }\n    \
         on send(msg) { below.send(msg, seq: a -% !b) }\n}\n",
    );
    becomes("type A=[ u8;8 ]\r\nuse thin,\"a.mok\"   \r\n", "type A = [u8; 8]\nuse thin, \"a.mok\"\n");
}

#[test]
fn two_blanks_where_no_comma_separates() {
    becomes("service S { ask(a: u32) out known(a: u32) }", "service S { ask(a: u32)  out known(a: u32) }\n");
    becomes(
        "test \"t\" {\n=> app.closed(s) app.closed(t)\n}\n",
        "test \"t\" {\n    => app.closed(s)  app.closed(t)\n}\n",
    );
    becomes(
        "wire W big { a: u8 where a >= 1 trim packet to a b: u8 }",
        "wire W big { a: u8    where a >= 1    trim packet to a  b: u8 }\n",
    );
    becomes(
        "network N {\nlink l { a.device,b.device loss 1 % delay 1 ms..2 ms }\nat 1 ms a.udp.bind(1)\n}",
        "network N {\n    link l { a.device, b.device   loss 1 %  delay 1 ms .. 2 ms }\n    at 1 ms  a.udp.bind(1)\n}\n",
    );
}

#[test]
fn what_networks_expect() {
    becomes(
        "network N {\nlink l { a.device rate 10   Mbit / s queue 5 burst loss 1 % of 5 calm   from 1 s }\nwhen a.p.out(?s) after 1 ms a.p.in(s)\n\
         expect b.p.out(_)   until 2 s\nexpect b.p.out   20 times   until 2 s\nexpect nothing  at b.p.out\n\
         frame 1 of a.device to b.device late 1 ms twice\n}",
        "network N {\n    link l { a.device   rate 10 Mbit/s  queue 5  burst loss 1 % of 5  calm from 1 s }\n    \
         when a.p.out(?s)  after 1 ms  a.p.in(s)\n    expect b.p.out(_)  until 2 s\n    expect b.p.out 20 times until 2 s\n    \
         expect nothing at b.p.out\n    frame 1 of a.device to b.device  late 1 ms  twice\n}\n",
    );
}

#[test]
fn columns_of_stacks_wires_scopes_and_arms() {
    becomes(
        "stack S(device: Device) {\nethernet = E over device\nip = I over ethernet [type : 1] with arp ,icmp\n\na=B over ip\n}",
        "stack S(device: Device) {\n    ethernet = E over device\n    ip       = I over ethernet[type: 1] with arp, icmp\n\n    \
         a = B over ip\n}\n",
    );
    becomes(
        "wire W {\nkind: u8\nlength: u16 = 1\nchoice kind {\n1=>Ab { a: u8 }\n2=>C { b: u8 }\n}\n}",
        "wire W {\n    kind:   u8\n    length: u16 = 1\n    choice kind {\n        1 => Ab { a: u8 }\n        \
         2 => C  { b: u8 }\n    }\n}\n",
    );
    becomes(
        "worker W {\nentity { var a: u8 = 0 }\nsession { var b: u8 = 0 }\n}",
        "worker W {\n    entity  { var a: u8 = 0 }\n    session { var b: u8 = 0 }\n}\n",
    );
}

#[test]
fn comments_keep_their_place() {
    becomes(
        "// one\n\n\n\n// two\nconst A: u8 = 1      // at 21\nconst BCD: u32 = 0xffff_ffff // no room\n/// doc   \nfn f() {\n// inside\n\n}\n// end",
        "// one\n\n// two\nconst A: u8 = 1      // at 21\nconst BCD: u32 = 0xffff_ffff  // no room\n/// doc\nfn f() {\n    \
         // inside\n}\n// end\n",
    );
}

#[test]
fn braces_that_hold_a_line_end_hold_whole_lines() {
    becomes(
        "fn f() { if a { b = 1\n} else { c = 2 } }",
        "fn f() {\n    if a {\n        b = 1\n    } else { c = 2 }\n}\n",
    );
    becomes("fn f()\n{\n\n  a = 1\n\n\n  b = 2\n\n}", "fn f() {\n    a = 1\n\n    b = 2\n}\n");
    becomes("const A: u8 = 1 const B: u8 = 2", "const A: u8 = 1\nconst B: u8 = 2\n");
}

#[test]
fn what_goes_on_is_indented() {
    becomes(
        "bundle B = Aaa /\nBbb encoded W\nfn f() {\ng(a,\nb)\nlet c = a +\nb\nif let x = m[\nk] {\nd = 1\n}\n}",
        "bundle B = Aaa /\n    Bbb encoded W\nfn f() {\n    g(a,\n        b)\n    let c = a +\n        b\n    if let x = m[\n        \
         k] {\n        d = 1\n    }\n}\n",
    );
}

#[test]
fn a_block_that_does_not_fit_is_broken() {
    let call = "below.send(msg, sequence: next_sequence_number)";
    becomes(
        &format!("worker W {{\non deliver(msg, Ack {{ a }}) {{ if a == 1 {{ {call} }} else {{ {call} }} }} // why\n}}"),
        &format!(
            "worker W {{\n    on deliver(msg, Ack {{ a }}) {{\n        \
             if a == 1 {{ {call} }} else {{ {call} }}\n    }}  // why\n}}\n"
        )
        .replace(
            &format!("if a == 1 {{ {call} }} else {{ {call} }}"),
            &format!("if a == 1 {{\n            {call}\n        }} else {{\n            {call}\n        }}"),
        ),
    );
}

/// A record is read as one word, except one that contains a block: its fields are broken, and not the block in it.
#[test]
fn a_record_that_holds_a_block_is_broken_by_its_fields() {
    let step = "step: if received > most { Step.Done } else { Step.Going }";
    let long = "sizes: [first_of_them, second_of_them]";
    becomes(
        &format!("fn f() {{\nlet seen = Seen {{ shape: shape, {step}, at: Where {{ x: 1 }}, {long} }}\n}}"),
        &format!(
            "fn f() {{\n    let seen = Seen {{\n        shape: shape,\n        {step},\n        \
             at: Where {{ x: 1 }},\n        {long}\n    }}\n}}\n"
        ),
    );
    becomes(
        &format!("worker W {{\non send(msg) {{\nbelow.send(msg, Data {{ {step}, key: if keyed {{ 1 }} else {{ 0 }} }}, {long})\n}}\n}}"),
        &format!(
            "worker W {{\n    on send(msg) {{\n        below.send(msg, Data {{\n            {step},\n            \
             key: if keyed {{ 1 }} else {{ 0 }}\n        }}, {long})\n    }}\n}}\n"
        ),
    );
}

#[test]
fn a_bound_clings_to_its_dots() {
    let before = "fn f(v:[u8;.. 4])->[ u8 ; ..  2 ] { return [1,v[ 0 ]] }";
    let after = "fn f(v: [u8; ..4]) -> [u8; ..2] { return [1, v[0]] }\n";
    assert_eq!(format(FileId(0), before).ok().as_deref(), Some(after));
}

#[test]
fn a_text_with_mistakes_is_refused() {
    let refused = format(FileId(0), "worker W {\n    on send(msg {\n}").unwrap_err();
    assert!(matches!(refused, Refused::Mistakes(found) if !found.is_empty()));
}

/// What stands behind many comments is looked for once, not anew from each: that would take minutes here.
#[test]
fn many_comments_take_no_long_time() {
    let text = "// x\n".repeat(200_000);
    assert_eq!(format(FileId(0), &text).ok().as_deref(), Some(text.as_str()));
    let behind = format!("worker W {{\n{}}}\n", "    // x\n".repeat(100_000));
    assert_eq!(format(FileId(0), &behind).ok().as_deref(), Some(behind.as_str()));
}

/// Planted faults: the check notices a different token, comment or nesting.
#[test]
fn a_layout_that_changes_the_program_is_noticed() {
    let before = crate::parse(FileId(0), "fn f() { a = 1  b = 2 } // x").syntax();
    let differs = |text: &str| same::difference(&before, &crate::parse(FileId(0), text)).is_some();
    assert!(!differs("fn f()\n{\n a = 1\n b = 2 } // x  "));
    for text in [
        "fn f() { a = 1  b = 3 } // x",
        "fn f() { a = 1  b = 2 }",
        "fn f() { a = 1  b = 2 } // y",
        "fn f() { a = 1 } // x",
        "fn f() { a = 1 } b = 2 // x",
        "fn f() { a = 1  b = 2 c } // x",
    ] {
        assert!(differs(text), "{text}");
    }
}

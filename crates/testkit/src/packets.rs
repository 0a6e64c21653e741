//! Random wires, each in a stack that only encodes and decodes: parts that are there or not, vectors, choices, and what
//! ends a header, behind each other and within each other.

use std::fmt::Write;

use mokume_base::Random;

/// The text of the stack of a seed. Its wire has the number 0, its port too. The event `packet`, number 0, is decoded, and
/// encoded by wire 1, which has all fields of all headers, also those that the packet does not have; the events `say0`, … have the fields of all headers, for each combination of their variants, the first header's
/// last.
pub fn packets(seed: u64) -> String {
    let mut maker = Maker::new(Random::new(seed ^ 0x7061_636b_6574));
    let items = maker.wire();
    let order = *maker.random.one_of(&["big", "big", "little"]);
    let mut text = "automaton packets\ntick 1\n".to_owned();
    for header in &maker.headers {
        text += &header.declared();
    }
    text += "reason w.short\nreason w.bad\nreason w.other\nreason w.late\n";
    let names: Vec<&str> = maker.headers.iter().map(|header| header.name).collect();
    let _ = write!(text, "wire w {order} {{\nheaders {}\nshort w.short\n", names.join(", "));
    text + &items.replace("@order", order) + "}\n" + &all_fields(&maker.headers) + &behaviour(&maker.headers)
}

/// A header: the widths of the fields of each variant.
struct Header {
    name: &'static str,
    variants: Vec<Vec<u32>>,
}

impl Header {
    fn variant(&self, variant: usize) -> String {
        match self.variants.len() {
            1 => self.name.to_owned(),
            _ => format!("{}.V{variant}", self.name),
        }
    }

    fn declared(&self) -> String {
        let fields = |widths: &Vec<u32>| {
            let fields: Vec<String> = widths.iter().enumerate().map(|(at, width)| format!("f{at}: u{width}")).collect();
            fields.join(", ")
        };
        if self.variants.len() == 1 {
            return format!("header {} {{ {} }}\n", self.name, fields(&self.variants[0]));
        }
        let variants = self.variants.iter().enumerate().map(|(at, widths)| format!("  V{at}{{{}}}\n", fields(widths)));
        format!("header {} {{\n{}}}\n", self.name, variants.collect::<String>())
    }
}

/// A wire with all fields of these headers, one after the other.
fn all_fields(headers: &[Header]) -> String {
    let mut text = String::from("wire v big {\nheaders ");
    text += &headers.iter().map(|header| header.name).collect::<Vec<_>>().join(", ");
    text += "\nshort w.short\n";
    for (place, header) in headers.iter().enumerate() {
        let fields = |variant: usize| {
            let (name, widths) = (header.variant(variant), &header.variants[variant]);
            let fields = widths.iter().enumerate().map(|(at, width)| format!("field a: {width} from {name}.f{at}\n"));
            let fill = (8 - widths.iter().sum::<u32>() % 8) % 8;
            let fill = if fill > 0 { format!("field fill: {fill} reserved\n") } else { String::new() };
            fields.collect::<String>() + &fill
        };
        if header.variants.len() == 1 {
            text += &fields(0);
            continue;
        }
        let _ = writeln!(text, "field kind{place}: 8 tag\nchoice kind{place} else w.bad {{");
        for variant in 0..header.variants.len() {
            let name = header.variant(variant);
            let _ = write!(text, "case {variant} select {name} {{\n{}}}\n", fields(variant));
        }
        text += "}\n";
    }
    text + "}\n"
}

fn behaviour(headers: &[Header]) -> String {
    let mut says = vec![Vec::new()];
    for header in headers {
        let with = |before: Vec<usize>| (0..header.variants.len()).map(move |of| [before.clone(), vec![of]].concat());
        says = says.into_iter().flat_map(with).collect();
    }
    let (mut inputs, mut handlers) = (String::new(), String::new());
    for (number, say) in says.iter().enumerate() {
        let (mut params, mut pushes, mut message) = (String::new(), String::new(), "m".to_owned());
        for (place, (header, variant)) in headers.iter().zip(say).enumerate() {
            for (at, width) in header.variants[*variant].iter().enumerate() {
                let _ = write!(params, ", h{place}x{at}: u{width}");
            }
        }
        // The first header of the wire is on top: it is pushed last.
        for (place, (header, variant)) in headers.iter().zip(say).enumerate().rev() {
            let fields: Vec<String> =
                (0..header.variants[*variant].len()).map(|at| format!("f{at}: h{place}x{at}")).collect();
            let name = header.variant(*variant);
            let _ = writeln!(pushes, "    m{place} = push {message}, {name}{{{}}}", fields.join(", "));
            message = format!("m{place}");
        }
        let _ = writeln!(inputs, "  in say{number}(m: msg{params}) -> c.E.say{number}");
        let _ = write!(
            handlers,
            "handler c.E.say{number}(e, m: msg{params}) {{\n{pushes}    p = encode {message}, w\n    out app.packet(p)\n    return\n}}\n"
        );
    }
    format!(
        "layer c\nclass c.E capacity 1 {{\n}}\nport app application {{\n  in packet(m: msg) -> c.E.packet\n{inputs}  out packet(m: msg)\n}}\n\
         handler c.E.packet(e, m: msg) {{\n    decode m, w then good(..) else bad(..)\n  good(m1: msg):\n    p = encode m1, v\n    \
         out app.packet(p)\n    return\n  bad(m2: msg, why: reason):\n    drop m2 for why\n    return\n}}\n{handlers}"
    )
}

/// Which header's fields a part has, by number, and of which variant.
type Owner = (usize, usize);

/// The header whose fields are in front of the choices and behind them.
const PLAIN: Owner = (0, 0);

/// Where the next item is.
#[derive(Clone, Default)]
struct Scope {
    /// Fields in front that conditions may name, and their widths.
    seen: Vec<(String, u32)>,
    /// Bits beyond whole octets.
    bits: u32,
    depth: u32,
}

struct Maker {
    random: Random,
    headers: Vec<Header>,
    names: u32,
    /// A bound of the number of ways so far.
    ways: u64,
    trims: bool,
    sums: bool,
    /// What ends the header.
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Field,
    Options,
    List,
    Reach,
}

/// The order of a field's octets, as a line says it.
const ORDERS: [&str; 4] = ["", "", " big", " little"];

/// No random wire has more ways.
const WAYS: u64 = 50;

/// The items of a part without rules that wait for a field which does not come.
fn closed(items: &str) -> String {
    items.lines().filter(|line| !line.contains("@later")).map(|line| format!("{line}\n")).collect()
}

impl Maker {
    fn new(mut random: Random) -> Maker {
        let mut headers = vec![Header { name: "w.Plain", variants: vec![Vec::new()] }];
        for name in ["w.Kind", "w.Sort"] {
            if random.percent(60) {
                headers.push(Header { name, variants: vec![Vec::new(); 2 + random.place(2)] });
            }
        }
        let end = *random.one_of(&[End::Field, End::Field, End::Field, End::Options, End::List, End::Reach]);
        Maker { random, headers, names: 0, ways: 1, trims: false, sums: false, end }
    }

    fn name(&mut self, of: &str) -> String {
        self.names += 1;
        format!("{of}{}", self.names)
    }

    fn field_of(&mut self, (header, variant): Owner, width: u32) -> String {
        let fields = &mut self.headers[header].variants[variant];
        fields.push(width);
        format!("{}.f{}", self.headers[header].variant(variant), self.headers[header].variants[variant].len() - 1)
    }

    fn wire(&mut self) -> String {
        let mut scope = Scope::default();
        let mut text = String::new();
        let first = self.field_of(PLAIN, 8);
        let _ = writeln!(text, "field first: 8 from {first}");
        scope.seen.push(("first".into(), 8));
        for _ in 0..self.random.place(3) {
            self.field(&mut text, &mut scope, PLAIN);
        }
        let mut chosen: Vec<usize> = (1..self.headers.len()).collect();
        let within = chosen.len() == 2 && self.random.percent(25);
        if within {
            chosen.pop();
        }
        for _ in 0..2 + self.random.place(6) {
            self.piece(&mut text, &mut scope, PLAIN);
            if self.random.percent(35) {
                if let Some(header) = chosen.pop() {
                    self.choose(&mut text, &mut scope, header, within);
                }
            }
        }
        while let Some(header) = chosen.pop() {
            self.choose(&mut text, &mut scope, header, within);
            self.piece(&mut text, &mut scope, PLAIN);
        }
        self.fill(&mut text, &mut scope, 0);
        self.end(&mut text);
        closed(&text)
    }

    /// A field, or a part that may be there or not.
    fn piece(&mut self, text: &mut String, scope: &mut Scope, owner: Owner) {
        let branches = self.ways < WAYS && scope.depth < 3 && !scope.seen.is_empty();
        match self.random.place(if branches { 10 } else { 4 }) {
            0..3 => self.field(text, scope, owner),
            3 => self.computed(text, scope),
            4..7 => self.optional(text, scope, owner),
            7 | 8 => self.vector(text, scope, owner),
            _ if owner == PLAIN => self.choice_by_value(text, scope),
            _ => self.optional(text, scope, owner),
        }
    }

    fn field(&mut self, text: &mut String, scope: &mut Scope, owner: Owner) {
        let width = *self.random.one_of(&[8, 8, 16, 16, 32, 24, 64, 1, 1, 3, 4, 4, 5, 12, 20]);
        if self.random.percent(15) {
            return self.fixed(text, scope, width);
        }
        let own = match self.random.place(10) {
            0 if width > 1 => width - 1,
            1 if width < 60 => width + 3,
            _ => width,
        };
        let of = self.field_of(owner, own);
        let scaled = match self.random.place(12) {
            0 if width > 4 => format!(" * {} + {}", 1 + self.random.below(4), self.random.below(3)),
            _ => String::new(),
        };
        let otherwise = if self.random.percent(20) { " else w.other" } else { "" };
        let (name, order) = (self.name("f"), self.order(scope, width));
        let _ = writeln!(text, "field {name}: {width}{order} from {of}{scaled}{otherwise}");
        self.met(text, &name);
        self.rules(text, scope, &name, width);
        scope.seen.push((name, width));
        scope.bits = (scope.bits + width) % 8;
    }

    fn order(&mut self, scope: &Scope, width: u32) -> &'static str {
        let order = *self.random.one_of(&ORDERS);
        if scope.bits == 0 && width.is_multiple_of(8) {
            order
        } else {
            ""
        }
    }

    /// The fields in front that wait for one get this one.
    fn met(&mut self, text: &mut String, name: &str) {
        *text = text.replace("@later", name);
    }

    fn rules(&mut self, text: &mut String, scope: &Scope, name: &str, width: u32) {
        let most = u64::MAX >> (64 - width);
        let rule = match self.random.place(24) {
            0 => format!("{name} != {}", self.random.word() & most),
            1 => format!("{name} <= {}", most - most / 8),
            2 => format!("{name} <= packet_size() + 200"),
            3 => format!("{name} != header_size()"),
            4 => format!("{name} != payload_size() * 2"),
            5 | 6 => format!("{name} != @later"),
            7 if !scope.seen.is_empty() => format!("{name} != {}", self.random.one_of(&scope.seen).0),
            _ => return,
        };
        let _ = writeln!(text, "require {rule} else {}", self.random.one_of(&["w.other", "w.late"]));
    }

    /// Bits that no header has.
    fn fixed(&mut self, text: &mut String, scope: &mut Scope, width: u32) {
        let value = self.random.word() & (u64::MAX >> (64 - width));
        let what = if self.random.percent(50) { format!("= {value} else w.bad") } else { "reserved".to_owned() };
        let (name, order) = (self.name("x"), self.order(scope, width));
        let _ = writeln!(text, "field {name}: {width}{order} {what}");
        scope.bits = (scope.bits + width) % 8;
    }

    /// Moves to this bit of an octet.
    fn fill(&mut self, text: &mut String, scope: &mut Scope, to: u32) {
        let missing = (8 + to - scope.bits) % 8;
        if missing > 0 {
            self.fixed(text, scope, missing);
        }
    }

    /// What the wire itself computes.
    fn computed(&mut self, text: &mut String, scope: &mut Scope) {
        let name = self.name("n");
        let trims = !self.trims && self.random.percent(15);
        let mut width = 16;
        let what = match self.random.place(6) {
            _ if trims => "packet_size()".to_owned(),
            0 | 1 if !self.sums => {
                self.sums = true;
                (*self.random.one_of(&["packet_checksum()", "header_checksum()"])).to_owned()
            }
            2 => "packet_size() + 1".to_owned(),
            3 => "payload_size()".to_owned(),
            4 if !scope.seen.is_empty() => {
                width = 8;
                format!("{} + 3", self.random.one_of(&scope.seen).0)
            }
            _ => "header_size()".to_owned(),
        };
        self.trims |= trims;
        let trims = if trims { " trims" } else { "" };
        let _ = writeln!(text, "field {name}: {width} computed {what} else w.bad{trims}");
        scope.bits = (scope.bits + width) % 8;
    }

    fn condition(&mut self, scope: &Scope) -> String {
        let mut tests = Vec::new();
        for _ in 0..1 + self.random.place(4) / 3 {
            let (name, width) = self.random.one_of(&scope.seen).clone();
            let most = u64::MAX >> (64 - width);
            let number = [0, 1, most, most / 2][self.random.place(4)];
            let test = match self.random.place(4) {
                0 | 1 => format!("{name} != {number}"),
                2 => format!("{name} == {number}"),
                _ => format!("{name} < {}", most / 2 + 1),
            };
            tests.push(test);
        }
        tests.join(", ")
    }

    fn optional(&mut self, text: &mut String, scope: &mut Scope, owner: Owner) {
        let ways = self.ways;
        let _ = writeln!(text, "optional {} {{", self.condition(scope));
        let (mut part, mut inner) = (String::new(), Scope { depth: scope.depth + 1, ..scope.clone() });
        for _ in 0..1 + self.random.place(3) {
            self.piece(&mut part, &mut inner, owner);
        }
        self.fill(&mut part, &mut inner, scope.bits);
        *text += &(closed(&part) + "}\n");
        self.ways += ways;
    }

    /// A count, and as many elements.
    fn vector(&mut self, text: &mut String, scope: &mut Scope, owner: Owner) {
        let (most, name, of) = (1 + self.random.place(4), self.name("c"), self.field_of(owner, 8));
        let _ = writeln!(text, "field {name}: 8 from {of}\nrequire {name} <= {most} else w.bad");
        if self.random.percent(25) {
            self.fixed(text, scope, 8);
        }
        let widths = *self.random.one_of(&[&[8][..], &[16], &[8], &[4, 12], &[3, 5], &[32, 8]]);
        for at in 0..most {
            let _ = writeln!(text, "optional {name} > {at} {{");
            for width in widths {
                let (element, of) = (self.name("e"), self.field_of(owner, *width));
                let _ = writeln!(text, "field {element}: {width} from {of}");
            }
        }
        text.push_str(&"}\n".repeat(most));
        self.ways *= most as u64 + 1;
    }

    /// A choice that has the same fields of the plain header on each arm, in another order.
    fn choice_by_value(&mut self, text: &mut String, scope: &mut Scope) {
        let (name, before) = (self.name("f"), scope.bits);
        let width = if before == 4 { 4 } else { 8 };
        let is_tag = self.random.percent(20);
        let what = if is_tag { "tag".to_owned() } else { format!("from {}", self.field_of(PLAIN, width)) };
        let _ = writeln!(text, "field {name}: {width} {what}\nchoice {name} else w.bad {{");
        scope.bits = (before + width) % 8;
        let widths = [*self.random.one_of(&[8, 16, 4]), *self.random.one_of(&[8, 12, 5])];
        // In a packet without this part each field has one place as well: the arms have none there.
        let shared: Vec<_> = match scope.depth {
            0 => widths.iter().map(|width| (self.field_of(PLAIN, *width), *width)).collect(),
            _ => Vec::new(),
        };
        let to = if scope.depth == 0 { self.bits_behind(scope, is_tag) } else { scope.bits };
        let selects = if self.random.percent(20) { " select w.Plain" } else { "" };
        let arms = 1 + self.random.place(3);
        let first = self.random.below(12);
        for arm in 0..arms as u64 {
            let _ = writeln!(text, "case {}{selects} {{", first + arm);
            let (mut part, mut inner) = (String::new(), scope.clone());
            self.laid_out(&mut part, &mut inner, &shared);
            self.fill(&mut part, &mut inner, to);
            *text += &(closed(&part) + "}\n");
        }
        text.push_str("}\n");
        scope.bits = to;
        self.ways *= arms as u64;
    }

    /// These fields of headers, in an order of their own, and others between them.
    fn laid_out(&mut self, text: &mut String, scope: &mut Scope, fields: &[(String, u32)]) {
        let mut fields = fields.to_vec();
        if self.random.percent(50) {
            fields.reverse();
        }
        if self.random.percent(30) {
            self.fixed(text, scope, 8);
        }
        for (of, width) in fields {
            let (name, order) = (self.name("s"), self.order(scope, width));
            let _ = writeln!(text, "field {name}: {width}{order} from {of}");
            self.met(text, &name);
            self.rules(text, scope, &name, width);
            scope.seen.push((name, width));
            scope.bits = (scope.bits + width) % 8;
        }
    }

    /// A choice of the header's variant; `within` asks for one of the next header on each arm.
    fn choose(&mut self, text: &mut String, scope: &mut Scope, header: usize, within: bool) {
        let tag = self.tag(text, scope);
        let variants = self.headers[header].variants.len();
        self.ways *= variants as u64;
        if self.random.percent(15) && self.ways < WAYS {
            // The variant is chosen again below: the arms here have nothing of it.
            let to = scope.bits;
            self.arms(text, (scope, &tag), header, |maker, part, inner, _| {
                maker.fixed(part, inner, 8);
                maker.fill(part, inner, to);
            });
            self.between(text, scope);
            self.ways *= variants as u64;
            let tag = self.tag(text, scope);
            return self.fields_of_arms(text, (scope, &tag), header, within);
        }
        self.between(text, scope);
        self.fields_of_arms(text, (scope, &tag), header, within);
    }

    fn fields_of_arms(&mut self, text: &mut String, (scope, tag): (&mut Scope, &str), header: usize, within: bool) {
        let to = self.bits_behind(scope, tag.starts_with('t'));
        let inner = if within { self.headers[header + 1].variants.len() } else { 0 };
        let shared: Vec<_> = (0..inner).map(|variant| vec![(self.field_of((header + 1, variant), 8), 8)]).collect();
        self.arms(text, (scope, tag), header, |maker, part, inner, variant| {
            for _ in 0..1 + maker.random.place(3) {
                maker.piece(part, inner, (header, variant));
            }
            if within {
                maker.ways *= 2;
                let (tag, bits) = (maker.tag(part, inner), inner.bits);
                maker.arms(part, (inner, &tag), header + 1, |maker, part, inner, variant| {
                    maker.laid_out(part, inner, &shared[variant]);
                    maker.fill(part, inner, bits);
                });
            }
            maker.fill(part, inner, to);
        });
        scope.bits = to;
    }

    /// The bit where all arms of a choice end. Where no arm may fit, what ends the header would not begin on an octet.
    fn bits_behind(&mut self, scope: &Scope, one_fits: bool) -> u32 {
        match one_fits || self.end == End::Field {
            true => *self.random.one_of(&[scope.bits, scope.bits, 4]),
            false => scope.bits,
        }
    }

    /// A field that a choice of a variant depends on: its tag, sometimes a header's own field.
    fn tag(&mut self, text: &mut String, scope: &mut Scope) -> String {
        let width = if scope.bits == 4 { 4 } else { *self.random.one_of(&[8, 8, 4, 16]) };
        let (name, what) = match scope.depth == 0 && self.random.percent(15) {
            true => (self.name("v"), format!("from {}", self.field_of(PLAIN, width))),
            false => (self.name("t"), "tag".to_owned()),
        };
        let _ = writeln!(text, "field {name}: {width} {what}");
        scope.bits = (scope.bits + width) % 8;
        name
    }

    /// Between what a choice depends on and the choice.
    fn between(&mut self, text: &mut String, scope: &mut Scope) {
        if self.random.percent(40) && self.ways < WAYS {
            self.optional(text, scope, PLAIN);
        }
    }

    fn arms(
        &mut self,
        text: &mut String,
        (scope, tag): (&Scope, &str),
        header: usize,
        inside: impl Fn(&mut Maker, &mut String, &mut Scope, usize),
    ) {
        let _ = writeln!(text, "choice {tag} else w.bad {{");
        let first = self.random.below(10);
        for variant in 0..self.headers[header].variants.len() {
            let name = self.headers[header].variant(variant);
            let _ = writeln!(text, "case {} select {name} {{", first + variant as u64);
            let mut part = String::new();
            inside(self, &mut part, &mut Scope { depth: scope.depth + 1, ..scope.clone() }, variant);
            *text += &(closed(&part) + "}\n");
        }
        text.push_str("}\n");
    }

    /// What ends the header, on an octet.
    fn end(&mut self, text: &mut String) {
        match self.end {
            End::Options => {
                let (has, of, count) = (self.field_of(PLAIN, 1), self.field_of(PLAIN, 16), self.field_of(PLAIN, 8));
                let (one, two) = (self.field_of(PLAIN, 16), self.field_of(PLAIN, 16));
                let until = match self.words(text) {
                    Some(words) => format!("({words} * 4)"),
                    None => "packet_size()".into(),
                };
                let _ = write!(
                    text,
                    "options kind: 8 length: 8 * 1 + 0 @order until {until} pad 4 malformed w.late {{\nend 0\nsingle 1\n\
                     case 2 if {has} {{\nfield o: 16 from {of}\n}}\ncase 5 if {count} repeat {count} from 0 each 1 {{\n\
                     field o1: 16 from {one}\nfield o2: 16 from {two}\n}}\n}}\n"
                );
            }
            End::List => {
                let counted = self.random.percent(60);
                let count = self.field_of(PLAIN, 8);
                if counted {
                    let _ = writeln!(text, "field k: 8 from {count}");
                }
                let how = if counted { "" } else { " to end else w.late" };
                let _ = writeln!(text, "list {count}{how} {{");
                for _ in 0..1 + self.random.place(3) {
                    let (name, of) = (self.name("l"), self.field_of(PLAIN, 8));
                    let _ = writeln!(text, "element {{\nfield {name}: 8 from {of}\n}}");
                }
                text.push_str("}\n");
            }
            End::Reach => {
                if let Some(words) = self.words(text) {
                    let _ = writeln!(text, "reach ({words} * 4)");
                }
            }
            End::Field => {}
        }
    }

    /// A field with the header's size in words.
    fn words(&mut self, text: &mut String) -> Option<String> {
        if self.random.percent(30) {
            return None;
        }
        let of = self.field_of(PLAIN, 8);
        text.insert_str(0, &format!("field words: 8 from {of}\n"));
        Some("words".into())
    }
}

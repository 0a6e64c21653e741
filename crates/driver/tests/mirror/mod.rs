//! A stack that only decodes and encodes: packets are decoded and encoded again, values are encoded.

use mokume_base::FileId;
use mokume_reaction::*;

/// The wires' names are changed, their numbers are not: packets and refusals are those of the original wire.
pub struct Mirror {
    /// The stack, and the wire.
    pub of: String,
    pub automaton: Automaton,
    /// For each `say` event, the variants of the wire's headers.
    pub says: Vec<Vec<VariantId>>,
}

pub const WIRE: WireId = WireId(0);
pub const PORT: PortId = PortId(0);
/// The event of a packet; those of values follow.
pub const PACKET: u32 = 0;

impl Mirror {
    pub fn of(name: &str, automaton: &Automaton, wire: WireId) -> Mirror {
        let mut bare = Automaton {
            name: "mirror".into(),
            tick: 1,
            enums: automaton.enums.clone(),
            headers: automaton.headers.clone(),
            wires: vec![automaton.wires[wire.index()].clone()],
            reasons: automaton.reasons.clone(),
            ..Automaton::default()
        };
        rename(&mut bare);
        let says = mokume_wire::trial::Trial::new(&bare, WIRE).says;
        let text = format!("{}\n{}", text::print(&bare), behaviour(&bare, &says));
        let parsed = text::parse(FileId(0), &text);
        assert!(parsed.diagnostics.is_empty(), "{name}: {:?}\n{text}", parsed.diagnostics.first());
        let wrong = verify::diagnose(&parsed.automaton, &parsed.places);
        assert!(wrong.is_empty(), "{name}: {:?}\n{text}", wrong.first());
        Mirror { of: format!("{name} {}", automaton.wires[wire.index()].name), automaton: parsed.automaton, says }
    }
}

/// Names that need no quotes in the text.
fn rename(bare: &mut Automaton) {
    for (place, header) in bare.headers.iter_mut().enumerate() {
        header.name = format!("h.H{place}");
        let several = header.variants.len() > 1;
        for (place, variant) in header.variants.iter_mut().enumerate() {
            variant.name = if several { format!("V{place}") } else { String::new() };
            variant.fields.iter_mut().enumerate().for_each(|(place, field)| field.0 = format!("f{place}"));
        }
    }
    bare.enums.iter_mut().enumerate().for_each(|(place, known)| known.name = format!("e.E{place}"));
    bare.reasons.iter_mut().enumerate().for_each(|(place, reason)| reason.name = format!("r.r{place}"));
    bare.wires[0].name = "w".into();
}

fn behaviour(bare: &Automaton, says: &[Vec<VariantId>]) -> String {
    let (mut inputs, mut handlers) = (String::new(), String::new());
    for (number, variants) in says.iter().enumerate() {
        let params = params(bare, variants);
        inputs += &format!("  in say{number}(m: msg{params}) -> c.E.say{number}\n");
        handlers += &format!("\nhandler c.E.say{number}(e, m: msg{params}) {{\n");
        let mut message = "m".to_owned();
        // The first header of the wire is on top: it is pushed last.
        for (place, (header, variant)) in bare.wires[0].headers.iter().zip(variants).enumerate().rev() {
            let known = &bare.headers[header.index()];
            let fields: Vec<String> =
                (0..known.variants[variant.index()].fields.len()).map(|at| format!("f{at}: h{place}x{at}")).collect();
            let dot = if known.variants.len() > 1 { format!(".V{}", variant.0) } else { String::new() };
            handlers += &format!("    m{place} = push {message}, {}{dot}{{{}}}\n", known.name, fields.join(", "));
            message = format!("m{place}");
        }
        handlers += &format!("    p = encode {message}, w\n    out app.packet(p)\n    return\n}}\n");
    }
    format!(
        "layer c\n\nclass c.E capacity 1 {{\n}}\n\nport app application {{\n  in packet(m: msg) -> c.E.packet\n{inputs}  \
         out packet(m: msg)\n}}\n\nhandler c.E.packet(e, m: msg) {{\n    decode m, w then good(..) else bad(..)\n  \
         good(m1: msg):\n    p = encode m1, w\n    out app.packet(p)\n    return\n  bad(m2: msg, why: reason):\n    \
         drop m2 for why\n    return\n}}\n{handlers}"
    )
}

/// `, h0x0: u16, h0x1: bool`
fn params(bare: &Automaton, variants: &[VariantId]) -> String {
    let mut params = String::new();
    for (place, (header, variant)) in bare.wires[0].headers.iter().zip(variants).enumerate() {
        for (at, (_, ty)) in bare.headers[header.index()].variants[variant.index()].fields.iter().enumerate() {
            let ty = match ty {
                Type::U(width) => format!("u{width}"),
                Type::Seq(width) => format!("seq{width}"),
                Type::Bool => "bool".to_owned(),
                Type::Enum(id) => bare.enums[id.index()].name.clone(),
                other => panic!("{other:?} in a header"),
            };
            params += &format!(", h{place}x{at}: {ty}");
        }
    }
    params
}

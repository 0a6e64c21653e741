//! Elements of arrays start as 0, which must be a value of their type: an enum without a name for 0 has no such value.

use mokume_base::{Diagnostic, Span};

use crate::codes;
use crate::program::*;

/// The arrays of each layer.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        for member in layer.all_members().flat_map(|(_, members)| members) {
            let MemberKind::Array { ty, .. } = &member.kind else { continue };
            // The contents of a container were put in.
            let is_own = !member.name.text.contains('.');
            if let Some(of) = without_zero(program, *ty).filter(|_| is_own) {
                out.push(report(of, &member.name.text, member.name.span));
            }
        }
    }
}

fn report(of: &Enum, array: &str, span: Span) -> Diagnostic {
    let name = &of.name.text;
    let first = of.names.first().map_or("Nothing", |(first, _)| first.text.as_str());
    Diagnostic::error(codes::NO_ZERO, format!("elements of `{array}` begin as 0, which is no value of `{name}`"))
        .at(span, "nothing is in it at first")
        .label(of.name.span, "has no name for 0")
        .help(format!("give 0 a name: `enum {name}: u{} {{ None, {first} = …`", of.width))
        .help("or keep what is not always there in a map or a `vector`: they begin empty")
}

/// The enum in a type for which all zeros would not be a value.
pub fn without_zero(program: &Program, ty: Type) -> Option<&Enum> {
    let named = |of: &&Enum| !of.open && of.names.iter().all(|(_, number)| *number != 0);
    match ty {
        Type::Enum(id) => program.enums.get(id.index()).filter(named),
        Type::Record(id) => {
            let with_data = program.enums.iter().find(|of| of.data == Some(id));
            if with_data.is_some() {
                return with_data.filter(named);
            }
            let record = program.records.get(id.index()).filter(|record| record.vector.is_none())?;
            record.fields.iter().find_map(|field| without_zero(program, field.ty))
        }
        _ => None,
    }
}

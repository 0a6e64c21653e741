//! Types of bounded vectors, once all records are known: elements are scalars or records of them, and few enough.

use mokume_base::Diagnostic;

use crate::program::*;
use crate::resolve::vectors::is_element;
use crate::{codes, types};

/// Each value of the type is so many scalars.
const MOST_SCALARS: usize = 256;

pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for record in &program.records {
        let Some(vector) = record.vector else { continue };
        let (name, span) = (&record.name.text, record.name.span);
        if !is_element(program, vector.element) {
            let text = format!("`{name}`: {} is no element of a vector", types::show(program, vector.element));
            let found = Diagnostic::error(codes::VECTOR_ELEMENT, text).at(span, "of what no vector is made");
            out.push(found.help("elements are scalars, and records of scalars"));
            continue;
        }
        let scalars = vector.bound as usize * scalars(program, vector.element);
        if scalars > MOST_SCALARS {
            let text = format!("`{name}` is {scalars} numbers side by side, and {MOST_SCALARS} are the most");
            let found = Diagnostic::error(codes::VECTOR_BOUND, text).at(span, "too much for one value");
            out.push(found.help("keep many in a container: `vector<T> all(100)`, of `use containers`"));
        }
    }
}

fn scalars(program: &Program, ty: Type) -> usize {
    let Type::Record(id) = ty else { return 1 };
    program.records[id.index()].fields.iter().map(|field| scalars(program, field.ty)).sum()
}

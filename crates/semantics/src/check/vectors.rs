//! Types of bounded vectors, once all records are known: their elements, with vectors of their own too, are few enough.

use mokume_base::Diagnostic;

use crate::codes;
use crate::program::*;

/// Each value of the type is so many scalars.
const MOST_SCALARS: usize = 256;

/// The types of bounded vectors that the program uses.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for record in &program.records {
        let Some(vector) = record.vector else { continue };
        let (name, span) = (&record.name.text, record.name.span);
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

//! Types of bounded vectors, checked once all records are known: a vector has few enough scalars, vectors within it
//! included.

use mokume_base::Diagnostic;

use crate::codes;
use crate::program::*;

/// The most scalars of a value of such a type.
const MOST_SCALARS: usize = 256;

/// Checks the types of all bounded vectors that the program uses.
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

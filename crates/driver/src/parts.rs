//! Names of parts: a record or a flow is several numbers in the automaton, `best_rtt` and `client_remote_host`, which the source calls
//! `best.rtt` and `client.remote.host`.

use mokume_semantics::program::{Field, Layer, Program, Type};

/// The parts of a value of a type: each joined to the value's name as in the automaton, and as in the source. Of a bounded vector in a
/// record, the vector. None if the value has no parts by name.
pub(crate) fn of(program: &Program, name: &str, ty: Type) -> Vec<(String, String)> {
    let mut found = Vec::new();
    match ty {
        Type::Flow(_) => {
            let parts = of_flows(program).into_iter();
            found.extend(parts.map(|(part, path)| (format!("{name}_{part}"), format!("{name}.{path}"))));
        }
        Type::Record(_) => add(program, (name.to_string(), name.to_string()), ty, &mut found),
        _ => {}
    }
    found
}

fn add(program: &Program, (joined, path): (String, String), ty: Type, found: &mut Vec<(String, String)>) {
    let Type::Record(id) = ty else { return };
    let Some(record) = program.records.get(id.index()) else { return };
    if let Some(vector) = record.vector {
        // The length stands beside the parts of the elements.
        found.push((format!("{joined}_length"), format!("{path}.length")));
        return add(program, (joined, path), vector.element, found);
    }
    for field in &record.fields {
        let name = &field.name.text;
        // The fields of an enum with parts are called `.number` and `.Wait.rounds`: its number has its own name.
        let path = match name.strip_prefix('.') {
            Some("number") => path.clone(),
            _ => format!("{path}.{}", name.trim_start_matches('.')),
        };
        let part = (joined_to(&joined, name), path);
        found.push(part.clone());
        add(program, part, field.ty, found);
    }
}

/// The numbers of a value of a type, in their order: each joined to the value's name as in the automaton, and as in the source, where
/// an element is `lines[0].node`.
pub(crate) fn scalars(program: &Program, name: &str, ty: Type) -> Vec<(String, String)> {
    let mut found = Vec::new();
    add_scalars(program, (name.to_string(), name.to_string()), ty, &mut found);
    found
}

fn add_scalars(program: &Program, (joined, path): (String, String), ty: Type, found: &mut Vec<(String, String)>) {
    let record = if let Type::Record(id) = ty { program.records.get(id.index()) } else { None };
    let Some(record) = record else { return found.push((joined, path)) };
    for (place, field) in record.fields.iter().enumerate() {
        let name = &field.name.text;
        let path = match (record.vector, name.strip_prefix('.')) {
            (Some(_), _) if place > 0 => format!("{path}[{}]", place - 1),
            (_, Some("number")) => path.clone(),
            _ => format!("{path}.{}", name.trim_start_matches('.')),
        };
        add_scalars(program, (joined_to(&joined, name), path), field.ty, found);
    }
}

/// The name in the automaton of a part of a value: `best_rtt`, `plan__number`.
pub(crate) fn joined_to(value: &str, part: &str) -> String {
    format!("{value}_{}", part.replace('.', "_"))
}

/// The fields that a layer adds to flows, for each end: of its key, and of its addresses.
pub(crate) fn fields_of_flows(layer: &Layer) -> impl Iterator<Item = &Field> {
    layer.key.iter().flat_map(|key| &key.fields).chain(&layer.address)
}

/// The parts of flows: `remote_host` and `remote.host`.
pub(crate) fn of_flows(program: &Program) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for field in program.layers.iter().flat_map(fields_of_flows) {
        let name = &field.name.text;
        let ends = ["local", "remote"].map(|end| (format!("{end}_{name}"), format!("{end}.{name}")));
        for part in [(name.clone(), name.clone())].into_iter().chain(ends) {
            if !found.contains(&part) {
                found.push(part);
            }
        }
    }
    found
}

/// A kind of objects as people call it, from its name in the automaton, behind the layer's.
pub(crate) fn kind_of(class: &str) -> &str {
    match class {
        "E" => "entity",
        "S" => "session",
        "P" => "point",
        "V" => "view",
        object => object,
    }
}

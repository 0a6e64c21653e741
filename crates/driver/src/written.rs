//! The notations of a stack's values, from the types in its source: parameters, arguments of its ports' events, fields
//! of its headers.
//!
//! The automaton has names and widths; the layer that a name comes from gives its declared type.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Form, Notation, SourceMap, Span};
use mokume_reaction::{Automaton, Class, HeaderId, PortKind, SourceId, VariantId, WireId};
use mokume_script::{CellForms, ListForm, Written};
use mokume_semantics::program::{
    Field, Layer, Member, MemberKind, Name, ObjectClass, OptionForm, Param, Program, ScopeKind, Stack, Type, Wire,
    WireItem,
};

/// The notations of a stack's values.
pub fn of(program: &Program, sources: &SourceMap, stack: &Stack, automaton: &Automaton) -> Written {
    let source = Source { program, sources, automaton };
    Written {
        arguments: (0..automaton.ports.len()).map(|port| source.arguments(port)).collect(),
        events: source.events(),
        params: source.params(stack),
        lists: source.lists(&stack.params),
        headers: source.headers(),
        wires: source.wires(),
        refusals: source.refusals(),
        flows: source.flows(),
        cells: source.cells(),
        names: source.names(),
        ends: parts::of_flows(program).into_iter().collect(),
        all: program.written.iter().map(|written| written.form.clone()).collect(),
    }
}

use crate::{parts, shapes};

type Forms = BTreeMap<String, Form>;

/// The cell that has a part of what is declared at a place, by the part's joined name. A cell whose name was taken has another one.
fn cell_of(
    automaton: &Automaton,
    class: &Class,
    ((file, line, column), joined): ((&str, u32, u32), &str),
) -> Option<String> {
    let is_there = |source: SourceId| {
        let at = automaton.sources.get(source.index());
        at.is_some_and(|at| at.file == file && (at.line, at.column) == (line, column))
    };
    let mut own = class.cells.iter().filter(|cell| cell.source.is_some_and(is_there));
    let is_it = |name: &str| name.strip_prefix(joined).is_some_and(|more| more.bytes().all(|sign| sign == b'_'));
    own.find(|cell| is_it(&cell.name)).map(|cell| cell.name.clone())
}

/// What a layer declares for a class of objects.
struct Declared<'a> {
    class: &'a Class,
    members: Vec<&'a Member>,
    keys: &'a [Field],
}

/// The wires of a program with the name that one has in an automaton.
fn definitions_of<'p>(program: &'p Program, wire: &mokume_reaction::Wire) -> impl Iterator<Item = &'p Wire> + use<'p> {
    // If a stack has a wire several times, the instance precedes its name.
    let name = wire.name.rsplit('.').next().unwrap_or_default().to_string();
    program.wires.iter().filter(move |known| known.name.text == name)
}

/// The text's wire of an automaton's; `None` if it has none, or of two with one name.
pub(crate) fn definition_of<'p>(program: &'p Program, wire: &mokume_reaction::Wire) -> Option<&'p Wire> {
    let mut known = definitions_of(program, wire);
    known.next().filter(|_| known.next().is_none())
}

/// The names of a wire's fields.
fn names_in<'a>(items: &'a [WireItem], names: &mut Vec<&'a Name>) {
    for item in items {
        match item {
            WireItem::Field(field) => names.push(&field.name),
            WireItem::Choice { arms, .. } => arms.iter().for_each(|arm| names_in(&arm.items, names)),
            WireItem::Optional { items, .. } => names_in(items, names),
            WireItem::Each(each) => names_in(&each.items, names),
            WireItem::Options(options) => {
                names.extend([&options.kind.0, &options.length.0]);
                for arm in &options.arms {
                    if let OptionForm::Known { items, .. } = &arm.what {
                        names_in(items, names);
                    }
                }
            }
            WireItem::Reach(..) => {}
        }
    }
}

struct Source<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    automaton: &'a Automaton,
}

impl Source<'_> {
    /// The stack's parameters, and the station addresses of its devices, which have one notation in all programs.
    fn params(&self, stack: &Stack) -> Forms {
        let mut forms = Forms::new();
        stack.params.iter().for_each(|param| self.param(&param.name.text, param.ty, param.written, &mut forms));
        let station = || Form::Parts { notation: Notation::Colons { bits: 8 }, widths: vec![48] };
        forms.extend(stack.devices.iter().map(|device| (format!("{}.mac", device.text), station())));
        forms
    }

    fn lists(&self, params: &[Param]) -> BTreeMap<String, ListForm> {
        let mut lists = BTreeMap::new();
        params.iter().for_each(|param| self.list(&param.name.text, (param.ty, param.written), &mut lists));
        lists
    }

    fn list(&self, name: &str, (ty, written): (Type, Option<Notation>), lists: &mut BTreeMap<String, ListForm>) {
        let Type::Record(id) = ty else { return };
        if let Some(vector) = self.program.vector(ty) {
            let form = self.program.form(vector.element, written);
            let is_octets = vector.element == Type::UInt(8) && form.is_none();
            lists.insert(name.to_string(), ListForm { most: vector.bound as usize, form, is_octets });
            return;
        }
        for field in self.program.records.get(id.index()).map_or(&[][..], |record| &record.fields) {
            self.list(&format!("{name}.{}", field.name.text), (field.ty, field.written), lists);
        }
    }

    /// A parameter, and its parts, which can be set separately.
    fn param(&self, name: &str, ty: Type, written: Option<Notation>, forms: &mut Forms) {
        forms.extend(self.program.form(ty, written).map(|form| (name.to_string(), form)));
        let Type::Record(id) = ty else { return };
        for field in self.program.records.get(id.index()).map_or(&[][..], |record| &record.fields) {
            self.param(&format!("{name}.{}", field.name.text), field.ty, field.written, forms);
        }
    }

    /// The parts of flows, what sessions are given, and published values of the layers below a port, the nearest first;
    /// and attributes.
    fn arguments(&self, port: usize) -> Forms {
        let port = &self.automaton.ports[port];
        let Some(input) = port.inputs.first().filter(|_| port.kind == PortKind::Application) else {
            return Forms::new();
        };
        let mut forms = Forms::new();
        for layer in self.at_and_below(self.automaton.class(input.class).layer.index()) {
            for definition in self.definitions(&self.automaton.layers[layer].of) {
                self.flow_parts(definition, &mut forms);
                self.given(definition, &mut forms);
                self.published(definition, &mut forms);
            }
        }
        for attribute in &self.program.attributes {
            self.value(&attribute.name.text, (attribute.ty, attribute.written), &mut forms);
        }
        forms
    }

    /// What events of vocabularies carry; of two with one name the first one counts.
    fn events(&self) -> BTreeMap<String, Vec<(String, Option<Form>)>> {
        let mut all = BTreeMap::new();
        for event in self.program.vocabularies.iter().flat_map(|known| known.down.iter().chain(&known.up)) {
            let of = |field: &Field| (field.name.text.clone(), self.program.form(field.ty, field.written));
            all.entry(event.name.text.clone()).or_insert_with(|| event.params.iter().map(of).collect());
        }
        all
    }

    /// The constants that `open` and `listen` set.
    fn given(&self, layer: &Layer, forms: &mut Forms) {
        let members = layer.members(ScopeKind::Session).unwrap_or_default();
        for member in layer.given.iter().chain(&layer.listened).filter_map(|at| members.get(*at as usize)) {
            if let MemberKind::Var { ty, .. } = &member.kind {
                self.value(&member.name.text, (*ty, member.written.value), forms);
            }
        }
    }

    fn flows(&self) -> Forms {
        let (mut all, mut several) = (Forms::new(), BTreeSet::new());
        for layer in &self.automaton.layers {
            for definition in self.definitions(&layer.of) {
                let mut forms = Forms::new();
                self.flow_parts(definition, &mut forms);
                for (name, form) in forms {
                    if *all.entry(name.clone()).or_insert_with(|| form.clone()) != form {
                        several.insert(name);
                    }
                }
            }
        }
        // A part without an end may have the name of any local.
        all.retain(|name, form| name.contains('_') && form.words() == 1 && !several.contains(name));
        all
    }

    fn flow_parts(&self, layer: &Layer, forms: &mut Forms) {
        for field in parts::fields_of_flows(layer) {
            for end in ["", "local_", "remote_"] {
                self.field(end, field, forms);
            }
        }
    }

    /// The names that `export … with` may use.
    fn published(&self, layer: &Layer, forms: &mut Forms) {
        for publish in &layer.publishes {
            self.value(&publish.name.text, (publish.ty, publish.written), forms);
        }
    }

    fn field(&self, before: &str, field: &Field, forms: &mut Forms) {
        self.value(&format!("{before}{}", field.name.text), (field.ty, field.written), forms);
    }

    /// The first value of a name counts.
    fn value(&self, name: &str, (ty, written): (Type, Option<Notation>), forms: &mut Forms) {
        if let Some(form) = self.program.form(ty, written) {
            forms.entry(name.to_string()).or_insert(form);
        }
    }

    /// A layer and all below it, the nearest first.
    fn at_and_below(&self, layer: usize) -> Vec<usize> {
        let (mut order, mut seen) = (vec![layer], BTreeSet::from([layer]));
        let mut next = 0;
        while let Some(at) = order.get(next).copied() {
            next += 1;
            for link in &self.automaton.links {
                let of = |class| self.automaton.class(class).layer.index();
                if of(link.above.0) == at && seen.insert(of(link.below.0)) {
                    order.push(of(link.below.0));
                }
            }
        }
        order
    }

    /// Layers of a name: several files may have one each.
    fn definitions<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Layer> {
        self.program.layers.iter().filter(move |layer| layer.name.text == name)
    }

    fn headers(&self) -> BTreeMap<(HeaderId, VariantId, String), Form> {
        let mut all = BTreeMap::new();
        for (index, header) in self.automaton.headers.iter().enumerate() {
            let owner = header.name.rsplit_once('.').map_or("", |(owner, _)| owner);
            let layer = self.automaton.layers.iter().find(|layer| layer.name == owner);
            for definition in layer.into_iter().flat_map(|layer| self.definitions(&layer.of)) {
                for (at, variant) in header.variants.iter().enumerate() {
                    for (name, form) in self.header(definition, &variant.name) {
                        all.entry((HeaderId::from(index), VariantId::from(at), name)).or_insert(form);
                    }
                }
            }
        }
        all
    }

    fn wires(&self) -> BTreeMap<(WireId, String), Form> {
        let mut all = BTreeMap::new();
        for (index, wire) in self.automaton.wires.iter().enumerate() {
            for definition in definitions_of(self.program, wire) {
                for (name, form) in &definition.written {
                    all.entry((WireId::from(index), name.clone())).or_insert_with(|| form.clone());
                }
            }
        }
        all
    }

    fn refusals(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for wire in &self.automaton.wires {
            let Some(definition) = definition_of(self.program, wire) else { continue };
            let mut fields = vec![&definition.name];
            names_in(&definition.items, &mut fields);
            for field in fields {
                let (file, line, _) = self.place(field.span);
                let reason = if std::ptr::eq(field, &definition.name) { "short" } else { &field.text };
                all.entry(format!("{}.{reason}", wire.name)).or_insert_with(|| format!("{file}:{line}"));
            }
        }
        all
    }

    /// The declared contents of objects. Parts of a record are separate cells.
    fn cells(&self) -> BTreeMap<(String, String), CellForms> {
        let mut all = BTreeMap::new();
        for Declared { class, members, keys } in self.declared() {
            for member in members {
                for (name, forms) in self.member(member) {
                    if let Some(name) = cell_of(self.automaton, class, (self.place(member.name.span), &name)) {
                        all.entry((class.name.clone(), name)).or_insert(forms);
                    }
                }
            }
            for key in keys {
                let mut forms = Vec::new();
                self.scalars(key.name.text.clone(), (key.ty, key.written), &mut forms);
                for (name, forms) in forms {
                    all.entry((class.name.clone(), name)).or_insert(forms);
                }
            }
        }
        all
    }

    /// The names in the source of cells that are parts of a value.
    fn names(&self) -> BTreeMap<(String, String), String> {
        let mut all = BTreeMap::new();
        for Declared { class, members, keys } in self.declared() {
            for member in members {
                let (MemberKind::Var { ty, .. } | MemberKind::Array { ty, .. }) = &member.kind else { continue };
                let name = member.name.text.replace('.', "_");
                let own = parts::of(self.program, &name, *ty).into_iter().chain([(name.clone(), name.clone())]);
                for (joined, path) in own {
                    let cell = cell_of(self.automaton, class, (self.place(member.name.span), &joined));
                    all.extend(cell.filter(|cell| *cell != path).map(|cell| ((class.name.clone(), cell), path)));
                }
            }
            for key in keys {
                let parts = parts::of(self.program, &key.name.text, key.ty).into_iter();
                let parts = parts.map(|(joined, path)| ((class.name.clone(), joined), path));
                for (cell, path) in parts {
                    all.entry(cell).or_insert(path);
                }
            }
        }
        all
    }

    /// Where a name is declared: file, line and column.
    fn place(&self, at: Span) -> (&str, u32, u32) {
        let (line, column) = self.sources.line_column(at.file, at.start);
        (&self.sources.file(at.file).name, line, column)
    }

    /// The classes of objects with what the layers declare for them; a layer's name may stand for several.
    fn declared(&self) -> impl Iterator<Item = Declared<'_>> {
        self.automaton.classes.iter().flat_map(|class| {
            let layer = &self.automaton.layers[class.layer.index()];
            self.definitions(&layer.of).map(move |definition| {
                let of_class = |object: &&ObjectClass| class.name == format!("{}.{}", layer.name, object.name.text);
                let object = definition.objects.iter().find(of_class);
                // Whose they are, their places say: an object may be called as the class of an entity is.
                let scopes = definition.scopes.iter().flat_map(|scope| &scope.members);
                let members = scopes.chain(definition.objects.iter().flat_map(|object| &object.members)).collect();
                let keys = object.map_or(&[][..], |object| &object.keys);
                Declared { class, members, keys }
            })
        })
    }

    fn member(&self, member: &Member) -> Vec<(String, CellForms)> {
        let name = member.name.text.replace('.', "_");
        let form = |ty: Type, written| self.program.form(ty, written).filter(|form| form.words() == 1);
        match &member.kind {
            MemberKind::Var { ty, .. } | MemberKind::Array { ty, .. } => {
                let mut forms = Vec::new();
                // The elements of a vector are an array.
                let element = self.program.vector(*ty).and_then(|vector| form(vector.element, member.written.value));
                forms.extend(
                    element.map(|value| (name.clone(), CellForms { value: Some(value), ..CellForms::default() })),
                );
                self.scalars(name, (*ty, member.written.value), &mut forms);
                forms
            }
            MemberKind::Map { key, value, .. } => {
                let keys = key.iter().enumerate();
                let written = |at: usize| member.written.keys.get(at).copied().flatten();
                let keys = keys.map(|(at, ty)| shapes::of(self.program, *ty, written(at))).collect();
                let values = value.iter().map(|ty| shapes::of(self.program, *ty, member.written.value)).collect();
                let value = value.first().and_then(|ty| form(*ty, member.written.value));
                vec![(name, CellForms { keys, values, value })]
            }
            MemberKind::Timer
            | MemberKind::Quota { .. }
            | MemberKind::Counter
            | MemberKind::Messages { .. }
            | MemberKind::Container(_) => Vec::new(),
        }
    }

    /// The scalars of a value that have a notation: names and notations.
    fn scalars(&self, name: String, (ty, written): (Type, Option<Notation>), forms: &mut Vec<(String, CellForms)>) {
        if let Type::Flow(_) = ty {
            let parts = self.flows().into_iter();
            let parts = parts.map(|(part, form)| (format!("{name}_{part}"), Some(form)));
            forms.extend(parts.map(|(part, value)| (part, CellForms { value, ..CellForms::default() })));
            return;
        }
        if let Some(form) = self.program.form(ty, written).filter(|form| form.words() == 1) {
            forms.push((name, CellForms { value: Some(form), ..CellForms::default() }));
            return;
        }
        // What a vector's elements are written by, the vector has been told; its length is a number.
        let Some(record) = self.program.records.get(if let Type::Record(id) = ty { id.index() } else { return }) else {
            return;
        };
        for (at, field) in record.fields.iter().enumerate() {
            let of_element = written.filter(|_| record.vector.is_some() && at > 0);
            self.scalars(parts::joined_to(&name, &field.name.text), (field.ty, field.written.or(of_element)), forms);
        }
    }

    /// An alternative of a layer's header; for a multiplexor's key, its ends.
    fn header(&self, layer: &Layer, alternative: &str) -> Forms {
        let mut forms = Forms::new();
        let variants = layer.header.iter().flat_map(|header| &header.variants);
        let is_one = variants.clone().count() < 2;
        let variants = variants.filter(|variant| is_one || variant.name.text == alternative);
        for field in variants.flat_map(|variant| &variant.fields) {
            self.field("", field, &mut forms);
            let mut elements = Vec::new();
            self.scalars(field.name.text.clone(), (field.ty, field.written), &mut elements);
            for (name, form) in elements.into_iter().filter_map(|(name, forms)| Some((name, forms.value?))) {
                forms.entry(name).or_insert(form);
            }
        }
        if let Some(key) = &layer.key {
            let ends = if key.symmetric { [""].as_slice() } else { &["source", "destination"] };
            for (end, field) in ends.iter().flat_map(|end| key.fields.iter().map(move |field| (end, field))) {
                let name = match (key.symmetric, key.fields.len()) {
                    (true, _) => field.name.text.clone(),
                    (false, 1) => end.to_string(),
                    (false, _) => format!("{end}_{}", field.name.text),
                };
                forms.extend(self.program.form(field.ty, field.written).map(|form| (name, form)));
            }
        }
        forms
    }
}

#[cfg(test)]
mod tests {
    use mokume_base::MemoryWorld;
    use mokume_interpret::Instance;
    use mokume_reaction::{Datum, PortId};
    use mokume_semantics::program::StackId;

    use crate::compile::{self, Checked, Compiled};

    const PROGRAM: &str = "type Address = u32 written dotted(8)\n\
        record Network written address/prefix { address: Address, prefix: u8 }\n\
        record Wide written colons(16) short { high: u64, low: u64 }\n\
        router Hosts(own: Address) {\n    header { source: Address, size: u32 }\n    address { host: Address, to: Wide }\n\
            on send(msg) to flow { below.send(msg, source: flow.remote.host, size: 1) to flow() }\n\
            on deliver(msg, source) {\n        let to = Wide { high: 0, low: 1 }\n\
                above.deliver(msg) from flow(local.host: own, local.to: to, remote.host: source, remote.to: to)\n    }\n}\n\
        attribute via: Address = 0\n\
        multiplexor Ports { key { port: u8 }  publish here: Address = 0x0a00_0003  writes via\n\
            on deliver(msg) {\n        msg.via = 0x0a00_0004\n        above.deliver(msg)\n    }\n}\n\
        stack Host(device: Device, own: Network, many: u32 = 3) {\n    hosts = Hosts(own.address) over device\n\
            ports = Ports over hosts\n    export ports with via, here\n}\n\
        test \"shown\" {\n    stack Host(own: 10.0.0.1/24)\n    ports.bind(1, 0, ::0, 2)\n\
            device.frame(x\"0200000a 01000000 0702 6869\")\n    => ports.deliver_from(10.0.0.9, ::1, 2, 10.0.0.2, ::1, 7, \"hi\", 0)\n}\n";

    fn compiled() -> (Checked, Compiled) {
        let world = MemoryWorld::new();
        let checked = compile::check_texts(&world, vec![("x.mok".into(), PROGRAM.into())], Vec::new());
        let (compiled, diagnostics) = compile::compile(&checked, StackId(0), &world);
        (checked, compiled.unwrap_or_else(|| panic!("{diagnostics:?}")))
    }

    #[test]
    fn parameters_arguments_and_headers_have_the_forms_of_their_types() {
        let (_, compiled) = compiled();
        let written = &compiled.written;
        assert_eq!(written.params.keys().collect::<Vec<_>>(), ["device.mac", "own", "own.address"]);
        let port = compiled.composed.ports.iter().position(|port| port.name == "ports").unwrap();
        assert!(written.arguments[port]["local_host"].read("10.0.0.1").is_some());
        assert!(written.arguments[port]["remote_to"].read("::1").is_some());
        assert!(written.arguments[port]["via"].read("10.0.0.4").is_some());
        assert!(written.arguments[port]["here"].read("10.0.0.3").is_some());
        assert!(!written.arguments[port].contains_key("local_port"));
        let fields: Vec<&str> = written.headers.keys().map(|(_, _, name)| name.as_str()).collect();
        assert_eq!(fields, ["source"]);
    }

    #[test]
    fn a_call_is_shown_as_the_language_writes_it() {
        let (_, compiled) = compiled();
        let port = compiled.composed.ports.iter().position(|port| port.name == "ports").unwrap();
        let output =
            compiled.composed.ports[port].outputs.iter().find(|output| output.event == "deliver_from").unwrap();
        let words = [0x0a00_0001, 0, 1, 2, 0x0a00_0002, 0xfe80 << 48, 0, 7].map(Datum::Word);
        let args = [words.to_vec(), vec![Datum::Message(b"hi".to_vec()), Datum::Word(0x0a00_0004)]].concat();
        let event = mokume_script::PortEvent::output(PortId::from(port), output);
        let shown = crate::record::arguments(&compiled.composed, &compiled.written, event, &args);
        assert_eq!(shown, "(10.0.0.1, ::1, 2, 10.0.0.2, fe80::, 7, \"hi\", 10.0.0.4)");
    }

    #[test]
    fn a_test_that_fails_says_values_as_it_writes_them() {
        let (checked, compiled) = compiled();
        let test = &checked.program.tests[0];
        let (script, _) = mokume_lower::test_script(
            &checked.program,
            (&compiled.uncomposed, &compiled.protocols),
            &checked.sources,
            test,
        );
        let script = script.expect("the test makes sense");
        let params = mokume_script::parameters(&compiled.uncomposed, &script);
        let mut machine = Instance::new(&compiled.uncomposed, &params, 0);
        let found = mokume_script::judge(&compiled.uncomposed, &compiled.written, &script, &mut machine);
        let said = found.iter().map(|failure| failure.to_string()).collect::<Vec<_>>().join("\n");
        assert!(said.contains("- ports.deliver_from(10.0.0.9, ::1, 2, 10.0.0.2, ::1, 7, \"hi\", 0.0.0.0)"), "{said}");
        assert!(
            said.contains("+ ports.deliver_from(10.0.0.1, ::1, 2, 10.0.0.2, ::1, 7, \"hi\", 10.0.0.4) at 0"),
            "{said}"
        );
    }
}

//! Wires as tables: what the decoder reads, and how Wireshark shows it.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Form, Notation};
use mokume_dissect::names;
use mokume_reaction::{
    Compare, Endian, FieldIndex, FieldValue, OptionArm, OptionPart, ReasonId, WireArm, WireExpression, WireField,
    WireId, WireItem, WireOptions, WireTest,
};

use crate::table::{table, Key, Lua};
use crate::Stack;

/// Reserved words of Wireshark's filters.
const WORDS: [&str; 22] = [
    "all",
    "all_eq",
    "all_ne",
    "and",
    "any",
    "any_eq",
    "any_ne",
    "bitwise_and",
    "contains",
    "eq",
    "false",
    "ge",
    "gt",
    "in",
    "le",
    "lt",
    "matches",
    "ne",
    "not",
    "or",
    "true",
    "xor",
];

/// What the dissector calls its own findings: `sensorwire.malformed`. A field of such a name has `_field` behind it.
const FINDINGS: [&str; 4] = ["malformed", "dropped", "damaged", "may_be_refused"];

/// A wire.
pub fn wire(stack: &Stack, id: WireId) -> Lua {
    let automaton = stack.automaton;
    let wire = &automaton.wires[id.index()];
    let mut writer = Writer { stack, id, alternatives: names::alternatives(automaton, wire), filters: BTreeMap::new() };
    let short = names::short(&wire.name);
    let (own, of) = (names::plain(short), names::plain(&automaton.name));
    // Wireshark terminates if it is given such a name.
    let plain = Some(own.clone()).filter(|own| own.len() > 1 && !WORDS.contains(&own.as_str()));
    let filters = plain.into_iter().chain([format!("{of}_{own}"), format!("mokume_{of}_{own}")]);
    let fields = WireItem::fields(&wire.items);
    let is_fields_alone = wire.items.iter().all(|item| matches!(item, WireItem::Field(_)));
    let bits: usize = fields.iter().map(|field| usize::from(field.width)).sum();
    let (sums, pseudo) = (stack.sums)(id);
    let (items, _) = writer.items(&wire.items, &BTreeSet::from([0]));
    table(vec![
        ("id", Some(Lua::Number(id.index() as u64 + 1))),
        ("name", Some(Lua::text(&wire.name))),
        ("filters", Some(Lua::List(filters.map(Lua::Text).collect()))),
        ("short", Some(writer.reason(wire.short))),
        ("headers", Some(Lua::numbers(wire.headers.iter().map(|header| header.index() + 1)))),
        ("untold", Some(Lua::List(names::untold(automaton, wire).into_iter().map(Lua::Text).collect()))),
        ("header", is_fields_alone.then(|| Lua::Number(bits.div_ceil(8) as u64))),
        ("trims", fields.iter().any(|field| field.trims_packet).then_some(Lua::Yes)),
        ("sums", sums.map(Lua::Text)),
        ("pseudo", Some(Lua::List(pseudo.into_iter().map(Lua::Text).collect()))),
        ("items", Some(items)),
    ])
}

/// The bits of an octet at which the next item may begin.
type Phases = BTreeSet<usize>;

struct Writer<'a> {
    stack: &'a Stack<'a>,
    id: WireId,
    alternatives: Vec<Option<String>>,
    /// The names in filters, each with whose it is: the alternative's name and the field's.
    filters: BTreeMap<String, (Option<String>, String)>,
}

impl Writer<'_> {
    fn reason(&self, reason: ReasonId) -> Lua {
        Lua::text(&self.stack.automaton.reasons[reason.index()].name)
    }

    /// The name of a field in filters. They have no capital letters: of names that differ in these alone, the later ones get a number.
    fn filter(&mut self, alternative: Option<&str>, name: &str) -> Lua {
        let (own, whose) = (names::filter(alternative, name), (alternative.map(str::to_string), name.to_string()));
        let own = if FINDINGS.contains(&own.as_str()) { format!("{own}_field") } else { own };
        let numbered = (2..).map(|number| format!("{own}_{number}"));
        let mut free = [own.clone()].into_iter().chain(numbered);
        let found = free.find(|one| self.filters.get(one).is_none_or(|known| *known == whose)).unwrap_or(own);
        self.filters.insert(found.clone(), whose);
        Lua::Text(found)
    }

    fn all(&self) -> &[WireItem] {
        &self.stack.automaton.wires[self.id.index()].items
    }

    fn items(&mut self, items: &[WireItem], phases: &Phases) -> (Lua, Phases) {
        let mut phases = phases.clone();
        let mut all = Vec::new();
        for item in items {
            let (lua, behind) = self.item(item, &phases);
            all.push(lua);
            phases = behind;
        }
        (Lua::List(all), phases)
    }

    fn item(&mut self, item: &WireItem, phases: &Phases) -> (Lua, Phases) {
        let is = |name: &str| Some(Lua::text(name));
        match item {
            WireItem::Field(field) => {
                let behind = phases.iter().map(|phase| (phase + usize::from(field.width)) % 8).collect();
                (self.field(field, phases), behind)
            }
            WireItem::Choice { on, arms, unknown } => {
                let mut behind = Phases::new();
                let arms = arms.iter().map(|arm| self.arm(arm, phases, &mut behind)).collect();
                let lua = table(vec![
                    ("is", is("choice")),
                    ("on", Some(index(*on))),
                    ("unknown", Some(self.reason(*unknown))),
                    ("arms", Some(Lua::List(arms))),
                ]);
                (lua, behind)
            }
            WireItem::Optional { when, items } => {
                let (items, behind) = self.items(items, phases);
                let when = when.iter().map(test).collect();
                let lua = table(vec![("is", is("optional")), ("when", Some(Lua::List(when))), ("items", Some(items))]);
                (lua, behind.union(phases).copied().collect())
            }
            WireItem::Options(options) => (self.options(options, phases), Phases::from([0])),
            WireItem::List(list) => {
                let mut behind = phases.clone();
                let mut elements = Vec::new();
                for element in &list.elements {
                    let (items, after) = self.items(element, &behind.clone());
                    elements.push(items);
                    behind.extend(after);
                }
                let lua = table(vec![
                    ("is", is("list")),
                    ("header", Some(Lua::Number(list.header.index() as u64 + 1))),
                    ("variant", Some(Lua::Number(list.variant.index() as u64 + 1))),
                    ("count", Some(Lua::Number(u64::from(list.count) + 1))),
                    ("malformed", list.to_end.map(|reason| self.reason(reason))),
                    ("elements", Some(Lua::List(elements))),
                ]);
                (lua, behind)
            }
            WireItem::Reach(to) => {
                (table(vec![("is", is("reach")), ("last", Some(expression(to)))]), Phases::from([0]))
            }
        }
    }

    fn arm(&mut self, arm: &WireArm, phases: &Phases, behind: &mut Phases) -> Lua {
        let (items, after) = self.items(&arm.items, phases);
        behind.extend(after);
        let selects =
            arm.selects.iter().map(|(header, variant)| Lua::numbers([header.index() + 1, variant.index() + 1]));
        let commons = arm.commons.iter().map(|common| {
            let place = common.field as usize;
            let variant = &self.stack.automaton.headers[common.header.index()].variants[common.variant.index()];
            let width = variant.fields.get(place).map_or(32, |(_, ty)| ty.width(self.stack.automaton));
            let ids = [common.header.index() + 1, common.variant.index() + 1, place + 1];
            let ids = ids.into_iter().map(|id| Lua::Number(id as u64));
            Lua::List(ids.chain([Lua::of_width(common.value, width)]).collect())
        });
        table(vec![
            ("tag", Some(Lua::of_width(arm.tag, if arm.tag >> 32 == 0 { 32 } else { 64 }))),
            ("selects", Some(Lua::List(selects.collect()))),
            ("commons", Some(Lua::List(commons.collect()))),
            ("items", Some(items)),
        ])
    }

    fn options(&mut self, options: &WireOptions, phases: &Phases) -> Lua {
        let mut part = |part: &OptionPart| self.part(part, phases);
        let (kind, length) = (part(&options.kind), part(&options.length));
        let arms = options.arms.iter().map(|arm| self.option(arm)).collect();
        table(vec![
            ("is", Some(Lua::text("options"))),
            ("little", (options.endian == Endian::Little).then_some(Lua::Yes)),
            ("kind", Some(kind)),
            ("length", Some(length)),
            ("times", Some(Lua::Wide(options.times.max(1)))),
            ("plus", Some(Lua::Wide(options.plus))),
            ("last", Some(expression(&options.until))),
            ("unknown", options.unknown.map(|reason| self.reason(reason))),
            ("malformed", Some(self.reason(options.malformed))),
            ("arms", Some(Lua::List(arms))),
        ])
    }

    fn part(&mut self, part: &OptionPart, phases: &Phases) -> Lua {
        let wire = &self.stack.automaton.wires[self.id.index()];
        let alternative = names::alternative_of_option(self.stack.automaton, wire, &part.name);
        let filter = self.filter(alternative.as_deref(), &part.name);
        table(vec![
            ("name", Some(Lua::text(&part.name))),
            ("width", Some(Lua::Number(part.width.into()))),
            ("filter", Some(filter)),
            ("alternative", alternative.map(Lua::Text)),
            ("form", (self.stack.form)(self.id, &part.name, None).and_then(form)),
            ("phases", Some(Lua::numbers(phases.iter().copied()))),
        ])
    }

    fn option(&mut self, arm: &OptionArm) -> Lua {
        let (kind, width) = (arm.kind(), if arm.kind() >> 32 == 0 { 32 } else { 64 });
        let kind = ("kind", Some(Lua::of_width(kind, width)));
        let OptionArm::Known { header, variant, field, items, repeat, .. } = arm else {
            let is_end = matches!(arm, OptionArm::End { .. });
            return table(vec![kind, (if is_end { "ends" } else { "single" }, Some(Lua::Yes))]);
        };
        let (fixed, each, most) = arm.measures();
        let number = |number: u32| Some(Lua::Number(number.into()));
        let repeated = |of: u32| repeat.and_then(|_| number(of));
        let (items, _) = self.items(items, &Phases::from([0]));
        table(vec![
            kind,
            ("header", Some(Lua::Number(header.index() as u64 + 1))),
            ("variant", Some(Lua::Number(variant.index() as u64 + 1))),
            ("place", number(field + 1)),
            ("fixed", number(fixed)),
            ("each", repeated(each)),
            ("most", repeated(most)),
            ("from", repeat.and_then(|repeat| number(repeat.from))),
            ("items_each", repeat.and_then(|repeat| number(repeat.each))),
            ("count", repeat.and_then(|repeat| number(repeat.count + 1))),
            ("items", Some(items)),
        ])
    }

    fn field(&mut self, field: &WireField, phases: &Phases) -> Lua {
        let place = field.index.0 as usize;
        let alternative = self.alternatives.get(place).cloned().flatten();
        let filter = self.filter(alternative.as_deref(), &field.name);
        let chooses = names::choices(self.stack.automaton, self.all(), field.index);
        let is_tag = matches!(field.value, FieldValue::Tag);
        let mut names = (self.stack.names)(self.id, place);
        if names.is_empty() && is_tag {
            names = chooses.clone();
        }
        let by_number = |names: Vec<(String, u64)>| {
            let named = names.into_iter().map(|(name, value)| (Key::Text(value.to_string()), Lua::Text(name)));
            Lua::Table(named.collect())
        };
        let some = |names: Vec<(String, u64)>| (!names.is_empty()).then(|| by_number(names));
        let mut entries = vec![
            ("is", Some(Lua::text("field"))),
            ("index", Some(index(field.index))),
            ("name", Some(Lua::text(&field.name))),
            ("width", Some(Lua::Number(field.width.into()))),
            ("little", (field.endian == Endian::Little).then_some(Lua::Yes)),
            ("filter", Some(filter)),
            ("alternative", alternative.map(Lua::Text)),
            ("form", (self.stack.form)(self.id, &field.name, Some(place)).and_then(form)),
            ("names", some(names)),
            ("chooses", some(chooses)),
            ("phases", Some(Lua::numbers(phases.iter().copied()))),
        ];
        entries.extend(self.value(field));
        let rule = |rule: &mokume_reaction::WireConstraint| {
            let sides =
                [expression(&rule.left), sign(rule.compare), expression(&rule.right), self.reason(rule.otherwise)];
            Lua::List(sides.to_vec())
        };
        let rules: Vec<Lua> = field.constraints.iter().map(rule).collect();
        entries.push(("where", (!rules.is_empty()).then_some(Lua::List(rules))));
        entries.push(("trims", field.trims_packet.then_some(Lua::Wide(field.trims_plus))));
        table(entries)
    }

    fn value(&self, field: &WireField) -> Vec<(&'static str, Option<Lua>)> {
        match &field.value {
            FieldValue::Constant { value, otherwise } => vec![
                ("constant", Some(Lua::of_width(*value, field.width))),
                ("otherwise", Some(self.reason(*otherwise))),
            ],
            FieldValue::Header { header, variant, field, times, plus, otherwise } => vec![
                ("header", Some(Lua::Number(header.index() as u64 + 1))),
                ("variant", Some(Lua::Number(variant.index() as u64 + 1))),
                ("place", Some(Lua::Number(u64::from(*field) + 1))),
                ("times", Some(Lua::Wide((*times).max(1)))),
                ("plus", Some(Lua::Wide(*plus))),
                ("otherwise", otherwise.map(|reason| self.reason(reason))),
            ],
            FieldValue::Computed { expression: of, otherwise } => vec![
                ("computed", Some(expression(of))),
                ("otherwise", Some(self.reason(*otherwise))),
                ("sums_packet", matches!(of, WireExpression::PacketChecksum).then_some(Lua::Yes)),
            ],
            FieldValue::Reserved => vec![("unread", Some(Lua::Yes))],
            FieldValue::Tag | FieldValue::Placed => Vec::new(),
        }
    }
}

fn index(FieldIndex(index): FieldIndex) -> Lua {
    Lua::Number(u64::from(index) + 1)
}

fn sign(compare: Compare) -> Lua {
    Lua::text(compare.sign())
}

fn test(test: &WireTest) -> Lua {
    Lua::List(vec![expression(&test.left), sign(test.compare), expression(&test.right)])
}

fn expression(of: &WireExpression) -> Lua {
    let named = |name: &str, rest: Vec<Lua>| Lua::List([vec![Lua::text(name)], rest].concat());
    match of {
        WireExpression::Number(number) => named("number", vec![Lua::Wide(*number)]),
        WireExpression::Field(field) => named("field", vec![index(*field)]),
        WireExpression::PacketSize => named("packet", Vec::new()),
        WireExpression::HeaderSize => named("header", Vec::new()),
        WireExpression::PayloadSize => named("payload", Vec::new()),
        WireExpression::Add(a, b) => named("add", vec![expression(a), expression(b)]),
        WireExpression::Sub(a, b) => named("sub", vec![expression(a), expression(b)]),
        WireExpression::Mul(a, b) => named("mul", vec![expression(a), expression(b)]),
        WireExpression::Div(a, b) => named("div", vec![expression(a), expression(b)]),
        WireExpression::HeaderChecksum => named("sum_header", Vec::new()),
        WireExpression::PacketChecksum => named("sum_packet", Vec::new()),
    }
}

/// Only notations of one number: in parts, a set, or a time.
fn form(form: Form) -> Option<Lua> {
    let (notation, widths) = match form {
        Form::Time => return Some(table(vec![("as", Some(Lua::text("time")))])),
        Form::Set => return Some(table(vec![("as", Some(Lua::text("set")))])),
        Form::Parts { notation, widths } => (notation, widths),
        Form::Plain { .. } | Form::Prefix { .. } => return None,
    };
    let [width] = widths.as_slice() else { return None };
    let word = match notation {
        Notation::Dotted { .. } => "dotted",
        Notation::Colons { .. } => "colons",
        Notation::Short { .. } => "short",
    };
    Some(table(vec![
        ("as", Some(Lua::text(word))),
        ("bits", Some(Lua::Number(notation.bits().into()))),
        ("width", Some(Lua::Number((*width).into()))),
    ]))
}

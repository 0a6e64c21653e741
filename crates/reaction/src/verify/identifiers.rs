//! Every identifier refers to something. All other checks rely on it.

use super::context::{units, Faults};
use crate::canonical::refers_within;
use crate::operation::{Kind, Slot};
use crate::*;

/// Checks every id of the automaton. If this finds a fault, no other check may run.
pub fn check(automaton: &Automaton, faults: &mut Faults) {
    let mut checker = Checker { a: automaton, faults, place: Place::Automaton };
    checker.tables();
    checker.classes();
    checker.links_and_ports();
    checker.wires();
    checker.signatures();
    checker.composition();
    for unit in units(automaton) {
        checker.body(unit);
    }
}

struct Checker<'a, 'f> {
    a: &'a Automaton,
    faults: &'f mut Faults,
    place: Place,
}

impl Checker<'_, '_> {
    fn within(&mut self, index: usize, table: usize, what: &str) {
        if index >= table {
            let message = format!("{what} {index} does not exist; there are {table}");
            self.faults.add(codes::DANGLING, self.place, message);
        }
    }

    fn class(&mut self, id: ClassId) {
        self.within(id.index(), self.a.classes.len(), "class");
    }

    fn cell(&mut self, class: ClassId, cell: CellId) {
        self.class(class);
        if let Some(found) = self.a.classes.get(class.index()) {
            self.within(cell.index(), found.cells.len(), "cell");
        }
    }

    fn reason(&mut self, id: ReasonId) {
        self.within(id.index(), self.a.reasons.len(), "reason");
    }

    fn source(&mut self, id: Option<SourceId>) {
        if let Some(id) = id {
            self.within(id.index(), self.a.sources.len(), "source");
        }
    }

    fn variant(&mut self, header: HeaderId, variant: VariantId) {
        self.within(header.index(), self.a.headers.len(), "header");
        if let Some(found) = self.a.headers.get(header.index()) {
            self.within(variant.index(), found.variants.len(), "variant");
        }
    }

    fn ty(&mut self, ty: Type) {
        match ty {
            Type::Enum(id) => self.within(id.index(), self.a.enums.len(), "enum"),
            Type::Ref(class) => self.class(class),
            Type::U(bits) | Type::Seq(bits) if !(1..=64).contains(&bits) => {
                let message = format!("a number of {bits} bits: there are 1 to 64");
                self.faults.add(codes::SIZE, self.place, message);
            }
            Type::Array(item, count) => {
                self.ty(item.ty());
                if !(1..=MOST_ITEMS).contains(&count) {
                    let message = format!("an array of {count} items: there are 1 to {MOST_ITEMS}");
                    self.faults.add(codes::SIZE, self.place, message);
                }
            }
            Type::Bool | Type::U(_) | Type::Seq(_) | Type::Msg | Type::Reason => {}
        }
    }

    fn types<'t>(&mut self, types: impl IntoIterator<Item = &'t Type>) {
        types.into_iter().for_each(|ty| self.ty(*ty));
    }

    fn named(&mut self, named: &[(String, Type)]) {
        self.types(named.iter().map(|(_, ty)| ty));
    }

    fn tables(&mut self) {
        for (index, param) in self.a.params.iter().enumerate() {
            self.place = Place::Param(index.into());
            self.ty(param.ty);
        }
        for (index, attribute) in self.a.attributes.iter().enumerate() {
            self.place = Place::Attribute(index.into());
            self.ty(attribute.ty);
        }
        for (index, header) in self.a.headers.iter().enumerate() {
            self.place = Place::Header(index.into());
            header.variants.iter().for_each(|variant| self.named(&variant.fields));
        }
    }

    fn classes(&mut self) {
        for (index, class) in self.a.classes.iter().enumerate() {
            self.place = Place::Class(index.into());
            self.within(class.layer.index(), self.a.layers.len(), "layer");
            if let Some(parent) = class.parent {
                self.class(parent);
            }
            self.source(class.source);
            for (cell, found) in class.cells.iter().enumerate() {
                self.place = Place::Cell(index.into(), cell.into());
                self.source(found.source);
                match &found.kind {
                    CellKind::Scalar { ty, .. } | CellKind::Array { ty, .. } => self.ty(*ty),
                    CellKind::Map { key, value, by, .. } => {
                        self.types(key.iter().chain(value));
                        if let Some(Type::Ref(of)) = value.first() {
                            by.iter().for_each(|cell| self.cell(*of, *cell));
                        }
                    }
                    CellKind::Messages { quota: Some((class, cell)), .. } => self.cell(*class, *cell),
                    _ => {}
                }
            }
        }
    }

    fn links_and_ports(&mut self) {
        for (index, link) in self.a.links.iter().enumerate() {
            self.place = Place::Link(index as u32);
            for (class, cell) in [link.above, link.below] {
                self.class(class);
                if let Some(cell) = cell {
                    self.cell(class, cell);
                }
            }
        }
        for (index, port) in self.a.ports.iter().enumerate() {
            self.place = Place::Port(index.into());
            for input in &port.inputs {
                self.class(input.class);
                self.named(&input.params);
            }
            port.outputs.iter().for_each(|output| self.named(&output.params));
        }
    }

    fn wires(&mut self) {
        for (index, wire) in self.a.wires.iter().enumerate() {
            self.place = Place::Wire(index.into());
            self.reason(wire.short);
            wire.headers.iter().for_each(|header| self.within(header.index(), self.a.headers.len(), "header"));
            self.wire_items(&wire.items);
        }
    }

    fn wire_items(&mut self, items: &[WireItem]) {
        for item in items {
            match item {
                WireItem::Field(field) => {
                    field.constraints.iter().for_each(|constraint| self.reason(constraint.otherwise));
                    self.field_value(&field.value);
                }
                WireItem::Choice { arms, unknown, .. } => {
                    self.reason(*unknown);
                    for arm in arms {
                        arm.selects.iter().for_each(|(header, variant)| self.variant(*header, *variant));
                        for common in &arm.commons {
                            self.header_field(common.header, common.variant, common.field);
                        }
                        self.wire_items(&arm.items);
                    }
                }
                WireItem::Optional { items, .. } => self.wire_items(items),
                WireItem::Options(options) => self.wire_options(options),
                WireItem::List(list) => {
                    list.to_end.iter().for_each(|reason| self.reason(*reason));
                    self.header_field(list.header, list.variant, list.count);
                    list.elements.iter().for_each(|element| self.wire_items(element));
                }
                WireItem::Reach(_) => {}
            }
        }
    }

    fn wire_options(&mut self, options: &WireOptions) {
        self.reason(options.malformed);
        options.unknown.iter().for_each(|reason| self.reason(*reason));
        for arm in &options.arms {
            if let OptionArm::Known { header, variant, repeat: Some(repeat), .. } = arm {
                self.header_field(*header, *variant, repeat.count);
            }
            if let OptionArm::Known { header, variant, field, items, .. } = arm {
                self.header_field(*header, *variant, *field);
                self.wire_items(items);
            }
        }
    }

    fn header_field(&mut self, header: HeaderId, variant: VariantId, field: u32) {
        self.variant(header, variant);
        let found = self.a.headers.get(header.index()).and_then(|h| h.variants.get(variant.index()));
        if let Some(found) = found {
            self.within(field as usize, found.fields.len(), "header field");
        }
    }

    fn field_value(&mut self, value: &FieldValue) {
        match value {
            FieldValue::Constant { otherwise, .. } | FieldValue::Computed { otherwise, .. } => self.reason(*otherwise),
            FieldValue::Header { header, variant, field, otherwise, .. } => {
                self.header_field(*header, *variant, *field);
                otherwise.iter().for_each(|reason| self.reason(*reason));
            }
            FieldValue::Tag | FieldValue::Placed | FieldValue::Reserved => {}
        }
    }

    fn signatures(&mut self) {
        for (index, function) in self.a.functions.iter().enumerate() {
            self.place = Place::Unit(Unit::Function(index.into()));
            self.named(&function.params);
            self.types(&function.results);
            self.types(function.refused());
            match function.role {
                Role::Pure | Role::Memo => {}
                Role::Published(class) => self.class(class),
                Role::Procedure { layer, .. } => self.within(layer.index(), self.a.layers.len(), "layer"),
            }
        }
        for (index, handler) in self.a.handlers.iter().enumerate() {
            self.place = Place::Unit(Unit::Handler(index.into()));
            self.class(handler.class);
            self.named(&handler.params);
            self.source(handler.source);
            if let Trigger::Expiry(cell) = handler.trigger {
                self.cell(handler.class, cell);
            }
        }
        for (index, path) in self.a.paths.iter().enumerate() {
            self.place = Place::Unit(Unit::Path(index.into()));
            self.within(path.handler.index(), self.a.handlers.len(), "handler");
        }
    }

    fn composition(&mut self) {
        self.place = Place::Composition;
        let Some(composition) = &self.a.composition else { return };
        for (from, to) in &composition.queued {
            self.within(from.index(), self.a.layers.len(), "layer");
            self.within(to.index(), self.a.layers.len(), "layer");
        }
        for (from, to) in &composition.queued_outputs {
            self.within(from.index(), self.a.layers.len(), "layer");
            self.within(to.index(), self.a.ports.len(), "port");
        }
        composition.merged.iter().flatten().for_each(|class| self.class(*class));
    }

    fn body(&mut self, unit: Unit) {
        let body = unit.body(self.a);
        self.place = Place::Unit(unit);
        self.types(body.values.iter().map(|info| &info.ty));
        if !refers_within(body) {
            let message = "the body mentions a value or a block that it does not have, or has no entry";
            self.faults.add(codes::DANGLING, self.place, message);
            return;
        }
        for (index, block) in body.blocks.iter().enumerate() {
            for (op, found) in block.ops.iter().enumerate() {
                self.place = Place::Op(unit, index.into(), op as u32);
                self.source(found.source);
                self.operation(&found.kind);
            }
            self.place = Place::Op(unit, index.into(), block.ops.len() as u32);
            self.source(block.mark.map(|mark| mark.source));
            self.terminator(&block.terminator);
        }
    }

    fn operation(&mut self, op: &dyn Operation) {
        let slots = op.slots();
        let (mut header, mut port) = (HeaderId(0), PortId(0));
        for ((_, kind), slot) in op.row().fields.iter().zip(&slots) {
            match slot {
                Slot::Value(_) | Slot::Values(_) | Slot::Perhaps(_) => {}
                Slot::Type(ty) => self.ty(*ty),
                Slot::PerhapsType(ty) => self.types(ty),
                Slot::Class(class) => self.class(*class),
                Slot::Function(id) => self.within(id.index(), self.a.functions.len(), "function"),
                Slot::Param(id) => self.within(id.index(), self.a.params.len(), "param"),
                Slot::Header(id) => header = *id,
                Slot::Variant(variant) => self.variant(header, *variant),
                Slot::Wire(id) => self.within(id.index(), self.a.wires.len(), "wire"),
                Slot::Attribute(id) => self.within(id.index(), self.a.attributes.len(), "attribute"),
                Slot::Reason(reason) => self.reason(*reason),
                Slot::Port(id) => {
                    self.within(id.index(), self.a.ports.len(), "port");
                    port = *id;
                }
                Slot::Number(number) => match kind {
                    Kind::Output => {
                        if let Some(port) = self.a.ports.get(port.index()) {
                            self.within(*number as usize, port.outputs.len(), "output");
                        }
                    }
                    Kind::Number if slots.contains(&Slot::Type(Type::Reason)) => {
                        self.reason(ReasonId(u32::try_from(*number).unwrap_or(u32::MAX)));
                    }
                    _ => {}
                },
                // The type of the object decides whether it has such a cell.
                Slot::Cell(_) | Slot::Name(_) | Slot::Octets(_) => {}
                Slot::Field(_) | Slot::Binary(_) | Slot::Compare(_) => {}
            }
        }
    }

    fn terminator(&mut self, terminator: &Terminator) {
        match terminator {
            Terminator::Match { header, cases, .. } => {
                self.within(header.index(), self.a.headers.len(), "header");
                cases.iter().for_each(|(variant, _)| self.variant(*header, *variant));
            }
            Terminator::Try { op, .. } => self.operation(op),
            Terminator::Return
            | Terminator::Yield { .. }
            | Terminator::Refuse { .. }
            | Terminator::Jump { .. }
            | Terminator::Branch { .. }
            | Terminator::Switch { .. } => {}
        }
    }
}

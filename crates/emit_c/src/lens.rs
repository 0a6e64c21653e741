//! Lenses: the records that merged objects share, and how layered code reads and writes cells through them.
//!
//! By the laws of lenses a record may stand for any set of objects of its classes, one a class, without being seen: what
//! is put into one cell changes no other. So every object begins with a record of its own, and a 1:1 link joins two;
//! paths take only objects whose records are joined.

use std::collections::BTreeMap;

use mokume_reaction::*;

use crate::plan::Plan;
use crate::term::{Record, TermWriter};
use crate::text::{literal, octets, Text};
use crate::types::{c_type, mask, unsigned};

impl Plan<'_> {
    /// Lenses with cells of their own; the others change nothing.
    pub fn real_lenses(&self) -> impl Iterator<Item = (LensId, &Lens)> {
        let lenses = self.automaton.lenses.iter().enumerate();
        lenses.filter(|(_, lens)| !lens.cells.is_empty()).map(|(index, lens)| (LensId::from(index), lens))
    }

    /// The lens of a class, if it has cells of its own.
    pub fn lens_of(&self, class: ClassId) -> Option<LensId> {
        self.real_lenses().find(|(_, lens)| lens.classes.contains(&class)).map(|(id, _)| id)
    }

    /// How a layered cell is read and written, if not as itself.
    pub fn view(&self, class: ClassId, cell: CellId) -> Option<(LensId, &View)> {
        let id = self.lens_of(class)?;
        let views = &self.automaton.lenses[id.index()].views;
        views.iter().find(|view| (view.class, view.cell) == (class, cell)).map(|view| (id, view))
    }

    pub fn lens_name(&self, lens: LensId) -> String {
        format!("lens_{}_{}", lens.0, crate::names::identifier(&self.automaton.lenses[lens.index()].name))
    }

    pub fn lens_cell_name(&self, lens: LensId, cell: LensCellId) -> String {
        let name = &self.automaton.lenses[lens.index()].cells[cell.index()].name;
        format!("{}_{}", crate::names::identifier(name), cell.0)
    }

    /// The name of a cell's `get` or `put`.
    pub fn accessor(&self, what: &str, class: ClassId, cell: CellId) -> String {
        let (class, cell) = (class.index(), cell.index());
        format!("{what}_{}_{}", self.names.classes[class], self.names.cells[class][cell])
    }

    /// As many records as there may be objects.
    pub fn lens_capacity(&self, lens: &Lens) -> u64 {
        lens.classes.iter().map(|class| u64::from(self.automaton.class(*class).capacity)).sum()
    }

    /// Whether a cell refers to the other side of a 1:1 link inside a lens.
    pub fn joins(&self, class: ClassId, cell: CellId) -> Option<(LensId, ClassId)> {
        let lens = self.lens_of(class)?;
        let links = self.automaton.links.iter().filter(|link| link.kind == LinkKind::OneToOne);
        let mut sides = links.flat_map(|link| [(link.above, link.below.0), (link.below, link.above.0)]);
        let here = sides.find(|(side, other)| *side == (class, Some(cell)) && self.lens_of(*other) == Some(lens));
        here.map(|(_, other)| (lens, other))
    }
}

/// The structs of the records.
pub(crate) fn structs(plan: &Plan, text: &mut Text) {
    for (id, lens) in plan.real_lenses() {
        text.line(format!("/* The record of {}: hot cells first. */", lens.name.replace("*/", "* /")));
        text.open(format!("struct {}", plan.lens_name(id)));
        for heat in [Heat::Hot, Heat::Cold] {
            for (place, cell) in lens.cells.iter().enumerate().filter(|(_, cell)| cell.heat == heat) {
                let name = plan.lens_cell_name(id, LensCellId::from(place));
                match &cell.kind {
                    LensCellKind::Scalar { width, .. } => text.line(format!("{} {name};", unsigned(*width))),
                    LensCellKind::Template { init } => text.line(format!("uint8_t {name}[{}];", init.len().max(1))),
                }
            }
        }
        text.line(format!(
            "uint32_t members[{}]; /* by class of the lens: its object, or MK_NOBODY */",
            lens.classes.len()
        ));
        text.line("uint32_t next_free;");
        text.close(";");
        text.line("");
    }
}

/// What the instance holds for them.
pub(crate) fn members(plan: &Plan, text: &mut Text) {
    for (id, lens) in plan.real_lenses() {
        let name = plan.lens_name(id);
        text.line(format!("struct {name} {name}[{}];", plan.lens_capacity(lens).max(1)));
        text.line(format!("uint32_t {name}_free;"));
        for class in &lens.classes {
            let capacity = plan.automaton.class(*class).capacity + 1;
            text.line(format!("uint32_t {}_record[{capacity}];", plan.names.classes[class.index()]));
        }
    }
}

/// At the instance's beginning: all records are free.
pub(crate) fn init(plan: &Plan, text: &mut Text) {
    for (id, lens) in plan.real_lenses() {
        let name = plan.lens_name(id);
        text.line(format!("for (uint32_t i = 0; i < {}; i++)", plan.lens_capacity(lens)));
        text.line(format!("    k->{name}[i].next_free = i + 1;"));
    }
}

/// Accessors, refreshes, and the life of records.
pub(crate) fn functions(plan: &Plan, text: &mut Text) {
    for (id, lens) in plan.real_lenses() {
        for view in &lens.views {
            accessors(plan, id, lens, view, text);
        }
        refresh(plan, id, lens, text);
        life(plan, id, lens, text);
    }
}

/// The record at hand as `r`, and the one around it as `around` where the lens has one.
fn scene<'p, 'a>(plan: &'p Plan<'a>, id: LensId, lens: &Lens, number: Option<(ClassId, &str)>) -> TermWriter<'p, 'a> {
    let mut writer = TermWriter::new(plan);
    let mut numbers = BTreeMap::new();
    if let Some((class, number)) = number {
        numbers.insert(class, number.to_string());
    }
    writer.records.push(Record { lens: id, pointer: "r".into(), numbers });
    if let Some(around) = lens.around {
        writer.records.push(Record { lens: around, pointer: "around".into(), numbers: BTreeMap::new() });
    }
    writer
}

/// `r`, and `around` if the terms speak of it.
fn open_records(plan: &Plan, id: LensId, lens: &Lens, class: ClassId, constant: &str, text: &mut Text) {
    let (name, class_name) = (plan.lens_name(id), &plan.names.classes[class.index()]);
    text.line(format!("{constant}struct {name} *r = &k->{name}[k->{class_name}_record[number]];"));
    text.line("(void)r;");
    let Some(around) = lens.around.filter(|around| plan.real_lenses().any(|(real, _)| real == *around)) else { return };
    let Some(parent) = plan.automaton.class(class).parent else { return };
    let (outer, parent_name) = (plan.lens_name(around), &plan.names.classes[parent.index()]);
    let parent_number = format!("k->{class_name}_objects[number].parent");
    text.line(format!("const struct {outer} *around = &k->{outer}[k->{parent_name}_record[{parent_number}]];"));
    text.line("(void)around;");
}

fn accessors(plan: &Plan, id: LensId, lens: &Lens, view: &View, text: &mut Text) {
    let stack = &plan.names.stack;
    let CellKind::Scalar { ty, .. } = plan.automaton.cell(view.class, view.cell).kind else { return };
    let returned = c_type(plan.automaton, ty);
    let (get, put) = (plan.accessor("get", view.class, view.cell), plan.accessor("put", view.class, view.cell));
    text.function(format!("static MK_UNUSED {returned} {get}(const struct {stack} *k, uint32_t number)"));
    open_records(plan, id, lens, view.class, "const ", text);
    let mut writer = scene(plan, id, lens, Some((view.class, "number")));
    let value = writer.term(&view.get);
    nest(writer.text, text);
    text.line(format!("return ({returned})({value});"));
    text.end_function();
    text.function(format!("static MK_UNUSED void {put}(struct {stack} *k, uint32_t number, {returned} it)"));
    open_records(plan, id, lens, view.class, "", text);
    text.line("(void)it;");
    let mut writer = scene(plan, id, lens, Some((view.class, "number")));
    let after = updates(&mut writer, &view.put);
    nest(writer.text, text);
    after.into_iter().for_each(|line| text.line(line));
    text.end_function();
}

/// Lines written at depth 0, at the depth of `text`.
pub(crate) fn nest(inner: Text, text: &mut Text) {
    text.lines(&inner.peek());
}

/// Values first, into temporaries; what is to be written afterwards is returned.
pub(crate) fn updates(writer: &mut TermWriter, list: &[LensUpdate]) -> Vec<String> {
    list.iter().flat_map(|update| lens_update(writer, PathObjectId(0), update.cell, &update.value)).collect()
}

pub(crate) fn lens_update(
    writer: &mut TermWriter,
    object: PathObjectId,
    cell: LensCellId,
    value: &LensValue,
) -> Vec<String> {
    let to = writer.lens_cell(object, cell);
    match value {
        LensValue::Term(term) => {
            let (value, name) = (writer.term(term), writer.temporary("new"));
            let width = writer.width(&Term::Lens { object, cell });
            writer.text.line(format!("{} {name} = {value};", unsigned(width)));
            vec![format!("{to} = {name};")]
        }
        LensValue::Octets(pieces) => {
            let name = writer.temporary("template");
            let size: u32 = pieces.iter().map(|piece| fixed_size(writer, piece).unwrap_or(0)).sum();
            writer.text.line(format!("uint8_t {name}[{}];", size.max(1)));
            write_fixed(writer, pieces, &name);
            vec![format!("memcpy({to}, {name}, {size});")]
        }
    }
}

/// The octets of a piece, if they are known before the run.
pub(crate) fn fixed_size(writer: &TermWriter, piece: &Piece) -> Option<u32> {
    match piece {
        Piece::Octets(octets) => Some(octets.len() as u32),
        Piece::Template { size, .. } => Some(*size),
        Piece::Field { value, .. } => Some(u32::from(writer.width(value).div_ceil(8))),
        Piece::Message { .. } => None,
    }
}

/// Writes pieces of known size to `to`; those that are not are left out. Returns how many octets were written.
pub(crate) fn write_fixed(writer: &mut TermWriter, pieces: &[Piece], to: &str) -> u32 {
    let mut at = 0;
    for piece in pieces {
        let size = fixed_size(writer, piece).unwrap_or(0);
        match piece {
            Piece::Octets(content) if !content.is_empty() => {
                let name = writer.temporary("octets");
                writer.text.line(format!("static const uint8_t {name}[] = {};", octets(content)));
                writer.text.line(format!("memcpy({to} + {at}, {name}, {size});"));
            }
            Piece::Template { object, cell, from, size } => {
                let template = writer.lens_cell(*object, *cell);
                writer.text.line(format!("memcpy({to} + {at}, {template} + {from}, {size});"));
            }
            Piece::Field { value, endian } => {
                let order = if *endian == Endian::Little { "le" } else { "be" };
                let value = writer.term(value);
                writer.text.line(format!("mk_put_{order}({to} + {at}, {size}, {value});"));
            }
            Piece::Octets(_) | Piece::Message { .. } => {}
        }
        at += size;
    }
    at
}

fn refresh(plan: &Plan, id: LensId, lens: &Lens, text: &mut Text) {
    let (stack, name) = (&plan.names.stack, plan.lens_name(id));
    let around = around_type(plan, lens);
    let outer = around.as_ref().map_or(String::new(), |outer| format!(", const struct {outer} *around"));
    text.line("/* Raises what guards ask for to what the layered state allows; changes nothing that a layer sees. */");
    text.function(format!("static MK_UNUSED void refresh_{name}(struct {stack} *k, struct {name} *r{outer})"));
    text.line("(void)k, (void)r;");
    if around.is_some() {
        text.line("(void)around;");
    }
    let mut writer = scene(plan, id, lens, None);
    let after = updates(&mut writer, &lens.refresh);
    nest(writer.text, text);
    after.into_iter().for_each(|line| text.line(line));
    text.end_function();
}

/// The struct of the lens around, if it has cells.
pub(crate) fn around_type(plan: &Plan, lens: &Lens) -> Option<String> {
    let around = lens.around.filter(|around| plan.real_lenses().any(|(real, _)| real == *around))?;
    Some(plan.lens_name(around))
}

fn life(plan: &Plan, id: LensId, lens: &Lens, text: &mut Text) {
    let (stack, name) = (&plan.names.stack, plan.lens_name(id));
    text.function(format!("static MK_UNUSED uint32_t new_{name}(struct {stack} *k)"));
    text.line(format!("uint32_t record = k->{name}_free;"));
    text.line(format!("struct {name} *r = &k->{name}[record];"));
    text.line(format!("k->{name}_free = r->next_free;"));
    for (place, cell) in lens.cells.iter().enumerate() {
        let member = plan.lens_cell_name(id, LensCellId::from(place));
        match &cell.kind {
            LensCellKind::Scalar { width, init } => {
                text.line(format!("r->{member} = {};", literal(init & mask(*width))));
            }
            LensCellKind::Template { init } if init.is_empty() => {}
            LensCellKind::Template { init } => {
                text.line(format!("static const uint8_t {member}[] = {};", octets(init)));
                text.line(format!("memcpy(r->{member}, {member}, {});", init.len()));
            }
        }
    }
    text.line(format!("for (uint32_t i = 0; i < {}; i++)", lens.classes.len()));
    text.line("    r->members[i] = MK_NOBODY;");
    text.line("return record;");
    text.end_function();
    leave(plan, id, lens, text);
    join(plan, id, lens, text);
}

/// An object's record is somebody else's, or nobody's, from now on.
fn leave(plan: &Plan, id: LensId, lens: &Lens, text: &mut Text) {
    let (stack, name, count) = (&plan.names.stack, plan.lens_name(id), lens.classes.len());
    text.function(format!("static MK_UNUSED void leave_{name}(struct {stack} *k, uint32_t record, uint32_t member)"));
    text.lines(&format!(
        "struct {name} *r = &k->{name}[record];\n\
         r->members[member] = MK_NOBODY;\n\
         for (uint32_t i = 0; i < {count}; i++) {{\n\
         \x20   if (r->members[i] != MK_NOBODY)\n\
         \x20       return;\n\
         }}\n\
         r->next_free = k->{name}_free;\n\
         k->{name}_free = record;"
    ));
    text.end_function();
    for (member, class) in lens.classes.iter().enumerate() {
        let class_name = &plan.names.classes[class.index()];
        text.line("/* The values of an object's cells move to another record. */");
        text.function(format!(
            "static MK_UNUSED void move_{class_name}(struct {stack} *k, uint32_t number, uint32_t record)"
        ));
        let views: Vec<&View> = lens.views.iter().filter(|view| view.class == *class).collect();
        for (place, view) in views.iter().enumerate() {
            let CellKind::Scalar { ty, .. } = plan.automaton.cell(view.class, view.cell).kind else { continue };
            let get = plan.accessor("get", view.class, view.cell);
            text.line(format!("{} v{place} = {get}(k, number);", c_type(plan.automaton, ty)));
        }
        text.lines(&format!(
            "leave_{name}(k, k->{class_name}_record[number], {member});\n\
             k->{class_name}_record[number] = record;\n\
             k->{name}[record].members[{member}] = number;"
        ));
        for (place, view) in views.iter().enumerate() {
            let put = plan.accessor("put", view.class, view.cell);
            text.line(format!("{put}(k, number, v{place});"));
        }
        text.end_function();
    }
}

/// Two objects are linked 1:1: one record for both, if they are living and nothing else stands in the way.
fn join(plan: &Plan, id: LensId, lens: &Lens, text: &mut Text) {
    let (stack, name, count) = (&plan.names.stack, plan.lens_name(id), lens.classes.len());
    text.function(format!("static MK_UNUSED void join_{name}(struct {stack} *k, uint32_t into, uint32_t from)"));
    text.line("if (into == from)");
    text.line("    return;");
    text.line(format!("struct {name} *a = &k->{name}[into], *b = &k->{name}[from];"));
    text.open(format!("for (uint32_t i = 0; i < {count}; i++)"));
    text.line("if (a->members[i] != MK_NOBODY && b->members[i] != MK_NOBODY)");
    text.line("    return;");
    text.close("");
    obstacles(plan, id, lens, text);
    text.line("uint32_t members[sizeof b->members / sizeof *b->members];");
    text.line("memcpy(members, b->members, sizeof members);");
    for (member, class) in lens.classes.iter().enumerate() {
        text.line(format!("if (members[{member}] != MK_NOBODY)"));
        text.line(format!("    move_{}(k, members[{member}], into);", plan.names.classes[class.index()]));
    }
    text.end_function();
}

/// Records whose views read the record around them: it must be the same for both, and must not change under those inside.
fn obstacles(plan: &Plan, id: LensId, lens: &Lens, text: &mut Text) {
    if around_type(plan, lens).is_some() {
        text.line("uint32_t around_a = MK_NOBODY, around_b = MK_NOBODY;");
        for (member, class) in lens.classes.iter().enumerate() {
            let Some(parent) = plan.automaton.class(*class).parent else { continue };
            let (name, parent) = (&plan.names.classes[class.index()], &plan.names.classes[parent.index()]);
            for side in ["a", "b"] {
                text.line(format!("if ({side}->members[{member}] != MK_NOBODY)"));
                text.line(format!(
                    "    around_{side} = k->{parent}_record[k->{name}_objects[{side}->members[{member}]].parent];"
                ));
            }
        }
        text.line("if (around_a != around_b)");
        text.line("    return;");
    }
    let inside = plan.real_lenses().filter(|(_, inner)| inner.around == Some(id));
    for class in inside.flat_map(|(_, inner)| &inner.classes) {
        let Some(parent) = plan.automaton.class(*class).parent else { continue };
        let Some(member) = lens.classes.iter().position(|known| *known == parent) else { continue };
        let name = &plan.names.classes[class.index()];
        for side in ["a", "b"] {
            text.line(format!(
                "if ({side}->members[{member}] != MK_NOBODY && k->{name}_families[{side}->members[{member}]].oldest != MK_NOBODY)"
            ));
            text.line("    return;");
        }
    }
}

/// A new object's record, and its cells' first values.
pub(crate) fn init_object(plan: &Plan, class: ClassId, text: &mut Text) {
    let Some(id) = plan.lens_of(class) else { return };
    let lens = &plan.automaton.lenses[id.index()];
    let (name, class_name) = (plan.lens_name(id), &plan.names.classes[class.index()]);
    let member = lens.classes.iter().position(|known| *known == class).unwrap_or(0);
    text.line(format!("k->{class_name}_record[number] = new_{name}(k);"));
    text.line(format!("k->{name}[k->{class_name}_record[number]].members[{member}] = number;"));
    for view in lens.views.iter().filter(|view| view.class == class) {
        let CellKind::Scalar { ty, init } = plan.automaton.cell(view.class, view.cell).kind else { continue };
        let value = crate::records::initial(plan, ty, init);
        text.line(format!("{}(k, number, {value});", plan.accessor("put", view.class, view.cell)));
    }
}

/// A place is given back, and with it the object's part in its record.
pub(crate) fn free_object(plan: &Plan, class: ClassId, text: &mut Text) {
    let Some(id) = plan.lens_of(class) else { return };
    let lens = &plan.automaton.lenses[id.index()];
    let member = lens.classes.iter().position(|known| *known == class).unwrap_or(0);
    let (name, class_name) = (plan.lens_name(id), &plan.names.classes[class.index()]);
    text.line("if (freed)");
    text.line(format!("    leave_{name}(k, k->{class_name}_record[number], {member});"));
}

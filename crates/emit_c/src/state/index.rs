//! Maps of objects by their own cells: an index of their numbers, and functions that look into it.
//!
//! Invariant: an object in a map has the key in its cells, and is there (docs/automaton.md, "by"); the interpreter looks whether that is
//! so. As in `runtime/mk_map.h`: open addressing, half as many places again as entries, and no tombstones.

use mokume_reaction::*;

use super::numbers::{class_of, number_type};
use super::octets::places_by;
use super::stored::Stored;
use crate::plan::Plan;
use crate::text::Text;
use crate::types::{c_type, declare};

/// What a map's functions are called behind `find_`, `insert_`, `remove_`.
pub(crate) fn name(plan: &Plan, class: ClassId, cell: CellId) -> String {
    format!("{}_{}", plan.names.classes[class.index()], plan.names.cells[class.index()][cell.index()])
}

/// One map, as text.
struct Index<'a> {
    name: String,
    stack: &'a str,
    /// The entity's record, and the map's name in it.
    owner: String,
    /// The objects' class.
    of: &'a str,
    ty: &'static str,
    capacity: u32,
    objects: u32,
    mask: u32,
    /// `, uint32_t key0, …` and `key0, …`
    params: String,
    keys: String,
    /// The key in numbers of 64 bits, as many parts in each as have room.
    words: Vec<String>,
    /// The cells of `object`, and whether they are the key.
    cells: String,
    same: String,
    is_on_path: bool,
}

/// The functions of all such maps.
pub(crate) fn write(plan: &Plan, text: &mut Text) {
    for (at, class) in plan.automaton.classes.iter().enumerate() {
        for (place, cell) in class.cells.iter().enumerate() {
            if let Some(index) = index(plan, (at.into(), place.into()), &cell.kind) {
                index.write(text);
            }
        }
    }
}

fn index<'a>(plan: &'a Plan, (owner, cell): (ClassId, CellId), kind: &CellKind) -> Option<Index<'a>> {
    let of = class_of(kind)?;
    let CellKind::Map { key, by, capacity, .. } = kind else { return None };
    let names = &plan.names;
    let (mut params, mut keys, mut cells, mut same) = (String::new(), Vec::new(), Vec::new(), Vec::new());
    for (at, (ty, of_object)) in key.iter().zip(by).enumerate() {
        params += &format!(", {}", declare(c_type(plan.automaton, *ty), &format!("key{at}")));
        let member = format!("object->{}", names.cells[of.index()][of_object.index()]);
        let member = Stored::of(plan.automaton, plan.automaton.class(of), *ty).read(&member);
        keys.push(format!("key{at}"));
        same.push(format!("{member} == key{at}"));
        cells.push(member);
    }
    Some(Index {
        name: name(plan, owner, cell),
        stack: &names.stack,
        owner: format!("k->{}[0].{}", names.classes[owner.index()], names.cells[owner.index()][cell.index()]),
        of: &names.classes[of.index()],
        ty: number_type(plan.automaton, of),
        capacity: *capacity,
        objects: plan.automaton.class(of).capacity,
        mask: places_by(*capacity) - 1,
        params,
        words: words(plan, key),
        keys: keys.join(", "),
        cells: cells.join(", "),
        same: same.join(" && "),
        is_on_path: !plan.automaton.paths.is_empty(),
    })
}

/// Parts of a key side by side, in numbers of 64 bits.
fn words(plan: &Plan, key: &[Type]) -> Vec<String> {
    let mut words: Vec<(u8, String)> = Vec::new();
    for (at, ty) in key.iter().enumerate() {
        let width = 8 * crate::types::stored_octets(plan.automaton, *ty) as u8;
        match words.last_mut() {
            Some((used, word)) if *used + width <= 64 => {
                *word += &format!(" | (uint64_t)key{at} << {used}");
                *used += width;
            }
            _ => words.push((width, format!("key{at}"))),
        }
    }
    words.into_iter().map(|(_, word)| word).collect()
}

impl Index<'_> {
    fn write(&self, text: &mut Text) {
        self.home(text);
        self.place(text);
        self.find("find", "MK_UNUSED", text);
        // On paths they are mostly one of few look-ups.
        if self.is_on_path {
            self.find("find_here", "MK_IN_PLACE MK_UNUSED", text);
        }
        self.insert(text);
        self.remove(text);
    }

    /// Where in the index a key belongs.
    fn home(&self, text: &mut Text) {
        let Index { name, params, words, mask, .. } = self;
        let bits = mask.count_ones();
        text.function(format!("static MK_UNUSED uint32_t home_{name}({})", params.trim_start_matches(", ")));
        text.line("uint64_t hash = 0;");
        for word in words {
            text.line(format!("hash = mk_mix_key(hash, {word});"));
        }
        text.line(format!("return (uint32_t)(hash >> {});", 64 - bits));
        text.end_function();
    }

    /// Its place, or the free one where it would go.
    fn place(&self, text: &mut Text) {
        let Index { name, stack, owner, ty, params, keys, mask, same, .. } = self;
        text.function(format!("static MK_UNUSED uint32_t place_{name}(const struct {stack} *k{params})"));
        text.line(format!("const {ty} *index = {owner}_entries;"));
        text.line(format!("uint32_t place = home_{name}({keys});"));
        text.open(format!("for (; index[place]; place = (place + 1) & {mask})"));
        self.object(text);
        text.line(format!("if ({same})"));
        text.line("    break;");
        text.close("");
        text.line("return place;");
        text.end_function();
    }

    /// The object at a place of the index.
    fn object(&self, text: &mut Text) {
        let of = self.of;
        text.line(format!("const struct {of} *object = &k->{of}[index[place] - 1];"));
    }

    /// What `number` of the index means: nobody, or `found`.
    fn reference(&self, text: &mut Text) {
        let of = self.of;
        text.line("if (!number)");
        text.line("    return MK_NULL;");
        text.line(format!("uint32_t generation = k->{of}_objects[number - 1].generation;"));
        text.line("mk_ref found = mk_ref_of(number - 1, generation & ~(MK_NOT_LIVING | MK_ENDED));");
    }

    fn find(&self, find: &str, how: &str, text: &mut Text) {
        let Index { name, stack, owner, ty, of, params, keys, mask, same, .. } = self;
        text.function(format!("static {how} mk_ref {find}_{name}(const struct {stack} *k{params})"));
        text.line(format!("const {ty} *index = {owner}_entries;"));
        text.open(format!("for (uint32_t place = home_{name}({keys});; place = (place + 1) & {mask})"));
        text.line("uint32_t number = index[place];");
        text.line("if (!number)");
        text.line("    return MK_NULL;");
        text.line(format!("const struct {of} *object = &k->{of}[number - 1];"));
        text.open(format!("if (MK_LIKELY({same}))"));
        text.line(format!("uint32_t generation = k->{of}_objects[number - 1].generation;"));
        text.line("return mk_ref_of(number - 1, generation & ~(MK_NOT_LIVING | MK_ENDED));");
        text.close("");
        text.close("");
        text.end_function();
    }

    fn insert(&self, text: &mut Text) {
        let Index { name, stack, owner, ty, params, keys, capacity, objects, .. } = self;
        text.function(format!("static MK_UNUSED bool insert_{name}(struct {stack} *k, mk_ref object{params})"));
        text.line(format!("uint32_t place = place_{name}(k, {keys});"));
        text.line(format!("bool is_new = !{owner}_entries[place];"));
        text.line(format!("if (is_new && {owner}.count >= {capacity} + (MK_FAULT(map_capacity) ? 1 : 0))"));
        text.line("    return false;");
        text.line(format!("if (mk_number(object) >= {objects})"));
        text.line("    return false;");
        text.line(format!("{owner}.count += is_new;"));
        text.line(format!("{owner}_entries[place] = ({ty})(mk_number(object) + 1);"));
        text.line("return true;");
        text.end_function();
    }

    /// Those behind a hole move back, so that each is found from its home on.
    fn remove(&self, text: &mut Text) {
        let Index { name, stack, owner, ty, params, keys, cells, mask, .. } = self;
        text.function(format!("static MK_UNUSED mk_ref remove_{name}(struct {stack} *k{params})"));
        text.line(format!("{ty} *index = {owner}_entries;"));
        text.line(format!("uint32_t hole = place_{name}(k, {keys}), number = index[hole];"));
        self.reference(text);
        text.line(format!("{owner}.count--;"));
        text.line("index[hole] = 0;");
        let next = format!("place = (place + 1) & {mask}");
        text.open(format!(
            "for (uint32_t {next_of}; index[place] && !MK_FAULT(map_removal); {next})",
            next_of = next.replacen("place + 1", "hole + 1", 1)
        ));
        self.object(text);
        text.line("/* It may move back if its home is not between the hole (exclusive) and its place. */");
        text.line(format!("uint32_t home = home_{name}({cells});"));
        text.line(format!("if (((place - home) & {mask}) < ((place - hole) & {mask}))"));
        text.line("    continue;");
        text.line("index[hole] = index[place];");
        text.line("index[place] = 0;");
        text.line("hole = place;");
        text.close("");
        text.line("return found;");
        text.end_function();
    }
}

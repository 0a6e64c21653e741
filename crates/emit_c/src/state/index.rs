//! Maps of objects by their own cells: an index of object numbers, and functions that use it.
//!
//! Invariant: an object in a map has the key in its cells, and exists (docs/automaton.md, "by"); the interpreter checks
//! this. As in `runtime/mk_map.h`: open addressing, half as many places again as entries, and no tombstones.

use mokume_reaction::*;

use super::numbers::{class_of, number_type};
use super::octets::places_by;
use super::stored::Stored;
use crate::plan::keys::{self, Word};
use crate::plan::Plan;
use crate::text::Text;
use crate::types::{c_type, declare};

/// The suffix of a map's functions, after `find_`, `insert_`, `remove_`.
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
    /// `, uint32_t key0, …`
    params: String,
    /// The statements that compute its words, if words are kept beside the index (`plan/keys.rs`).
    begin: Vec<String>,
    /// What is looked up, words or key: `, uint64_t word0, …` and `word0`, `…`
    asked_params: String,
    asked: Vec<String>,
    /// The same in 64-bit numbers, as many parts in each as fit.
    mixed: Vec<String>,
    /// The same for the object whose number is `number`, and whether it equals what is looked up.
    kept: String,
    same: String,
    is_on_path: bool,
}

/// Writes the functions of all such maps.
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
    let (mut params, mut keys, mut cells) = (String::new(), Vec::new(), Vec::new());
    for (at, (ty, of_object)) in key.iter().zip(by).enumerate() {
        params += &format!(", {}", declare(c_type(plan.automaton, *ty), &format!("key{at}")));
        let record = format!("k->{}[number - 1]", names.classes[of.index()]);
        let member = format!("{record}.{}", names.cells[of.index()][of_object.index()]);
        keys.push(format!("key{at}"));
        cells.push(Stored::of(plan.automaton, plan.automaton.class(of), *ty).read(&member));
    }
    let owner_cell = format!("k->{}[0].{}", names.classes[owner.index()], names.cells[owner.index()][cell.index()]);
    let (mut begin, mut asked_params, mut asked, mut kept) = (Vec::new(), params.clone(), keys.clone(), cells);
    let mut mixed = side_by_side(plan, key, &keys);
    if let Some(words) = plan.keys.get(&(owner, cell)) {
        asked = (0..words.len()).map(|at| format!("word{at}")).collect();
        kept = asked.iter().map(|word| format!("{owner_cell}_keys[number - 1].{word}")).collect();
        let declared = |(word, name): (&Word, &String)| format!("{} {name}", keys::c_type(word));
        let declared: Vec<String> = words.iter().zip(&asked).map(declared).collect();
        begin = declared.iter().zip(words).map(|(name, word)| format!("{name} = {};", of_parts(word, &keys))).collect();
        asked_params = declared.iter().map(|word| format!(", {word}")).collect();
        mixed = asked.clone();
    }
    let same: Vec<String> = kept.iter().zip(&asked).map(|(kept, asked)| format!("{kept} == {asked}")).collect();
    Some(Index {
        name: name(plan, owner, cell),
        stack: &names.stack,
        owner: owner_cell,
        of: &names.classes[of.index()],
        ty: number_type(plan.automaton, of),
        capacity: *capacity,
        objects: plan.automaton.class(of).capacity,
        mask: places_by(*capacity) - 1,
        params,
        begin,
        asked_params,
        asked,
        mixed,
        kept: kept.join(", "),
        same: same.join(" && "),
        is_on_path: !plan.automaton.paths.is_empty(),
    })
}

/// A word of a key, from its parts.
fn of_parts(word: &Word, parts: &[String]) -> String {
    let part = |part: &keys::Part| {
        let (value, bits) = (&parts[part.at], 8 * part.octets);
        let value = match part.endian {
            Endian::Big => format!("mk_turned_{bits}({value})"),
            Endian::Little => value.clone(),
        };
        match part.from {
            0 => value,
            from => format!("(uint64_t){value} << {}", 8 * from),
        }
    };
    let word_type = keys::c_type(word);
    let whole: Vec<String> = word.iter().map(part).collect();
    match (whole.len(), word_type) {
        (1, _) | (_, "uint64_t") => whole.join(" | "),
        _ => format!("({word_type})({})", whole.join(" | ")),
    }
}

/// The parts of a key packed into 64-bit numbers.
fn side_by_side(plan: &Plan, key: &[Type], parts: &[String]) -> Vec<String> {
    let mut words: Vec<(u8, String)> = Vec::new();
    for (ty, part) in key.iter().zip(parts) {
        let width = 8 * crate::types::stored_octets(plan.automaton, *ty) as u8;
        match words.last_mut() {
            Some((used, word)) if *used + width <= 64 => {
                *word += &format!(" | (uint64_t){part} << {used}");
                *used += width;
            }
            _ => words.push((width, part.clone())),
        }
    }
    words.into_iter().map(|(_, word)| word).collect()
}

impl Index<'_> {
    fn write(&self, text: &mut Text) {
        self.home(text);
        self.place(text);
        self.find(text);
        // On paths a map usually has few look-ups.
        if self.is_on_path {
            self.find_here(text);
        }
        self.insert(text);
        self.remove(text);
    }

    /// The home place of a key in the index.
    fn home(&self, text: &mut Text) {
        let Index { name, asked_params, mixed, mask, .. } = self;
        let bits = mask.count_ones();
        text.function(format!("static MK_UNUSED uint32_t home_{name}({})", asked_params.trim_start_matches(", ")));
        text.line("uint64_t hash = 0;");
        for word in mixed {
            text.line(format!("hash = mk_mix_key(hash, {word});"));
        }
        text.line(format!("return (uint32_t)(hash >> {});", 64 - bits));
        text.end_function();
    }

    /// The place of a key, or the free one where it would go.
    fn place(&self, text: &mut Text) {
        let Index { name, stack, owner, ty, asked_params, mask, same, .. } = self;
        text.function(format!("static MK_UNUSED uint32_t place_{name}(const struct {stack} *k{asked_params})"));
        text.line(format!("const {ty} *index = {owner}_entries;"));
        text.line(format!("uint32_t place = home_{name}({});", self.asked.join(", ")));
        text.open(format!("for (; index[place]; place = (place + 1) & {mask})"));
        text.line("uint32_t number = index[place];");
        text.line(format!("if ({same})"));
        text.line("    break;");
        text.close("");
        text.line("return place;");
        text.end_function();
    }

    fn reference(&self, place: &str) -> [String; 2] {
        let of = self.of;
        [
            format!("uint32_t generation = k->{of}_objects[number - 1].generation;"),
            format!("{place}mk_ref_of(number - 1, generation & ~(MK_NOT_LIVING | MK_ENDED));"),
        ]
    }

    /// Finds an object by its key.
    fn find(&self, text: &mut Text) {
        let Index { name, stack, params, .. } = self;
        text.function(format!("static MK_UNUSED mk_ref find_{name}(const struct {stack} *k{params})"));
        self.begin.iter().for_each(|line| text.line(line));
        self.search(text);
        text.end_function();
    }

    /// Finds an object on a path, by what is looked up.
    fn find_here(&self, text: &mut Text) {
        let Index { name, stack, asked_params, .. } = self;
        let head = format!("mk_ref find_here_{name}(const struct {stack} *k{asked_params})");
        text.function(format!("static MK_IN_PLACE MK_UNUSED {head}"));
        self.search(text);
        text.end_function();
    }

    fn search(&self, text: &mut Text) {
        let Index { name, owner, ty, mask, same, .. } = self;
        let asked = self.asked.join(", ");
        text.line(format!("const {ty} *index = {owner}_entries;"));
        text.open(format!("for (uint32_t place = home_{name}({asked});; place = (place + 1) & {mask})"));
        text.line("uint32_t number = index[place];");
        text.line("if (!number)");
        text.line("    return MK_NULL;");
        text.open(format!("if (MK_LIKELY({same}))"));
        self.reference("return ").iter().for_each(|line| text.line(line));
        text.close("");
        text.close("");
    }

    fn insert(&self, text: &mut Text) {
        let Index { name, stack, owner, ty, params, asked, capacity, objects, .. } = self;
        text.function(format!("static MK_UNUSED bool insert_{name}(struct {stack} *k, mk_ref object{params})"));
        self.begin.iter().for_each(|line| text.line(line));
        text.line(format!("uint32_t place = place_{name}(k, {});", asked.join(", ")));
        text.line(format!("bool is_new = !{owner}_entries[place];"));
        text.line(format!("if (is_new && {owner}.count >= {capacity} + (MK_FAULT(map_capacity) ? 1 : 0))"));
        text.line("    return false;");
        text.line(format!("if (mk_number(object) >= {objects})"));
        text.line("    return false;");
        text.line(format!("{owner}.count += is_new;"));
        text.line(format!("{owner}_entries[place] = ({ty})(mk_number(object) + 1);"));
        if !self.begin.is_empty() {
            for word in asked {
                text.line(format!("{owner}_keys[mk_number(object)].{word} = {word};"));
            }
        }
        text.line("return true;");
        text.end_function();
    }

    /// Entries after the hole move back, so that each is found from its home on.
    fn remove(&self, text: &mut Text) {
        let Index { name, stack, owner, ty, params, asked, kept, mask, .. } = self;
        text.function(format!("static MK_UNUSED mk_ref remove_{name}(struct {stack} *k{params})"));
        self.begin.iter().for_each(|line| text.line(line));
        text.line(format!("{ty} *index = {owner}_entries;"));
        text.line(format!("uint32_t hole = place_{name}(k, {}), number = index[hole];", asked.join(", ")));
        text.line("if (!number)");
        text.line("    return MK_NULL;");
        self.reference("mk_ref found = ").iter().for_each(|line| text.line(line));
        text.line(format!("{owner}.count--;"));
        text.line("index[hole] = 0;");
        let next = format!("place = (place + 1) & {mask}");
        text.open(format!(
            "for (uint32_t {next_of}; index[place] && !MK_FAULT(map_removal); {next})",
            next_of = next.replacen("place + 1", "hole + 1", 1)
        ));
        text.line("number = index[place];");
        text.line("/* It may move back if its home is not between the hole (exclusive) and its place. */");
        text.line(format!("uint32_t home = home_{name}({kept});"));
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

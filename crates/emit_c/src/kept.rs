//! Tables of memos that are kept by numbers of a message (`plan/families.rs`), in C.
//!
//! A key stands in one of eight adjacent places, from its home on. A key that is not there takes a place whose memos are all
//! old, else its home. So a flood of unknown numbers drives out few that are in use, and no look-up takes long.
//!
//! It must keep: the memos at a place are of the key that stands there.

use crate::memos;
use crate::plan::families::Family;
use crate::plan::keys;
use crate::plan::Plan;
use crate::text::Text;

/// The places that a key may stand in.
const ADJACENT: u32 = 8;

/// The name of a table, and of a place in it.
pub(crate) fn name(table: usize) -> String {
    format!("kept_{table}")
}

/// Places that a table has: the last keys have as many adjacent ones as the others.
fn places(family: &Family) -> u64 {
    u64::from(family.places + ADJACENT - 1)
}

/// Octets of a table.
pub(crate) fn octets(plan: &Plan, family: &Family) -> u64 {
    places(family) * (used(plan, family) + unused(plan, family))
}

/// Octets of a place that are used.
fn used(plan: &Plan, family: &Family) -> u64 {
    let key = keys::kept(&family.words).1.next_multiple_of(8);
    let memos = family.memos.iter().map(|memo| memos::octets(plan.automaton, &plan.automaton.functions[memo.index()]));
    key + memos.sum::<u64>()
}

/// Octets behind them: a power of two of octets is found by a shift, if it is at most a fifth more.
fn unused(plan: &Plan, family: &Family) -> u64 {
    let used = used(plan, family);
    let unused = used.next_power_of_two() - used;
    if 5 * unused <= used {
        unused
    } else {
        0
    }
}

/// Writes the structs of places.
pub(crate) fn structs(plan: &Plan, text: &mut Text) {
    for (table, family) in plan.families.iter().enumerate() {
        text.line("/* What memos gave that are kept by these numbers. */");
        text.open(format!("struct {}", name(table)));
        for (at, word) in family.words.iter().enumerate() {
            text.line(format!("{} word{at};", keys::c_type(word)));
        }
        for memo in &family.memos {
            let memo = memos::name(plan, *memo);
            text.line(format!("struct {memo} {memo};"));
        }
        let unused = unused(plan, family);
        if unused > 0 {
            text.line(format!("uint8_t unused[{unused}];"));
        }
        text.close(";");
        text.line("");
    }
}

/// Writes the tables as members of the instance.
pub(crate) fn members(plan: &Plan, text: &mut Text) {
    for (table, family) in plan.families.iter().enumerate() {
        text.line(format!("struct {name} {name}[{places}];", name = name(table), places = places(family)));
    }
}

/// `find_kept_…`: the place of these numbers, or NULL; `claim_kept_…`: a place for them; `keep_kept_…`: one or the other.
pub(crate) fn functions(plan: &Plan, text: &mut Text) {
    for (table, family) in plan.families.iter().enumerate() {
        let (stack, name) = (&plan.names.stack, name(table));
        let words: Vec<String> = (0..family.words.len()).map(|at| format!("word{at}")).collect();
        let declared = family.words.iter().zip(&words).map(|(word, name)| format!(", {} {name}", keys::c_type(word)));
        let params: String = declared.collect();
        let asked = words.join(", ");
        let same: Vec<String> = words.iter().map(|word| format!("kept->{word} == {word}")).collect();
        text.function(format!("static MK_IN_PLACE struct {name} *home_{name}(struct {stack} *k{params})"));
        text.line("uint64_t hash = 0;");
        for word in &words {
            text.line(format!("hash = mk_mix_key(hash, {word});"));
        }
        text.line(format!("return &k->{name}[hash >> {}];", 64 - family.places.trailing_zeros()));
        text.end_function();
        text.function(format!("static MK_UNUSED MK_IN_PLACE struct {name} *find_{name}(struct {stack} *k{params})"));
        text.line(format!("struct {name} *kept = home_{name}(k, {asked});"));
        text.line(format!("for (const struct {name} *end = kept + {ADJACENT}; kept != end; kept++) {{"));
        text.line(format!("    if (MK_LIKELY({}))", same.join(" && ")));
        text.line("        return kept;");
        text.line("}");
        text.line("return NULL;");
        text.end_function();
        let is_new: Vec<String> =
            family.memos.iter().map(|memo| format!("place->{}.memos != k->memos", memos::name(plan, *memo))).collect();
        text.function(format!("static MK_UNUSED MK_APART struct {name} *claim_{name}(struct {stack} *k{params})"));
        text.line(format!("struct {name} *home = home_{name}(k, {asked}), *kept = home;"));
        text.line(format!("for (struct {name} *place = home; place != home + {ADJACENT}; place++) {{"));
        text.line(format!("    if ({}) {{", is_new.join(" && ")));
        text.line("        kept = place;");
        text.line("        break;");
        text.line("    }");
        text.line("}");
        words.iter().for_each(|word| text.line(format!("kept->{word} = {word};")));
        for memo in &family.memos {
            text.line(format!("kept->{}.memos = 0;", memos::name(plan, *memo)));
        }
        text.line("return kept;");
        text.end_function();
        text.function(format!("static MK_UNUSED MK_IN_PLACE struct {name} *keep_{name}(struct {stack} *k{params})"));
        text.line(format!("struct {name} *kept = find_{name}(k, {asked});"));
        text.line(format!("return MK_LIKELY(kept != NULL) ? kept : claim_{name}(k, {asked});"));
        text.end_function();
    }
}

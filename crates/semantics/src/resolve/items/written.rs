//! `written dotted(8)`: the notations of numbers and records, as their types declare them.
//!
//! Keeps: a notation that is accepted fits its type, so every value can be written in it and read back.

use mokume_base::notation::WIDEST;
use mokume_base::{FileId, Notation, Span};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::{Context, Item, Lazy};
use crate::resolve::expr::annotations;
use crate::{codes, suggest, tree};

/// The longest chain of aliases that is followed: a cycle is reported elsewhere.
const DEEPEST: usize = 32;

/// The widest part of each form: the limit of the lexer, and of what a reader grasps at a glance.
const WIDEST_PART: [(&str, u64); 2] = [("dotted", 32), ("colons", 16)];

type Aliases = Vec<(FileId, ast::TypeAlias)>;

/// The types of all aliases in the text, before any is resolved.
pub(super) fn trees_of_aliases(cx: &Context) -> Aliases {
    let waiting = cx.aliases.iter().filter_map(|alias| match alias {
        Lazy::Waiting(file, tree) => Some((*file, tree.clone())),
        Lazy::Busy | Lazy::Done(_) => None,
    });
    waiting.collect()
}

/// The notations of all aliases: their own, or that of their type.
pub(super) fn aliases(cx: &mut Context, trees: &Aliases) {
    let mut own = vec![None; trees.len()];
    for (index, (file, tree)) in trees.iter().enumerate() {
        let (Some(written), Some(name)) = (tree.written(), tree::some_name(*file, tree.name())) else { continue };
        let ty = annotations::alias(cx, index, &name);
        own[index] = of_number(cx, *file, &written, &name, ty);
        if let Some(form) = cx.program.form(ty, own[index]) {
            cx.program.written.push(WrittenType { name, ty, form });
            cx.notations.items.push(Item::Alias(index));
        }
    }
    let of_aliases = (0..trees.len()).map(|index| inherited(cx, trees, &own, index, DEEPEST)).collect();
    cx.notations.of_aliases = of_aliases;
}

fn inherited(cx: &Context, trees: &Aliases, own: &[Option<Notation>], index: usize, depth: usize) -> Option<Notation> {
    let (file, tree) = &trees[index];
    if own[index].is_some() || tree.written().is_some() || depth == 0 {
        return own[index];
    }
    let Some(ast::Type::Named(named)) = tree.ty() else { return None };
    match cx.item(*file, &named.name()?.text())? {
        Item::Alias(next) => inherited(cx, trees, own, next, depth - 1),
        _ => None,
    }
}

fn of_number(cx: &mut Context, file: FileId, written: &ast::Written, name: &Name, ty: Type) -> Option<Notation> {
    let Type::UInt(width) = ty else {
        if ty != Type::Unknown {
            let text = format!("`{}` has no notation: it is no `uN`", name.text);
            let help = "a record says itself how it is written: `record Pair written …`";
            cx.error(codes::NOTATION, text, written.span(file), "not of this type", help);
        }
        return None;
    };
    whole(cx, file, written, u32::from(width))
}

/// Resolves the notations of all records, whose fields are known.
pub(super) fn records(cx: &mut Context) {
    let trees = cx.trees.clone();
    // A prefix needs the notation of its first field, whose record may be resolved in the first round.
    let written = |is_pair: bool| {
        let all = trees.records.iter().enumerate().filter_map(|(index, (file, tree))| {
            Some((index, *file, tree.written()?)).filter(|(_, _, written)| (written.names().len() == 2) == is_pair)
        });
        all.collect::<Vec<_>>()
    };
    for (index, file, written) in written(false).into_iter().chain(written(true)) {
        let notation = record(cx, index, file, &written);
        cx.program.records[index].written = notation;
        let ty = Type::Record(RecordId(index as u32));
        match (notation, cx.program.form(ty, None)) {
            (Some(_), Some(form)) => {
                let name = cx.program.records[index].name.clone();
                cx.program.written.push(WrittenType { name, ty, form });
                cx.notations.items.push(Item::Record(RecordId(index as u32)));
            }
            (Some(_), None) => {
                cx.program.records[index].written = None;
                let text =
                    format!("`{}` has no notation: its first field has none", cx.program.records[index].name.text);
                let help =
                    "a prefix is of a number that says how it is written: `type Address = u32 written dotted(8)`";
                cx.error(codes::NOTATION, text, written.span(file), "of what?", help);
            }
            (None, _) => {}
        }
    }
}

fn record(cx: &mut Context, index: usize, file: FileId, written: &ast::Written) -> Option<RecordNotation> {
    let fields = &cx.program.records[index].fields;
    if fields.iter().any(|field| field.ty == Type::Unknown) {
        return None;
    }
    if written.names().len() == 2 {
        let names: Vec<String> = written.names().iter().map(|name| name.text()).collect();
        let are_fields = fields.iter().map(|field| &field.name.text).eq(&names);
        if are_fields && matches!(fields[1].ty, Type::UInt(_)) {
            return Some(RecordNotation::Prefix);
        }
        let text = "`first/second` names both fields of a record, the second a `uN`";
        let help = "as in `record Network written address/prefix { address: Address, prefix: u8 }`";
        cx.error(codes::NOTATION, text, written.span(file), "not its fields", help);
        return None;
    }
    let widths =
        fields.iter().map(|field| if let Type::UInt(width) = field.ty { Some(u32::from(width)) } else { None });
    match widths.collect::<Option<Vec<u32>>>() {
        Some(widths) => whole(cx, file, written, widths.iter().sum()).map(RecordNotation::Whole),
        None => {
            let text =
                format!("`{}` has no notation: not all its fields are `uN`", cx.program.records[index].name.text);
            let help = "its fields are written side by side as one number: let each be a `uN`";
            cx.error(codes::NOTATION, text, written.span(file), "not of this record", help);
            None
        }
    }
}

/// A notation for a number of `width` bits.
fn whole(cx: &mut Context, file: FileId, written: &ast::Written, width: u32) -> Option<Notation> {
    let names = written.names();
    let word = names.first().map(|name| tree::name(file, name))?;
    let Some((_, widest)) = WIDEST_PART.iter().find(|(form, _)| *form == word.text) else {
        unknown_form(cx, &word);
        return None;
    };
    // A malformed number was reported.
    let bits = written.bits()?;
    let span = written.span(file);
    // For the lexer, two colons make a notation; one separates a type or an argument.
    let least = if word.text == "dotted" { 2 } else { 3 };
    if !is_good(cx, span, u64::from(width), bits, *widest, least) {
        return None;
    }
    let bits = bits as u8;
    match (word.text.as_str(), written.is_short()) {
        ("colons", true) => Some(Notation::Short { bits }),
        ("colons", false) => Some(Notation::Colons { bits }),
        (_, false) => Some(Notation::Dotted { bits }),
        (_, true) => {
            let text = "only hexadecimal parts are written `short`";
            cx.error(codes::NOTATION, text, span, "decimal", "leave `short` out: decimal parts have no leading zeros");
            None
        }
    }
}

fn unknown_form(cx: &mut Context, word: &Name) {
    let near = suggest::nearest(&word.text, WIDEST_PART.iter().map(|(form, _)| *form));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "there are `dotted(8)`, `colons(8)`, `colons(16) short`, and of two fields `first/second`".to_string(),
    };
    cx.error(codes::NOTATION, format!("there is no notation `{}`", word.text), word.span, "unknown", &help);
}

/// Checks that a number of `width` bits has at least `least` parts of `bits` bits.
fn is_good(cx: &mut Context, span: Span, width: u64, bits: u64, widest: u64, least: u64) -> bool {
    if width > u64::from(WIDEST) {
        let help = format!("{WIDEST} bits are the most");
        cx.error(codes::NOTATION, format!("{width} bits are too many for a notation"), span, "too wide", &help);
        return false;
    }
    let fits = |bits: u64| bits > 0 && width.is_multiple_of(bits) && width / bits >= least && bits <= widest;
    if fits(bits) {
        return true;
    }
    let good: Vec<String> = (2..=widest).filter(|bits| fits(*bits)).map(|bits| bits.to_string()).collect();
    let help = match good.is_empty() {
        true => format!("there is none: its parts would have to be {least} or more, each of {widest} bits at most"),
        false => format!("parts of this form may have: {}", good.join(", ")),
    };
    let text = format!("{width} bits are not {least} or more parts of {bits}");
    cx.error(codes::NOTATION, text, span, "does not fit the type", &help);
    false
}

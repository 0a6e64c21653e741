//! State whose values have parts: records, bounded vectors, enums with parts, and arrays and maps of these. The automaton has a cell for
//! each part, and for each place of a vector in an array.

use std::collections::BTreeMap;

use mokume_base::SourceMap;
use mokume_interpret::{CellView, Part};
use mokume_reaction::{Cell, CellKind, Source, Type};
use mokume_script::Shape;
use mokume_semantics::program::{Layer, Member, MemberKind, Program, Type as Declared};

use crate::shapes;

/// A member of a layer whose values have parts.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// Its name; of a container's state with the container's in front, `waiting_first`.
    pub name: String,
    /// The shape of its value; of an array or a map, of an element.
    pub shape: Shape,
    pub is: Is,
}

/// How many values a member is.
#[derive(Clone, Debug)]
pub(super) enum Is {
    One,
    Array,
    /// With the shapes of the parts of its key.
    Map(Vec<Shape>),
}

/// The members by the places of their names: file, line and column.
pub(super) type AllKept = BTreeMap<(String, u32, u32), Vec<Kept>>;

/// The members of all layers.
pub(super) fn of(program: &Program, sources: &SourceMap) -> AllKept {
    let mut all = AllKept::new();
    for member in program.layers.iter().flat_map(members) {
        let of_key =
            |(at, ty): (usize, &Declared)| shapes::of(program, *ty, member.written.keys.get(at).copied().flatten());
        let (is, ty) = match &member.kind {
            MemberKind::Var { ty, .. } => (Is::One, *ty),
            MemberKind::Array { ty, .. } => (Is::Array, *ty),
            MemberKind::Map { value, key, .. } => match value[..] {
                [ty] => (Is::Map(key.iter().enumerate().map(of_key).collect()), ty),
                _ => continue,
            },
            _ => continue,
        };
        let shape = shapes::of(program, ty, member.written.value);
        let keys = if let Is::Map(keys) = &is { &keys[..] } else { &[] };
        // An array of what is written as one has a cell for each part, too.
        let is_several = matches!(is, Is::Array) && shape.parts() > 1;
        if !is_several && !keys.iter().chain([&shape]).any(Shape::has_parts) {
            continue;
        }
        let (line, column) = sources.line_column(member.name.span.file, member.name.span.start);
        let place = (sources.file(member.name.span.file).name.clone(), line, column);
        all.entry(place).or_default().push(Kept { name: member.name.text.replace('.', "_"), shape, is });
    }
    all
}

fn members(layer: &Layer) -> impl Iterator<Item = &Member> {
    let scopes = layer.scopes.iter().flat_map(|scope| &scope.members);
    scopes.chain(layer.objects.iter().flat_map(|object| &object.members))
}

impl Kept {
    /// How many cells it has.
    pub fn cells(&self) -> usize {
        match &self.is {
            Is::One => self.shape.parts(),
            Is::Array => self.shape.words(),
            Is::Map(_) => 1,
        }
    }
}

/// The member to which the first of some cells belongs, if the others that it has follow.
pub(super) fn member_of<'k>(all: &'k AllKept, cells: &[Cell], sources: &[Source]) -> Option<&'k Kept> {
    let first = cells.first()?;
    let source = sources.get(first.source?.index())?;
    let known = all.get(&(source.file.clone(), source.line, source.column))?;
    let is_of = |kept: &&Kept| {
        let rest = first.name.strip_prefix(kept.name.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let kept = known.iter().filter(is_of).max_by_key(|kept| kept.name.len())?;
    let own = cells.get(..kept.cells())?;
    own.iter().all(|cell| cell.source == first.source).then_some(kept)
}

/// A part of a value with its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Content {
    Word(Type, u64),
    Array(Type, Vec<u64>),
}

impl Content {
    /// The numbers of an array.
    pub fn words(&self) -> Option<(Type, &[u64])> {
        match self {
            Content::Array(ty, words) => Some((*ty, words)),
            Content::Word(..) => None,
        }
    }

    pub fn part(&self) -> Part<'_> {
        match self {
            Content::Word(ty, word) => Part::Word(*ty, *word),
            Content::Array(ty, words) => Part::Array(*ty, words),
        }
    }
}

/// What a cell of a variable has; `None` for others than numbers.
pub(super) fn content(cell: &Cell, view: &CellView<'_>) -> Option<Content> {
    match (&cell.kind, view) {
        (CellKind::Scalar { ty, .. }, CellView::Word(word)) => Some(Content::Word(*ty, *word)),
        (CellKind::Array { ty, .. }, CellView::Array(words)) => Some(Content::Array(*ty, words.to_vec())),
        _ => None,
    }
}

/// The parts of a value from its numbers one after the other, vectors element by element, as arrays and maps have them.
pub(super) fn parts(shape: &Shape, words: &[(Type, u64)]) -> Option<Vec<Content>> {
    let (found, rest) = taken(shape, words)?;
    rest.is_empty().then_some(found)
}

type Rest<'w> = &'w [(Type, u64)];

fn taken<'w>(shape: &Shape, words: Rest<'w>) -> Option<(Vec<Content>, Rest<'w>)> {
    let plain = |count: usize| {
        let (own, rest) = words.split_at_checked(count)?;
        Some((own.iter().map(|(ty, word)| Content::Word(*ty, *word)).collect(), rest))
    };
    match shape {
        Shape::Word(_) => plain(1),
        Shape::Whole(form) => plain(form.words()),
        Shape::Record(fields) => side_by_side(fields.iter().map(|(_, shape)| shape), Vec::new(), words),
        Shape::Choice(alternatives) => {
            let (number, rest) = plain(1)?;
            let all = alternatives.iter().flat_map(|one| &one.parts).map(|(_, shape)| shape);
            side_by_side(all, number, rest)
        }
        Shape::Vector { element, bound, .. } => {
            let (mut found, mut rest) = plain(1)?;
            let mut columns: Vec<Content> = Vec::new();
            for _ in 0..*bound {
                let (own, behind) = taken(element, rest)?;
                rest = behind;
                columns = if columns.is_empty() {
                    own.into_iter().map(Content::column).collect()
                } else {
                    joined(columns, own)?
                };
            }
            found.append(&mut columns);
            Some((found, rest))
        }
        Shape::Message | Shape::Flow => None,
    }
}

fn side_by_side<'w, 's>(
    shapes: impl Iterator<Item = &'s Shape>,
    mut found: Vec<Content>,
    mut words: Rest<'w>,
) -> Option<(Vec<Content>, Rest<'w>)> {
    for shape in shapes {
        let (mut own, rest) = taken(shape, words)?;
        found.append(&mut own);
        words = rest;
    }
    Some((found, words))
}

impl Content {
    /// The same as the beginning of an array.
    fn column(self) -> Content {
        match self {
            Content::Word(ty, word) => Content::Array(ty, vec![word]),
            array => array,
        }
    }
}

/// Columns with the parts of one more element.
fn joined(columns: Vec<Content>, own: Vec<Content>) -> Option<Vec<Content>> {
    let both = columns.into_iter().zip(own).map(|(column, own)| {
        let (Content::Array(ty, mut words), Content::Array(_, more)) = (column, own.column()) else { return None };
        words.extend(more);
        Some(Content::Array(ty, words))
    });
    both.collect()
}

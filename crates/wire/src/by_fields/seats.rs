//! Which element of a list a given value is for.

use mokume_reaction::{FieldIndex, FieldValue, HeaderId, VariantId, WireField, WireItem, WireList};

use super::values::{chosen, set};
use crate::HeaderValue;

/// Fields with their values, as `Known::given` has them.
type Given<'a> = &'a [(String, Option<u64>)];

/// The fields of lists that values are given for: by order. Fields that stand outside of lists are not in it.
#[derive(Default)]
pub(super) struct Seats {
    taken: Vec<(FieldIndex, usize)>,
    /// The values for fields of lists, also those that have no place.
    of_lists: Vec<usize>,
}

/// Elements that are alike, one after the other.
struct Elements<'a> {
    all: Vec<&'a [WireItem]>,
    /// The header's field that says how many there are; `None` for elements of one size, each of which has a condition.
    count: Option<(HeaderId, VariantId, u32)>,
}

impl Seats {
    /// Decides it for all lists of the alternatives in `values`, and sets there how many elements each list has.
    pub fn new(wire: &mokume_reaction::Wire, given: Given, values: &mut [HeaderValue]) -> Seats {
        let mut lists = Vec::new();
        chosen_lists(&wire.items, values, &mut lists);
        let mut seating = Seating { given, values, seats: Seats::default() };
        for list in &lists {
            // A name stands for one field of an alternative only.
            let all: Vec<usize> = (0..given.len()).collect();
            let own = seating.within(list, &all);
            seating.seats.of_lists.extend(&own);
            seating.list(list, &own, None);
        }
        seating.seats
    }

    /// The number of the value that is given for this field of a list.
    pub fn of(&self, field: FieldIndex) -> Option<usize> {
        self.taken.iter().find(|(own, _)| *own == field).map(|(_, at)| *at)
    }

    /// Whether the value of this number is for a field of a list.
    pub fn holds(&self, at: usize) -> bool {
        self.of_lists.contains(&at)
    }
}

/// The lists of the chosen alternatives.
fn chosen_lists<'a>(items: &'a [WireItem], values: &[HeaderValue], all: &mut Vec<Elements<'a>>) {
    for item in items {
        match item {
            WireItem::List(list) => all.push(elements_of(list)),
            WireItem::Optional { items, .. } => match within_each_other(items) {
                elements if elements.len() > 1 => all.push(Elements { all: elements, count: None }),
                _ => chosen_lists(items, values, all),
            },
            WireItem::Choice { arms, .. } => {
                if let Some(arm) = chosen(arms, values) {
                    chosen_lists(&arm.items, values, all);
                }
            }
            WireItem::Field(_) | WireItem::Options(_) | WireItem::Reach(_) => {}
        }
    }
}

fn elements_of(list: &WireList) -> Elements<'_> {
    let all = list.elements.iter().map(Vec::as_slice).collect();
    Elements { all, count: Some((list.header, list.variant, list.count)) }
}

/// Elements of one size: each is there if the one before it is, and one more.
fn within_each_other(items: &[WireItem]) -> Vec<&[WireItem]> {
    let mut all = vec![items];
    let mut last = items;
    while let Some(WireItem::Optional { items, .. }) = last.last() {
        let names = |items: &[WireItem]| -> Vec<String> { own(items).map(|field| field.name.clone()).collect() };
        if names(items) != names(last) {
            break;
        }
        all.push(items);
        last = items;
    }
    all
}

/// The fields of an element itself, without those of its lists.
fn own(items: &[WireItem]) -> impl Iterator<Item = &WireField> {
    items.iter().filter_map(|item| if let WireItem::Field(field) = item { Some(field) } else { None })
}

/// The lists of an element.
fn inner(items: &[WireItem]) -> impl Iterator<Item = &WireList> {
    items.iter().filter_map(|item| if let WireItem::List(list) = item { Some(list) } else { None })
}

struct Seating<'a> {
    given: Given<'a>,
    values: &'a mut [HeaderValue],
    seats: Seats,
}

impl Seating<'_> {
    fn name(&self, at: usize) -> &str {
        &self.given[at].0
    }

    /// Those of the given values that are for fields of a list.
    fn within(&self, list: &Elements, given: &[usize]) -> Vec<usize> {
        let fields = list.all.first().map_or(Vec::new(), |items| WireItem::fields(items));
        given.iter().copied().filter(|at| fields.iter().any(|field| field.name == self.name(*at))).collect()
    }

    /// Gives a list's elements their values; if `said`, it has so many of them.
    fn list(&mut self, list: &Elements, given: &[usize], said: Option<u64>) {
        let groups = list.all.first().map_or(Vec::new(), |element| self.groups(element, given));
        let many = said.unwrap_or(groups.len() as u64).min(list.all.len() as u64);
        if let Some((header, variant, count)) = list.count {
            set(self.values, (header, variant), count, many);
        }
        for (element, group) in list.all.iter().zip(groups).take(many as usize) {
            for field in own(element) {
                let found = group.iter().find(|at| self.name(**at) == field.name);
                self.seats.taken.extend(found.map(|at| (field.index, *at)));
            }
            for inner in inner(element) {
                let elements = elements_of(inner);
                let own = self.within(&elements, &group);
                let said = self.counts(element, inner, &group).first().copied();
                self.list(&elements, &own, said);
            }
        }
    }

    /// What is said, in these values of an element or of several, of how long its list is.
    fn counts(&self, element: &[WireItem], inner: &WireList, given: &[usize]) -> Vec<u64> {
        let holds =
            |field: &&WireField| matches!(field.value, FieldValue::Header { field, .. } if field == inner.count);
        let Some(field) = own(element).find(holds) else { return Vec::new() };
        let FieldValue::Header { times, plus, .. } = field.value else { return Vec::new() };
        let said = given.iter().filter(|at| self.name(**at) == field.name).filter_map(|at| self.given[*at].1);
        said.map(|said| said.saturating_sub(plus) / times.max(1)).collect()
    }

    /// What is given, by elements: row by row, where a field that comes again begins the next one; or column by column,
    /// where each field comes once for each element. No element if it can be read neither way.
    fn groups(&self, element: &[WireItem], given: &[usize]) -> Vec<Vec<usize>> {
        let rows = Some(self.rows(element, given)).filter(|rows| self.are_rows(element, rows));
        match rows {
            Some(rows) if self.are_alike(element, &rows) => rows,
            rows => self.columns(element, given).or(rows).unwrap_or_default(),
        }
    }

    fn is_own(&self, element: &[WireItem], at: usize) -> bool {
        own(element).any(|field| field.name == self.name(at))
    }

    fn rows(&self, element: &[WireItem], given: &[usize]) -> Vec<Vec<usize>> {
        let mut rows: Vec<Vec<usize>> = Vec::new();
        for at in given {
            let is_again = |row: &[usize]| row.iter().any(|before| self.name(*before) == self.name(*at));
            match rows.last_mut() {
                Some(row) if !self.is_own(element, *at) || !is_again(row) => row.push(*at),
                _ => rows.push(vec![*at]),
            }
        }
        rows
    }

    /// Whether each row begins with the same field, and gives no more of its lists than it says that they have.
    fn are_rows(&self, element: &[WireItem], rows: &[Vec<usize>]) -> bool {
        let first = |row: &[usize]| row.first().map(|at| self.name(*at));
        let fits = |row: &[usize], list: &WireList| match self.counts(element, list, row).first() {
            Some(said) => {
                let elements = elements_of(list);
                let of_list = self.within(&elements, row);
                elements.all.first().is_none_or(|items| self.groups(items, &of_list).len() as u64 <= *said)
            }
            None => true,
        };
        rows.windows(2).all(|two| first(&two[0]) == first(&two[1]))
            && rows.iter().all(|row| inner(element).all(|list| fits(row, list)))
    }

    /// Whether each row names the same fields of its element.
    fn are_alike(&self, element: &[WireItem], rows: &[Vec<usize>]) -> bool {
        let names = |row: &[usize]| {
            let mut names: Vec<&str> =
                row.iter().filter(|at| self.is_own(element, **at)).map(|at| self.name(*at)).collect();
            names.sort_unstable();
            names
        };
        rows.windows(2).all(|two| names(&two[0]) == names(&two[1]))
    }

    /// Elements whose fields are given column by column, each equally often. Their lists are as long as is said; if that
    /// is not said, what is given of the lists of several elements has no place, and neither have lists of lists.
    fn columns(&self, element: &[WireItem], given: &[usize]) -> Option<Vec<Vec<usize>>> {
        let column = |name: &str| given.iter().copied().filter(|at| self.name(*at) == name).collect::<Vec<usize>>();
        let columns: Vec<Vec<usize>> =
            own(element).map(|field| column(&field.name)).filter(|column| !column.is_empty()).collect();
        let size = columns.first()?.len();
        if columns.iter().any(|column| column.len() != size) {
            return None;
        }
        if size == 1 {
            return Some(vec![given.to_vec()]);
        }
        let mut elements: Vec<Vec<usize>> =
            (0..size).map(|nth| columns.iter().map(|column| column[nth]).collect()).collect();
        for list in inner(element) {
            let counts = self.counts(element, list, given);
            for field in own(list.elements.first().map_or(&[], Vec::as_slice)) {
                let mut left = column(&field.name).into_iter();
                for (element, many) in elements.iter_mut().zip(&counts) {
                    element.extend(left.by_ref().take(usize::try_from(*many).unwrap_or(usize::MAX)));
                }
            }
        }
        elements.iter_mut().for_each(|element| element.sort_unstable());
        Some(elements)
    }
}

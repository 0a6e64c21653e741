//! Which element of a list a given value is for, where lists have elements with lists of their own.

use mokume_reaction::{FieldIndex, FieldValue, WireField, WireItem, WireList};

use super::values::{chosen, set};
use crate::HeaderValue;

/// Fields with their values, as `Known::given` has them.
type Given<'a> = &'a [(String, Option<u64>)];

/// The fields of lists that values are given for: by order. Fields that stand outside of lists are not in it.
#[derive(Default)]
pub(super) struct Seats(Vec<(FieldIndex, usize)>);

impl Seats {
    /// Decides it for all lists of the alternatives in `values`, and sets there how many elements each list has.
    pub fn new(wire: &mokume_reaction::Wire, given: Given, values: &mut [HeaderValue]) -> Seats {
        let mut lists = Vec::new();
        chosen_lists(&wire.items, values, &mut lists);
        let mut seating = Seating { given, values, seats: Seats::default() };
        for list in lists {
            // A name stands for one field of an alternative only.
            let all: Vec<usize> = (0..given.len()).collect();
            let own = seating.within(list, &all);
            seating.list(list, &own, None);
        }
        seating.seats
    }

    /// The number of the value that is given for this field of a list.
    pub fn of(&self, field: FieldIndex) -> Option<usize> {
        self.0.iter().find(|(own, _)| *own == field).map(|(_, at)| *at)
    }

    /// Whether the value of this number is for a field of a list.
    pub fn holds(&self, at: usize) -> bool {
        self.0.iter().any(|(_, own)| *own == at)
    }
}

/// The lists of the chosen alternatives.
fn chosen_lists<'a>(items: &'a [WireItem], values: &[HeaderValue], all: &mut Vec<&'a WireList>) {
    for item in items {
        match item {
            WireItem::List(list) => all.push(list),
            WireItem::Optional { items, .. } => chosen_lists(items, values, all),
            WireItem::Choice { arms, .. } => {
                if let Some(arm) = chosen(arms, values) {
                    chosen_lists(&arm.items, values, all);
                }
            }
            WireItem::Field(_) | WireItem::Options(_) | WireItem::Reach(_) => {}
        }
    }
}

/// The first element: all are alike.
fn element(list: &WireList) -> &[WireItem] {
    list.elements.first().map_or(&[], Vec::as_slice)
}

/// The names of fields, each once.
fn names(items: &[WireItem]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for field in WireItem::fields(items) {
        if !names.contains(&field.name.as_str()) {
            names.push(&field.name);
        }
    }
    names
}

struct Seating<'a> {
    given: Given<'a>,
    values: &'a mut [HeaderValue],
    seats: Seats,
}

impl Seating<'_> {
    /// Those of the given values that are for fields of a list.
    fn within(&self, list: &WireList, given: &[usize]) -> Vec<usize> {
        let names = names(element(list));
        given.iter().copied().filter(|at| names.contains(&self.name(*at))).collect()
    }

    fn name(&self, at: usize) -> &str {
        &self.given[at].0
    }

    /// Gives a list's elements their values; if `said`, it has so many of them.
    fn list(&mut self, list: &WireList, given: &[usize], said: Option<u64>) {
        let groups = self.elements(element(list), given);
        let many = said.unwrap_or(groups.len() as u64).min(list.most());
        set(self.values, (list.header, list.variant), list.count, many);
        for (element, group) in list.elements.iter().zip(groups).take(many as usize) {
            for item in element {
                match item {
                    WireItem::Field(field) => {
                        let own = group.iter().find(|at| self.name(**at) == field.name);
                        self.seats.0.extend(own.map(|at| (field.index, *at)));
                    }
                    WireItem::List(inner) => {
                        let own = self.within(inner, &group);
                        let said = element.iter().find_map(|item| self.counts(item, inner.count, &group).next());
                        self.list(inner, &own, said);
                    }
                    WireItem::Choice { .. } | WireItem::Optional { .. } | WireItem::Options(_) | WireItem::Reach(_) => {
                    }
                }
            }
        }
    }

    /// What is said, in these values, of how long lists are that the header's field `count` counts.
    fn counts<'s>(&'s self, item: &'s WireItem, count: u32, given: &'s [usize]) -> impl Iterator<Item = u64> + 's {
        let of = match item {
            WireItem::Field(own) => match own.value {
                FieldValue::Header { field, times, plus, .. } if field == count => Some((own, times.max(1), plus)),
                _ => None,
            },
            _ => None,
        };
        of.into_iter().flat_map(move |(own, times, plus)| {
            let said = given.iter().filter(|at| self.name(**at) == own.name).filter_map(|at| self.given[*at].1);
            said.map(move |said| said.saturating_sub(plus) / times)
        })
    }

    /// What is given, by elements: row by row, where a name that comes again begins the next one; or column by column.
    fn elements(&self, element: &[WireItem], given: &[usize]) -> Vec<Vec<usize>> {
        let own: Vec<&WireField> = element
            .iter()
            .filter_map(|item| if let WireItem::Field(field) = item { Some(field) } else { None })
            .collect();
        let is_own = |at: usize| own.iter().any(|field| field.name == self.name(at));
        let mut rows: Vec<Vec<usize>> = Vec::new();
        for at in given {
            match rows.last_mut() {
                Some(row) if !is_own(*at) || !row.iter().any(|before| self.name(*before) == self.name(*at)) => {
                    row.push(*at);
                }
                _ => rows.push(vec![*at]),
            }
        }
        self.columns(element, &own, given).filter(|_| !self.are_alike(&rows, is_own)).unwrap_or(rows)
    }

    /// Whether each row names the same fields of its element.
    fn are_alike(&self, rows: &[Vec<usize>], is_own: impl Fn(usize) -> bool) -> bool {
        let names = |row: &[usize]| {
            let mut names: Vec<&str> = row.iter().filter(|at| is_own(**at)).map(|at| self.name(*at)).collect();
            names.sort_unstable();
            names
        };
        rows.windows(2).all(|two| names(&two[0]) == names(&two[1]))
    }

    /// Elements whose fields are given column by column, each equally often. Their lists are as long as is said; if that
    /// is not said, what is given of the lists of several elements has no place.
    fn columns(&self, element: &[WireItem], own: &[&WireField], given: &[usize]) -> Option<Vec<Vec<usize>>> {
        let column = |name: &str| given.iter().copied().filter(|at| self.name(*at) == name).collect::<Vec<usize>>();
        let columns: Vec<(&WireField, Vec<usize>)> =
            own.iter().map(|field| (*field, column(&field.name))).filter(|(_, column)| !column.is_empty()).collect();
        let size = columns.first()?.1.len();
        if columns.iter().any(|(_, column)| column.len() != size) {
            return None;
        }
        let mut elements: Vec<Vec<usize>> =
            (0..size).map(|nth| columns.iter().map(|(_, column)| column[nth]).collect()).collect();
        for item in element {
            let WireItem::List(inner) = item else { continue };
            let counts: Vec<u64> = element.iter().flat_map(|item| self.counts(item, inner.count, given)).collect();
            for name in names(self::element(inner)) {
                let mut left = column(name).into_iter();
                for (nth, element) in elements.iter_mut().enumerate() {
                    let all = if size == 1 { u64::MAX } else { 0 };
                    let many = counts.get(nth).copied().unwrap_or(all);
                    element.extend(left.by_ref().take(usize::try_from(many).unwrap_or(usize::MAX)));
                }
            }
        }
        elements.iter_mut().for_each(|element| element.sort_unstable());
        Some(elements)
    }
}

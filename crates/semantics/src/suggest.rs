//! "Did you mean": the nearest of the names that would have been right.

/// The candidate nearest to `name`, if it is near enough to be a slip of the hand.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = if candidate.eq_ignore_ascii_case(name) { 0 } else { distance(name, candidate) };
        let better = best.is_none_or(|(least, other)| (distance, candidate) < (least, other));
        // One letter for another is no slip: `A` is not meant by `B`.
        let alike = distance < name.chars().count();
        if candidate != name && alike && distance <= allowed && better {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// "did you mean `x`?", or else the list of what there is if it is short.
pub fn help<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut all: Vec<&str> = candidates.into_iter().collect();
    all.sort_unstable();
    all.dedup();
    if let Some(near) = nearest(name, all.iter().copied()) {
        return Some(format!("did you mean `{near}`?"));
    }
    match all.len() {
        0 => None,
        1..=8 => Some(format!("there is {}", list(&all))),
        many => Some(format!("there is {} and {} more", list(&all[..8]).replace(" and ", ", "), many - 8)),
    }
}

/// "`a`, `b` and `c`".
pub fn list<T: std::fmt::Display>(names: &[T]) -> String {
    let mut text = String::new();
    for (index, name) in names.iter().enumerate() {
        text += match index {
            0 => "",
            _ if index + 1 == names.len() => " and ",
            _ => ", ",
        };
        text += &format!("`{name}`");
    }
    text
}

/// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 4 || a.len() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let swap = if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    rows[i - 2][j - 2] + 1
                } else {
                    usize::MAX
                };
                change.min(swap).min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1)
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        assert_eq!(nearest("delvier", ["deliver", "send"]), Some("deliver"));
        assert_eq!(nearest("sned", ["deliver", "send"]), Some("send"));
        assert_eq!(nearest("banana", ["deliver", "send"]), None);
        assert_eq!(nearest("Seq", ["seq"]), Some("seq"));
        assert_eq!(nearest("b", ["a"]), None);
        assert_eq!(nearest("B", ["b"]), Some("b"));
    }
}

//! "Did you mean": the nearest valid name.

/// The candidate nearest to `name`, if it is near enough to be a typing mistake, or the one that begins with `name`.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let mut cut_short = candidates.iter().copied().filter(|candidate| is_beginning(name, candidate));
    let cut_short = cut_short.next().filter(|first| cut_short.all(|other| other == *first));
    for candidate in candidates {
        let distance = match candidate.eq_ignore_ascii_case(name) {
            true => 0,
            false if cut_short == Some(candidate) => 1,
            false => distance(name, candidate),
        };
        // Of two equally near candidates, the one that begins with the name.
        let rank = |candidate: &str| cut_short != Some(candidate);
        let better =
            best.is_none_or(|(least, other)| (distance, rank(candidate), candidate) < (least, rank(other), other));
        // If no letter agrees it is not a typing mistake: `B` does not mean `A`.
        let alike = distance < name.chars().count();
        if candidate != name && alike && distance <= allowed && better {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn is_beginning(name: &str, candidate: &str) -> bool {
    name.chars().count() > 2 && candidate != name && candidate.starts_with(name)
}

/// "did you mean `x`?", or else the list of candidates if it is short.
pub fn help<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut all: Vec<&str> = candidates.into_iter().collect();
    all.sort_unstable();
    all.dedup();
    let begin: Vec<&str> = all.iter().copied().filter(|one| is_beginning(name, one)).collect();
    if (2..=4).contains(&begin.len()) {
        return Some(format!("did you mean {}?", list(&begin).replace(" and ", " or ")));
    }
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
        assert_eq!(nearest("dest", ["rest", "source", "test", "destination"]), Some("destination"));
        assert_eq!(nearest("dest", ["destination", "destiny", "rest"]), Some("rest"));
    }

    #[test]
    fn several_that_begin_so_are_all_named() {
        let types = ["Ipv6", "Ipv4Cidr", "Ipv4Address"];
        assert_eq!(help("Ipv4", types).as_deref(), Some("did you mean `Ipv4Address` or `Ipv4Cidr`?"));
        assert_eq!(help("Ipv", types).as_deref(), Some("did you mean `Ipv4Address`, `Ipv4Cidr` or `Ipv6`?"));
        assert_eq!(help("Ipv7", types).as_deref(), Some("did you mean `Ipv6`?"));
    }
}

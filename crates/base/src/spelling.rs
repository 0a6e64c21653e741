//! Finds the known name nearest to an unknown one.

/// The candidate that `name` most likely means: at most a third of its letters differ. Of several that are equally
/// near, the first.
pub fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let bound = name.chars().count().min(64).div_ceil(3);
    candidates
        .into_iter()
        .map(|candidate| (if candidate.eq_ignore_ascii_case(name) { 0 } else { distance(name, candidate) }, candidate))
        .filter(|(distance, candidate)| *distance <= bound && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The edit distance of two words: insertions, deletions, changes, and swaps of neighbours (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let words = ["worker", "wire", "session", "on"];
        assert_eq!(did_you_mean("wroker", words), Some("worker"));
        assert_eq!(did_you_mean("sesion", words), Some("session"));
        assert_eq!(did_you_mean("om", words), Some("on"));
        assert_eq!(did_you_mean("On", ["fn", "on"]), Some("on"));
        assert_eq!(did_you_mean("banana", words), None);
        assert_eq!(did_you_mean("", words), None);
    }
}

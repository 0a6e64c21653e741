//! The comments of a file. Successive comment lines are joined, so a citation may continue on the next line.

/// What begins a comment, by the file's extension. Each line of a C block comment begins with one of these.
fn marks(path: &str) -> &'static [&'static str] {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "rs" | "mok" => &["//"],
        "c" | "h" => &["/*", "//", "* "],
        "ra" => &[";"],
        "py" | "sh" | "toml" | "yml" => &["#"],
        _ => &[],
    }
}

/// Each comment with the line number where it begins.
pub fn of(path: &str, text: &str) -> Vec<(usize, String)> {
    let mut comments: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (line, text) in text.lines().enumerate() {
        let begins = marks(path).iter().filter_map(|mark| text.find(mark).map(|at| (at, mark))).min();
        let Some((at, mark)) = begins else {
            goes_on = false;
            continue;
        };
        let alone = text[..at].trim().is_empty();
        let comment = text[at + mark.len()..].trim_start_matches(['/', '!', ';', '*']);
        match comments.last_mut() {
            Some((_, before)) if goes_on && alone => {
                before.push(' ');
                before.push_str(comment);
            }
            Some(_) | None => comments.push((line + 1, comment.to_string())),
        }
        goes_on = true;
    }
    comments
}

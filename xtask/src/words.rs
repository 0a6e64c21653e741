//! The words of a source file: identifiers and signs, without comments, texts and tests.

/// A word, and the number of open braces around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    pub text: String,
    pub depth: usize,
}

impl Word {
    /// Whether it is a name or a keyword.
    pub fn is_name(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// The words of a text. `::` is one word; every other sign is a word of its own.
pub fn words(text: &str) -> Vec<Word> {
    without_tests(&all_words(text, Texts::LeftOut))
}

/// The words of a text, with each quoted text as one word.
pub fn words_and_texts(text: &str) -> Vec<Word> {
    without_tests(&all_words(text, Texts::Kept))
}

/// Whether quoted texts are kept or left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Texts {
    LeftOut,
    Kept,
}

fn all_words(text: &str, texts: Texts) -> Vec<Word> {
    let chars: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let (mut at, mut depth) = (0, 0usize);
    while at < chars.len() {
        let next = skipped(&chars, at);
        if next > at {
            let is_text = chars[at] != '/' && chars[at] != '\'' && chars[at..next].contains(&'"');
            if is_text && texts == Texts::Kept {
                words.push(Word { text: chars[at..next].iter().collect(), depth });
            }
            at = next;
            continue;
        }
        let end = match chars[at] {
            c if c.is_alphabetic() || c == '_' => end_of_name(&chars, at),
            ':' if chars.get(at + 1) == Some(&':') => at + 2,
            _ => at + 1,
        };
        let text: String = chars[at..end].iter().collect();
        depth = if text == "}" { depth.saturating_sub(1) } else { depth };
        words.push(Word { text: text.clone(), depth });
        depth += usize::from(text == "{");
        at = end;
    }
    words
}

fn end_of_name(chars: &[char], from: usize) -> usize {
    from + chars[from..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count()
}

/// The index after the blank, comment, text, character or lifetime that begins at `at`; `at` itself if none begins.
fn skipped(chars: &[char], at: usize) -> usize {
    let starts = |text: &str| text.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c));
    if chars[at].is_whitespace() {
        return at + 1;
    }
    if starts("//") {
        return at + chars[at..].iter().take_while(|c| **c != '\n').count();
    }
    if starts("/*") {
        return end_of_comment(chars, at);
    }
    if chars[at] == '\'' {
        return end_of_quote(chars, at);
    }
    if chars[at].is_ascii_digit() {
        return end_of_name(chars, at);
    }
    let prefix = ["br", "b", "r", "c", ""].into_iter().find(|prefix| {
        let hashes = chars.iter().skip(at + prefix.len()).take_while(|c| **c == '#').count();
        let quoted = chars.get(at + prefix.len() + hashes) == Some(&'"');
        starts(prefix) && quoted && (hashes == 0 || prefix.contains('r'))
    });
    prefix.map_or(at, |prefix| end_of_text(chars, at + prefix.len(), prefix.contains('r')))
}

fn end_of_comment(chars: &[char], from: usize) -> usize {
    let (mut at, mut open) = (from, 0);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (open, at) = (open + 1, at + 2),
            ('*', Some('/')) => (open, at) = (open - 1, at + 2),
            _ => at += 1,
        }
        if open == 0 {
            break;
        }
    }
    at
}

/// The end of a character literal, or of the sign before a lifetime's name.
fn end_of_quote(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => at + 3 + chars[at + 3..].iter().take_while(|c| **c != '\'').count() + 1,
        (Some(_), Some('\'')) => at + 3,
        _ => end_of_name(chars, at + 1),
    }
}

fn end_of_text(chars: &[char], from: usize, raw: bool) -> usize {
    let hashes = chars[from..].iter().take_while(|c| **c == '#').count();
    let mut at = from + hashes + 1;
    while at < chars.len() {
        let closed = chars[at] == '"' && chars[at + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes;
        if closed {
            return at + 1 + hashes;
        }
        at += if chars[at] == '\\' && !raw { 2 } else { 1 };
    }
    chars.len()
}

/// Removes items under `#[cfg(test)]`.
fn without_tests(words: &[Word]) -> Vec<Word> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let marked =
        |at: usize| mark.iter().enumerate().all(|(i, text)| words.get(at + i).is_some_and(|w| w.text == *text));
    let mut kept = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if !marked(at) {
            kept.push(words[at].clone());
            at += 1;
            continue;
        }
        at = end_of_item(words, at + mark.len());
    }
    kept
}

/// The index after the item that begins here: after its block, or its `;`. The braces of a `use` are not a block.
pub fn end_of_item(words: &[Word], from: usize) -> usize {
    let item = &words[from..];
    let depth = item.first().map_or(0, |word| word.depth);
    let imports = item.iter().take_while(|word| word.text != "{").any(|word| word.text == "use");
    let ends = |word: &Word| word.depth == depth && (word.text == ";" || word.text == "}" && !imports);
    item.iter().position(ends).map_or(words.len(), |at| from + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_are_names_and_signs() {
        assert_eq!(texts("use a::{b, c};"), ["use", "a", "::", "{", "b", ",", "c", "}", ";"]);
        assert_eq!(texts("fn f<'a>(x: &'a u8) -> char { 'x' }").join(" "), "fn f < > ( x : & u8 ) - > char { }");
        assert_eq!(texts("let q = '\"'; let s = \"a::b // c\"; r#\"x\"y\"# d"), texts("let q = ; let s = ; d"));
        assert_eq!(texts("a /* b /* c */ d */ e // f\n1_000u64 g"), ["a", "e", "g"]);
        assert_eq!(texts("'\\'' a '\\\\' b"), ["a", "b"]);
    }

    #[test]
    fn texts_are_kept_where_they_are_wanted() {
        let kept: Vec<String> = words_and_texts("f(\"a b\", '\"') // \"c\"\n#[cfg(test)] mod tests { \"d\" } r#\"e\"#")
            .into_iter()
            .map(|word| word.text)
            .collect();
        assert_eq!(kept, ["f", "(", "\"a b\"", ",", ")", "r#\"e\"#"]);
    }

    #[test]
    fn tests_are_left_out() {
        assert_eq!(texts("a #[cfg(test)] mod tests { b { c } } d"), ["a", "d"]);
        assert_eq!(texts("#[cfg(test)]\nmod tests;\nd"), ["d"]);
        assert_eq!(texts("#[cfg(test)] use x::{y, z};\nd"), ["d"]);
    }
}

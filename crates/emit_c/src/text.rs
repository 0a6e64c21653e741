//! C text under construction: lines with indentation.

use std::fmt::Write;

/// Lines of C.
#[derive(Default, Debug)]
pub struct Text {
    lines: Vec<String>,
    depth: usize,
    /// The line of the last function's head.
    head: usize,
}

/// Compilers take minutes to optimise a function of more lines for time, and so for what seldom happens: of a wire with many forms, which paths do not call.
const LONG: usize = 4_000;

impl Text {
    /// Adds a line with the current indentation.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        let columns = if line.is_empty() { 0 } else { self.indentation() };
        let mut text = String::with_capacity(columns + line.len());
        text.extend(std::iter::repeat_n(' ', columns));
        text.push_str(line);
        self.lines.push(text);
    }

    /// Adds a line one step further out, such as a label.
    pub fn outdented(&mut self, line: impl AsRef<str>) {
        self.outdent();
        self.line(line);
        self.indent();
    }

    /// The columns before a line.
    pub fn indentation(&self) -> usize {
        4 * self.depth
    }

    /// Adds several lines with the current indentation.
    pub fn lines(&mut self, lines: &str) {
        for line in lines.lines() {
            self.line(line);
        }
    }

    /// Writes `head {`, and indents the following lines by one step.
    pub fn open(&mut self, head: impl AsRef<str>) {
        match head.as_ref() {
            "" => self.line("{"),
            head => self.line(format!("{head} {{")),
        }
        self.depth += 1;
    }

    /// Writes `}` and what follows it on the line.
    pub fn close(&mut self, tail: &str) {
        self.depth -= 1;
        self.line(format!("}}{tail}"));
    }

    /// Indents the next lines by one more step.
    pub fn indent(&mut self) {
        self.depth += 1;
    }

    /// Indents the next lines by one step less.
    pub fn outdent(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Writes a function's head on its own line, and its brace on the next.
    pub fn function(&mut self, head: impl AsRef<str>) {
        self.head = self.lines.len();
        self.line(head);
        self.line("{");
        self.depth += 1;
    }

    /// Closes a function, and leaves an empty line. A long one is for compilers a function that is seldom called.
    pub fn end_function(&mut self) {
        self.close("");
        self.line("");
        if self.lines.len() - self.head > LONG {
            let head = &mut self.lines[self.head];
            *head = head.replacen("static MK_UNUSED ", "static MK_COLD MK_UNUSED ", 1);
        }
    }

    /// Appends the lines of another text unchanged.
    pub fn append(&mut self, other: Text) {
        self.lines.extend(other.lines);
    }

    /// The whole text.
    pub fn finish(self) -> String {
        let octets = self.lines.iter().map(|line| line.len() + 1).sum();
        let mut text = String::with_capacity(octets);
        for line in self.lines {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}

/// A C literal of a type that is wide enough: an `int` if possible.
pub fn literal(value: u64) -> String {
    match value {
        0..=0x7fff_ffff => value.to_string(),
        0x8000_0000..=0xffff_ffff => format!("{value}u"),
        _ => format!("UINT64_C({value})"),
    }
}

/// Octets as an initialiser.
pub fn octets(octets: &[u8]) -> String {
    let list: Vec<String> = octets.iter().map(|octet| format!("0x{octet:02x}")).collect();
    format!("{{{}}}", list.join(", "))
}

/// A text as a C string literal.
pub fn string(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' => literal.push_str("\\\""),
            b'\\' => literal.push_str("\\\\"),
            0x20..=0x7e => literal.push(byte as char),
            other => {
                let _ = write!(literal, "\\{other:03o}");
            }
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_so_that_no_digit_joins_an_escape() {
        assert_eq!(string("a\"\n1"), "\"a\\\"\\0121\"");
    }

    #[test]
    fn a_long_function_is_seldom_called() {
        for (lines, head) in
            [(3_990, "static MK_UNUSED void f(void)"), (4_000, "static MK_COLD MK_UNUSED void f(void)")]
        {
            let mut text = Text::default();
            text.line("");
            text.function("static MK_UNUSED void f(void)");
            (0..lines).for_each(|_| text.line(";"));
            text.end_function();
            assert_eq!(text.finish().lines().nth(1), Some(head));
        }
    }

    #[test]
    fn literals_are_wide_enough() {
        assert_eq!(literal(7), "7");
        assert_eq!(literal(u64::MAX), "UINT64_C(18446744073709551615)");
    }
}

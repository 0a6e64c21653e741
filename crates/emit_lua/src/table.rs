//! Lua tables as data, and their text.

use std::fmt::Write;

/// A Lua value.
#[derive(Clone, Debug)]
pub enum Lua {
    No,
    Yes,
    /// A number of up to 32 bits.
    Number(u64),
    /// A `UInt64`.
    Wide(u64),
    Text(String),
    /// Values by index, from 1.
    List(Vec<Lua>),
    /// Values by key, in this order.
    Table(Vec<(Key, Lua)>),
}

/// A key of a table.
#[derive(Clone, Debug)]
pub enum Key {
    Name(&'static str),
    Text(String),
    Number(u64),
}

/// The longest line; longer ones are broken.
const WIDEST: usize = 150;

impl Lua {
    /// A list of numbers.
    pub fn numbers(numbers: impl IntoIterator<Item = usize>) -> Lua {
        Lua::List(numbers.into_iter().map(|number| Lua::Number(number as u64)).collect())
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Lua {
        Lua::Text(text.into())
    }

    /// A number of a type of this width.
    pub fn of_width(value: u64, width: u8) -> Lua {
        if width > 32 {
            Lua::Wide(value)
        } else {
            Lua::Number(value)
        }
    }

    fn flat(&self) -> String {
        match self {
            Lua::No => "false".to_string(),
            Lua::Yes => "true".to_string(),
            Lua::Number(number) => number.to_string(),
            Lua::Wide(number) => format!("N({}, {})", number & 0xffff_ffff, number >> 32),
            Lua::Text(text) => quoted(text),
            Lua::List(items) if items.is_empty() => "{}".to_string(),
            Lua::List(items) => format!("{{ {} }}", items.iter().map(Lua::flat).collect::<Vec<_>>().join(", ")),
            Lua::Table(entries) if entries.is_empty() => "{}".to_string(),
            Lua::Table(entries) => {
                let entry = |(key, value): &(Key, Lua)| format!("{} = {}", key.text(), value.flat());
                format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Writes the value after `before`, at a depth.
    pub fn write(&self, text: &mut String, before: &str, depth: usize, end: &str) {
        let flat = self.flat();
        let indent = "  ".repeat(depth);
        if indent.len() + before.len() + flat.len() + end.len() <= WIDEST {
            let _ = writeln!(text, "{indent}{before}{flat}{end}");
            return;
        }
        match self {
            Lua::List(items) => {
                let _ = writeln!(text, "{indent}{before}{{");
                items.iter().for_each(|item| item.write(text, "", depth + 1, ","));
                let _ = writeln!(text, "{indent}}}{end}");
            }
            Lua::Table(entries) => {
                let _ = writeln!(text, "{indent}{before}{{");
                for (key, value) in entries {
                    value.write(text, &format!("{} = ", key.text()), depth + 1, ",");
                }
                let _ = writeln!(text, "{indent}}}{end}");
            }
            Lua::No | Lua::Yes | Lua::Number(_) | Lua::Wide(_) | Lua::Text(_) => {
                let _ = writeln!(text, "{indent}{before}{flat}{end}");
            }
        }
    }
}

impl Key {
    fn text(&self) -> String {
        match self {
            Key::Name(name) => (*name).to_string(),
            Key::Text(text) => format!("[{}]", quoted(text)),
            Key::Number(number) => format!("[{number}]"),
        }
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\{:03}", u32::from(c).min(255));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// A table of the entries that are present.
pub fn table(entries: Vec<(&'static str, Option<Lua>)>) -> Lua {
    let there = |(name, value): (&'static str, Option<Lua>)| Some((Key::Name(name), value?));
    Lua::Table(entries.into_iter().filter_map(there).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_as_lua_writes_them() {
        let all = Lua::List(vec![Lua::Number(7), Lua::Wide(1 << 40), Lua::text("a\"\n"), Lua::List(vec![])]);
        assert_eq!(all.flat(), "{ 7, N(0, 256), \"a\\\"\\010\", {} }");
        let named = Lua::Table(vec![(Key::Name("a"), Lua::Yes), (Key::Text("b c".into()), Lua::No)]);
        assert_eq!(named.flat(), "{ a = true, [\"b c\"] = false }");
    }
}

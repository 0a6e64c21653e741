//! Tokens of the run-test text: names, numbers with units, strings, signs. `;` starts a comment.

/// One token of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// `port`, `seq.S.count`: names and dots, nothing between.
    Name(String),
    /// Digits as written, without `0x`. They may also be octets, so there may be more digits than a number has.
    Number {
        text: String,
        value: Option<u64>,
    },
    Text(Vec<u8>),
    /// One of `{ } ( ) , = ? _ - =>`.
    Sign(&'static str),
}

/// A token and its line, counted from the line number that [`tokens`] was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lexed {
    pub token: Token,
    pub line: u32,
}

const SIGNS: [&str; 8] = ["=>", "{", "}", "(", ")", ",", "=", "?"];

/// All tokens, or the line and reason of the first text that is not a token.
pub fn tokens(text: &str, first_line: u32) -> Result<Vec<Lexed>, (u32, String)> {
    let mut out = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line_number = first_line + number as u32;
        let mut rest = line.trim_start();
        while !rest.is_empty() && !rest.starts_with(';') {
            let (token, used) = token(rest).map_err(|why| (line_number, why))?;
            out.push(Lexed { token, line: line_number });
            rest = rest[used..].trim_start();
        }
    }
    Ok(out)
}

fn token(rest: &str) -> Result<(Token, usize), String> {
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return Ok((Token::Sign(sign), sign.len()));
    }
    let first = rest.chars().next().unwrap_or(' ');
    match first {
        '"' => string(rest),
        '0'..='9' => number(rest),
        'a'..='z' | 'A'..='Z' | '_' => {
            let used = length(rest, |c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
            let name = &rest[..used];
            Ok(if name == "_" { (Token::Sign("_"), 1) } else { (Token::Name(name.to_string()), used) })
        }
        other => Err(format!("`{other}` has no meaning here")),
    }
}

fn length(text: &str, inside: impl Fn(char) -> bool) -> usize {
    text.find(|c| !inside(c)).unwrap_or(text.len())
}

fn number(rest: &str) -> Result<(Token, usize), String> {
    let used = length(rest, |c| c.is_ascii_alphanumeric() || c == '_');
    let word = rest[..used].replace('_', "");
    if let Some(hex) = word.strip_prefix("0x") {
        let value = u64::from_str_radix(hex, 16).ok();
        return Ok((Token::Number { text: hex.to_string(), value }, used));
    }
    let digits = length(&word, |c| c.is_ascii_digit());
    let scale = match &word[digits..] {
        "" | "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        // Octets continue without `0x`: `0x00 c0ffee`, `0x00 01ab`.
        _ if word.chars().all(|c| c.is_ascii_hexdigit()) => {
            return Ok((Token::Number { text: word, value: None }, used));
        }
        other => return Err(format!("`{other}` is no unit: ns, us, ms or s")),
    };
    let value = word[..digits].parse::<u64>().ok().and_then(|n| n.checked_mul(scale));
    Ok((Token::Number { value, text: word }, used))
}

fn string(rest: &str) -> Result<(Token, usize), String> {
    let mut octets = Vec::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Text(octets), at + 1)),
            '\\' => octets.push(match chars.next() {
                Some((_, 'n')) => b'\n',
                Some((_, 'r')) => b'\r',
                Some((_, 't')) => b'\t',
                Some((_, '0')) => 0,
                Some((_, quoted @ ('"' | '\\'))) => quoted as u8,
                _ => return Err("after `\\` comes one of n r t 0 \" \\".to_string()),
            }),
            other => octets.extend(other.to_string().as_bytes()),
        }
    }
    Err("the text has no closing `\"` on its line".to_string())
}

//! Octets for people.

/// Octets in the notation of tests, the printable tail as text.
pub(crate) fn show_octets(octets: &[u8]) -> String {
    if let Some(text) = as_text(octets) {
        return text;
    }
    let plain = |octet: &u8| (0x20..0x7f).contains(octet) && *octet != b'"' && *octet != b'\\';
    let tail = octets.len() - octets.iter().rev().take_while(|octet| plain(octet)).count();
    let hex: String = octets[..tail].iter().map(|octet| format!("{octet:02x}")).collect();
    let text = String::from_utf8_lossy(&octets[tail..]);
    match (hex.is_empty(), text.is_empty()) {
        (true, _) => format!("\"{text}\""),
        (false, true) => format!("x\"{hex}\""),
        (false, false) => format!("x\"{hex}\" \"{text}\""),
    }
}

/// Octets as a string of the language, with `\n`, `\r` and `\t`, if they are mostly plain characters.
pub(crate) fn as_text(octets: &[u8]) -> Option<String> {
    let mut text = String::new();
    let mut escapes = 0;
    for octet in octets {
        match octet {
            b'\n' | b'\r' | b'\t' => {
                escapes += 1;
                text.push_str(match octet {
                    b'\n' => "\\n",
                    b'\r' => "\\r",
                    _ => "\\t",
                });
            }
            0x20..=0x7e if !b"\"\\".contains(octet) => text.push(char::from(*octet)),
            _ => return None,
        }
    }
    (escapes * 3 <= octets.len()).then(|| format!("\"{text}\""))
}

/// How many octets are the same before the first that differs.
pub(crate) fn same(wanted: &[u8], came: &[u8]) -> usize {
    wanted.iter().zip(came).take_while(|(wanted, came)| wanted == came).count()
}

/// Unexpected octets, and the first that differs, counted from the packet's front; these octets begin at `from` there.
pub(crate) fn show_beside(wanted: &[u8], came: &[u8], from: usize) -> String {
    let shown = show_octets(came);
    let same = same(wanted, came);
    let at = from + same;
    match (wanted.get(same), came.get(same)) {
        (None, None) => shown,
        (Some(wanted), Some(came)) => format!("{shown} (octet {at} is 0x{came:02x}, not 0x{wanted:02x})"),
        (Some(_), None) => format!("{shown} (ends before octet {at}: {} more are expected)", wanted.len() - same),
        (None, Some(_)) => format!("{shown} (ends only at octet {}, not {at})", from + came.len()),
    }
}

/// A list of octets as the language writes it: `"heat"`, or `x"00ff"` if it is no text.
pub fn octets_of_list(octets: &[u8]) -> String {
    as_text(octets)
        .unwrap_or_else(|| format!("x\"{}\"", octets.iter().map(|octet| format!("{octet:02x}")).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_shown_as_the_source_writes_them() {
        assert_eq!(show_octets(b"ok\none\n"), "\"ok\\none\\n\"");
        assert_eq!(show_octets(b"GET / HTTP/1.1\r\n\r\n"), "\"GET / HTTP/1.1\\r\\n\\r\\n\"");
        assert_eq!(show_octets(b"\nA"), "x\"0a\" \"A\"", "more a number than a line");
        assert_eq!(show_octets(b"\x00\x01ab"), "x\"0001\" \"ab\"");
        assert_eq!(octets_of_list(b"ok\none\n"), "\"ok\\none\\n\"");
        assert_eq!(octets_of_list(b"\x00a"), "x\"0061\"");
    }

    #[test]
    fn the_first_octet_that_differs_is_named_by_its_place_in_the_packet() {
        assert_eq!(show_beside(b"abcd", b"abcd", 3), "\"abcd\"");
        assert_eq!(show_beside(b"abcd", b"abXX", 3), "\"abXX\" (octet 5 is 0x58, not 0x63)");
        assert_eq!(show_beside(b"abcd", b"ab", 3), "\"ab\" (ends before octet 5: 2 more are expected)");
        assert_eq!(show_beside(b"ab", b"abcd", 3), "\"abcd\" (ends only at octet 7, not 5)");
        assert_eq!(show_beside(b"ab", b"", 0), "\"\" (ends before octet 0: 2 more are expected)");
    }
}

//! Octets for people.

/// Octets in the notation of tests, the printable tail as text.
pub(crate) fn show_octets(octets: &[u8]) -> String {
    let plain = |octet: &u8| (0x20..0x7f).contains(octet) && *octet != b'"' && *octet != b'\\';
    let tail = octets.len() - octets.iter().rev().take_while(|octet| plain(octet)).count();
    let hex: String = octets[..tail].iter().map(|octet| format!("{octet:02x}")).collect();
    let text = String::from_utf8_lossy(&octets[tail..]);
    match (hex.is_empty(), text.is_empty()) {
        (true, _) => format!("\"{text}\""),
        (false, true) => format!("0x{hex}"),
        (false, false) => format!("0x{hex} \"{text}\""),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_octet_that_differs_is_named_by_its_place_in_the_packet() {
        assert_eq!(show_beside(b"abcd", b"abcd", 3), "\"abcd\"");
        assert_eq!(show_beside(b"abcd", b"abXX", 3), "\"abXX\" (octet 5 is 0x58, not 0x63)");
        assert_eq!(show_beside(b"abcd", b"ab", 3), "\"ab\" (ends before octet 5: 2 more are expected)");
        assert_eq!(show_beside(b"ab", b"abcd", 3), "\"abcd\" (ends only at octet 7, not 5)");
        assert_eq!(show_beside(b"ab", b"", 0), "\"\" (ends before octet 0: 2 more are expected)");
    }
}

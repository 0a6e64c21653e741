//! Octets for people.

/// Octets as a test would write them, the printable tail as text.
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

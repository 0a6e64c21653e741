//! Names of protocols: the compiler knows none, neither in its identifiers nor in texts that it searches or prints.
//! Exceptions are in `xtask/protocols.txt`, each with a reason.

use std::collections::BTreeMap;

use crate::listed::{is_test, List};
use crate::words::words_and_texts;

/// Protocols of the library and related ones. A number after a name belongs to it: `icmp6`.
const PROTOCOLS: [&str; 24] = [
    "arp", "bgp", "cidr", "dhcp", "dns", "ethernet", "http", "icmp", "igmp", "ip", "ipv", "mac", "mld", "mptcp", "ndp",
    "ospf", "quic", "rip", "sctp", "tcp", "tls", "udp", "vlan", "wifi",
];

/// The protocols that a source names, in order and each once. Comments and tests are ignored.
pub fn protocols(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words_and_texts(text) {
        let parts = parts(&word.text).into_iter();
        found.extend(parts.filter(|part| PROTOCOLS.contains(&part.trim_end_matches(|c: char| c.is_ascii_digit()))));
    }
    found.sort();
    found.dedup();
    found
}

/// Splits `Ipv4Cidr`, `default_mac` and "over ethernet[type: 1]" into their parts, in lower case.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && !before.is_uppercase() {
            parts.push(String::new());
        }
        if let (true, Some(part)) = (c.is_alphanumeric(), parts.last_mut()) {
            part.extend(c.to_lowercase());
        }
        before = c;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The faults about names in all sources, by path; `allowed` holds lines `file: protocol …: reason`.
pub fn faults(sources: &BTreeMap<String, String>, allowed: &str) -> Vec<String> {
    let of_file = |(file, text): (&String, &String)| (file.clone(), protocols(text));
    let found = sources.iter().filter(|(file, _)| !is_test(file)).map(of_file).collect();
    let fault = |file: &str, name: &str| format!("{file} names a protocol, `{name}`");
    List { path: "xtask/protocols.txt", text: allowed, fault: &fault }.faults(&found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_are_looked_at_part_by_part() {
        assert_eq!(protocols("fn udp_port(x: Ipv4Cidr) {}"), ["cidr", "ipv4", "udp"]);
        assert_eq!(protocols("let s = \"over ethernet[type: 1] with icmp6\"; TCP_PORT"), ["ethernet", "icmp6", "tcp"]);
        assert_eq!(
            protocols("// udp\nmacro_rules! x; let zip = tips; #[cfg(test)] mod tests { fn tcp() {} }"),
            [""; 0]
        );
    }

    #[test]
    fn a_planted_name_is_found() {
        let sources = |text: &str| BTreeMap::from([("crates/a/src/b.rs".to_string(), text.to_string())]);
        let planted = sources("fn item() -> &'static str { \"Ipv4Cidr\" }");
        assert_eq!(faults(&planted, "").len(), 2);
        assert_eq!(faults(&planted, "crates/a/src/b.rs: cidr ipv4: an example that people know"), [""; 0]);
        assert_eq!(faults(&sources("fn item() {}"), "crates/a/src/b.rs: cidr: an example that people know").len(), 1);
    }
}

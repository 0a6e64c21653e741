//! `mokume dissect`: a capture, packet by packet.

use mokume_base::world::RealWorld;
use mokume_driver::dissect::{self, capture, json, text};
use mokume_driver::Failure;

use crate::print::Printer;

/// Prints the packets of a capture, taken apart by the wires of a stack of the file `by`, else by the library's.
/// `packets` picks some, such as `1,5-9`. A capture that is damaged is printed up to there, and fails.
pub fn dissect(
    file: &str,
    by: Option<&str>,
    stack: Option<&str>,
    packets: Option<&str>,
    printer: &Printer,
) -> Result<i32, Failure> {
    let wanted = packets.map_or(Ok(Vec::new()), numbers)?;
    let dissector = dissect::dissector(&RealWorld, by, stack)?;
    let capture = capture::read(file)?;
    for packet in &capture.packets {
        if !wanted.is_empty() && !wanted.iter().any(|(first, last)| (*first..=*last).contains(&packet.number)) {
            continue;
        }
        let dissection = dissector.dissect(&packet.octets);
        match printer.is_json() {
            true => printer.object(&json::packet(packet, &dissection)),
            false => printer.line(text::packet(packet, &dissection, printer.ink) + "\n"),
        }
    }
    // What could be read was shown; that it was not all is an error all the same.
    capture.damage.map_or(Ok(0), Err)
}

/// `1,4-6,9-` as ranges.
fn numbers(text: &str) -> Result<Vec<(u64, u64)>, Failure> {
    let wrong = |part: &str| {
        Failure::of_use(
            format!("`{part}` is no packet's number"),
            "write `3`, `3-7`, `1,4-6` or `9-`; the first packet is 1",
        )
    };
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u64 = first.trim().parse().map_err(|_| wrong(part))?;
        let last = if last.trim().is_empty() { u64::MAX } else { last.trim().parse().map_err(|_| wrong(part))? };
        if first == 0 || last < first {
            Err(wrong(part))
        } else {
            Ok((first, last))
        }
    };
    text.split(',').map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn ranges_of_packets() {
        assert_eq!(numbers("3").unwrap(), [(3, 3)]);
        assert_eq!(numbers("1,4-6, 9-").unwrap(), [(1, 1), (4, 6), (9, u64::MAX)]);
        for wrong in ["", "0", "a", "7-3", "1,,2", "-3"] {
            assert!(numbers(wrong).is_err(), "{wrong}");
        }
    }
}

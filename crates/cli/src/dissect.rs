//! `mokume dissect`: prints a capture, packet by packet, each as soon as it is read.

use std::collections::BTreeMap;

use mokume_base::world::RealWorld;
use mokume_driver::dissect::filter::{self, Filter};
use mokume_driver::dissect::{self, capture, json, text, Dissector, Verdict};
use mokume_driver::{compile, Failure};

use crate::common::{accepted, refused};
use crate::print::Printer;

/// A stack and one of its devices, by their names.
type Chosen<'a> = (Option<&'a str>, Option<&'a str>);

/// The dissector for a stack of a file, the last one if none is named, and for one of its devices, else the first. Prints what is wrong
/// in the file.
pub fn of_users((file, (stack, device)): (&[String], Chosen<'_>), printer: &Printer) -> Result<Dissector, Failure> {
    let checked = accepted(file, printer)?;
    let stack = compile::choose_stack(&checked, stack)?;
    let mut dissector = dissect::of_stack(&checked, stack, dissect::link::Whose::Users)
        .map_err(|diagnostics| refused(&diagnostics, &checked, printer))?;
    device.map_or(Ok(()), |device| dissector.choose_device(device))?;
    Ok(dissector)
}

/// Prints the packets of a capture, dissected by the wires of a stack of the file `by`, else by the library's. The
/// capture `-` is read from the standard input. `packets` picks packets by number, such as `1,5-9`, `filter` by
/// content, such as `kind == 1`. A corrupted capture is printed up to the fault, and then the command fails. It also
/// fails if packets come over links that the stack has no wire for; these packets are not printed.
pub fn dissect(
    file: &str,
    by: Option<&str>,
    (stack, device): Chosen<'_>,
    (packets, filter): (Option<&str>, Option<&str>),
    printer: &Printer,
) -> Result<i32, Failure> {
    let wanted = packets.map_or(Ok(Vec::new()), numbers)?;
    let last = wanted.iter().map(|(_, last)| *last).max().unwrap_or(u64::MAX);
    let dissector = match by {
        Some(by) => of_users((&[by.to_string()], (stack, device)), printer)?,
        None => dissect::of_library(&RealWorld, stack)?,
    };
    let filter = filter.map(|text| filter::read(&dissector, text)).transpose()?;
    let capture = capture::open(file)?;
    if let Some(link) = capture.link().filter(|link| dissector.front(*link).is_none()) {
        return Err(dissector.refusal(link, &format!("the packets of `{file}` are")));
    }
    let asks_for_refused = filter.as_ref().is_some_and(Filter::asks_for_refused);
    let mut doubtful = 0;
    let mut count = 0;
    let mut unread: BTreeMap<u32, u64> = BTreeMap::new();
    for packet in capture {
        // All that could be read was printed, but an incomplete capture is still an error.
        let packet = packet?;
        count = packet.number;
        let is_wanted = |(first, last): &(u64, u64)| (*first..=*last).contains(&packet.number);
        if wanted.is_empty() || wanted.iter().any(is_wanted) {
            match dissector.front(packet.link) {
                Some(front) => {
                    let dissection = dissector.dissect_cut(&packet.octets, packet.length as usize, front);
                    let verdict = dissection.verdict();
                    match filter.as_ref().is_none_or(|filter| filter.takes(&dissection)) {
                        true => show(&packet, &dissection, printer),
                        false => doubtful += u64::from(verdict == Verdict::MayBeRefused),
                    }
                }
                None => *unread.entry(packet.link).or_default() += 1,
            }
        }
        if packet.number >= last {
            break;
        }
    }
    if asks_for_refused && doubtful > 0 {
        let (packets, they, them) = match doubtful {
            1 => ("1 packet".to_string(), "it", "it"),
            more => (format!("{more} packets"), "they", "them"),
        };
        printer.note(format!(
            "{packets} more may be refused: {they} may be for another layer; `may_be_refused` selects {them}"
        ));
    }
    are_there(&wanted, count, file)?;
    match unread.first_key_value() {
        Some((link, count)) => {
            let (are, others) = (if *count == 1 { "packet is" } else { "packets are" }, unread.len() - 1);
            let others = if others == 0 { String::new() } else { format!(" (and others of {others} links more)") };
            Err(dissector.refusal(*link, &format!("{count} {are}{others}")))
        }
        None => Ok(0),
    }
}

fn show(packet: &capture::Packet, dissection: &dissect::Dissection, printer: &Printer) {
    match printer.is_json() {
        true => printer.object(&json::packet(packet, dissection)),
        false => printer.line(text::packet(packet, dissection, printer.ink) + "\n"),
    }
}

/// Fails if a capture of `count` packets has none of a range.
pub(crate) fn are_there(wanted: &[(u64, u64)], count: u64, file: &str) -> Result<(), Failure> {
    let Some((first, _)) = wanted.iter().find(|(first, _)| *first > count) else { return Ok(()) };
    let packets = match count {
        0 => "no packet".to_string(),
        1 => "1 packet".to_string(),
        more => format!("{more} packets"),
    };
    Err(Failure::of_use(format!("there is no packet {first}"), format!("`{file}` has {packets}")))
}

/// Parses `1,4-6,9-` as ranges.
pub(crate) fn numbers(text: &str) -> Result<Vec<(u64, u64)>, Failure> {
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

//! Captures as lists of packets with the times of the clock: pcap, and pcapng with one or several interfaces.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::time::Duration;

use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, TsResolution};

use crate::failure::Failure;

/// A packet as it was captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    /// From 1.
    pub number: u64,
    /// Since 1970, if the capture says it.
    pub at: Option<Duration>,
    /// Its octets on the line; perhaps not all of them were captured.
    pub length: u32,
    /// The number of the link's type (LINKTYPE_…).
    pub link: u32,
    pub octets: Vec<u8>,
}

/// The packets of a capture, and why it could not be read to its end.
pub struct Capture {
    pub packets: Vec<Packet>,
    pub damage: Option<Failure>,
}

/// The first octets of a pcapng file, of either byte order.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// Reads a whole capture into memory. What is damaged behind some packets is in [`Capture::damage`], not a failure;
/// no file, or one that is no capture, is a failure.
pub fn read(name: &str) -> Result<Capture, Failure> {
    let unread = |error: std::io::Error| Failure::of_use(format!("capture `{name}`: {error}"), "is the path right?");
    let mut file = File::open(name).map_err(unread)?;
    let mut first = [0; 4];
    let got = file.read(&mut first).map_err(unread)?;
    file.seek(SeekFrom::Start(0)).map_err(unread)?;
    if got == 4 && first == SECTION {
        return read_pcapng(name, file);
    }
    read_pcap(name, file, |error| not_a_capture(name, error)).map(|(_, capture)| capture)
}

fn not_a_capture(name: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::of_use(format!("`{name}` is no capture: {error}"), "give a file in pcap or pcapng form")
}

fn cut(name: &str, good: usize, error: &dyn std::fmt::Display) -> Failure {
    Failure::of_use(
        format!("capture `{name}` is cut or damaged after {good} packets: {error}"),
        "repair it with `editcap`, or capture it again",
    )
}

/// A file in pcap form, and the link that it says its packets are of; `foreign` says what is wrong with any other file.
pub(crate) fn read_pcap(
    name: &str,
    file: File,
    foreign: impl FnOnce(&dyn std::fmt::Display) -> Failure,
) -> Result<(DataLink, Capture), Failure> {
    let mut reader = PcapReader::new(BufReader::new(file)).map_err(|error| foreign(&error))?;
    let datalink = reader.header().datalink;
    let link = u32::from(datalink);
    let unit = match reader.header().ts_resolution {
        TsResolution::MicroSecond => Duration::from_micros(1),
        TsResolution::NanoSecond => Duration::from_nanos(1),
    };
    let mut packets: Vec<Packet> = Vec::new();
    // What a packet says of its lengths need not fit the file's, nor each other: as everybody does, we take what is there.
    while let Some(packet) = reader.next_raw_packet() {
        let packet = match packet {
            Ok(packet) => packet,
            Err(error) => {
                let damage = Some(cut(name, packets.len(), &error));
                return Ok((datalink, Capture { packets, damage }));
            }
        };
        packets.push(Packet {
            number: packets.len() as u64 + 1,
            at: Some(Duration::from_secs(packet.ts_sec.into()) + unit * packet.ts_frac),
            length: packet.orig_len,
            link,
            octets: packet.data.into_owned(),
        });
    }
    Ok((datalink, Capture { packets, damage: None }))
}

/// What an interface of a pcapng section says of its packets: the link, and how many units a second has.
#[derive(Clone, Copy)]
struct Interface {
    link: DataLink,
    units: u128,
}

fn interface(block: &InterfaceDescriptionBlock) -> Interface {
    let resolution = block.options.iter().find_map(|option| match option {
        InterfaceDescriptionOption::IfTsResol(resolution) => Some(*resolution),
        _ => None,
    });
    // The high bit says whether the others are a power of 2 or of 10; without the option it is microseconds.
    let units = match resolution {
        Some(power) if power & 0x80 != 0 => 1u128.checked_shl(u32::from(power & 0x7f)).filter(|units| *units > 0),
        Some(power) => 10u128.checked_pow(u32::from(power)),
        None => Some(1_000_000),
    };
    Interface { link: block.linktype, units: units.unwrap_or(1_000_000) }
}

fn read_pcapng(name: &str, file: File) -> Result<Capture, Failure> {
    let mut reader = PcapNgReader::new(BufReader::new(file)).map_err(|error| not_a_capture(name, &error))?;
    let mut packets: Vec<Packet> = Vec::new();
    let mut interfaces: Vec<Interface> = Vec::new();
    while let Some(block) = reader.next_block() {
        let block = match block {
            Ok(block) => block,
            Err(error) => {
                let damage = Some(cut(name, packets.len(), &error));
                return Ok(Capture { packets, damage });
            }
        };
        let number = packets.len() as u64 + 1;
        let of = |interface: u32| interfaces.get(interface as usize).copied();
        match block {
            Block::SectionHeader(_) => interfaces.clear(),
            Block::InterfaceDescription(block) => interfaces.push(interface(&block)),
            Block::EnhancedPacket(packet) => {
                let Some(from) = of(packet.interface_id) else { continue };
                // The crate gives the units as if they were nanoseconds.
                let at = time(packet.timestamp.as_nanos(), from.units);
                let (length, octets) = (packet.original_len, packet.data.into_owned());
                packets.push(Packet { number, at: Some(at), length, link: from.link.into(), octets });
            }
            Block::SimplePacket(packet) => {
                let Some(from) = of(0) else { continue };
                let (length, octets) = (packet.original_len, packet.data.into_owned());
                packets.push(Packet { number, at: None, length, link: from.link.into(), octets });
            }
            _ => {}
        }
    }
    Ok(Capture { packets, damage: None })
}

fn time(count: u128, units: u128) -> Duration {
    let seconds = u64::try_from(count / units).unwrap_or(u64::MAX);
    let nanos = (count % units).saturating_mul(1_000_000_000) / units;
    Duration::new(seconds, u32::try_from(nanos).unwrap_or(0))
}

/// `2026-11-20 12:00:00.000000000`, in UTC (days to dates after Howard Hinnant's `civil_from_days`).
pub fn date(at: Duration) -> String {
    let (days, second) = (at.as_secs() / 86400, at.as_secs() % 86400);
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:09}", at.subsec_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_known_seconds() {
        let shown = |seconds| date(Duration::new(seconds, 5));
        assert_eq!(shown(0), "1970-01-01 00:00:00.000000005");
        assert_eq!(shown(951_782_400), "2000-02-29 00:00:00.000000005");
        assert_eq!(shown(4_107_542_399), "2100-02-28 23:59:59.000000005");
        assert_eq!(shown(1_795_176_000), "2026-11-20 12:00:00.000000005");
    }

    /// Cut by the one who captured, longer than they were, or than the file's limit: tshark reads all of these, too.
    #[test]
    fn lengths_that_do_not_fit_each_other() {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 8, 1]);
        for (included, original) in [(4, 1500), (4, 2), (4, 0), (12, 12)] {
            file.extend(words(&[7, 1_500_000, included, original]));
            file.extend(vec![5; included as usize]);
        }
        let name = std::env::temp_dir().join(format!("mokume-lengths-{}.pcap", std::process::id()));
        std::fs::write(&name, &file).unwrap();
        let capture = read(&name.to_string_lossy()).unwrap_or_else(|failure| panic!("{failure}"));
        std::fs::write(&name, &file[..file.len() - 1]).unwrap();
        let cut = read(&name.to_string_lossy()).unwrap_or_else(|failure| panic!("{failure}"));
        std::fs::remove_file(&name).unwrap();
        let lengths: Vec<(usize, u32)> =
            capture.packets.iter().map(|packet| (packet.octets.len(), packet.length)).collect();
        assert_eq!(lengths, [(4, 1500), (4, 2), (4, 0), (12, 12)]);
        assert_eq!(capture.packets[0].at, Some(Duration::from_millis(8500)));
        assert!(capture.damage.is_none());
        assert_eq!((cut.packets.len(), cut.damage.is_some()), (3, true));
    }

    #[test]
    fn units_of_an_interface() {
        assert_eq!(time(1_500_000, 1_000_000), Duration::from_millis(1500));
        assert_eq!(time(3, 2), Duration::from_millis(1500));
    }
}

//! Captures as packets with clock times, one after the other as they come: pcap, and pcapng with one or several
//! interfaces, from files and from the standard input.

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::time::Duration;

use pcap_file::pcap::PcapReader;
use pcap_file::{PcapError, TsResolution};

use super::pcapng::{Blocks, SECTION};
use crate::failure::Failure;

/// A captured packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The number, from 1.
    pub number: u64,
    /// Time since 1970, if the capture has it.
    pub at: Option<Duration>,
    /// Its octets on the line; the capture may have fewer.
    pub length: u32,
    /// The link type (LINKTYPE_…).
    pub link: u32,
    pub octets: Vec<u8>,
}

/// The packets of a capture, and why the rest could not be read.
pub struct Capture {
    pub packets: Vec<Packet>,
    pub damage: Option<Failure>,
}

/// The packets of a capture in order, each as soon as it is available. A failure says that the capture is corrupted
/// from there on, and is the last item.
pub struct Packets {
    name: String,
    good: u64,
    ended: bool,
    source: Source,
}

enum Source {
    Pcap(PcapReader<Box<dyn Read>>),
    Pcapng(Blocks<Box<dyn Read>>),
}

/// Opens a capture; `-` is the standard input. Fails if there is no file, or it is not a capture.
pub fn open(name: &str) -> Result<Packets, Failure> {
    let unread = |error: std::io::Error| Failure::of_use(format!("capture `{name}`: {error}"), "is the path right?");
    let mut input: Box<dyn Read> = match name {
        "-" => Box::new(std::io::stdin()),
        name => Box::new(BufReader::new(File::open(name).map_err(unread)?)),
    };
    let mut first = Vec::new();
    input.by_ref().take(4).read_to_end(&mut first).map_err(unread)?;
    let is_pcapng = first == SECTION;
    let input: Box<dyn Read> = Box::new(Cursor::new(first).chain(input));
    let source = match is_pcapng {
        true => Source::Pcapng(Blocks::new(input)),
        false => Source::Pcap(PcapReader::new(input).map_err(|error| not_a_capture(name, &error))?),
    };
    Ok(Packets { name: name.to_string(), good: 0, ended: false, source })
}

/// Reads a whole capture into memory. Corruption after some packets is in [`Capture::damage`], not a failure. Fails if
/// there is no file, or it is not a capture.
pub fn read(name: &str) -> Result<Capture, Failure> {
    let mut capture = Capture { packets: Vec::new(), damage: None };
    for packet in open(name)? {
        match packet {
            Ok(packet) => capture.packets.push(packet),
            Err(damage) => capture.damage = Some(damage),
        }
    }
    Ok(capture)
}

fn not_a_capture(name: &str, error: &PcapError) -> Failure {
    Failure::of_use(format!("`{name}` is no capture: {error}"), "give a file in pcap or pcapng form")
}

impl Packets {
    /// The link type that a file gives for all its packets; in pcapng each interface has its own.
    pub fn link(&self) -> Option<u32> {
        match &self.source {
            // The high bits say whether frames end with their check sequence.
            Source::Pcap(reader) => Some(u32::from(reader.header().datalink) & 0xffff),
            Source::Pcapng(_) => None,
        }
    }

    fn packet(&mut self) -> Result<Option<Packet>, String> {
        let (number, link) = (self.good + 1, self.link());
        match &mut self.source {
            Source::Pcap(reader) => {
                let unit = match reader.header().ts_resolution {
                    TsResolution::MicroSecond => Duration::from_micros(1),
                    TsResolution::NanoSecond => Duration::from_nanos(1),
                };
                // A packet's lengths may contradict the file's limit, or each other: like other readers, we take the
                // octets that are there.
                let Some(packet) = reader.next_raw_packet() else { return Ok(None) };
                let packet = packet.map_err(|error| error.to_string())?;
                Ok(Some(Packet {
                    number,
                    at: Some(Duration::from_secs(packet.ts_sec.into()) + unit * packet.ts_frac),
                    length: packet.orig_len,
                    link: link.unwrap_or(0),
                    octets: packet.data.into_owned(),
                }))
            }
            Source::Pcapng(blocks) => Ok(blocks.next_packet()?.map(|seen| Packet {
                number,
                at: seen.at,
                length: seen.length,
                link: seen.link.into(),
                octets: seen.octets,
            })),
        }
    }
}

impl Iterator for Packets {
    type Item = Result<Packet, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.packet() {
            Ok(Some(packet)) => {
                self.good += 1;
                Some(Ok(packet))
            }
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(error) => {
                self.ended = true;
                Some(Err(Failure::of_use(
                    format!("capture `{}` is cut or damaged behind packet {}: {error}", self.name, self.good),
                    "repair it with `editcap`, or capture it again",
                )))
            }
        }
    }
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

    /// Truncated by the capturing program, longer than on the line, or longer than the file's limit: tshark reads all
    /// of these, too.
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
}

//! Captures as devices: frames are read at their times (counted from the first one), and written at ours.

use std::collections::VecDeque;
use std::fs::File;
use std::io::BufWriter;
use std::os::fd::RawFd;
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, TsResolution};

use super::Device;
use crate::dissect::capture::read_pcap;
use crate::failure::Failure;

/// Nothing that Ethernet carries is longer.
const SNAP_LENGTH: u32 = 262_144;

/// Frames of one capture, each due when its time has come, and perhaps a second capture for what the stack sends.
pub struct CaptureDevice {
    coming: VecDeque<(u64, Vec<u8>)>,
    written: Option<CaptureWriter>,
}

impl CaptureDevice {
    /// What is written has the link type of what is read.
    pub fn open(read: &str, write: Option<&str>) -> Result<Self, Failure> {
        let (link, coming) = read_capture(read)?;
        let written = write.map(|name| CaptureWriter::create(name, link)).transpose()?;
        Ok(CaptureDevice { coming: coming.into(), written })
    }
}

impl Device for CaptureDevice {
    fn descriptor(&self) -> Option<RawFd> {
        None
    }

    fn next_time(&self) -> Option<u64> {
        self.coming.front().map(|(at, _)| *at)
    }

    fn receive(&mut self, now: u64) -> Result<Option<Vec<u8>>, Failure> {
        if self.next_time().is_some_and(|at| at <= now) {
            Ok(self.coming.pop_front().map(|(_, frame)| frame))
        } else {
            Ok(None)
        }
    }

    fn send(&mut self, now: u64, frame: &[u8]) -> Result<bool, Failure> {
        if let Some(writer) = &mut self.written {
            writer.write(now, frame)?;
        }
        Ok(true)
    }

    fn is_finished(&self) -> bool {
        self.coming.is_empty()
    }
}

/// The frames of a capture with their times in nanoseconds, the first at 0. A cut file is an error that says how much of it was good.
pub fn read_frames(name: &str) -> Result<Vec<(u64, Vec<u8>)>, Failure> {
    read_capture(name).map(|(_, frames)| frames)
}

fn read_capture(name: &str) -> Result<(LinkType, Vec<(u64, Vec<u8>)>), Failure> {
    let file = File::open(name)
        .map_err(|error| Failure::of_use(format!("capture `{name}`: {error}"), "is the path right?"))?;
    let (datalink, capture) = read_pcap(name, file, |error| {
        Failure::of_use(format!("`{name}` is no pcap file: {error}"), "convert it: `tshark -F pcap -r IN -w OUT`")
    })?;
    if let Some(damage) = capture.damage {
        return Err(damage);
    }
    let link = if datalink == DataLink::ETHERNET { LinkType::Ethernet } else { LinkType::Private };
    let nanos = |at: Option<Duration>| at.map_or(0, |at| u64::try_from(at.as_nanos()).unwrap_or(u64::MAX));
    let first = capture.packets.first().map_or(0, |packet| nanos(packet.at));
    let frames = capture.packets.into_iter().map(|packet| (nanos(packet.at).saturating_sub(first), packet.octets));
    Ok((link, frames.collect()))
}

/// What the frames of a capture begin with, for those who read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkType {
    Ethernet,
    /// Known to the program only (LINKTYPE_USER0, 147).
    Private,
}

impl LinkType {
    /// A stack that reads its device's `mac` has stations' addresses in its frames, as Ethernet has; of others nobody knows.
    pub fn of(automaton: &mokume_reaction::Automaton) -> LinkType {
        match automaton.params.iter().any(|param| param.name.ends_with(".mac")) {
            true => LinkType::Ethernet,
            false => LinkType::Private,
        }
    }
}

/// Writes frames with nanosecond times.
pub struct CaptureWriter {
    name: String,
    writer: PcapWriter<BufWriter<File>>,
}

impl CaptureWriter {
    /// A new capture of that name, over one that is there. The failure is one of use: the folder, or its rights.
    pub fn create(name: &str, link: LinkType) -> Result<Self, Failure> {
        let refuse = |error: &dyn std::fmt::Display| {
            Failure::of_use(format!("cannot write capture `{name}`: {error}"), "is the folder there and writable?")
        };
        let file = File::create(name).map_err(|error| refuse(&error))?;
        let header = PcapHeader {
            version_major: 2,
            version_minor: 4,
            ts_correction: 0,
            ts_accuracy: 0,
            snaplen: SNAP_LENGTH,
            datalink: match link {
                LinkType::Ethernet => DataLink::ETHERNET,
                LinkType::Private => DataLink::USER0,
            },
            ts_resolution: TsResolution::NanoSecond,
            endianness: Endianness::Little,
        };
        let writer = PcapWriter::with_header(BufWriter::new(file), header).map_err(|error| refuse(&error))?;
        Ok(CaptureWriter { name: name.to_string(), writer })
    }

    /// Puts a frame behind the others; `at` is in nanoseconds since the capture's epoch. What cannot be written ends
    /// the run.
    pub fn write(&mut self, at: u64, frame: &[u8]) -> Result<(), Failure> {
        let size = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        let packet = PcapPacket::new(Duration::from_nanos(at), size, frame);
        self.writer.write_packet(&packet).map(|_| ()).map_err(|error| {
            Failure::of_use(format!("cannot write capture `{}`: {error}", self.name), "is the disk full?")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> String {
        let folder = std::env::temp_dir().join(format!("mokume-capture-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder.join(name).to_string_lossy().into_owned()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let name = scratch("round.pcap");
        {
            let mut writer = CaptureWriter::create(&name, LinkType::Private).unwrap();
            writer.write(5, b"first frame").unwrap();
            writer.write(1_000_000_005, b"second").unwrap();
        }
        let (link, frames) = read_capture(&name).unwrap();
        assert_eq!(link, LinkType::Private);
        assert_eq!(frames, vec![(0, b"first frame".to_vec()), (1_000_000_000, b"second".to_vec())]);
        let whole = std::fs::read(&name).unwrap();
        std::fs::write(&name, &whole[..whole.len() - 3]).unwrap();
        let failure = read_frames(&name).unwrap_err();
        assert!(failure.message.contains("after 1 packets"), "{failure}");
    }

    #[test]
    fn a_missing_or_foreign_file_is_one_line() {
        assert!(read_frames("/nowhere/x.pcap").unwrap_err().message.contains("x.pcap"));
        let name = scratch("foreign.pcap");
        std::fs::write(&name, "this is no capture").unwrap();
        assert!(read_frames(&name).unwrap_err().message.contains("no pcap file"));
    }
}

//! Captures as devices: frames are read at their times (counted from the first one), and written with ours.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::os::fd::RawFd;

use mokume_base::world::RealWorld;

use super::Device;
use crate::dissect::capture;
use crate::failure::Failure;
use crate::machines::reads;

/// Longer than any Ethernet frame; longer frames are cut to this.
const SNAP_LENGTH: u32 = 262_144;

/// The most octets that wait to be written.
const PENDING: usize = 1 << 16;

/// Link types (LINKTYPE_…).
const ETHERNET: u32 = 1;
const PRIVATE: u32 = 147;
const LAST_PRIVATE: u32 = 162;

/// The magic number of pcap files with nanoseconds.
const NANOSECONDS: u32 = 0xa1b2_3c4d;

/// The frames of one capture, each available at its time, and perhaps a second capture for what the stack sends.
pub struct CaptureDevice {
    coming: VecDeque<(u64, Vec<u8>)>,
    written: Option<CaptureWriter>,
    name: String,
    link: Option<u32>,
    /// How many of its frames are shorter than they were.
    cut: usize,
}

impl CaptureDevice {
    /// Opens captures; the written one has the link type of the one that is read.
    pub fn open(read: &str, write: Option<&str>) -> Result<Self, Failure> {
        let Read { link, frames, cut } = read_capture(read)?;
        let place = |name: &str| std::fs::canonicalize(name).ok();
        if let Some(write) = write.filter(|write| place(write).is_some_and(|written| Some(written) == place(read))) {
            let text = format!("`{write}` is read, and would be written over");
            return Err(Failure::of_use(text, "name another file for what goes out: `pcap:in.pcap,out.pcap`"));
        }
        let as_read = if link == Some(ETHERNET) { LinkType::Ethernet } else { LinkType::Private };
        let written = write.map(|name| CaptureWriter::create(name, as_read)).transpose()?;
        Ok(CaptureDevice { coming: frames.into(), written, name: read.to_string(), link, cut })
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

    fn link(&self) -> Option<u32> {
        self.link
    }

    fn note(&self) -> Option<String> {
        let Self { name, cut, .. } = self;
        let frames = if *cut == 1 { "frame" } else { "frames" };
        (*cut > 0).then(|| format!("`{name}`: {cut} {frames} cut when captured; the stack gets what is left"))
    }

    fn is_finished(&self) -> bool {
        self.coming.is_empty()
    }

    fn settle(&mut self) -> Result<(), Failure> {
        self.written.as_mut().map_or(Ok(()), CaptureWriter::flush)
    }
}

/// Frames with their times in nanoseconds.
pub type Timed = Vec<(u64, Vec<u8>)>;

/// The frames of a capture, the first at time 0. A truncated file is an error that says how much was good.
pub fn read_frames(name: &str) -> Result<Timed, Failure> {
    read_capture(name).map(|read| read.frames)
}

/// What a capture holds.
#[derive(PartialEq, Eq, Debug)]
struct Read {
    /// Its link type, or that of its first frame.
    link: Option<u32>,
    frames: Timed,
    /// How many of them have fewer octets than they had on the line.
    cut: usize,
}

fn read_capture(name: &str) -> Result<Read, Failure> {
    let capture = capture::open(name)?;
    let (mut link, mut first, mut frames, mut cut) = (capture.link(), None, Vec::new(), 0);
    for packet in capture {
        let packet = packet?;
        link.get_or_insert(packet.link);
        let at = packet.at.map_or(0, |at| u64::try_from(at.as_nanos()).unwrap_or(u64::MAX));
        cut += usize::from(packet.octets.len() < packet.length as usize);
        frames.push((at.saturating_sub(*first.get_or_insert(at)), packet.octets));
    }
    Ok(Read { link, frames, cut })
}

/// The link type of a capture: what its frames begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkType {
    Ethernet,
    /// Private use (LINKTYPE_USER0).
    Private,
}

impl LinkType {
    /// The link type of a stack. One that reads its device's `mac` has station addresses in its frames, like Ethernet;
    /// for others it is unknown.
    pub fn of(automaton: &mokume_reaction::Automaton) -> LinkType {
        match reads(automaton, |name| name.ends_with(".mac")) {
            true => LinkType::Ethernet,
            false => LinkType::Private,
        }
    }

    /// Whether frames of this link type may come to the stack's device of that name. Numbers for private use say nothing.
    pub fn fits(link: u32, automaton: &mokume_reaction::Automaton, device: &str) -> bool {
        !reads(automaton, |name| name == format!("{device}.mac"))
            || link == ETHERNET
            || (PRIVATE..=LAST_PRIVATE).contains(&link)
    }

    /// The number in captures.
    pub fn number(self) -> u32 {
        match self {
            LinkType::Ethernet => ETHERNET,
            LinkType::Private => PRIVATE,
        }
    }

    /// The link type with this number, among those that we write.
    pub fn numbered(number: u32) -> Option<LinkType> {
        [LinkType::Ethernet, LinkType::Private].into_iter().find(|link| link.number() == number)
    }
}

/// Writes frames with nanosecond times. At any moment the file contains complete frames only, however the run ends.
pub struct CaptureWriter {
    name: String,
    file: File,
    /// Complete frames that are not in the file yet.
    pending: Vec<u8>,
    /// Octets of the file that are complete frames.
    kept: u64,
}

impl CaptureWriter {
    /// Creates a capture, replacing an existing one. A failure is one of use: the folder, or permissions.
    pub fn create(name: &str, link: LinkType) -> Result<Self, Failure> {
        let failed = |error| Failure::of_writing(&RealWorld, &format!("capture `{name}`"), name, &error);
        let file = File::create(name).map_err(failed)?;
        // Version 2.4, times of UTC.
        let header = [NANOSECONDS, 4 << 16 | 2, 0, 0, SNAP_LENGTH, link.number()].map(u32::to_le_bytes).concat();
        let mut writer = CaptureWriter { name: name.to_string(), file, pending: header, kept: 0 };
        writer.flush()?;
        Ok(writer)
    }

    /// Appends a frame; `at` is in nanoseconds since the capture's epoch. A write error ends the run.
    pub fn write(&mut self, at: u64, frame: &[u8]) -> Result<(), Failure> {
        let size = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        let kept = size.min(SNAP_LENGTH);
        // 32 bits of seconds last until 2106.
        let (seconds, nanos) = ((at / 1_000_000_000) as u32, (at % 1_000_000_000) as u32);
        self.pending.extend([seconds, nanos, kept, size].iter().flat_map(|word| word.to_le_bytes()));
        self.pending.extend(&frame[..kept as usize]);
        if self.pending.len() < PENDING {
            return Ok(());
        }
        self.flush()
    }

    /// Writes all frames so far to the file; a failure if that is not possible, as on a full disk. Then the file ends
    /// with the last complete one.
    pub fn flush(&mut self) -> Result<(), Failure> {
        let written = self.file.write_all(&self.pending);
        if let Err(error) = written {
            self.pending.clear();
            // Fails for a pipe or a device, where nothing can be cut off.
            let _ = self.file.set_len(self.kept);
            let message = format!("cannot write capture `{}`: {error}", self.name);
            return Err(Failure::of_use(message, "is the disk full, or the reader gone?"));
        }
        self.kept += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}

impl Drop for CaptureWriter {
    /// If another failure ended the run.
    fn drop(&mut self) {
        let _ = self.flush();
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
    fn what_is_read_is_not_written_over() {
        let name = scratch("both.pcap");
        CaptureWriter::create(&name, LinkType::Private).unwrap().write(5, b"a frame").unwrap();
        let before = std::fs::read(&name).unwrap();
        let (folder, file) = name.rsplit_once('/').unwrap();
        for write in [name.clone(), format!("{folder}/./{file}")] {
            assert!(CaptureDevice::open(&name, Some(&write)).is_err(), "{write}");
        }
        assert_eq!(std::fs::read(&name).unwrap(), before);
        assert!(CaptureDevice::open(&name, Some(&scratch("other.pcap"))).is_ok());
    }

    #[test]
    fn what_is_written_is_read_again() {
        let name = scratch("round.pcap");
        {
            let mut writer = CaptureWriter::create(&name, LinkType::Private).unwrap();
            writer.write(5, b"first frame").unwrap();
            writer.write(1_000_000_005, b"second").unwrap();
        }
        let Read { link, frames, cut } = read_capture(&name).unwrap();
        assert_eq!((link, cut), (Some(PRIVATE), 0));
        assert_eq!(frames, vec![(0, b"first frame".to_vec()), (1_000_000_000, b"second".to_vec())]);
        let whole = std::fs::read(&name).unwrap();
        std::fs::write(&name, &whole[..whole.len() - 3]).unwrap();
        let failure = read_frames(&name).unwrap_err();
        assert!(failure.message.contains("behind packet 1:"), "{failure}");
    }

    /// As on a full disk: there is no room for the file's own header.
    #[test]
    fn a_full_disk_is_a_failure() {
        let Err(failure) = CaptureWriter::create("/dev/full", LinkType::Ethernet) else { panic!("it is written") };
        assert!(failure.message.contains("/dev/full") && failure.exit_code() == 2, "{failure}");
    }

    #[test]
    fn frames_are_in_the_file_whole_before_it_is_closed() {
        let name = scratch("whole.pcap");
        let mut writer = CaptureWriter::create(&name, LinkType::Ethernet).unwrap();
        for number in 0..200u64 {
            writer.write(number, &[7; 1000]).unwrap();
            let frames = read_frames(&name).unwrap();
            assert!(frames.iter().all(|(_, frame)| frame.len() == 1000), "none is cut");
        }
        writer.flush().unwrap();
        assert_eq!(read_frames(&name).unwrap().len(), 200);
    }

    #[test]
    fn a_missing_or_foreign_file_is_one_line() {
        assert!(read_frames("/nowhere/x.pcap").unwrap_err().message.contains("x.pcap"));
        let name = scratch("foreign.pcap");
        std::fs::write(&name, "this is no capture").unwrap();
        assert!(read_frames(&name).unwrap_err().message.contains("is no capture"));
    }
}

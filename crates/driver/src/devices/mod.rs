//! Devices that carry frames: TAP, UDP sockets and captures. Simulated networks have their own media.

pub mod capture;
pub mod tap;
pub mod udp;
pub mod weather;

use std::net::SocketAddr;
use std::os::fd::RawFd;

use mokume_simulate::Befell;

use crate::failure::Failure;

/// Something that frames come from and go to.
pub trait Device: Send {
    /// The descriptor to wait for; `None` for a device whose frames have their own times ([`Device::next_time`]).
    fn descriptor(&self) -> Option<RawFd>;
    /// The time of the next frame, in nanoseconds since the start, for devices that know it.
    fn next_time(&self) -> Option<u64> {
        None
    }
    /// A frame that is available now, without waiting; `now` in nanoseconds since the start.
    fn receive(&mut self, now: u64) -> Result<Option<Vec<u8>>, Failure>;
    /// Sends a frame; `Ok(false)` if it was dropped, as by a full device queue.
    fn send(&mut self, now: u64, frame: &[u8]) -> Result<bool, Failure>;
    /// Whether no frame will ever come again.
    fn is_finished(&self) -> bool {
        false
    }
    /// Flushes what was sent to permanent storage; called when idle, and at the end. Fails if something cannot be
    /// stored.
    fn settle(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    /// The link type of its frames (LINKTYPE_…), if it knows that.
    fn link(&self) -> Option<u32> {
        None
    }
    /// What people should know of how it was opened.
    fn note(&self) -> Option<String> {
        None
    }
    /// What its weather did to incoming and to outgoing frames, if it has weather.
    fn befell(&self) -> Option<[Befell; 2]> {
        None
    }
    /// The largest message that can be sent, in octets, with the header of the lowest layer.
    fn largest(&self) -> u32 {
        1514
    }
}

/// `tap:NAME`, `udp:LOCAL[,PEER…]`, `pcap:FILE` (read) or `pcap:FILE,FILE` (read, write), as given to `--device`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    Tap { interface: String },
    Udp { local: SocketAddr, peers: Vec<SocketAddr> },
    Capture { read: String, write: Option<String> },
}

impl Kind {
    /// What distinguishes this device from others of its kind.
    pub fn label(&self) -> String {
        match self {
            Kind::Tap { interface } => interface.clone(),
            Kind::Udp { local, .. } => local.to_string(),
            Kind::Capture { read, .. } => read.clone(),
        }
    }
}

/// Parses `[NAME=]KIND:…`; the name is optional if there is one device.
pub fn parse(text: &str) -> Result<(Option<String>, Kind), Failure> {
    let form = "write `--device NAME=tap:INTERFACE`, `NAME=udp:ADDRESS:PORT[,ADDRESS:PORT…]` or `NAME=pcap:IN[,OUT]`";
    let (name, rest) = match text.split_once('=') {
        Some((name, rest)) => (Some(name.to_string()), rest),
        None => (None, text),
    };
    match rest.split_once(':') {
        Some(("tap", interface)) if !interface.is_empty() => Ok((name, Kind::Tap { interface: interface.to_string() })),
        Some(("udp", ends)) => {
            let end = |text: &str| {
                text.parse::<SocketAddr>().map_err(|_| {
                    Failure::of_use(format!("`{text}` is no end of a UDP socket"), "write `127.0.0.1:7001`")
                })
            };
            let mut ends = ends.split(',').map(end);
            let local = ends.next().unwrap_or_else(|| end(""))?;
            Ok((name, Kind::Udp { local, peers: ends.collect::<Result<_, _>>()? }))
        }
        Some(("pcap", files)) if !files.is_empty() => {
            let (read, write) = match files.split_once(',') {
                Some((read, write)) => (read, Some(write.to_string())),
                None => (files, None),
            };
            Ok((name, Kind::Capture { read: read.to_string(), write }))
        }
        _ => Err(Failure::of_use(format!("`{text}` names no device"), form)),
    }
}

/// Opens a device. The failure says what is missing: permissions, an interface, a file, an address.
pub fn open(kind: &Kind) -> Result<Box<dyn Device>, Failure> {
    Ok(match kind {
        Kind::Tap { interface } => Box::new(tap::TapDevice::open(interface)?),
        Kind::Udp { local, peers } => Box::new(udp::UdpDevice::open(*local, peers)?),
        Kind::Capture { read, write } => Box::new(capture::CaptureDevice::open(read, write.as_deref())?),
    })
}

/// A locally administered address that depends only on the device's name, so that neighbours' caches stay valid after a
/// restart.
pub fn default_mac(name: &str) -> u64 {
    // FNV-1a; the first octet 02: unicast, locally administered.
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    0x0200_0000_0000 | (hash & 0x00ff_ffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_parsed() {
        assert_eq!(parse("tap:mok0").unwrap(), (None, Kind::Tap { interface: "mok0".into() }));
        let capture = Kind::Capture { read: "a.pcap".into(), write: Some("b.pcap".into()) };
        assert_eq!(parse("lan=pcap:a.pcap,b.pcap").unwrap(), (Some("lan".into()), capture));
        let ends = |local: &str, peers: &[&str]| Kind::Udp {
            local: local.parse().unwrap(),
            peers: peers.iter().map(|peer| peer.parse().unwrap()).collect(),
        };
        assert_eq!(parse("udp:127.0.0.1:7001").unwrap(), (None, ends("127.0.0.1:7001", &[])));
        let both = parse("lan=udp:127.0.0.1:7001,[::1]:7002").unwrap();
        assert_eq!(both, (Some("lan".into()), ends("127.0.0.1:7001", &["[::1]:7002"])));
        let three = parse("udp:10.0.0.1:7,10.0.0.2:7,10.0.0.3:7").unwrap();
        assert_eq!(three, (None, ends("10.0.0.1:7", &["10.0.0.2:7", "10.0.0.3:7"])));
        for wrong in [
            "",
            "mok0",
            "udp:7001",
            "udp:127.0.0.1:1,",
            "udp:127.0.0.1:1,,127.0.0.1:2",
            "udp:host:1",
            "tap:",
            "lan=",
            "floppy:a",
        ] {
            assert_eq!(parse(wrong).unwrap_err().exit_code(), 2, "{wrong}");
        }
    }

    #[test]
    fn default_addresses_are_unicast_local_and_differ() {
        let (a, b) = (default_mac("mok0"), default_mac("mok1"));
        assert_ne!(a, b);
        assert_eq!(a >> 40, 2);
    }
}

//! A TAP interface: the stack's end of a link to the operating system.

use std::io::ErrorKind;
use std::os::fd::{AsRawFd, RawFd};

use tappers::{DeviceState, Interface, Tap};

use super::Device;
use crate::failure::Failure;

/// Linux: no frame of an MTU-1500 link is longer, with a VLAN tag.
const LONGEST_FRAME: usize = 65_536;

pub struct TapDevice {
    tap: Tap,
    interface: String,
    mtu: u32,
    buffer: Vec<u8>,
}

impl TapDevice {
    /// Attaches to the interface, or makes it; brings it up.
    pub fn open(interface: &str) -> Result<Self, Failure> {
        let name = Interface::new(interface).map_err(|_| {
            Failure::of_use(format!("`{interface}` is no name of an interface"), "take one like `mok0`")
        })?;
        let refuse = |error: std::io::Error| match error.kind() {
            ErrorKind::PermissionDenied => Failure::of_use(
                format!("TAP device `{interface}`: not permitted"),
                format!("run as root, or prepare it: `ip tuntap add {interface} mode tap user $USER`"),
            ),
            ErrorKind::NotFound => Failure::of_use(
                "this machine has no /dev/net/tun",
                "load the kernel's `tun` module, or use the simulated network (`mokume sim`)",
            ),
            ErrorKind::ResourceBusy => Failure::of_use(
                format!("TAP device `{interface}` is in use by another program"),
                "stop it, or name another interface",
            ),
            _ => Failure::of_use(format!("TAP device `{interface}`: {error}"), "see `ip link`"),
        };
        let mut tap = Tap::new_named(name).map_err(refuse)?;
        tap.set_nonblocking(true).map_err(refuse)?;
        // A prepared interface may be up already and not be ours to change.
        if let Err(error) = tap.set_state(DeviceState::Up) {
            if error.kind() != ErrorKind::PermissionDenied {
                return Err(refuse(error));
            }
        }
        let mtu = tap.mtu().ok().and_then(|mtu| u32::try_from(mtu).ok()).unwrap_or(1500);
        Ok(TapDevice { tap, interface: interface.to_string(), mtu, buffer: vec![0; LONGEST_FRAME] })
    }
}

impl Device for TapDevice {
    fn descriptor(&self) -> Option<RawFd> {
        Some(self.tap.as_raw_fd())
    }

    fn receive(&mut self, _: u64) -> Result<Option<Vec<u8>>, Failure> {
        match self.tap.recv(&mut self.buffer) {
            Ok(size) => Ok(Some(self.buffer[..size].to_vec())),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
            Err(error) => Err(Failure::of_use(
                format!("TAP device `{}` is gone: {error}", self.interface),
                "was the interface deleted?",
            )),
        }
    }

    fn send(&mut self, _: u64, frame: &[u8]) -> Result<bool, Failure> {
        match self.tap.send(frame) {
            Ok(_) => Ok(true),
            // EIO: the interface is down. A wire without a peer loses frames; that is no reason to stop.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(false),
            Err(error) if error.raw_os_error() == Some(libc::EIO) => Ok(false),
            Err(error) => Err(Failure::of_use(format!("TAP device `{}`: {error}", self.interface), "see `ip link`")),
        }
    }

    fn mtu(&self) -> u32 {
        self.mtu
    }
}

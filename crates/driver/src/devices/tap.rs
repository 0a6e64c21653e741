//! A TAP interface: the stack's end of a link to the operating system.
//!
//! Uses the kernel's calls directly: the libraries that were considered refuse an interface that an administrator has
//! prepared for a user, which is the way to run without root.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use super::Device;
use crate::failure::Failure;

/// The longest frame of a TAP interface.
const LONGEST_FRAME: usize = 65_536;

/// The Ethernet header, which the kernel's MTU does not include.
const ETHERNET_HEADER: u32 = 14;

/// An open interface. Frames include their Ethernet header, and none is longer than the interface's MTU allows.
pub struct TapDevice {
    tap: File,
    interface: String,
    mtu: u32,
    buffer: Vec<u8>,
    /// Whether it was not there before.
    is_made: bool,
}

impl TapDevice {
    /// Attaches to the interface, or creates it; brings it up if permitted.
    pub fn open(interface: &str) -> Result<Self, Failure> {
        let Some(mut request) = request_for(interface) else {
            return Err(Failure::of_use(
                format!("`{interface}` is no name of an interface"),
                "take one of up to 15 letters and digits, like `mok0`",
            ));
        };
        let is_made = !is_there(interface);
        let tap = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open("/dev/net/tun")
            .map_err(|error| refusal(interface, &error))?;
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
        control(tap.as_raw_fd(), libc::TUNSETIFF, &mut request).map_err(|error| refusal(interface, &error))?;
        let mtu = bring_up(interface).unwrap_or(1500);
        Ok(TapDevice { tap, interface: interface.to_string(), mtu, buffer: vec![0; LONGEST_FRAME], is_made })
    }
}

/// Whether the system has an interface of this name.
fn is_there(interface: &str) -> bool {
    // SAFETY: the name ends with a zero, and outlives the call.
    CString::new(interface).is_ok_and(|name| unsafe { libc::if_nametoindex(name.as_ptr()) } != 0)
}

/// An empty request about an interface; `None` if the name is not valid.
fn request_for(interface: &str) -> Option<libc::ifreq> {
    let name = CString::new(interface).ok()?;
    let octets = name.as_bytes_with_nul();
    if octets.len() < 2 || octets.len() > libc::IFNAMSIZ || interface.contains(['/', ' ']) {
        return None;
    }
    // SAFETY: an `ifreq` is plain data, for which all zeros is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(octets) {
        *to = *from as libc::c_char;
    }
    Some(request)
}

fn control(descriptor: RawFd, what: libc::Ioctl, request: &mut libc::ifreq) -> Result<(), Error> {
    // SAFETY: the calls used here read and write one `ifreq`, which outlives the call.
    match unsafe { libc::ioctl(descriptor, what, std::ptr::from_mut(request)) } {
        0.. => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Brings the interface up, if permitted, and returns its MTU.
fn bring_up(interface: &str) -> Option<u32> {
    // SAFETY: the kernel has just given us this descriptor, so it is ours alone.
    let socket = unsafe {
        let descriptor = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        (descriptor >= 0).then(|| OwnedFd::from_raw_fd(descriptor))
    }?;
    let mut flags = request_for(interface)?;
    control(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &mut flags).ok()?;
    // SAFETY: the call before has filled in the flags.
    unsafe { flags.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short };
    // Another user may be responsible for a prepared interface: then it is up already, or will be.
    let _ = control(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &mut flags);
    let mut mtu = request_for(interface)?;
    control(socket.as_raw_fd(), libc::SIOCGIFMTU, &mut mtu).ok()?;
    // SAFETY: the call before has filled in the MTU.
    u32::try_from(unsafe { mtu.ifr_ifru.ifru_mtu }).ok()
}

/// A message for each way in which the system can refuse.
fn refusal(interface: &str, error: &Error) -> Failure {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Failure::of_use(
            format!("TAP device `{interface}`: not permitted"),
            format!("run as root, or prepare it as root: `ip tuntap add {interface} mode tap user $USER`"),
        ),
        Some(libc::ENOENT | libc::ENODEV | libc::ENXIO) => Failure::of_use(
            "this machine has no /dev/net/tun",
            "load the kernel's `tun` module, or use the simulated network (`mokume sim`)",
        ),
        Some(libc::EBUSY) => Failure::of_use(
            format!("TAP device `{interface}` is in use by another program"),
            "stop it, or name another interface",
        ),
        Some(libc::EINVAL) => Failure::of_use(
            format!("interface `{interface}` is there, but is no TAP device"),
            "name another, or make one: `ip tuntap add NAME mode tap`",
        ),
        _ => Failure::of_use(format!("TAP device `{interface}`: {error}"), "see `ip link`"),
    }
}

impl Device for TapDevice {
    fn descriptor(&self) -> Option<RawFd> {
        Some(self.tap.as_raw_fd())
    }

    fn note(&self) -> Option<String> {
        let name = &self.interface;
        let how =
            format!("`ip address add ADDRESS/LENGTH dev {name}` gives it one; `ip link` lists those that are there");
        self.is_made.then(|| {
            format!("TAP device `{name}` was not there, and is made: this machine has no address at it; {how}")
        })
    }

    fn receive(&mut self, _: u64) -> Result<Option<Vec<u8>>, Failure> {
        match self.tap.read(&mut self.buffer) {
            Ok(size) => Ok(Some(self.buffer[..size].to_vec())),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
            Err(error) => Err(Failure::of_use(
                format!("TAP device `{}` is gone: {error}", self.interface),
                "was the interface deleted?",
            )),
        }
    }

    fn send(&mut self, _: u64, frame: &[u8]) -> Result<bool, Failure> {
        match self.tap.write(frame) {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(false),
            // The interface is down: like a wire without a peer it loses frames, which is no reason to stop.
            Err(error) if error.raw_os_error() == Some(libc::EIO) => Ok(false),
            // Shorter than a link header: not carried.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(false),
            Err(error) => Err(Failure::of_use(format!("TAP device `{}`: {error}", self.interface), "see `ip link`")),
        }
    }

    fn largest(&self) -> u32 {
        self.mtu + ETHERNET_HEADER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_interfaces_are_checked_before_the_kernel_sees_them() {
        for wrong in ["", "a name", "a/b", "sixteen_letters_", "nul\0"] {
            assert!(request_for(wrong).is_none(), "{wrong}");
        }
        assert!(request_for("mok0").is_some());
    }

    #[test]
    fn each_refusal_says_what_to_do() {
        for code in [libc::EPERM, libc::ENOENT, libc::EBUSY, libc::EINVAL, libc::EIO] {
            let failure = refusal("mok0", &Error::from_raw_os_error(code));
            assert_eq!(failure.exit_code(), 2);
            assert!(!failure.help.is_empty());
        }
    }
}

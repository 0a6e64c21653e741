//! A socket of the operating system's UDP as a device: a message of the stack is a datagram, and the other way round.
//!
//! So a stack runs between machines, or between two programs on one, without privileges. What a peer sends is as little
//! trusted as any frame.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};

use super::Device;
use crate::failure::Failure;

/// Goes through Ethernet without fragments: 1500 without the headers of IPv4 and UDP.
const LARGEST: u32 = 1472;

/// No datagram is longer.
const LONGEST_DATAGRAM: usize = 65_536;

/// An open socket. Until a peer is known, what the stack sends is lost.
pub struct UdpDevice {
    socket: UdpSocket,
    /// The only one that is heard; or, where none was named, the last one that was.
    peer: Option<SocketAddr>,
    is_fixed: bool,
    buffer: Vec<u8>,
}

impl UdpDevice {
    /// Binds to `local`. With a peer, datagrams of others are not for us; without, whoever wrote last is answered.
    pub fn open(local: SocketAddr, peer: Option<SocketAddr>) -> Result<Self, Failure> {
        let refuse = |error: std::io::Error| {
            let help = match error.kind() {
                ErrorKind::AddrInUse => "another program has this port: choose one, or stop it",
                ErrorKind::AddrNotAvailable => "bind to an address of this machine, or to 0.0.0.0",
                ErrorKind::PermissionDenied => "choose a port from 1024",
                _ => "write `udp:127.0.0.1:7001,127.0.0.1:7002`: our end, and the peer's",
            };
            Failure::of_use(format!("UDP socket {local}: {error}"), help)
        };
        let socket = UdpSocket::bind(local).map_err(refuse)?;
        socket.set_nonblocking(true).map_err(refuse)?;
        Ok(UdpDevice { socket, peer, is_fixed: peer.is_some(), buffer: vec![0; LONGEST_DATAGRAM] })
    }
}

impl Device for UdpDevice {
    fn descriptor(&self) -> Option<RawFd> {
        Some(self.socket.as_raw_fd())
    }

    fn receive(&mut self, _: u64) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            match self.socket.recv_from(&mut self.buffer) {
                Ok((_, from)) if self.is_fixed && self.peer != Some(from) => {}
                Ok((size, from)) => {
                    self.peer = Some(from);
                    return Ok(Some(self.buffer[..size].to_vec()));
                }
                // Nobody listens at the peer's port: of a datagram that we sent before, and no end of ours.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    return Ok(None)
                }
                Err(error) => return Err(Failure::of_use(format!("UDP socket: {error}"), "is the network up?")),
            }
        }
    }

    fn send(&mut self, _: u64, frame: &[u8]) -> Result<bool, Failure> {
        // What cannot be sent now is lost, as on any wire.
        Ok(self.peer.is_some_and(|peer| self.socket.send_to(frame, peer).is_ok()))
    }

    fn largest(&self) -> u32 {
        LARGEST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(device: &mut UdpDevice) -> Option<Vec<u8>> {
        for _ in 0..1000 {
            if let Some(frame) = device.receive(0).unwrap() {
                return Some(frame);
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        None
    }

    #[test]
    fn frames_go_both_ways_and_strangers_are_not_heard() {
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let mut server = UdpDevice::open(any, None).unwrap();
        let at = server.socket.local_addr().unwrap();
        assert!(!server.send(0, b"nobody yet").unwrap());
        let mut client = UdpDevice::open(any, Some(at)).unwrap();
        assert!(client.send(0, b"hello").unwrap());
        assert_eq!(wait(&mut server), Some(b"hello".to_vec()));
        let stranger = UdpSocket::bind(any).unwrap();
        stranger.send_to(b"not for you", client.socket.local_addr().unwrap()).unwrap();
        assert!(server.send(0, b"well met").unwrap());
        assert_eq!(wait(&mut client), Some(b"well met".to_vec()));
    }

    #[test]
    fn a_port_that_is_taken_is_one_line() {
        let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
        let failure = UdpDevice::open(taken.local_addr().unwrap(), None).err().unwrap();
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.help.contains("another program"), "{failure}");
    }
}

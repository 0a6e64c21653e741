//! A UDP socket of the operating system as a device: each message of the stack is a datagram.
//!
//! So a stack can run between machines, or between programs on one, without privileges: with one peer, with several, or
//! with all members of a multicast group. Data from a peer is as untrusted as any frame.

use std::io::{Error, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};

use socket2::{Domain, Protocol, Socket, Type};

use super::Device;
use crate::failure::Failure;

/// The largest datagram that fits in Ethernet without fragments: 1500 less the headers of IPv4 and UDP.
const LARGEST: u32 = 1472;

/// The longest datagram.
const LONGEST_DATAGRAM: usize = 65_536;

/// The desired kernel buffer for datagrams that arrive while we are busy.
const ROOM: usize = 4 << 20;

/// The peers.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Peers {
    /// The last sender; none yet at first.
    Last(Option<SocketAddr>),
    /// A fixed list.
    Named(Vec<SocketAddr>),
    /// All other members of a group.
    Group(SocketAddr),
}

/// An open socket. Until a peer is known, what the stack sends is lost.
pub struct UdpDevice {
    /// Sends.
    socket: UdpSocket,
    own: SocketAddr,
    /// Receives what is sent to a group.
    joined: Option<UdpSocket>,
    peers: Peers,
    buffer: Vec<u8>,
}

impl UdpDevice {
    /// Binds to `local`. With peers, datagrams from others are ignored; without, we answer the last sender. Our own
    /// address among the peers is ignored, so that all members can use one list. A multicast group must be the only
    /// peer.
    pub fn open(local: SocketAddr, peers: &[SocketAddr]) -> Result<Self, Failure> {
        if let Some(other) = peers.iter().find(|peer| peer.is_ipv4() != local.is_ipv4()) {
            let help = "take all addresses from IPv4, or all from IPv6";
            return Err(Failure::of_use(format!("UDP socket {local} does not reach {other}"), help));
        }
        if let Some(nobody) = peers.iter().find(|peer| peer.port() == 0) {
            let help = "a peer's port is that to which it is bound, 1 to 65535";
            return Err(Failure::of_use(format!("UDP socket {local}: nobody has port 0, as in {nobody}"), help));
        }
        if let Some(all) = peers.iter().find(|peer| peer.ip() == Ipv4Addr::BROADCAST) {
            let help = "name the peers one by one, or a multicast group: `udp:192.168.1.5:7001,239.255.7.1:7000`";
            return Err(Failure::of_use(format!("UDP socket {local} does not send to all on a link, {all}"), help));
        }
        let group = peers.iter().copied().find(|peer| peer.ip().is_multicast());
        if group.is_some() && (peers.len() > 1 || local.ip().is_unspecified()) {
            let help = "write `udp:192.168.1.5:7001,239.255.7.1:7000`: an address of ours on the link, and the group";
            let what = if peers.len() > 1 { "another peer beside the multicast group" } else { "no link to a group" };
            return Err(Failure::of_use(format!("UDP socket {local} has {what}"), help));
        }
        let refuse = |error: Error| {
            let help = match error.kind() {
                ErrorKind::AddrInUse => "another program has this port: choose one, or stop it",
                ErrorKind::AddrNotAvailable => "bind to an address of this machine, or to 0.0.0.0",
                ErrorKind::PermissionDenied => "choose a port from 1024",
                _ => "write `udp:127.0.0.1:7001,127.0.0.1:7002`: our end, and the peer's",
            };
            Failure::of_use(format!("UDP socket {local}: {error}"), help)
        };
        let socket = socket(local, |_| Ok(())).map_err(refuse)?;
        let own = socket.local_addr().map_err(refuse)?;
        let peers = match (group, peers) {
            (Some(group), _) => Peers::Group(group),
            (None, []) => Peers::Last(None),
            (None, peers) => Peers::Named(peers.iter().copied().filter(|peer| *peer != own).collect()),
        };
        let joined = group.map(|group| join(&socket, own, group)).transpose().map_err(|error| {
            let help = "is the interface of our address up, and does it take multicast?";
            Failure::of_use(format!("a multicast group by {local}: {error}"), help)
        })?;
        Ok(UdpDevice { socket, own, joined, peers, buffer: vec![0; LONGEST_DATAGRAM] })
    }

    /// The socket on which datagrams arrive.
    fn hearing(&self) -> &UdpSocket {
        self.joined.as_ref().unwrap_or(&self.socket)
    }

    /// Whether a datagram from there is for us; remembers the sender.
    fn hears(&mut self, from: SocketAddr) -> bool {
        match &mut self.peers {
            Peers::Last(last) => {
                *last = Some(from);
                true
            }
            Peers::Named(peers) => peers.contains(&from),
            Peers::Group(_) => from != self.own,
        }
    }
}

/// A bound, non-blocking socket.
fn socket(local: SocketAddr, before: impl Fn(&Socket) -> Result<(), Error>) -> Result<UdpSocket, Error> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    // A smaller buffer is no reason to fail.
    let _ = socket.set_recv_buffer_size(ROOM);
    before(&socket)?;
    socket.bind(&local.into())?;
    Ok(socket.into())
}

/// Joins the group on the link of `own`: the returned socket receives what is sent to it, and `sending` sends on that
/// link.
fn join(sending: &UdpSocket, own: SocketAddr, group: SocketAddr) -> Result<UdpSocket, Error> {
    // Several members on one machine receive at the group's port.
    let joined = socket(group, |socket| socket.set_reuse_address(true))?;
    let sending = socket2::SockRef::from(sending);
    match (own.ip(), group) {
        (IpAddr::V4(link), SocketAddr::V4(group)) => {
            joined.join_multicast_v4(group.ip(), &link)?;
            sending.set_multicast_if_v4(&link)?;
        }
        (_, SocketAddr::V6(group)) => {
            joined.join_multicast_v6(group.ip(), group.scope_id())?;
            sending.set_multicast_if_v6(group.scope_id())?;
        }
        (IpAddr::V6(_), SocketAddr::V4(_)) => return Err(ErrorKind::InvalidInput.into()),
    }
    Ok(joined)
}

impl Device for UdpDevice {
    fn descriptor(&self) -> Option<RawFd> {
        Some(self.hearing().as_raw_fd())
    }

    fn receive(&mut self, _: u64) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            let socket = self.joined.as_ref().unwrap_or(&self.socket);
            match socket.recv_from(&mut self.buffer) {
                Ok((size, from)) if self.hears(from) => return Ok(Some(self.buffer[..size].to_vec())),
                Ok(_) => {}
                // Nothing listens at the peer's port: this is about an earlier datagram, and no reason to stop.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    return Ok(None)
                }
                Err(error) => return Err(Failure::of_use(format!("UDP socket: {error}"), "is the network up?")),
            }
        }
    }

    fn send(&mut self, _: u64, frame: &[u8]) -> Result<bool, Failure> {
        // What cannot be sent now is lost, as on any wire; with several peers it counts as sent if it reached one
        // socket call.
        let is_sent = |peer: &SocketAddr| self.socket.send_to(frame, peer).is_ok();
        Ok(match &self.peers {
            Peers::Last(peer) => peer.as_ref().is_some_and(is_sent),
            Peers::Named(peers) => peers.iter().filter(|peer| is_sent(peer)).count() > 0,
            Peers::Group(group) => is_sent(group),
        })
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

    fn any() -> SocketAddr {
        "127.0.0.1:0".parse().unwrap()
    }

    #[test]
    fn frames_go_both_ways_and_strangers_are_not_heard() {
        let mut server = UdpDevice::open(any(), &[]).unwrap();
        let at = server.own;
        assert!(!server.send(0, b"nobody yet").unwrap());
        let mut client = UdpDevice::open(any(), &[at]).unwrap();
        assert!(client.send(0, b"hello").unwrap());
        assert_eq!(wait(&mut server), Some(b"hello".to_vec()));
        let stranger = UdpSocket::bind(any()).unwrap();
        stranger.send_to(b"not for you", client.own).unwrap();
        assert!(server.send(0, b"well met").unwrap());
        assert_eq!(wait(&mut client), Some(b"well met".to_vec()));
    }

    #[test]
    fn what_is_sent_goes_to_all_peers_but_ourselves() {
        let free = || UdpDevice::open(any(), &[]).unwrap().own;
        let all = [free(), free(), free()];
        let mut members = [UdpDevice::open(all[0], &all).unwrap(), UdpDevice::open(all[1], &all).unwrap()];
        let mut last = UdpDevice::open(all[2], &all).unwrap();
        assert!(last.send(0, b"to all").unwrap());
        assert!(members.iter_mut().all(|member| wait(member) == Some(b"to all".to_vec())));
        assert!(members[0].send(0, b"from another").unwrap());
        assert_eq!(wait(&mut last), Some(b"from another".to_vec()), "not our own");
    }

    #[test]
    fn members_of_a_multicast_group_hear_each_other() {
        let group = UdpDevice::open(any(), &[]).unwrap().own.port();
        let group: SocketAddr = format!("239.255.7.1:{group}").parse().unwrap();
        let opened: Result<Vec<_>, _> = (0..3).map(|_| UdpDevice::open(any(), &[group])).collect();
        let Ok(mut members) = opened else {
            println!("SKIPPED: no multicast on the loopback interface here");
            return;
        };
        assert!(members[0].send(0, b"to all").unwrap());
        assert!(members[1].send(0, b"an answer").unwrap());
        assert_eq!(wait(&mut members[2]), Some(b"to all".to_vec()));
        assert_eq!(wait(&mut members[2]), Some(b"an answer".to_vec()));
        assert_eq!(wait(&mut members[0]), Some(b"an answer".to_vec()), "not our own");
    }

    #[test]
    fn what_cannot_be_opened_is_one_line() {
        let refused = |local: &str, peers: &[&str]| {
            let peers: Vec<SocketAddr> = peers.iter().map(|peer| peer.parse().unwrap()).collect();
            let failure = UdpDevice::open(local.parse().unwrap(), &peers).err().unwrap();
            assert_eq!(failure.exit_code(), 2);
            format!("{} {}", failure.message, failure.help)
        };
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let taken = other.local_addr().unwrap().to_string();
        assert!(refused(&taken, &[]).contains("another program"));
        assert!(refused("127.0.0.1:0", &["[::1]:7000"]).contains("does not reach [::1]:7000"));
        assert!(refused("127.0.0.1:0", &["239.0.0.1:7000", "127.0.0.1:7"]).contains("another peer"));
        assert!(refused("0.0.0.0:0", &["239.0.0.1:7000"]).contains("an address of ours on the link"));
        assert!(
            refused("127.0.0.1:0", &["127.0.0.1:7", "127.0.0.1:0"]).contains("nobody has port 0, as in 127.0.0.1:0")
        );
        assert!(refused("127.0.0.1:0", &["255.255.255.255:7"]).contains("name the peers one by one"));
        assert!(refused("192.0.2.77:0", &[]).contains("an address of this machine"));
    }
}

//! smoltcp as a `struct peer` (`peer.h`): one interface, sockets with rings of 65,535 octets, checksums in software
//! both ways.
//!
//! smoltcp does not say which socket a frame was for, so only the session that the caller names is examined.

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::{tcp, udp};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, IpAddress, IpCidr, IpEndpoint, Ipv4Address};
use std::ffi::c_void;

const STREAM: usize = 65_535;
const MOST_DATAGRAMS: usize = 4;
const LARGEST: usize = 1514;
const SESSIONS: usize = 64;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ports {
    context: *mut c_void,
    frame: unsafe extern "C" fn(*mut c_void, *const u8, u32),
    deliver: unsafe extern "C" fn(*mut c_void, u32, *const u8, u32),
}

type Call = unsafe extern "C" fn(u32, *const u8, u32) -> u32;

#[repr(C)]
pub struct Peer {
    start: unsafe extern "C" fn(u32, *const Ports),
    time: unsafe extern "C" fn(u64),
    advance: unsafe extern "C" fn(),
    udp_open: unsafe extern "C" fn(u32, u16, u32, u16),
    tcp_listen: unsafe extern "C" fn(u16, u16),
    tcp_open: unsafe extern "C" fn(u32, u16, u32, u16),
    tcp_established: unsafe extern "C" fn() -> u32,
    udp_send: Call,
    tcp_send: Call,
    udp_frame: Call,
    tcp_frame: Call,
    tcp_take: Call,
    tcp_ack: Call,
    tcp_octets: unsafe extern "C" fn() -> u32,
}

/// The device: the arriving frame, and room for the frame that leaves.
struct Wire {
    ports: Ports,
    arriving: Option<(*const u8, usize)>,
    room: [u8; LARGEST],
}

struct Arriving<'a>(&'a [u8]);

struct Leaving<'a>(&'a Ports, &'a mut [u8; LARGEST]);

impl RxToken for Arriving<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(self.0)
    }
}

impl TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, size: usize, write: F) -> R {
        let frame = &mut self.1[..size];
        let result = write(frame);
        // SAFETY: the caller of `start` keeps what it passed.
        unsafe { (self.0.frame)(self.0.context, frame.as_ptr(), size as u32) };
        result
    }
}

impl Device for Wire {
    type RxToken<'a> = Arriving<'a>;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arriving<'_>, Leaving<'_>)> {
        let (at, size) = self.arriving.take()?;
        // SAFETY: `arrive` sets it for the duration of its own call.
        let octets = unsafe { std::slice::from_raw_parts(at, size) };
        Some((Arriving(octets), Leaving(&self.ports, &mut self.room)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        Some(Leaving(&self.ports, &mut self.room))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut known = DeviceCapabilities::default();
        known.medium = Medium::Ethernet;
        known.max_transmission_unit = LARGEST;
        known
    }
}

struct End {
    wire: Wire,
    interface: Interface,
    sockets: SocketSet<'static>,
    now: Instant,
    /// By session: its socket, and for UDP where it sends.
    datagrams: [Option<(SocketHandle, IpEndpoint)>; SESSIONS],
    streams: [Option<SocketHandle>; SESSIONS],
}

static mut END: Option<End> = None;

/// The single end of this copy of the object.
#[inline(always)]
fn end() -> &'static mut End {
    // SAFETY: one thread, and `start` comes first.
    unsafe { (*&raw mut END).as_mut().unwrap_unchecked() }
}

fn address(number: u32) -> IpAddress {
    IpAddress::Ipv4(Ipv4Address::from(number.to_be_bytes()))
}

unsafe extern "C" fn start(own: u32, ports: *const Ports) {
    let mut wire = Wire { ports: unsafe { *ports }, arriving: None, room: [0; LARGEST] };
    let config = Config::new(EthernetAddress([2, 0, 0, 0, 0, own as u8]).into());
    let mut interface = Interface::new(config, &mut wire, Instant::ZERO);
    interface.update_ip_addrs(|list| list.push(IpCidr::new(address(own), 24)).unwrap_or_default());
    let end = End {
        wire,
        interface,
        sockets: SocketSet::new(Vec::new()),
        now: Instant::ZERO,
        datagrams: [None; SESSIONS],
        streams: [None; SESSIONS],
    };
    unsafe { END = Some(end) };
}

unsafe extern "C" fn time(now: u64) {
    end().now = Instant::from_micros((now / 1000) as i64);
}

fn leave(end: &mut End) {
    end.interface.poll_egress(end.now, &mut end.wire, &mut end.sockets);
}

unsafe extern "C" fn advance() {
    let end = end();
    end.interface.poll_maintenance(end.now);
    leave(end);
}

unsafe extern "C" fn udp_open(session: u32, local_port: u16, remote: u32, remote_port: u16) {
    let room =
        || udp::PacketBuffer::new(vec![udp::PacketMetadata::EMPTY; MOST_DATAGRAMS], vec![0; MOST_DATAGRAMS * 2048]);
    let mut socket = udp::Socket::new(room(), room());
    socket.bind(local_port).expect("a port");
    let handle = end().sockets.add(socket);
    end().datagrams[session as usize] = Some((handle, IpEndpoint::new(address(remote), remote_port)));
}

unsafe extern "C" fn udp_send(session: u32, at: *const u8, size: u32) -> u32 {
    let end = end();
    let Some((handle, to)) = end.datagrams[session as usize] else { return 0 };
    let octets = unsafe { std::slice::from_raw_parts(at, size as usize) };
    if end.sockets.get_mut::<udp::Socket>(handle).send_slice(octets, to).is_err() {
        return 0;
    }
    leave(end);
    size
}

fn arrive(end: &mut End, at: *const u8, size: u32) {
    end.wire.arriving = Some((at, size as usize));
    end.interface.poll_ingress_single(end.now, &mut end.wire, &mut end.sockets);
}

unsafe extern "C" fn udp_frame(session: u32, at: *const u8, size: u32) -> u32 {
    let end = end();
    arrive(end, at, size);
    let Some((handle, _)) = end.datagrams[session as usize] else { return size };
    if let Ok((octets, _)) = end.sockets.get_mut::<udp::Socket>(handle).recv() {
        unsafe { (end.wire.ports.deliver)(end.wire.ports.context, session, octets.as_ptr(), octets.len() as u32) };
    }
    size
}

fn stream() -> tcp::Socket<'static> {
    let mut socket = tcp::Socket::new(tcp::SocketBuffer::new(vec![0; STREAM]), tcp::SocketBuffer::new(vec![0; STREAM]));
    socket.set_nagle_enabled(false);
    socket
}

/// A listening socket takes one connection: there is one socket for each expected session, in order.
unsafe extern "C" fn tcp_listen(port: u16, _: u16) {
    let end = end();
    let mut socket = stream();
    socket.listen(port).expect("a port");
    end.streams[0] = Some(end.sockets.add(socket));
}

unsafe extern "C" fn tcp_open(session: u32, local_port: u16, remote: u32, remote_port: u16) {
    let end = end();
    let mut socket = stream();
    socket.connect(end.interface.context(), (address(remote), remote_port), local_port).expect("a connection");
    end.streams[session as usize] = Some(end.sockets.add(socket));
    leave(end);
}

/// The number of sessions; the passive end listens again when the last one has come.
unsafe extern "C" fn tcp_established() -> u32 {
    let end = end();
    let open = end
        .streams
        .iter()
        .flatten()
        .filter(|handle| end.sockets.get::<tcp::Socket>(**handle).state() == tcp::State::Established)
        .count();
    let listener =
        end.streams.iter().flatten().find_map(|handle| {
            Some(end.sockets.get::<tcp::Socket>(*handle).listen_endpoint()).filter(|at| at.port != 0)
        });
    if let (Some(at), true) = (listener, open < SESSIONS && end.streams[open].is_none()) {
        let mut socket = stream();
        socket.listen(at.port).expect("a port");
        end.streams[open] = Some(end.sockets.add(socket));
    }
    open as u32
}

unsafe extern "C" fn tcp_send(session: u32, at: *const u8, size: u32) -> u32 {
    let end = end();
    let Some(handle) = end.streams[session as usize] else { return 0 };
    let socket = end.sockets.get_mut::<tcp::Socket>(handle);
    if socket.send_capacity() - socket.send_queue() < size as usize {
        return 0;
    }
    let octets = unsafe { std::slice::from_raw_parts(at, size as usize) };
    let took = socket.send_slice(octets).unwrap_or(0) as u32;
    leave(end);
    took
}

unsafe extern "C" fn tcp_frame(session: u32, at: *const u8, size: u32) -> u32 {
    let end = end();
    arrive(end, at, size);
    let Some(handle) = end.streams[session as usize] else { return size };
    let socket = end.sockets.get_mut::<tcp::Socket>(handle);
    let Ports { context, deliver, .. } = end.wire.ports;
    while socket.recv_queue() > 0 {
        let _ = socket.recv(|octets| {
            unsafe { deliver(context, session, octets.as_ptr(), octets.len() as u32) };
            (octets.len(), ())
        });
    }
    size
}

/// What was read is already consumed.
unsafe extern "C" fn tcp_take(_: u32, _: *const u8, size: u32) -> u32 {
    size
}

unsafe extern "C" fn tcp_ack(_: u32, _: *const u8, size: u32) -> u32 {
    leave(end());
    size
}

unsafe extern "C" fn tcp_octets() -> u32 {
    size_of::<tcp::Socket>() as u32
}

static PEER: Peer = Peer {
    start,
    time,
    advance,
    udp_open,
    tcp_listen,
    tcp_open,
    tcp_established,
    udp_send,
    tcp_send,
    udp_frame,
    tcp_frame,
    tcp_take,
    tcp_ack,
    tcp_octets,
};

/// The entry point for the measuring program.
#[no_mangle]
pub extern "C" fn peer() -> *const Peer {
    &raw const PEER
}

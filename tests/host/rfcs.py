"""What the internet's RFCs say of packets that nobody should send, said to our host and to a Linux host: each case has its section, what
must come back, and, where Linux does otherwise, what Linux does and why we do not.

Both stand on links of their own; packets are made by hand, and read as they are on the link.
"""

import ipaddress
import select
import socket
import struct
import subprocess
import time

from common import OURS, OURS6, SPACE, THEIRS, THEIRS6, Stack, inside, report, run, skip
from packets import Wire, checksum, ipv4, ipv6, packed, part, udp

JUDGE = SPACE + "j"
LINUX, BESIDE = "10.86.0.2", "10.86.0.1"
LINUX6, BESIDE6 = "fd00:86::2", "fd00:86::1"
FAR = "192.0.2.7"
OTHER_GATEWAY = bytes.fromhex("020000000099")
CROWD = 200

# An option that asks for an answer where it is not known (RFC 8200 4.2).
ASKS = bytes.fromhex("820400000000")
PADDED = bytes.fromhex("010400000000")


def icmp6(source, destination, kind, code, word, body=b""):
    message = struct.pack(">BBHI", kind, code, 0, word) + body
    pseudo = packed(source) + packed(destination) + struct.pack(">II", len(message), 58)
    return message[:2] + struct.pack(">H", checksum(pseudo + message)) + message[4:]


def icmp4(kind, code, word, body):
    message = struct.pack(">BBHI", kind, code, 0, word) + body
    return message[:2] + struct.pack(">H", checksum(message)) + message[4:]


def header(following, body=PADDED):
    return bytes([following, (len(body) + 2) // 8 - 1]) + body


def fragment(following, place, more, number):
    return struct.pack(">BBHI", following, 0, place | more, number)


def marked(packet, marks):
    """The same with other marks of congestion (RFC 3168)."""
    changed = bytearray(packet)
    if packet[0] >> 4 == 6:
        changed[1] = changed[1] & 0xcf | marks << 4
    else:
        changed[1] = changed[1] & 0xfc | marks
        changed[10:12] = b"\0\0"
        changed[10:12] = struct.pack(">H", checksum(bytes(changed[:20])))
    return bytes(changed)


class Judged:
    """A host on a link: what is sent to it, and what comes from it."""

    def __init__(self, name, interface, own, peer, own6, peer6):
        self.name, self.own, self.peer, self.own6, self.peer6 = name, own, peer, own6, peer6
        self.ears = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.ears.bind((interface, 0))
        self.ears.setblocking(False)
        run("ping", "-n", "-c", "1", "-W", "2", own6)
        run("ping", "-n", "-c", "1", "-W", "2", own)
        found = run("ip", "neighbour", "show", own6, "dev", interface).stdout.split()
        self.station = found[found.index("lladdr") + 1] if "lladdr" in found else "02:00:00:00:00:00"
        self.wire = Wire(interface, self.station)
        words = self.station.split(":")
        raw = bytes.fromhex("".join(words))
        self.local6 = str(ipaddress.ip_address(b"\xfe\x80" + bytes(6) + bytes([raw[0] ^ 2]) + raw[1:3] + b"\xff\xfe" + raw[3:]))
        theirs = self.wire.own
        self.peer_local6 = str(ipaddress.ip_address(b"\xfe\x80" + bytes(6) + bytes([theirs[0] ^ 2]) + theirs[1:3] + b"\xff\xfe" + theirs[3:]))
        self.number = 1000

    def close(self):
        self.ears.close()
        self.wire.close()

    def frames(self, patience, wanted):
        """The first frame of its that `wanted` makes something of, or None."""
        end = time.monotonic() + patience
        station = bytes.fromhex(self.station.replace(":", ""))
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.ears], [], [], left)[0]:
                break
            frame = self.ears.recv(70000)
            if frame[6:12] == station and (made := wanted(frame)) is not None:
                return made
        return None

    def clear(self):
        while select.select([self.ears], [], [], 0)[0]:
            self.ears.recv(70000)

    def told(self, packets, patience):
        """`(type, code, word, the quote is what was sent)` of what it says of these packets, in ICMPv6; of an answer the type."""
        self.clear()
        for packet in packets:
            self.send(packet)

        def wanted(frame):
            packet = frame[14:]
            if frame[12:14] != b"\x86\xdd" or packet[6] != 58 or packet[24:40] not in (packed(self.peer6), packed(self.peer_local6)):
                return None
            kind, code, _, word = struct.unpack(">BBHI", packet[40:48])
            quote = packet[48:40 + struct.unpack(">H", packet[4:6])[0]]
            if kind in (129, 136):
                return (kind,)
            if kind > 127:
                return None
            return kind, code, word, any(sent.startswith(quote) and len(quote) == min(len(sent), 1232) for sent in packets)
        return self.frames(patience, wanted)

    def send(self, packet):
        if packet[0] >> 4 == 6 and packet[24] == 0xff:
            self.wire.socket.send(b"\x33\x33" + packet[36:40] + self.wire.own + b"\x86\xdd" + packet)
        else:
            self.wire.send(packet)


def cases(host):
    """Name with its section, packets, what must come; and what comes of Linux, where that is something else."""
    own, peer = host.own6, host.peer6
    to = lambda following, payload, hops=64: ipv6(peer, own, following, payload, hops)
    echo = icmp6(peer, own, 128, 0, 7, b"0123456789abcdef")
    error = icmp6(peer, own, 3, 0, 0, ipv6(own, peer, 17, udp(own, peer, (9, 9), b"x")))
    redirect = icmp6(peer, own, 137, 0, 0, bytes(32))
    closed = udp(peer, own, (4000, 4242), b"anyone?")
    solicit = icmp6(peer, own, 135, 0, 0, packed(own))
    host.number += 10
    number = host.number
    cut = lambda whole, at, first=60: [to(44, fragment(first, 0, 1, number) + whole[:at]), to(44, fragment(first, at, 0, number) + whole[at:])]
    same = ()

    yield "an option that asks is answered for (RFC 8200 4.2)", [to(60, header(58, ASKS) + echo)], (4, 2, 42, True), same
    yield "not about an error (RFC 4443 2.4 e.1)", [to(60, header(58, ASKS) + error)], None, same
    # Linux counts 137 as information, and tells.
    yield "not about a redirect (RFC 4443 2.4 e.2)", [to(60, header(58, ASKS) + redirect)], None, (4, 2, 42, True)
    yield "not about an error behind a part's header", [to(44, fragment(60, 0, 0, number) + header(58, ASKS) + error)], None, same
    yield "a protocol of nobody, behind headers: where it is named (RFC 4443 3.4)", [to(0, header(60) + header(253) + b"data")], (4, 1, 48, True), same
    yield "a closed port behind headers: quoted as sent (RFC 4443 3.1)", [to(60, header(17) + closed)], (1, 4, 0, True), same
    yield "nothing follows (RFC 8200 4.7)", [to(59, b"not looked at")], None, same
    yield "nothing follows options", [to(60, header(59))], None, same
    yield "a route that is not done with (RFC 8200 4.4)", [to(43, bytes.fromhex("3a00000100000000") + echo)], (4, 0, 42, True), same
    yield "options for every hop behind others (RFC 8200 4)", [to(60, header(0) + header(58) + echo)], (4, 1, 40, True), same
    yield "options in the part that is cut (RFC 8200 4.5)", cut(header(58) + echo, 16), (129,), same
    yield "a part that is the whole (RFC 6946)", [to(44, fragment(58, 0, 0, number) + echo)], (129,), same
    yield "no unit of 8 octets (RFC 8200 4.5)", [to(44, fragment(17, 0, 1, number + 1) + bytes(13))], (4, 0, 4, True), same
    yield "beyond 65,535 octets (RFC 8200 4.5)", [to(44, fragment(17, 0xfff8, 0, number + 2) + bytes(16))], (4, 0, 42, True), same
    yield "a chain that the first part does not end (RFC 7112 5)", [to(44, fragment(60, 0, 1, number + 3) + header(17))], (4, 3, 0, True), same
    yield "TCP's header in two parts (RFC 7112 5)", [to(44, fragment(6, 0, 1, number + 4) + bytes(16))], (4, 3, 0, True), same
    # RFC 4443 3.4: a node that cannot go on because of a field SHOULD say so. Linux drops the packet without a word.
    yield "an option that overruns its header (RFC 4443 3.4)", [to(60, header(58, bytes.fromhex("010500000000")) + echo)], (4, 0, 43, True), None
    yield "a header that overruns the packet (RFC 4443 3.4)", [to(60, b"\x11\7" + PADDED + b"12345678")], (4, 0, 41, True), None
    yield "a neighbour asks (RFC 4861 7.2.3)", [to(58, solicit, 255)], (136,), same
    yield "a neighbour asks in a part (RFC 6980 5)", [to(44, fragment(58, 0, 0, number + 5) + solicit, 255)], None, same
    group = icmp6(host.peer_local6, "ff02::1", 128, 0, 9, b"who is there?")
    yield "a ping to all of the link (RFC 4443 4.2)", [ipv6(host.peer_local6, "ff02::1", 58, group)], (129,), same

    def with_marks(*marks):
        host.number += 1
        pieces = [to(44, fragment(58, 8 * at, int(at < 2), host.number) + echo[8 * at:][:8]) for at in range(3)]
        return [marked(piece, mark) for piece, mark in zip(pieces, marks)]
    yield "marks of congestion: ECT(0) and CE (RFC 3168 5.3)", with_marks(2, 3, 2), (129,), same
    yield "marks of congestion: not-ECT and CE (RFC 3168 5.3)", with_marks(0, 3, 0), None, same
    # RFC 3168 5.3 says nothing of these; Linux drops them.
    yield "marks of congestion: not-ECT and ECT(0)", with_marks(0, 2, 2), (129,), None


def judge(name, host, is_linux):
    for what, packets, expected, of_linux in cases(host):
        if is_linux and of_linux != ():
            expected = of_linux
        heard = host.told(packets, 2 if expected else 0.3)
        report(heard == expected, f"{name}: {what}", f"heard {heard}, not {expected}")
        time.sleep(0.11)                # our errors are one in 100 ms, after a few at once (RFC 4443 2.4 f)


def marks4(name, host, is_linux):
    """The same for IPv4."""
    for marks, expected in [((2, 3, 2), True), ((0, 3, 0), False), ((0, 2, 2), not is_linux)]:
        host.number += 1
        message = icmp4(8, 0, host.number << 16, bytes(16))
        parts = [part(host.peer, host.own, 1, message, at, 8, host.number) for at in (0, 8, 16)]
        host.clear()
        for piece, mark in zip(parts, marks):
            host.send(marked(piece, mark))
        wanted = lambda frame: True if frame[12:14] == b"\x08\x00" and frame[23] == 1 and frame[34] == 0 else None
        heard = bool(host.frames(2 if expected else 0.3, wanted))
        report(heard == expected, f"{name}: marks {marks} of IPv4's parts (RFC 3168 5.3)", f"answered: {heard}")


def groups(packet):
    """The groups of a report of RFC 3810, with their record types."""
    if packet[6] != 0 or packet[40] != 58 or packet[48] != 143 or packet[7] != 1:
        return None
    found, at = {}, 56
    for _ in range(struct.unpack(">H", packet[54:56])[0]):
        found[packet[at + 4:at + 20]] = packet[at]
        at += 20 + 16 * struct.unpack(">H", packet[at + 2:at + 4])[0]
    return found


def listeners(name, host):
    """RFC 3810: who is asked says which groups it hears; a query from afar, or that no router was to look at, is none."""
    def asked(hops=1, alert=True):
        body = icmp6(host.peer_local6, "ff02::1", 130, 0, 200 << 16, bytes(16) + bytes.fromhex("027d0000"))
        packet = ipv6(host.peer_local6, "ff02::1", 0, bytes.fromhex("3a00050200000100") + body, hops)
        host.clear()
        host.send(packet if alert else ipv6(host.peer_local6, "ff02::1", 58, body, hops))
        return host.frames(1, lambda frame: groups(frame[14:]) if frame[12:14] == b"\x86\xdd" and len(frame) > 76 else None)
    time.sleep(2)                       # what it says by itself was said
    heard = asked() or {}
    wanted = {packed("ff02::1:ff00:0")[:13] + packed(address)[13:] for address in (host.own6, host.local6)}
    report(wanted <= {group for group, kind in heard.items() if kind == 2}, f"{name}: a query is answered (RFC 3810 6.2)", repr(heard))
    report(asked(hops=2) is None, f"{name}: a query from afar is not (RFC 3810 6.2)")
    report(asked(alert=False) is None, f"{name}: a query without a router alert is not (RFC 3810 6.2)")


def redirects(name, host):
    """RFC 1122 3.2.2.2: to which station does an answer for a far host go? Its gateway is ourselves."""
    other = str(ipaddress.ip_address(host.peer) + 8)
    datagram = ipv4(FAR, host.own, 17, udp(FAR, host.own, (4000, 7), b"far"))

    def station():
        host.clear()
        host.send(datagram)
        wanted = lambda frame: frame[:6] if frame[12:14] == b"\x08\x00" and frame[30:34] == packed(FAR) and frame[23] == 17 else None
        return host.frames(3, lambda frame: wanted(frame) if not tell(frame) else None)

    def tell(frame):
        """Who looks for the other gateway is told."""
        asks = frame[12:14] == b"\x08\x06" and frame[38:42] == packed(other)
        if asks:
            told = bytes.fromhex("0001080006040002") + OTHER_GATEWAY + packed(other) + frame[6:12] + packed(host.own)
            host.wire.socket.send(frame[6:12] + OTHER_GATEWAY + b"\x08\x06" + told)
        return asks

    def redirect(source, gateway):
        answer = ipv4(host.own, FAR, 17, udp(host.own, FAR, (7, 4000), b"far"))
        host.send(ipv4(source, host.own, 1, icmp4(5, 1, int(ipaddress.ip_address(gateway)), answer[:28])))

    report(station() == host.wire.own, f"{name}: far hosts are reached by the gateway")
    redirect(other, str(ipaddress.ip_address(host.peer) + 9))
    report(station() == host.wire.own, f"{name}: a redirect of another than the gateway (RFC 1122 3.2.2.2)")
    redirect(host.peer, "192.0.2.1")
    report(station() == host.wire.own, f"{name}: a redirect to what is not on the link (RFC 1122 3.2.2.2)")
    # Linux looks for the new gateway first, and follows what is said when that is known; we follow, and look for it then.
    redirect(host.peer, other)
    host.frames(2, lambda frame: tell(frame) or None)
    redirect(host.peer, other)
    report(station() == OTHER_GATEWAY, f"{name}: a redirect of the gateway is followed (RFC 1122 3.2.2.2)")


def crowd(name, wide):
    """200 neighbours who ask at once are answered: addresses of Linux's, each of which has to be looked for."""
    base = ipaddress.ip_address("fd00:77::1:0" if wide else "10.77.0.20")
    addresses = [str(base + 1 + number) for number in range(CROWD)]
    lines = "".join(f"address add {address}/{64 if wide else 24} dev mok0{' nodad' if wide else ''}\n" for address in addresses)
    subprocess.run(["ip", "-batch", "-"], input=lines, text=True, capture_output=True, timeout=60, check=False)
    plugs = []
    try:
        for address in addresses:
            plug = socket.socket(socket.AF_INET6 if wide else socket.AF_INET, socket.SOCK_DGRAM)
            plug.bind((address, 0))
            plug.setblocking(False)
            plugs.append(plug)
        for plug in plugs:
            plug.sendto(b"all at once", (OURS6 if wide else OURS, 7))
        answered, end = set(), time.monotonic() + 5
        while len(answered) < CROWD and time.monotonic() < end:
            for plug in select.select([plug for plug in plugs if plug not in answered], [], [], 0.2)[0]:
                plug.recv(100)
                answered.add(plug)
        report(len(answered) == CROWD, f"{name}: {CROWD} neighbours at once, IPv{6 if wide else 4}", f"{len(answered)} were answered")
    finally:
        for plug in plugs:
            plug.close()
        gone = lines.replace("address add", "address del").replace(" nodad", "")
        subprocess.run(["ip", "-batch", "-"], input=gone, text=True, capture_output=True, timeout=60, check=False)


ECHO = f"""
import socket
plug = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
plug.bind(("{LINUX}", 7))
while True:
    data, whence = plug.recvfrom(70000)
    plug.sendto(data, whence)
"""


def all_of(name, host, is_linux):
    """All that is said to a host; it is closed behind that."""
    try:
        judge(name, host, is_linux)
        marks4(name, host, is_linux)
        listeners(name, host)
        redirects(name, host)
    finally:
        host.close()


def linux():
    """What Linux says, in a namespace of its own: the judge of the cases."""
    name = "Linux"
    if run("ip", "netns", "add", JUDGE).returncode != 0:
        return skip(name, "a second namespace is not permitted")
    server = None
    try:
        run("ip", "link", "add", "mokj", "type", "veth", "peer", "name", "mokj", "netns", JUDGE)
        # It listens to redirects, and asks that the new gateway is on the link, as RFC 1122 does (shared_media does not).
        inside(JUDGE, "sysctl", "-q", "-w", "net.ipv6.icmp.ratelimit=0", "net.ipv4.icmp_ratelimit=0", "net.ipv4.conf.all.accept_redirects=1",
               "net.ipv4.conf.mokj.accept_redirects=1", "net.ipv4.conf.all.shared_media=0", "net.ipv4.conf.mokj.shared_media=0",
               "net.ipv4.conf.all.secure_redirects=0", "net.ipv4.conf.mokj.secure_redirects=0", "net.ipv4.conf.all.rp_filter=0",
               "net.ipv4.conf.mokj.rp_filter=0")
        for space, address, address6 in [(SPACE, BESIDE, BESIDE6), (JUDGE, LINUX, LINUX6)]:
            inside(space, "ip", "address", "add", f"{address}/24", "dev", "mokj")
            inside(space, "ip", "address", "add", f"{address6}/64", "dev", "mokj", "nodad")
            inside(space, "ip", "link", "set", "mokj", "up")
        inside(JUDGE, "ip", "link", "set", "lo", "up")
        inside(JUDGE, "ip", "route", "add", "default", "via", BESIDE)
        server = subprocess.Popen(["ip", "netns", "exec", JUDGE, "python3", "-c", ECHO])
        time.sleep(3)
        host = Judged(name, "mokj", LINUX, BESIDE, LINUX6, BESIDE6)
        all_of(name, host, True)
    finally:
        if server:
            server.kill()
            server.wait()
        run("ip", "link", "del", "mokj")
        run("ip", "netns", "del", JUDGE)


def ours(backend):
    name = f"{backend}: RFCs"
    stack = Stack("examples/host6.mok", backend, "mok0", f"address={OURS}/24", f"address6={OURS6}/64", f"gateway={THEIRS}")
    try:
        if not stack.ready(f"{THEIRS}/24", f"{THEIRS6}/64"):
            return report(False, f"{name}: the host starts", stack.said())
        time.sleep(3)
        host = Judged(name, "mok0", OURS, THEIRS, OURS6, THEIRS6)
        all_of(name, host, False)
        crowd(name, False)
        crowd(name, True)
        report(stack.process.poll() is None, f"{name}: the host is still there", stack.said())
    finally:
        accounts = stack.stop()
    report(accounts.get("reports", -1) == 0, f"{name}: no reports", repr(accounts)[:300] or stack.said())

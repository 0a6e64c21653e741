#!/usr/bin/env python3
"""Writes the captures beside it: messages that the foreign captures have not in all their forms. Needs scapy.

RFC 3810 (reports and queries with sources and auxiliary data), RFC 4191 (routes of 0, 8 and 16 octets), RFC 8106 (name servers,
search lists). `malformed.pcap` has the same with one length or count wrong in each.
"""
import pathlib
import struct

from scapy.all import Ether, IPv6, IPv6ExtHdrHopByHop, RouterAlert, Raw, wrpcap
from scapy.layers.inet6 import in6_chksum

HERE = pathlib.Path(__file__).parent
ROUTER, HOST = "fe80::1", "fe80::2"


def address(last):
    return bytes.fromhex("20010db8" + "00" * 10) + struct.pack(">H", last)


def group(last):
    return bytes.fromhex("ff3e" + "00" * 12) + struct.pack(">H", last)


def frame(source, to, kind, body, limit=255, hops=False):
    message = bytearray(struct.pack(">BBH", kind, 0, 0) + body)
    base = IPv6(src=source, dst=to, hlim=limit)
    struct.pack_into(">H", message, 2, in6_chksum(58, base, bytes(message)))
    if hops:
        base = base / IPv6ExtHdrHopByHop(options=[RouterAlert()])
        base.lastlayer().nh = 58
    else:
        base.nh = 58
    ether = Ether(src="02:00:00:00:00:01", dst="33:33:00:00:00:01", type=0x86DD)
    return ether / base / Raw(bytes(message))


def record(kind, last, sources=(), words=(), count=None, auxiliary=None):
    said = len(sources) if count is None else count
    more = len(words) if auxiliary is None else auxiliary
    tail = b"".join(address(one) for one in sources) + b"".join(struct.pack(">I", word) for word in words)
    return struct.pack(">BBH", kind, more, said) + group(last) + tail


def write(name, packets):
    # The same octets each time it runs.
    for number, packet in enumerate(packets):
        packet.time = number
    wrpcap(str(HERE / name), packets)


def report(records, count=None):
    said = len(records) if count is None else count
    return frame(HOST, "ff02::16", 143, struct.pack(">HH", 0, said) + b"".join(records), 1, True)


def query(last, second=b"", hops=True):
    to = bytes(16) if last is None else group(last)
    return frame(ROUTER, "ff02::1", 130, struct.pack(">HH", 10000, 0) + to + second, 1, hops)


def second(sources, count=None):
    said = len(sources) if count is None else count
    return struct.pack(">BBH", 0x0A, 125, said) + b"".join(address(one) for one in sources)


def option(kind, body, units=None):
    return struct.pack(">BB", kind, (len(body) + 2) // 8 if units is None else units) + body


def advertisement(*options):
    head = struct.pack(">BBHII", 64, 0, 1800, 0, 0)
    return frame(ROUTER, "ff02::1", 134, head + b"".join(options))


def route(size, flags, octets):
    return option(24, struct.pack(">BBI", size, flags, 3600) + octets)


def servers(*last):
    return option(25, struct.pack(">HI", 0, 1200) + b"".join(address(one) for one in last))


def names(*all_names):
    labels = b""
    for name in all_names:
        labels += b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"
    return option(31, struct.pack(">HI", 0, 1200) + labels + bytes(-len(labels) % 8))


PREFIX = bytes.fromhex("20010db8000000010000000000000002")

write("listeners.pcap", [
    query(None), query(7), query(None, second([])), query(7, second([1, 2, 3])), query(7, second([9]), hops=False),
    report([]), report([record(4, 1)]), report([record(2, 1), record(1, 2, [1])]),
    report([record(5, 1, [1, 2, 3]), record(6, 2, [4], [0xAABBCCDD]), record(3, 3, [], [1, 2]), record(1, 4, [5, 6])]),
    report([record(4, last) for last in range(10)]), report([record(1, 1, range(8), [7])]),
])
write("routers.pcap", [
    advertisement(route(0, 0x08, b"")), advertisement(route(64, 0x18, PREFIX[:8])),
    advertisement(route(128, 0x00, PREFIX), route(48, 0x08, PREFIX[:8]), route(0, 0x18, b"")),
    advertisement(servers(1)), advertisement(servers(1, 2, 3)), advertisement(servers(*range(8)), servers(9)),
    advertisement(names("lan")), advertisement(names("example.com", "a.example.org", "dom1.dom2.tld")),
    advertisement(names("x" * 63 + "." + "y" * 63), servers(1), route(64, 0, PREFIX[:8]), names("one")),
])
write("malformed.pcap", [
    query(7, second([1, 2], count=3)), query(7, b"\x0a"), query(7, second([])[:3]),
    report([record(4, 1)], count=2), report([record(1, 1, [1, 2], count=3)]), report([record(1, 1, [1], [2], auxiliary=2)]),
    report([record(1, 1, [1], count=2), record(4, 2)], count=2), report([record(4, 1)[:19]]),
    advertisement(option(24, struct.pack(">BBI", 64, 0, 3600) + PREFIX[:8], units=3)),
    advertisement(servers(1)[:-8]), advertisement(names("example.com")[:-8]),
    advertisement(option(25, b"", units=0) + bytes(6)), advertisement(option(31, bytes(6), units=0)),
])

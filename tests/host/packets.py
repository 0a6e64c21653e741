"""Packets made by hand, to say what no operating system would: parts of datagrams in any order, overlapping, too few."""

import ipaddress
import socket
import struct


def checksum(octets):
    octets += b"\0" * (len(octets) % 2)
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return 0xffff ^ total


def packed(address):
    return ipaddress.ip_address(address).packed


def udp(source, destination, ports, payload):
    length = 8 + len(payload)
    wide = ":" in source
    pseudo = packed(source) + packed(destination) + struct.pack(">II" if wide else ">HH", *((length, 17) if wide else (17, length)))
    datagram = struct.pack(">HHHH", *ports, length, 0) + payload
    return datagram[:6] + struct.pack(">H", checksum(pseudo + datagram) or 0xffff) + datagram[8:]


def ipv4(source, destination, protocol, payload, number=0, more=0, offset=0, ttl=64, options=b"", dont_fragment=0):
    words = 5 + len(options) // 4
    flags = dont_fragment << 14 | more << 13 | offset // 8
    header = struct.pack(">BBHHHBBH", 0x40 | words, 0, words * 4 + len(payload), number, flags, ttl, protocol, 0)
    header += packed(source) + packed(destination) + options
    return header[:10] + struct.pack(">H", checksum(header)) + header[12:] + payload


def ipv6(source, destination, following, payload, hops=64):
    return struct.pack(">IHBB", 6 << 28, len(payload), following, hops) + packed(source) + packed(destination) + payload


def part(source, destination, protocol, whole, begin, size, number, last=None):
    """One part of a datagram: octets from `begin` on; `last` says whether nothing follows (as it is, if left out)."""
    piece = whole[begin:begin + size]
    more = int(begin + size < len(whole)) if last is None else int(not last)
    if ":" in source:
        head = struct.pack(">BBHI", protocol, 0, begin | more, number)
        return ipv6(source, destination, 44, head + piece)
    return ipv4(source, destination, protocol, piece, number & 0xffff, more, begin)


class Wire:
    """Frames as they are, to and from one station of an interface."""

    def __init__(self, interface, station):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.bind((interface, 0))
        self.own = self.socket.getsockname()[4][:6]
        self.station = bytes.fromhex(station.replace(":", ""))

    def send(self, packet):
        kind = b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"
        self.socket.send(self.station + self.own + kind + packet)

    def close(self):
        self.socket.close()

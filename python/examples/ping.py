"""Frames fed to a host and tapped, without a network: it answers a ping, which Python has made by hand."""

import ipaddress
import struct
from pathlib import Path

import mokume

EXAMPLES = Path(__file__).parents[2] / "examples"
host = mokume.Stack(EXAMPLES / "host.mok").start(set={"address": "10.0.0.1/24", "device.mac": "02:00:00:00:00:01"})

OURS, ITS = bytes.fromhex("020000000099"), bytes.fromhex("020000000001")
FROM, TO = (ipaddress.ip_address(text).packed for text in ("10.0.0.9", "10.0.0.1"))


def checksum(octets: bytes) -> int:
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def echo_request(words: bytes) -> bytes:
    icmp = struct.pack(">BBHHH", 8, 0, 0, 7, 1) + words
    icmp = icmp[:2] + struct.pack(">H", checksum(icmp)) + icmp[4:]
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(icmp), 1, 0, 64, 1, 0, FROM, TO)
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    return ITS + OURS + b"\x08\x00" + ip + icmp


def answer_who_has(event):
    """The tap: whoever asks for our address is answered, as the neighbour would."""
    frame = event.message
    if frame[12:14] == b"\x08\x06" and frame[20:22] == b"\x00\x01":
        reply = struct.pack(">HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 2, OURS, frame[38:42], frame[22:28], frame[28:32])
        host.device.feed(frame[6:12] + OURS + b"\x08\x06" + reply)


host.device.tap(answer_who_has)
host.device.take()
host.device.feed(echo_request(b"abcd"))
host.advance(by="1 s")

answers = [event.message for event in host.device.take("frame") if event.message[23:24] == b"\x01"]
assert len(answers) == 1, host.accounts
assert answers[0][34] == 0 and answers[0][42:46] == b"abcd"
print("answered:", answers[0].hex(" ", 4))

"""Echo requests whose answers are all looked at: each comes once, with the octets that were sent.

Not by `ping`, which on a busy machine loses answers of its own: it leaves two round trips after its last request (`-W` counts only if
none was answered), and keeps answers in a socket of some 128 KiB, two datagrams of 60,000 octets (the last column of /proc/net/raw
counts what that loses). Ours has room for all answers that can be on the way, and waits. The first request goes alone: for a neighbour
whom it does not know yet Linux holds some 250 packets, fewer than are sent while a stack starts.
"""

import os
import select
import socket
import struct
import time

from common import OURS, report
from packets import checksum

SO_RCVBUFFORCE = 33
ICMP_FILTER, ICMP6_FILTER, SOL_RAW = 1, 1, 255
ROOM = 64 << 20

# Nobody measures time here: this long after the last answer none is waited for.
PATIENCE = 10


class Asker:
    """A socket for echo requests to one host, of either internet."""

    def __init__(self, to):
        self.wide = ":" in to
        self.to = to
        self.request, self.reply = (128, 129) if self.wide else (8, 0)
        protocol = socket.IPPROTO_ICMPV6 if self.wide else socket.IPPROTO_ICMP
        self.socket = socket.socket(socket.AF_INET6 if self.wide else socket.AF_INET, socket.SOCK_RAW, protocol)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
        if self.wide:
            blocked = bytearray(b"\xff" * 32)
            blocked[self.reply // 8] ^= 1 << self.reply % 8
            words = struct.unpack(">8I", bytes(blocked[at + 3 - i] for at in range(0, 32, 4) for i in range(4)))
            self.socket.setsockopt(socket.IPPROTO_ICMPV6, ICMP6_FILTER, struct.pack("=8I", *words))
        else:
            self.socket.setsockopt(SOL_RAW, ICMP_FILTER, struct.pack("=I", 0xffff_ffff ^ 1 << self.reply))
        self.identifier = int.from_bytes(os.urandom(2), "big")

    def ask(self, sequence, payload):
        message = struct.pack(">BBHHH", self.request, 0, 0, self.identifier, sequence) + payload
        if not self.wide:                   # the kernel does it for the other
            message = message[:2] + struct.pack(">H", checksum(message)) + message[4:]
        self.socket.sendto(message, (self.to, 0))

    def heard(self, patience):
        """The sequence number and the octets of an answer to us, if one comes in time."""
        if not select.select([self.socket], [], [], max(patience, 0))[0]:
            return None
        packet, whence = self.socket.recvfrom(70000)
        message = packet if self.wide else packet[(packet[0] & 15) * 4:]
        kind, _, _, identifier, sequence = struct.unpack(">BBHHH", message[:8])
        ours = kind == self.reply and identifier == self.identifier and whence[0] == self.to
        return (sequence, message[8:]) if ours else None


def ping(name, size, count, interval, to=OURS):
    asker = Asker(to)
    waited, wrong = {}, []
    due = last = time.monotonic()
    asked = 0
    with asker.socket:
        while asked < count or waited and time.monotonic() - last < PATIENCE:
            alone = asked == 1 and waited and time.monotonic() - last < PATIENCE
            if asked < count and time.monotonic() >= due and not alone:
                waited[asked] = os.urandom(size)
                asker.ask(asked, waited[asked])
                asked, due = asked + 1, due + interval
            answer = asker.heard(due - time.monotonic() if asked < count and not alone else 0.1)
            if answer:
                last = time.monotonic()
                if waited.pop(answer[0], None) != answer[1]:
                    wrong.append(answer[0])
    report(not waited and not wrong, f"{name}: {count} pings of {size} octets",
           f"no answer to {sorted(waited)[:20]} ({len(waited)}); other octets, or twice: {wrong[:20]} ({len(wrong)})")

"""Packets of scapy's fuzz() as a capture: fields at random that a sender would have to fill in. `fuzzed.py FILE COUNT`; `campaign` runs it
with a Python that has scapy, which need not be its own."""

import logging
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from common import OURS, OURS6, THEIRS, THEIRS6

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.all import ARP, ICMP, IP, UDP, Ether, IPv6, fuzz, raw, wrpcap
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6ND_NA, ICMPv6ND_NS, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment


def main(name, count):
    ether = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
    v4, v6 = IP(src=THEIRS, dst=OURS), IPv6(src=THEIRS6, dst=OURS6)
    kinds = [ether / v4 / fuzz(UDP()), ether / v4 / fuzz(ICMP()), ether / fuzz(IP(dst=OURS)), ether / fuzz(ARP()), ether / v6 / fuzz(UDP()),
             ether / v6 / fuzz(ICMPv6EchoRequest()), ether / v6 / fuzz(ICMPv6ND_NS()), ether / v6 / fuzz(ICMPv6ND_NA()),
             ether / v6 / fuzz(IPv6ExtHdrFragment()) / b"abcdefgh", ether / v6 / fuzz(IPv6ExtHdrDestOpt()) / UDP(dport=7),
             ether / fuzz(IP(dst=OURS)) / fuzz(UDP()), ether / fuzz(IPv6(dst=OURS6)) / fuzz(UDP())]
    frames = []
    for number in range(count):
        try:
            frames.append(Ether(raw(kinds[number % len(kinds)])))
        except Exception:           # some of scapy's random fields cannot be built
            continue
    wrpcap(name, frames)
    print(len(frames))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

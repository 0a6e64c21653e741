"""Datagrams in parts: out of order, twice, overlapping, missing; sent by hand, judged by what comes back."""

import os
import random
import re
import socket
import time

from common import OURS, OURS6, THEIRS, THEIRS6, report, run
from packets import Wire, part, udp

PIECE = 800


def station_of(address):
    run("ping", "-n", "-c", "1", "-W", "2", address)
    found = re.search(r"lladdr (\S+)", run("ip", "neighbour", "show", address).stdout)
    return found.group(1) if found else None


def answered(plug, payload, patience):
    plug.settimeout(patience)
    try:
        return plug.recv(70000) == payload
    except TimeoutError:
        return False


def fragments(backend, wide, tap):
    ours, theirs = (OURS6, THEIRS6) if wide else (OURS, THEIRS)
    name = f"{backend}: parts of {'IPv6' if wide else 'IPv4'}"
    station = station_of(ours)
    if not station:
        return report(False, name, "the host's station is not known")
    rng = random.Random(7)
    wire = Wire(tap, station)
    with socket.socket(socket.AF_INET6 if wide else socket.AF_INET, socket.SOCK_DGRAM) as plug:
        plug.bind((theirs, 0))
        port = plug.getsockname()[1]
        number = rng.randrange(1 << 15)

        def judge(what, arrange, expected, size=4000):
            nonlocal number
            wrong = 0
            for _ in range(5):
                payload = os.urandom(size)
                whole = udp(theirs, ours, (port, 7), payload)
                number += 1
                places = [(begin, PIECE, None) for begin in range(0, len(whole), PIECE)]
                for begin, length, last in arrange(places):
                    wire.send(part(theirs, ours, 17, whole, begin, length, number, last))
                wrong += answered(plug, payload, 2 if expected else 0.15) != expected
            report(wrong == 0, f"{name}: {what}", f"{wrong} of 5 wrong")

        judge("in order", lambda places: places, True)
        judge("backwards", lambda places: places[::-1], True)
        judge("shuffled, each twice", lambda places: rng.sample(places * 2, len(places) * 2), True)
        judge("60,000 octets, shuffled", lambda places: rng.sample(places, len(places)), True, size=50000)
        judge("one missing", lambda places: places[:2] + places[3:], False)
        judge("the last missing", lambda places: places[:-1], False)
        judge("two that overlap", lambda places: places[:2] + [(PIECE + 400, PIECE, None)] + places[2:], False)
        judge("one within another", lambda places: places[:2] + [(PIECE + 8, 16, False)] + places[2:], False)
        judge("two ends", lambda places: [(PIECE, 16, True)] + places, False)
        judge("an end inside", lambda places: places[:-1] + [(PIECE, PIECE, True)] + places[-1:], False)
        judge("one beyond every datagram", lambda places: [(65528, PIECE, True)] + places, True)
        judge("still in order after all that", lambda places: places, True)
    wire.close()


def reassembly_times_out(backend, tap, patience=30):
    """RFC 1122 3.3.2: the sender is told, if the first part came; else not."""
    station = station_of(OURS)
    wire = Wire(tap, station)
    whole = udp(THEIRS, OURS, (4001, 7), b"x" * 2000)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as heard:
        heard.settimeout(patience + 5)
        wire.send(part(THEIRS, OURS, 17, whole, PIECE, PIECE, 900))
        wire.send(part(THEIRS, OURS, 17, whole, 0, PIECE, 901))
        began, quotes = time.monotonic(), []
        while time.monotonic() - began < patience + 3:
            try:
                packet = heard.recv(2000)
            except TimeoutError:
                break
            if packet[20:22] == b"\x0b\x01":
                quotes.append((time.monotonic() - began, packet[28 + 4:28 + 6]))
    wire.close()
    good = len(quotes) == 1 and quotes[0][1] == (901).to_bytes(2, "big") and quotes[0][0] > patience - 1
    report(good, f"{backend}: a datagram that is not whole is told after {patience} s", repr(quotes))

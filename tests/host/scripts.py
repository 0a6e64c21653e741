#!/usr/bin/env python3
"""The tests by segments of `tests/library/tcp_*.mok` in which we are the server, played at Linux: what does it do otherwise?

Linux listens on a plain socket, in a namespace of the test's own; we are its only neighbour, by a TUN device, and say the segments of the
test to it, octet for octet. What an application does in the test (`send`, `shut`, `close`, `abort`) is done with the socket. Compared are
numbers, flags and text of what comes, and that nothing else does, nor is given to the application; not windows, options, PSH, nor the ports,
and an acknowledgement may come sooner. What is known to be otherwise stands in `OTHERWISE`, with the reason; `docs/tcp-conformance.md` tells
of it. What is not as it is known is played twice more, as the machine may be busy. Names as arguments: only tests whose names have one of
them.
"""

import fcntl
import itertools
import os
import pathlib
import re
import select
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import common
from common import ROOT, SPACE, fit, in_namespace, report, run
from linux_otherwise import CLOSE, OTHERWISE
from packets import checksum

FLAGS = ["fin", "syn", "rst", "psh", "acks", "urg"]
LINUX, PEER = "10.88.0.1", "10.88.0.5"
PATIENCE = 0.5
# Linux answers before a write to the device returns; what comes later than this comes by a timer.
AT_ONCE = 0.01
LONGEST = 6.0
# It answers as often as it is asked, so that one test does not change another; and what a namespace has of the machine is what Linux
# comes with: a congestion control that paces, or rooms of another size, would be this machine's way, not Linux's.
SETTINGS = {
    "tcp_invalid_ratelimit": "0", "tcp_challenge_ack_limit": "2147483647", "tcp_syncookies": "0", "tcp_no_metrics_save": "1",
    "tcp_congestion_control": "reno", "tcp_rmem": "4096 131072 6291456", "tcp_wmem": "4096 16384 4194304",
}


class Otherwise(Exception):
    """Linux does something else."""


# Reading tests

def top_level(text):
    """The parts of a line of outputs: two blanks stand between them, outside of parentheses and texts."""
    parts, depth, quoted, start = [], 0, False, 0
    for at, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif not quoted and char in "({":
            depth += 1
        elif not quoted and char in ")}":
            depth -= 1
        elif not quoted and depth == 0 and text[at:at + 2] == "  ":
            parts.append(text[start:at])
            start = at
    return [part.strip() for part in parts + [text[start:]] if part.strip()]


def octets(text):
    """`"abc" x"00ff"` as octets."""
    found = re.findall(r'(x?)"([^"]*)"', text)
    return b"".join(bytes.fromhex(inner) if is_hex else inner.encode() for is_hex, inner in found)


def packet_of(text):
    """`device.frame(Rfc9293 { … } "text")` as (fields, text); raw octets as (None, octets)."""
    inner = text[len("device.frame("):-1]
    if inner.strip() == "_":
        return {}, None
    found = re.match(r"Rfc9293 \{ (.*?) \}(.*)", inner)
    if not found:
        return None, octets(inner)
    fields = dict(field.split(": ", 1) if field != ".." else ("..", "1") for field in found[1].split(", "))
    return fields, octets(found[2])


def tests():
    """`(file, name, stack, steps)` of all tests by segments."""
    for path in sorted((ROOT / "tests/library").glob("tcp_*.mok")):
        for found in re.finditer(r'^test "([^"\n]*)" \{\n    stack (\w+)\n(.*?)^\}', path.read_text(), re.M | re.S):
            steps = [line.strip() for line in found[3].split("\n") if line.strip() and not line.strip().startswith("//")]
            yield path.stem, found[1], found[2], steps


def seconds(step):
    number, unit = re.match(r"after (\d+) (\w+)", step).groups()
    return int(number) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60}[unit]


def why_not(stack, steps):
    """Why a test cannot be played at a server's socket, or None."""
    if stack not in ("Bare", "Eager"):
        return "its stack is made for it"
    if not any(step.startswith("tcp.listen(") for step in steps):
        return "its stack listens by itself, or we are the client"
    if any(re.match(r"tcp\.listen\(.*:", step) for step in steps):
        return "a connection is told what a socket is not"
    if any("tcp.open(" in step for step in steps):
        return "we are the client"
    if any(word in step for step in steps for word in ("urgent_left", "troubled", "grant_delivers", "no_credit", "unlisten", "tcp.listen(2")):
        return "it is about our calls"
    if sum(seconds(step) for step in steps if step.startswith("after ")) > LONGEST:
        return "it takes too long"
    return None


# Playing them

class Tun:
    """We, by IPv4 alone."""

    def __init__(self):
        self.file = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self.file, 0x400454CA, struct.pack("16sH", b"script0", 0x1001))
        run("ip", "address", "add", f"{LINUX}/24", "dev", "script0")
        run("ip", "link", "set", "script0", "up")

    def say(self, segment):
        pseudo = socket.inet_aton(PEER) + socket.inet_aton(LINUX) + struct.pack(">HH", 6, len(segment))
        segment = segment[:16] + b"\0\0" + segment[18:]
        odd = b"\0" if len(segment) % 2 else b""
        segment = segment[:16] + struct.pack(">H", checksum(pseudo + segment + odd)) + segment[18:]
        header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(segment), 1, 0x4000, 64, 6, 0) + socket.inet_aton(PEER) + socket.inet_aton(LINUX)
        os.write(self.file, header[:10] + struct.pack(">H", checksum(header)) + header[12:] + segment)

    def hear(self, patience):
        """The next segment of TCP, or None."""
        end = time.monotonic() + patience
        while (left := end - time.monotonic()) > 0 or patience == 0:
            if not select.select([self.file], [], [], max(left, 0))[0]:
                return None
            packet = os.read(self.file, 70000)
            if packet[0] >> 4 == 4 and packet[9] == 6:
                return packet[(packet[0] & 15) * 4:]
        return None


class Play:
    """One test at a server of its own."""

    def __init__(self, tun, port, nagle):
        self.tun, self.port, self.names = tun, port, {}
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((LINUX, port))
        self.nagle, self.sessions, self.early, self.waiting = nagle, {}, [], []
        self.listens = False
        self.since = time.monotonic()        # when something was said or heard last

    def close(self):
        for plug in self.sessions.values():
            if plug.fileno() < 0:
                continue
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            plug.close()
        self.listener.close()
        while self.tun.hear(0.02):
            pass

    def number(self, text):
        """`iss + 1`, of 32 bits."""
        total, sign = 0, 1
        for word in text.split():
            if word in "+-":
                sign = 1 if word == "+" else -1
            else:
                total += sign * (int(word) if word.isdigit() else self.names[word])
        return total % 2**32

    def peer(self, source):
        """Each test has ports of its own, so that what the one before it left is in nobody's way."""
        return 20000 + self.port + 1000 * source % 30000

    def segment(self, fields, text):
        if fields is None:
            return struct.pack(">HH", self.peer(struct.unpack(">H", text[:2])[0]), self.port) + text[4:]
        value = lambda name: self.number(fields.get(name, "0"))
        bits = sum(1 << at for at, name in enumerate(FLAGS) if fields.get(name, "0") == "1")
        options = b""
        if "mss" in fields:
            options += struct.pack(">BBH", 2, 4, value("mss"))
        if "scale" in fields:
            options += struct.pack(">BBB", 3, 3, value("scale"))
        if "value" in fields:
            options += struct.pack(">BBII", 8, 10, value("value"), value("echo"))
        options += bytes(-len(options) % 4)
        source = self.peer(value("source"))
        port = self.port if value("destination") == 80 else self.port + 1
        return struct.pack(">HHIIBBHHH", source, port, value("seq"), value("ack"), (5 + len(options) // 4) << 4, bits, value("window"), 0,
                           value("urgent")) + options + text

    def heard(self, patience):
        end = time.monotonic() + patience
        while (raw := self.tun.hear(max(end - time.monotonic(), 0))) is not None:
            # What another test has left may say something yet.
            if struct.unpack(">H", raw[:2])[0] in (self.port, self.port + 1):
                break
        else:
            return None
        source, to, seq, ack, offset, bits, _, _, urgent = struct.unpack(">HHIIBBHHH", raw[:20])
        return {"seq": seq, "ack": ack, "bits": bits, "urgent": urgent, "text": raw[(offset >> 4) * 4:], "options": raw[20:(offset >> 4) * 4]}

    def shown(self, segment):
        if segment is None:
            return "nothing"
        named = "+".join(name for at, name in enumerate(FLAGS) if segment["bits"] >> at & 1)
        first = self.names.get("iss", self.names.get("two", 0))
        seq = (segment["seq"] - first) % 2**32
        return f"{named} seq {'iss + ' + str(seq) if seq < 2**31 else segment['seq']} ack {segment['ack']} {len(segment['text'])} octets"

    def fits(self, segment, fields, text):
        if text is None:
            return True
        for at, name in enumerate(FLAGS):
            want = fields.get(name, "any" if ".." in fields else "0")
            if name != "psh" and want != "any" and want != str(segment["bits"] >> at & 1):
                return False
        if segment["text"] != text:
            return False
        for name in ("seq", "ack", "urgent"):
            if name == "urgent" and "urg" not in fields or name == "ack" and not segment["bits"] & 16:
                continue
            want = fields.get(name, "_" if ".." in fields else "0")
            if want.startswith("?") or want == "_":
                continue
            if segment[name] != self.number(want):
                return False
        return True

    def bind(self, segment, fields):
        for name, want in fields.items():
            if want.startswith("?") and name in ("seq", "ack"):
                self.names[want[1:]] = segment[name]
            if want.startswith("?") and name == "value":
                at = segment["options"].find(b"\x08\x0a")
                self.names[want[1:]] = struct.unpack(">I", segment["options"][at + 2:at + 6])[0] if at >= 0 else 0

    def is_bare(self, segment):
        """An acknowledgement alone."""
        return segment["bits"] & ~8 == 16 and not segment["text"]

    def expect_frame(self, fields, text):
        for held in self.early:
            if self.fits(held, fields, text):
                self.early.remove(held)
                return
        end = time.monotonic() + PATIENCE
        while True:
            segment = self.heard(end - time.monotonic())
            if segment is None:
                said = "nothing" if not self.early else f"only {self.shown(self.early[-1])}"
                raise Otherwise(f"{said} where {self.wanted(fields, text)} is right")
            self.since = time.monotonic()
            if self.fits(segment, fields, text):
                return self.bind(segment, fields)
            if not self.is_bare(segment):
                raise Otherwise(f"{self.shown(segment)} where {self.wanted(fields, text)} is right")
            self.early.append(segment)       # it acknowledges sooner than we do

    def wanted(self, fields, text):
        left_out = "any" if ".." in fields else "0"
        named = "+".join(name for name in FLAGS if fields.get(name) == "1")
        return f"{named or 'a segment of'} seq {fields.get('seq', left_out)} ack {fields.get('ack', left_out)} {len(text)} octets"

    def expect_nothing_more(self):
        """A list of outputs is all that comes: what comes beside it fails a test, and is otherwise here."""
        while (segment := self.heard(AT_ONCE)) is not None:
            if not self.is_bare(segment):
                raise Otherwise(f"{self.shown(segment)} where nothing more is right")
            self.early.append(segment)
        if self.listens and self.is_ready(self.listener):
            raise Otherwise("a connection where there is none")
        for plug in self.sessions.values():
            try:
                if plug.fileno() >= 0 and self.is_ready(plug) and (text := plug.recv(30, socket.MSG_PEEK)):
                    raise Otherwise(f"{text!r} is given to the application where nothing more is right")
            except ConnectionError:
                pass                         # it hears that when it is asked

    def is_ready(self, plug):
        return bool(select.select([plug], [], [], 0)[0])

    def expect_call(self, call):
        """What the application hears."""
        name, arguments = re.match(r"tcp\.(\w+)\((.*)\)$", call).groups()
        if name == "accepted":
            self.listener.settimeout(PATIENCE)
            try:
                plug, _ = self.listener.accept()
            except OSError:
                raise Otherwise("no connection where there is one") from None
            plug.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, not self.nagle)
            plug.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
            plug.settimeout(PATIENCE)
            self.sessions[arguments.split(",")[0].lstrip("?")] = plug
            return
        plug = self.sessions.get(arguments.split(",")[0])
        if not plug or plug.fileno() < 0:
            return
        try:
            if name == "deliver":
                text = octets(arguments)
                got = b""
                while len(got) < len(text) and (more := plug.recv(len(text) - len(got))):
                    got += more
                plug.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
                if got != text:
                    raise Otherwise(f"{got[:30]!r} is given to the application, not {text[:30]!r}")
            elif name == "finished" and (got := plug.recv(1)):
                raise Otherwise(f"{got!r} is given to the application behind the end")
            elif name == "failed_session":
                try:
                    if plug.recv(1):
                        raise Otherwise("text where the connection has failed")
                    raise Otherwise("an end where the connection has failed")
                except ConnectionResetError:
                    pass
        except (TimeoutError, BlockingIOError):
            raise Otherwise(f"the application does not hear `{name}`") from None
        except ConnectionResetError:
            raise Otherwise(f"the connection is reset where the application hears `{name}`") from None

    def do_call(self, call):
        name, arguments = re.match(r"tcp\.(\w+)\((.*)\)$", call).groups()
        if name == "listen":
            self.listener.listen(16)
            self.listens = True
            return
        if not (plug := self.sessions.get(arguments.split(",")[0])):
            raise Otherwise("no connection where there is one")
        try:
            if name == "send":
                plug.send(octets(arguments), socket.MSG_OOB if octets(arguments)[:1] == b"!" else 0)
            elif name == "shut":
                plug.shutdown(socket.SHUT_WR)
            elif name == "close":
                plug.close()
            elif name == "abort":
                plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                plug.close()
        except OSError:
            if name != "send":
                raise Otherwise(f"`{name}` is refused") from None

    def step(self, step):
        if step.startswith("=> "):
            outputs = [output for output in top_level(step[3:])]
            # Frames first: what the application hears has then come.
            for output in outputs:
                if output.startswith("device.frame("):
                    self.expect_frame(*packet_of(output))
            for output in outputs:
                if output.startswith("tcp.") and not output.startswith(("tcp.grant_sends", "tcp.closed")):
                    self.expect_call(output)
        elif step.startswith("after "):
            self.since += seconds(step)      # the wait whether anything more comes is a part of it
            time.sleep(max(self.since - time.monotonic(), 0))
        elif step.startswith(("device.frame(", "tcp.")):
            self.since = time.monotonic()
            if step.startswith("device.frame("):
                self.tun.say(self.segment(*packet_of(step)))
            else:
                self.do_call(step)


def played(tun, port, stack, steps):
    """What Linux does otherwise; None if nothing."""
    play = Play(tun, port, stack != "Eager")
    try:
        for step, following in zip(steps, steps[1:] + [""]):
            try:
                play.step(step)
                if step.startswith("=> ") and not following.startswith("=> "):
                    play.expect_nothing_more()
            except Otherwise as why:
                return f"at `{step[:60]}`: {why}"
    finally:
        play.close()
    return None


def judged(name, play):
    """Reports a test: what is known to be otherwise shows at least once in three times, what is not known in no two of three."""
    known = next((reason for part, reason in OTHERWISE.items() if part in name), None)
    if any(part in name for part in CLOSE):
        return report(True, f"Linux, or its clock: {name}{f' ({why})' if (why := play()) else ''}")
    whys = [play()]
    while len(whys) < 3 and bool(known) != any(whys):
        whys.append(play())
    seen = [why for why in whys if why]
    if known:
        return report(bool(seen), f"Linux otherwise: {name}", f"it does as we do now: take it out of the list ({known})")
    return report(len(seen) < 2, f"Linux: {name}{f' (once of three: {seen[0]})' if len(seen) == 1 else ''}", " | ".join(sorted(set(seen))))


def main():
    if not fit("scripts at Linux"):
        return
    only = sys.argv[1:]
    try:
        in_namespace()
        run("ip", "link", "set", "lo", "up")
        for name, value in SETTINGS.items():
            if (done := run("sysctl", "-w", f"net.ipv4.{name}={value}")).returncode != 0:
                return report(False, f"Linux: {name} is {value}", done.stderr.strip())
        tun, ports = Tun(), itertools.count(2000, 2)
        if not only:
            for part in [part for part in OTHERWISE if not any(part in name for _, name, stack, steps in tests() if not why_not(stack, steps))]:
                report(False, f"Linux otherwise: {part}", "no test that is played has this in its name")
        for _, name, stack, steps in tests():
            if not why_not(stack, steps) and (not only or any(part in name for part in only)):
                judged(name, lambda stack=stack, steps=steps: played(tun, next(ports), stack, steps))
    finally:
        run("ip", "netns", "del", SPACE)


if __name__ == "__main__":
    main()
    sys.exit(1 if common.failures else 0)

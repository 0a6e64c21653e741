#!/usr/bin/env python3
"""Our TCP and Linux's, long and in bulk, both roles: `linux.py [NAME …]`, all if nothing is said.

Each name is one judge with a time limit of its own, in a namespace of its own. Needs what `host_test.py` needs; tshark, iptables, tc and
a C compiler where there. The stacks are those of `tests/host/peers.mok`.
"""

import collections
import contextlib
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import common
from common import BLOCK, OURS, ROOT, SCRATCH, SPACE, THEIRS, Stack, echoed, fit, in_namespace, inside, report, run, skip

TAP = "mok0"
FAR, FAR_HOST, NEAR = SPACE + "f", "10.78.0.2", "10.78.0.1"
END = 1 << 32
NOBODY = struct.pack("ii", 1, 0)        # SO_LINGER: a close that resets


# Linux's end

class Sniffer:
    """First numbers, as they pass on the interface."""

    def __init__(self):
        self.plug = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))          # outgoing frames, too
        self.plug.bind((TAP, 3))
        self.plug.setblocking(False)

    def first_number(self, whose=OURS, source=None, destination=None):
        """Of the last SYN of this end that passed, from and to these ports."""
        found = None
        with contextlib.suppress(BlockingIOError):
            while True:
                frame = self.plug.recv(2000)
                tcp = frame[12:14] == b"\x08\0" and frame[23] == 6
                if not tcp or not frame[47] & 2 or frame[26:30] != socket.inet_aton(whose):
                    continue
                ports = struct.unpack(">HH", frame[34:38])
                number, = struct.unpack(">I", frame[38:42])
                if source in (None, ports[0]) and destination in (None, ports[1]):
                    found = number
        return found


def begin_near_the_end(plug, before=1 << 20):
    """Linux's first number of a connection that it will ask for."""
    repair, queue, number = 19, 20, 21
    plug.setsockopt(socket.IPPROTO_TCP, repair, 1)
    plug.setsockopt(socket.IPPROTO_TCP, queue, 2)
    plug.setsockopt(socket.IPPROTO_TCP, number, -before)                   # as the C of it takes it: modulo 2^32
    plug.setsockopt(socket.IPPROTO_TCP, repair, -1)


def connected(port=7, patience=60, near=False):
    plug = socket.socket()
    plug.settimeout(patience)
    if near:
        begin_near_the_end(plug)
    plug.connect((OURS, port))
    return plug


def near_the_end(port=7, within=1 << 26):
    """A connection of which both ends' numbers are near their end: one asks until ours has come to it."""
    sniffer, linux = Sniffer(), Sniffer()
    for _ in range(2000):
        plug = connected(port, near=True)
        number = sniffer.first_number(destination=plug.getsockname()[1])
        theirs = linux.first_number(THEIRS, source=plug.getsockname()[1])
        if number is not None and theirs is not None and min(number, theirs) > END - within:
            return plug
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NOBODY)
        plug.close()
    raise OSError("no number came near the end")


# What is looked at beside the octets

DROPS = ["TcpRetransSegs", "TcpInErrs", "TcpExtTCPTimeouts", "TcpExtTCPOFOQueue", "TcpExtTCPOFODrop", "TcpExtTCPRcvQDrop", "TcpExtTCPBacklogDrop",
         "TcpExtListenDrops", "TcpExtTCPLostRetransmit", "TcpExtTCPSpuriousRTOs", "TcpExtRcvPruned", "TcpExtOfoPruned", "TcpExtTCPChallengeACK"]


def counters():
    done = run("nstat", "-asz", "--json")
    kernel = json.loads(done.stdout)["kernel"] if done.returncode == 0 else {}
    link = run("ip", "-s", "-j", "link", "show", TAP)
    stats = json.loads(link.stdout)[0]["stats64"] if link.returncode == 0 else {}
    of_link = {f"{way} {what}": stats.get(way, {}).get(what, 0) for way in ["rx", "tx"] for what in ["dropped", "errors"]}
    return {name: kernel.get(name, 0) for name in DROPS} | of_link


@contextlib.contextmanager
def nothing_lost(name, capture=True):
    """The kernel drops nothing meanwhile, and tshark sees nothing sent again or out of order."""
    file = SCRATCH / "linux.pcap"
    file.unlink(missing_ok=True)
    watcher = None
    if capture and shutil.which("dumpcap") and shutil.which("tshark"):
        watcher = subprocess.Popen(["dumpcap", "-q", "-i", TAP, "-s", "96", "-B", "256", "-w", str(file)], stderr=subprocess.PIPE, text=True)
        time.sleep(1)
    before = counters()
    try:
        yield
    finally:
        after = counters()
        grown = {what: after[what] - count for what, count in before.items() if after[what] != count}
        report(not grown, f"{name}: no drop by the kernel's counters", str(grown))
        if watcher:
            time.sleep(1)
            watcher.send_signal(signal.SIGINT)
            said = watcher.communicate(timeout=60)[1]
            missed = re.search(r"received/dropped on interface.*?: \d+/(\d+)", said)
            judged(name, file, int(missed.group(1)) if missed else -1)
        elif capture:
            skip(f"{name}: tshark", "tshark is not installed")


def judged(name, file, missed):
    wrong = "tcp.analysis.retransmission || tcp.analysis.fast_retransmission || tcp.analysis.out_of_order || tcp.analysis.lost_segment"
    began = time.monotonic()
    fields = ["-T", "fields", "-e", "frame.number", "-e", "ip.src", "-e", "tcp.seq", "-e", "_ws.col.Info"]
    done = run("tshark", "-r", str(file), "-o", "tcp.reassemble_out_of_order:FALSE", "-o", "tcp.desegment_tcp_streams:FALSE", "--disable-protocol",
               "echo", "-Y", wrong, *fields, timeout=1500)
    frames = re.search(r"(\d+)\s*$", run("capinfos", "-Mc", str(file), timeout=300).stdout.strip())
    lines = done.stdout.splitlines()
    count = int(frames.group(1)) if frames else 0
    report(done.returncode == 0 and not lines and missed == 0 and count > 100,
           f"{name}: tshark sees nothing again or out of order in {count} frames, {time.monotonic() - began:.0f} s",
           f"{len(lines)} times, the capture missed {missed}; {lines[:3]} {done.stderr[-200:]}")
    file.unlink(missing_ok=True)


# Stacks and what lies between

@contextlib.contextmanager
def stack(which, *settings, backend="c", file="tests/host/peers.mok", seconds=600, gateway=False, address=True, bits=24, held=3, weather=None):
    more = [f"gateway={THEIRS}"] if gateway else []
    running = Stack(file, backend, TAP, f"address={OURS}/{bits}", *more, *settings, seconds=seconds, pcap=False, stack=which, weather=weather)
    try:
        if not running.ready(*([f"{THEIRS}/{bits}"] if address else [])):
            raise OSError(f"the stack does not run: {running.said()}")
        yield running
        time.sleep(1)                        # the last words of sessions
        report(running.process.poll() in (None, 0), f"{which}, {backend}: the stack is still there", running.said())
    finally:
        accounts = running.stop()
        if accounts.get("reports", -1) != 0 or not 0 <= accounts.get("held", -1) <= held:
            report(False, f"{which}, {backend}: no reports, nothing held", json.dumps(accounts)[:900] or running.said())
        noted = {name: count for kind in ["dropped", "counters"] for name, count in accounts.get(kind, {}).items() if count}
        print(f"   {which}:", json.dumps(noted), flush=True)


@contextlib.contextmanager
def far_away():
    """Linux's end in a second namespace, the first one forwards: what it drops is lost on the way."""
    run("ip", "netns", "add", FAR)
    try:
        run("ip", "link", "add", "mokn", "type", "veth", "peer", "name", "mokf", "netns", FAR)
        run("ip", "address", "add", f"{NEAR}/24", "dev", "mokn")
        run("ip", "link", "set", "mokn", "gso_max_segs", "1", "up")
        inside(FAR, "ip", "address", "add", f"{FAR_HOST}/24", "dev", "mokf")
        inside(FAR, "ip", "link", "set", "mokf", "gso_max_segs", "1", "up")
        inside(FAR, "ip", "route", "add", "default", "via", NEAR)
        pathlib.Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        yield
    finally:
        run("ip", "link", "del", "mokn")
        run("ip", "netns", "del", FAR)


def apart(work):
    """Runs this in the far namespace; a process of its own does. What it returns is text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(0)
        try:
            in_namespace(FAR)
            said = work()
        except BaseException as error:          # whatever it was, it has to be told
            said = repr(error)
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        said = told.read()
    os.waitpid(child, 0)
    return said


@contextlib.contextmanager
def relay(loss=0, duplicate=0, reorder=0, corrupt=0, least=0, most=0, seed=1):
    """Weather of our own between the stack's interface and one of Linux's; chances of 10,000, microseconds."""
    program = SCRATCH / "relay"
    built = run("cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", str(ROOT / "tests/host/relay.c"), "-o", str(program))
    if built.returncode != 0:
        raise OSError(built.stderr[-300:])
    for command in ["tuntap add mokr mode tap", f"link set {TAP} arp off", f"address add {THEIRS}/24 dev mokr", "link set mokr txqueuelen 20000 up"]:
        run("ip", *command.split())
    words = [str(word) for word in [seed, loss, duplicate, reorder, corrupt, least, most]]
    process = subprocess.Popen([str(program), "mokr", TAP, *words], stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        yield
    finally:
        process.terminate()
        print("   relay:", process.communicate(timeout=20)[0].strip(), flush=True)
        run("ip", "link", "del", "mokr")


def drops(percent):
    """The kernel's own loss on the way, in both directions."""
    if shutil.which("iptables") is None:
        return "iptables is not there (`apt install iptables`)"
    chance = str(percent / 100)
    for way in ["-i", "-o"]:
        done = run("iptables", "-A", "FORWARD", way, TAP, "-p", "tcp", "-m", "statistic", "--mode", "random", "--probability", chance, "-j", "DROP")
        if done.returncode != 0:
            return done.stderr.strip()
    return ""


def timed(name, work):
    began = time.monotonic()
    try:
        fault = work()
    except OSError as error:
        fault = repr(error)
    report(not fault, f"{name}, {time.monotonic() - began:.1f} s", fault)


# The judges

def listens(mebibytes):
    with stack("Echoes"), nothing_lost(f"we listen, {mebibytes} MiB"):
        timed(f"we listen, {mebibytes} MiB each way, both ends' numbers from just before 2^32", lambda: echoed(near_the_end(), mebibytes << 20))


def calls(mebibytes):
    """We call: Linux lets those go whose number is not near the end."""
    server = sniffer = None

    def one():
        while True:
            plug, peer = server.accept()
            number = sniffer.first_number(source=peer[1])
            if number is not None and number > END - (1 << 26):
                plug.settimeout(60)
                return echoed(plug, mebibytes << 20)
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NOBODY)
            plug.close()

    with stack("Caller", "calls=5000"):
        server = socket.create_server((THEIRS, 7777))
        server.settimeout(60)
        sniffer = Sniffer()
        with nothing_lost(f"we call, {mebibytes} MiB"):
            timed(f"we call, {mebibytes} MiB each way, our numbers from just before 2^32", one)
        server.close()


def lossy(mebibytes, percent):
    with far_away(), stack("Echoes", gateway=True):
        refused = drops(percent)
        if refused:
            return skip(f"{percent} % lost", refused)
        timed(f"{mebibytes} MiB each way, {percent} % lost by iptables", lambda: apart(lambda: echoed(connected(), mebibytes << 20)))


def shaped(mebibytes):
    with stack("Echoes"):
        done = run("tc", "qdisc", "replace", "dev", TAP, "root", "tbf", "rate", "40mbit", "burst", "8kb", "limit", "30kb")
        if done.returncode != 0:
            return skip("tbf", done.stderr.strip())
        timed(f"{mebibytes} MiB each way, tc tbf of 40 Mbit/s with a short queue towards us", lambda: echoed(connected(), mebibytes << 20))


def weather(mebibytes, name, **what):
    with stack("Echoes", address=False), relay(**what):
        timed(f"{mebibytes} MiB each way, {name}, by our relay", lambda: echoed(connected(), mebibytes << 20))


def weather_calls(mebibytes, name, **what):
    with stack("Caller", "calls=1", address=False), relay(**what), socket.create_server((THEIRS, 7777)) as server:
        server.settimeout(60)

        def one():
            plug, _ = server.accept()
            plug.settimeout(60)
            return echoed(plug, mebibytes << 20)
        timed(f"we call, {mebibytes} MiB each way, {name}, by our relay", one)


def own_weather(mebibytes, words):
    with stack("Echoes", weather=words):
        timed(f"{mebibytes} MiB each way through `--weather {words}`", lambda: echoed(connected(), mebibytes << 20))


PATTERN = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-\n"


def curl(name, expected, *words):
    began = time.monotonic()
    done = subprocess.run(["curl", "-sS", "--max-time", "100", *words], capture_output=True, timeout=120)
    report(done.returncode == 0 and done.stdout == expected, f"curl {name}, {time.monotonic() - began:.2f} s",
           f"{done.returncode}, {len(done.stdout)} octets {done.stdout[:40]}, {done.stderr[-200:]}")


def web():
    """curl fetches and posts."""
    if not shutil.which("curl"):
        return skip("curl", "curl is not installed")
    many = (PATTERN * (100_000_000 // 64 + 1))[:100_000_000]
    posted = SCRATCH / "posted"
    posted.write_bytes(BLOCK * 16)
    at = f"http://{OURS}"
    with stack(None, file="examples/http.mok"):
        for size in [0, 1, 1000, 1_000_000, 100_000_000]:
            curl(f"fetches {size} octets", many[:size], f"{at}/{size}")
        curl("fetches five times over one connection", b"".join(many[:size] for size in [10, 0, 70, 2000, 1]),
             *[f"{at}/{size}" for size in [10, 0, 70, 2000, 1]])
        done = run("curl", "-sS", "--max-time", "60", "--data-binary", f"@{posted}", f"{at}/")
        said = [int(number) for number in re.findall(r"\d+", done.stdout)]
        report(said == [len(BLOCK) * 16, sum(BLOCK) * 16 % (1 << 32)], "curl posts 16 MiB, counted and summed", done.stdout[:200] + done.stderr[-200:])
    posted.unlink()


def services(mebibytes=4):
    """Five services over one TCP, all at once."""
    def discarded():
        with connected(9) as plug:
            for _ in range(mebibytes):
                plug.sendall(BLOCK)
            plug.shutdown(socket.SHUT_WR)
            return "" if plug.recv(1) == b"" else "it answered"

    def characters():
        with connected(19) as plug:
            heard = bytearray()
            while len(heard) < mebibytes << 20:
                heard += plug.recv(1 << 16)
            lines = bytes(heard).split(b"\r\n")
            return "" if all(len(line) == 72 for line in lines[:-1]) else "a line of another length"

    def lines():
        with connected(4000) as plug:
            plug.sendall(LINE * 500)
            plug.shutdown(socket.SHUT_WR)
            return numbered(plug, 500)

    def fetched():
        size = mebibytes << 20
        done = subprocess.run(["curl", "-sS", "--max-time", "100", f"http://{OURS}/{size}"], capture_output=True, timeout=120)
        return "" if done.stdout == (PATTERN * (size // 64)) else f"{len(done.stdout)} octets, {done.stderr[-100:]}"

    def all_at_once():
        works = {"echo": lambda: echoed(connected(), mebibytes << 20), "discard": discarded, "chargen": characters, "numbers": lines}
        if shutil.which("curl"):
            works["http"] = fetched
        wrong = {}

        def one(name, work):
            try:
                wrong[name] = work()
            except OSError as error:
                wrong[name] = repr(error)
        threads = [threading.Thread(target=one, args=item) for item in works.items() for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return "; ".join(f"{name}: {why}" for name, why in wrong.items() if why)

    with stack("Services", file="examples/services.mok", held=300):
        timed(f"five services over one TCP at once, {mebibytes} MiB on each", all_at_once)


def fetches(mebibytes=64):
    """`mokume connect` fetches from a web server of Linux's."""
    folder = SCRATCH / "served"
    folder.mkdir(exist_ok=True)
    (folder / "file").write_bytes(BLOCK * mebibytes)
    run("ip", "tuntap", "add", TAP, "mode", "tap")
    run("ip", "address", "add", f"{THEIRS}/24", "dev", TAP)
    run("ip", "link", "set", TAP, "txqueuelen", "20000", "up")
    handler = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = http.server.ThreadingHTTPServer((THEIRS, 8080), lambda *what: handler(*what, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        command = [str(common.MOKUME), "connect", THEIRS, "8080", "--device", f"tap:{TAP}", "--set", f"address={OURS}/24", "--backend", "c"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=SCRATCH)
        stop = threading.Timer(150, process.kill)
        stop.start()
        process.stdin.write(b"GET /file HTTP/1.0\r\n\r\n")
        process.stdin.close()
        # From the first octet to the last: not the compiler, and not the time for which it stays behind the end.
        heard, began = process.stdout.read(1), time.monotonic()
        heard += process.stdout.read()
        took = time.monotonic() - began
        said = process.stderr.read()
        process.wait()
        stop.cancel()
        head, _, body = heard.partition(b"\r\n\r\n")
        report(process.returncode == 0 and b"200" in head[:20] and body == BLOCK * mebibytes,
               f"`mokume connect` fetches {mebibytes} MiB from Linux's http.server, {took:.1f} s from the first octet to the last",
               f"{process.returncode}, {len(body)} octets, {said[-300:]}")
    finally:
        server.shutdown()
        shutil.rmtree(folder)


def crowd(sessions=1000, octets=20000):
    """All of them open before the first ends."""
    def one(plug, faults):
        faults.append(echoed(plug, octets))

    def all_of_them():
        plugs, faults = [], []
        for _ in range(sessions):
            plugs.append(connected())
        speakers = [threading.Thread(target=one, args=(plug, faults)) for plug in plugs]
        for speaker in speakers:
            speaker.start()
        for speaker in speakers:
            speaker.join()
        wrong = collections.Counter(fault for fault in faults if fault)
        return f"{sum(wrong.values())} of {sessions}: {wrong.most_common(3)}" if wrong else ""

    threading.stack_size(256 << 10)
    with stack("Crowd"):
        timed(f"{sessions} connections at once, {octets} octets each way on each", all_of_them)


LINE = b"the same sixty octets in every line, so that all is easy to count\n"[-61:]


def numbered(plug, lines):
    """Whether so many lines come back with their numbers, and then the end."""
    heard = bytearray()
    while octets := plug.recv(1 << 16):
        heard += octets
    wanted = b"".join(b"%02d " % (number % 100) + LINE for number in range(1, lines + 1))
    return "" if heard == wanted else f"{len(heard)} octets of {len(wanted)}, or others"


def fill(plugs, seconds=6):
    """Says lines on all of them, as many as go without one being read; how many octets on each."""
    said, until = collections.Counter(), time.monotonic() + seconds
    for plug in plugs:
        plug.setblocking(False)
    while time.monotonic() < until:
        for plug in plugs:
            with contextlib.suppress(BlockingIOError):
                said[plug] += plug.send((LINE * 200)[said[plug] % len(LINE):])
        time.sleep(0.01)
    return [said[plug] for plug in plugs]


def deaf(sessions=45):
    """Many say lines and read no answers: what the stack keeps for all is full. Who asks meanwhile is served or waits, and nothing that was
    acknowledged is missing when they read."""
    def greedy():
        plug = socket.socket()
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plug.settimeout(100)
        plug.connect((OURS, 4000))
        return plug

    def finish(plug, said, faults):
        """Says the rest of a line, and the end, while it reads."""
        plug.settimeout(150)

        def say():
            plug.sendall(LINE[said % len(LINE) or len(LINE):])
            plug.shutdown(socket.SHUT_WR)
        speaker = threading.Thread(target=say, daemon=True)
        speaker.start()
        try:
            faults.append(numbered(plug, -(-said // len(LINE))))
        except OSError as error:
            faults.append(repr(error))
        plug.close()

    def all_of_them():
        plugs = [greedy() for _ in range(sessions)]
        said = fill(plugs)
        late = connected(4000, patience=150)
        late.sendall(LINE * 300)
        late.shutdown(socket.SHUT_WR)
        faults = []
        readers = [threading.Thread(target=finish, args=(plug, count, faults)) for plug, count in zip(plugs, said)]
        time.sleep(2)
        for reader in readers:
            reader.start()
        faults.append(numbered(late, 300))
        for reader in readers:
            reader.join()
        print(f"   {sum(said)} octets said before one was read", flush=True)
        wrong = [fault for fault in faults if fault]
        return f"{len(wrong)} of {sessions + 1}: {wrong[:3]}" if wrong else ""

    with stack("Host", file="examples/numbers.mok", held=300):
        timed(f"{sessions} who say lines and read no answer, and one more: all answers, in order", all_of_them)


def in_turn(sessions=10000):
    """Each behind the other, Linux ending first, then we ending first, then we calling."""
    def by_linux():
        for number in range(sessions):
            with connected() as plug:
                plug.sendall(b"%d" % number)
                if plug.recv(100) != b"%d" % number:
                    return f"number {number} came back otherwise"
                # No wait of a minute at Linux's end: it has 28,000 ports.
                plug.shutdown(socket.SHUT_WR)
                if plug.recv(100):
                    return f"number {number} did not end"
        return ""

    def by_us():
        for number in range(sessions):
            with connected(13) as plug:
                heard = b""
                while part := plug.recv(100):
                    heard += part
                if heard != b"hello":
                    return f"number {number} heard {heard}"
        return ""

    def we_call(server):
        for number in range(sessions):
            plug, _ = server.accept()
            plug.settimeout(30)
            with plug:
                plug.sendall(b"%d" % number)
                plug.shutdown(socket.SHUT_WR)
                heard = b""
                while part := plug.recv(100):
                    heard += part
                if heard != b"%d" % number:
                    return f"number {number} came back as {heard}"
        return ""

    with stack("Echoes"):
        timed(f"{sessions} connections in turn, Linux ends first", by_linux)
    with stack("EndsFirst"):
        timed(f"{sessions} connections in turn, we end first, MSL 20 ms", by_us)
    with stack("Caller", f"calls={sessions}", f"more={sessions}", "first=10000"), socket.create_server((THEIRS, 7777)) as server:
        server.settimeout(30)
        timed(f"{sessions} connections in turn, we call", lambda: we_call(server))


def refused():
    with stack("Echoes"):
        connected().close()
        worst = 0.0
        for _ in range(100):
            began = time.monotonic()
            try:
                connected(4242).close()
                return report(False, "a closed port", "somebody was there")
            except ConnectionRefusedError:
                worst = max(worst, time.monotonic() - began)
        report(worst < 0.5, f"a closed port is refused at once, 100 times, {worst * 1000:.1f} ms at worst")


def interpreted(mebibytes):
    with stack("Echoes", backend="interpreter"):
        timed(f"interpreter: {mebibytes} MiB each way", lambda: echoed(connected(), mebibytes << 20))


def flood(syns=1_050_000, rate=25_000):
    """SYNs of nobody make no session; who means it is served meanwhile, and who was there before stays."""
    program = SCRATCH / "flood"
    built = run("cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", str(ROOT / "tests/host/flood.c"), "-o", str(program))
    if built.returncode != 0:
        raise OSError(built.stderr[-300:])
    begun, served, faults, took = 1, 0, [], []
    # Answers to nobody wait for an address that nobody has: 256 of them at most.
    with stack("Echoes", "device.mac=02:00:00:00:00:02", bits=16, held=256) as running:
        before = connected()
        before.sendall(b"before")
        flooding = subprocess.Popen([str(program), TAP, "02:00:00:00:00:02", OURS, str(syns), str(rate)], stdout=subprocess.PIPE, text=True)
        while flooding.poll() is None:
            began = time.monotonic()
            try:
                fault = echoed(connected(patience=20), 20000)
                begun += 1
                served += not fault
                faults += [fault] if fault else []
            except OSError as error:
                faults.append(repr(error))
            took.append(time.monotonic() - began)
            time.sleep(0.5)
        print("   flood:", flooding.communicate()[0].strip(), flush=True)
        report(served > 0 and not faults, f"{served} connections while {syns} SYNs came, {max(took, default=0):.2f} s at worst",
               f"{len(faults)} failed: {faults[:3]}")
        before.sendall(b"after")
        heard = b""
        while len(heard) < 11:
            heard += before.recv(100) or b"?" * 11
        report(heard == b"beforeafter", "a session that was there before goes on", repr(heard))
        before.shutdown(socket.SHUT_WR)
        report(before.recv(1) == b"", "and ends", "")
        time.sleep(1)
        counted = running.stop()
    asked, made = counted["dropped"].get("tcp.Connection.asked", 0), counted["counters"].get("user.E.begun", -1)
    report(asked >= 1_000_000, f"{asked} SYNs were seen", json.dumps(counted)[:900])
    report(0 < made <= begun, f"no session of {asked - begun} SYNs, {made} of {begun} who meant it", json.dumps(counted)[:900])


ROUGH = dict(loss=100, duplicate=100, reorder=300, corrupt=20, least=200, most=200)
JUDGES = {
    "refused": (60, refused),
    "listens": (240, lambda: listens(1024)),
    "calls": (240, lambda: calls(1024)),
    "interpreter": (120, lambda: interpreted(16)),
    "crowd": (180, crowd),
    "deaf": (240, deaf),
    "in-turn": (240, in_turn),
    "lossy-1": (600, lambda: lossy(64, 1)),
    "lossy-5": (300, lambda: lossy(1, 5)),
    "shaped": (120, lambda: shaped(64)),
    "weather-1": (600, lambda: weather(64, "1 % lost, 1 % doubled, 3 % late, 0.2 % damaged", **ROUGH)),
    "weather-calls": (600, lambda: weather_calls(64, "1 % lost, 1 % doubled, 3 % late, 0.2 % damaged", **ROUGH)),
    "weather-5": (300, lambda: weather(1, "5 % lost, 20 % late, all in disorder", loss=500, reorder=2000, least=100, most=2000)),
    "own-weather": (300, lambda: own_weather(16, "loss 1 % duplicate 1 % reorder 3 % corrupt 1 % delay 200 us")),
    "web": (300, web),
    "services": (200, services),
    "fetches": (200, fetches),
    "flood": (300, flood),
    "long": (1200, lambda: listens(5120)),
}


class Late(Exception):
    """A judge's time is over."""


def judge(name):
    seconds, work = JUDGES[name]

    def late(*_):
        raise Late
    signal.signal(signal.SIGALRM, late)
    if run("ip", "netns", "add", SPACE).returncode != 0:
        return skip(name, "no namespace")
    outside = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        in_namespace()
        run("ip", "link", "set", "lo", "up")
        signal.alarm(seconds)
        work()
    except Late:
        report(False, name, f"not done after {seconds} s")
    except (OSError, subprocess.SubprocessError) as error:
        report(False, name, repr(error))
    finally:
        signal.alarm(0)
        common.ctypes.CDLL(None).setns(outside, 0x40000000)
        os.close(outside)
        run("ip", "netns", "del", SPACE)


def main():
    wanted = sys.argv[1:] or list(JUDGES)
    if not fit("Linux as peer"):
        return
    run("ip", "netns", "del", SPACE)
    for name in wanted:
        judge(name)


if __name__ == "__main__":
    main()
    sys.exit(1 if common.failures else 0)

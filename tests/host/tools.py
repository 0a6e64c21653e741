#!/usr/bin/env python3
"""`mokume connect`, `listen` and `forward` against the operating system's sockets, over a TAP device in a namespace of the test's own.

Needs what `host_test.py` needs; curl where there.
"""

import hashlib
import http.server
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import common
from common import BLOCK, MOKUME, OURS, OURS6, SCRATCH, SPACE, THEIRS, THEIRS6, Stack, ended, fit, in_namespace, report, run, skip

TAP = "mok2"
ADDRESSES = ["--device", f"tap:{TAP}", "--set", f"address={OURS}/24", "--set", f"address6={OURS6}/64"]


def mokume(*words, said=b"", patience="60s"):
    """A command that has ended, and what it had to say."""
    command = [str(MOKUME), *words, *ADDRESSES, "--for", patience]
    return subprocess.run(command, input=said, capture_output=True, timeout=120, cwd=SCRATCH)


class Running:
    """One that goes on; ended by its process id. It is ready when it has said `word`."""

    def __init__(self, *words, word, **more):
        self.log = SCRATCH / f"tools-{words[0]}.log"
        self.out = open(self.log, "w")
        self.process = subprocess.Popen([str(MOKUME), *words, *ADDRESSES, "--for", "60s"], stderr=self.out, cwd=SCRATCH, **more)
        for _ in range(600):
            if word in self.log.read_text() or self.process.poll() is not None:
                break
            time.sleep(0.05)

    def stop(self):
        code = ended(self.process)
        self.out.close()
        return code


def server(to, serve):
    """Serves one connection at a port of the system's choice, in a thread; the port."""
    plug = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET)
    plug.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    plug.bind((to, 0))
    plug.listen(16)

    def one():
        # Whatever becomes of it: the judge looks at what the command says.
        try:
            with plug, plug.accept()[0] as talk:
                talk.settimeout(60)
                serve(talk)
        except OSError:
            pass

    threading.Thread(target=one, daemon=True).start()
    return str(plug.getsockname()[1])


def back(talk):
    while octets := talk.recv(1 << 16):
        talk.sendall(octets)


def slowly_back(talk):
    """Answers when all has come: what is said last is heard behind the end of what was said first."""
    heard = hashlib.sha256()
    while octets := talk.recv(4096):
        heard.update(octets)
        time.sleep(0.0005)
    talk.sendall(heard.hexdigest().encode())


def cut_off(talk):
    talk.recv(10)
    talk.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def connects(backend, to):
    name = f"{backend}: connect, {to}"
    said = BLOCK * 4
    done = mokume("connect", to, server(to, back), "--backend", backend, said=said)
    report(done.returncode == 0 and done.stdout == said, f"{name}: 4 MiB there and back", f"{len(done.stdout)} octets, {done.stderr}")
    done = mokume("connect", to, server(to, slowly_back), "--backend", backend, said=BLOCK)
    wanted = hashlib.sha256(BLOCK).hexdigest().encode()
    report(done.returncode == 0 and done.stdout == wanted, f"{name}: a slow reader hears all, and answers behind the end", str(done)[:300])
    done = mokume("connect", to, "4242", "--backend", backend)
    report(done.returncode == 1 and b"refused" in done.stderr and done.stdout == b"", f"{name}: a closed port", str(done))
    done = mokume("connect", to, server(to, cut_off), "--backend", backend, said=BLOCK)
    report(done.returncode == 1 and b"reset" in done.stderr, f"{name}: a reset", str(done))
    nobody = to[:-1] + "9"
    done = mokume("connect", nobody, "7", "--backend", backend, patience="2s")
    report(done.returncode == 1 and done.stderr.count(b"\n") == 1, f"{name}: nobody is there", str(done))


def a_slow_pipe(backend):
    """Who reads what comes takes his time: the other end is held back, and loses nothing."""
    port = server(THEIRS, lambda talk: talk.sendall(BLOCK * 2))
    process = subprocess.Popen([str(MOKUME), "connect", THEIRS, port, "--backend", backend, *ADDRESSES, "--for", "60s"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, cwd=SCRATCH)
    time.sleep(1)
    heard = hashlib.sha256()
    while octets := os.read(process.stdout.fileno(), 50000):
        heard.update(octets)
        time.sleep(0.005)
    good = process.wait(30) == 0 and heard.digest() == hashlib.sha256(BLOCK * 2).digest()
    report(good, f"{backend}: connect: a slow reader of the standard output")


def a_quick_sender(backend):
    """What has come is written while there is room, and the window stays open: who writes one message a turn makes Linux wait for each."""
    port = server(THEIRS, lambda talk: talk.sendall(BLOCK * 8))
    got, pcap = SCRATCH / "got", SCRATCH / "windows.pcap"
    with open(got, "wb") as out:
        code = subprocess.run([str(MOKUME), "connect", THEIRS, port, "--backend", backend, *ADDRESSES, "--for", "60s", "--linger", "0s", "--pcap", str(pcap)],
                              stdin=subprocess.DEVNULL, stdout=out, timeout=120, cwd=SCRATCH).returncode
    windows = windows_of(pcap, OURS)
    narrow = sum(window <= 2 * 1460 for window in windows)
    good = code == 0 and got.read_bytes() == BLOCK * 8 and len(windows) > 1000 and narrow * 4 < len(windows)
    report(good, f"{backend}: connect: the window stays open for a quick sender", f"{code}, {narrow} of {len(windows)} acknowledgements promise two segments or less")


def windows_of(pcap, whose):
    """What the TCP segments of this address promise, in a capture of Ethernet."""
    octets, at, windows = pcap.read_bytes(), 24, []
    while at < len(octets):
        size, = struct.unpack_from("<I", octets, at + 8)
        frame = octets[at + 16:at + 16 + size]
        if frame[12:14] == b"\x08\0" and frame[23] == 6 and frame[26:30] == socket.inet_aton(whose):
            windows.append(struct.unpack_from(">H", frame, 48)[0])
        at += 16 + size
    return windows


def unread(backend):
    port = server(THEIRS, lambda talk: [talk.sendall(BLOCK) for _ in range(20)])
    process = subprocess.Popen([str(MOKUME), "connect", THEIRS, port, "--backend", backend, *ADDRESSES, "--for", "60s"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, cwd=SCRATCH)
    process.stdout.read(10)
    process.stdout.close()
    report(process.wait(30) == -13, f"{backend}: connect: a reader that goes away ends it as it ends others", str(process.returncode))


def dialled(to, port):
    plug = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET)
    plug.settimeout(30)
    plug.connect((to, port))
    return plug


def listens(backend, to):
    name = f"{backend}: listen, {to}"
    listener = Running("listen", "7", "--backend", backend, word="listening", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        with dialled(to, 7) as plug:
            # The kernel has a connection before we have heard that it has.
            time.sleep(0.5)
            try:
                dialled(to, 7).close()
                report(False, f"{name}: the second is refused", "it was not")
            except ConnectionRefusedError:
                report(True, f"{name}: the second is refused")
            def say():
                with listener.process.stdin as said:
                    said.write(BLOCK)

            threading.Thread(target=say, daemon=True).start()
            heard = b""
            while octets := plug.recv(1 << 16):
                heard += octets
            plug.sendall(b"behind its end")
            plug.shutdown(socket.SHUT_WR)
            answer = listener.process.stdout.read()
        code = listener.process.wait(30)
        report(code == 0 and heard == BLOCK and answer == b"behind its end", f"{name}: said and heard",
               f"{code}, {len(heard)}, {answer}, {listener.log.read_text()}")
    except OSError as error:
        report(False, name, f"{error}, {listener.log.read_text()}")
    finally:
        listener.stop()


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(BLOCK)))
        self.end_headers()
        self.wfile.write(BLOCK)

    def log_message(self, *_):
        pass


def fetched(url):
    return subprocess.run(["curl", "-s", "--max-time", "60", url], capture_output=True, timeout=90)


def forwards(backend):
    """curl, a server of the system, and between them a stack that both reach as if it were another's."""
    name = f"{backend}: forward"
    if not shutil.which("curl"):
        return skip(name, "curl is not installed")
    pages = http.server.ThreadingHTTPServer((THEIRS, 8088), Pages)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    ways = ["--from", "127.0.0.1:8080", "--to", f"{THEIRS}:8088", "--from", "stack:80", "--to", f"{THEIRS}:8088", "--from", "127.0.0.1:8081", "--to",
            f"{THEIRS}:4242", "--from", "stack:81", "--to", "127.0.0.1:4242"]
    forward = Running("forward", *ways, "--backend", backend, word="from the stack's 81", stdout=subprocess.PIPE)
    try:
        for way, url in [("out", "http://127.0.0.1:8080/"), ("in", f"http://{OURS}/"), ("in by IPv6", f"http://[{OURS6}]/")]:
            done = fetched(url)
            report(done.stdout == BLOCK, f"{name} {way}: curl has a page", f"{done.returncode}, {len(done.stdout)} octets, {forward.log.read_text()}")
        many = [threading.Thread(target=lambda: results.append(fetched("http://127.0.0.1:8080/").stdout == BLOCK)) for _ in range(6)]
        results = []
        for one in many:
            one.start()
        for one in many:
            one.join()
        report(results == [True] * 6, f"{name} out: six at once", str(results))
        for way, url in [("out", "http://127.0.0.1:8081/"), ("in", f"http://{OURS}:81/")]:
            report(fetched(url).returncode in [7, 52, 56], f"{name} {way}: nobody behind it, and who asks is told")
    finally:
        code = forward.stop()
        pages.shutdown()
        pages.server_close()
    said = forward.process.stdout.read().decode()
    report(code == 0 and "frames:" in said, f"{name}: ends by a signal, with a report", f"{code} {said}")


PATTERN = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-\n"


def pages(backend, size):
    """`examples/http.mok` and curl: pages of all sizes, several in one connection, posts, and what is wrong."""
    if not shutil.which("curl"):
        return skip(f"{backend}: pages", "curl is not installed")
    stack = Stack("examples/http.mok", backend, TAP, f"address={OURS}/24", f"address6={OURS6}/64", seconds=120, pcap=False)
    try:
        if not stack.ready():
            return report(False, f"{backend}: the web server starts", stack.said())
        for to in [OURS, f"[{OURS6}]"]:
            dialled(to.strip("[]"), 80).close()                  # the neighbour is known
            for n in [0, 1, 63, 64, 65, 4096, 4097, size]:
                done = fetched(f"http://{to}/{n}")
                good = done.stdout == (PATTERN * (n // 64 + 1))[:n] and done.returncode == 0
                report(good, f"{backend}: curl fetches {n} octets, {to}", f"{done.returncode}, {len(done.stdout)} octets")
            posted = run("curl", "-s", "--max-time", "60", "--data-binary", f"@{posting(size)}", f"http://{to}/x").stdout
            wanted = f"{size:010} {sum(BLOCK[:size]) % (1 << 32):010}\n"
            report(posted == wanted, f"{backend}: curl posts {size} octets, {to}", posted)
        both = run("curl", "-sv", "--max-time", "60", f"http://{OURS}/5", f"http://{OURS}/6", f"http://{OURS}/wrong")
        report(both.stdout == "01234012345" and "400 Bad Request" in both.stderr and both.stderr.count("Connected to") == 1,
               f"{backend}: curl keeps the connection, and is told what is wrong", both.stdout + both.stderr[-300:])
        with dialled(OURS, 80) as plug:
            plug.sendall(b"GET /3 HTTP/1.1\r\nHost: a\r\n\r\n" * 20)
            plug.shutdown(socket.SHUT_WR)
            heard = b"".join(iter(lambda: plug.recv(1 << 16), b""))
        report(heard.count(b"\r\n\r\n012") == 20, f"{backend}: twenty requests at once, each answered in order", str(len(heard)))
    finally:
        accounts = stack.stop()
    return report(accounts.get("reports", -1) == 0, f"{backend}: the web server has no reports", str(accounts)[:300])


def posting(size):
    name = SCRATCH / "posted"
    name.write_bytes(BLOCK[:size])
    return name


def small_services(backend):
    """Discard takes a block; chargen says lines that come round, until nobody listens any more."""
    for service in ["discard", "chargen"]:
        stack = Stack(f"examples/{service}.mok", backend, TAP, f"address={OURS}/24", seconds=60, pcap=False)
        try:
            if not stack.ready():
                return report(False, f"{backend}: {service} starts", stack.said())
            with dialled(OURS, {"discard": 9, "chargen": 19}[service]) as plug:
                if service == "discard":
                    plug.sendall(BLOCK)
                    plug.shutdown(socket.SHUT_WR)
                    report(plug.recv(1) == b"", f"{backend}: discard takes a block, says nothing, and ends")
                else:
                    plug.sendall(b"anything")
                    heard = b""
                    while len(heard) < 100 * 74:
                        heard += plug.recv(1 << 16)
                    seen = bytes(range(32, 127)) * 2
                    lines = [seen[i % 95:i % 95 + 72] for i in range(100)]
                    report(heard[:100 * 74].split(b"\r\n")[:100] == lines, f"{backend}: chargen's lines come round")
        finally:
            accounts = stack.stop()
        report(accounts.get("reports", -1) == 0, f"{backend}: {service} has no reports", str(accounts)[:300])
    return None


def bad_weather(backend):
    """A line that loses, doubles and delays, in both directions: all comes, and the report says what happened to it."""
    done = mokume("connect", THEIRS, server(THEIRS, back), "--backend", backend, "--seed", "7", "--weather",
                  "loss 2 % duplicate 1 % reorder 2 % delay 1 ms .. 3 ms rate 100 Mbit/s queue 100", said=BLOCK)
    told = done.stderr.decode()
    lost = [int(line.split(" lost")[0].split()[-1]) for line in told.splitlines() if line.startswith("weather")]
    report(done.returncode == 0 and done.stdout == BLOCK and len(lost) == 2 and min(lost) > 0,
           f"{backend}: 1 MiB there and back in bad weather", f"{len(done.stdout)} {told}")


def tools(backend):
    made = run("ip", "tuntap", "add", TAP, "mode", "tap")
    up = run("ip", "link", "set", TAP, "txqueuelen", "20000", "up")
    run("ip", "address", "add", f"{THEIRS}/24", "dev", TAP)
    run("ip", "address", "add", f"{THEIRS6}/64", "dev", TAP, "nodad")
    if made.returncode or up.returncode:
        return report(False, f"{backend}: a TAP device for streams", made.stderr + up.stderr)
    try:
        for to in [THEIRS, THEIRS6]:
            connects(backend, to)
        a_slow_pipe(backend)
        a_quick_sender(backend)
        unread(backend)
        for to in [OURS, OURS6]:
            listens(backend, to)
        forwards(backend)
        bad_weather(backend)
        pages(backend, 1 << 20 if backend == "c" else 100_000)
        small_services(backend)
    finally:
        run("ip", "link", "del", TAP)
    return None


def main():
    if not fit("streams of the command over TAP"):
        return
    try:
        in_namespace()
        run("ip", "link", "set", "lo", "up")
        for backend in sys.argv[1:] or ["c", "interpreter"]:
            tools(backend)
    finally:
        run("ip", "netns", "del", SPACE)


if __name__ == "__main__":
    main()
    sys.exit(1 if common.failures else 0)

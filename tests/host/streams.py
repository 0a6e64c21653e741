#!/usr/bin/env python3
"""TCP of the library against the operating system's: `examples/stream.mok` over a TAP device in a namespace of the test's own.

Needs what `host_test.py` needs; curl and tc where there. With a number as its argument it moves so many MiB in one session.
"""

import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import common
from common import BLOCK, OURS, OURS6, SPACE, THEIRS, THEIRS6, Stack, clean_capture, echoed, fit, in_namespace, report, run, skip

TAP = "mok0"


def connected(to, port=7, window=None):
    plug = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET)
    if window:
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    plug.settimeout(60)
    plug.connect((to, port))
    return plug


def refused(name, to):
    began = time.monotonic()
    try:
        connected(to, 4242).close()
        report(False, name, "somebody was there")
    except ConnectionRefusedError:
        report(time.monotonic() - began < 0.5, name, "it took its time")
    except OSError as error:
        report(False, name, str(error))


def many(to, sessions):
    """So many at once; each says the block."""
    faults = []

    def one():
        try:
            faults.append(echoed(connected(to), 1 << 20))
        except OSError as error:
            faults.append(str(error))

    speakers = [threading.Thread(target=one) for _ in range(sessions)]
    for speaker in speakers:
        speaker.start()
    for speaker in speakers:
        speaker.join()
    return [fault for fault in faults if fault]


def one_by_one(to, sessions):
    """So many, one behind the other, each of a few octets."""
    for number in range(sessions):
        with connected(to) as plug:
            plug.sendall(b"%d" % number)
            if plug.recv(100) != b"%d" % number:
                return f"number {number} came back otherwise"
    return ""


def cut_off(to):
    """A session that the other end resets in the midst of it."""
    plug = connected(to)
    plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    plug.sendall(BLOCK[:100000])
    plug.close()


def curl(name, to):
    if not shutil.which("curl"):
        return skip(name, "curl is not installed")
    host = f"[{to}]" if ":" in to else to
    process = subprocess.Popen(["curl", "-sN", f"telnet://{host}:7"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        process.stdin.write(b"hello, curl\n")
        process.stdin.flush()
        line = process.stdout.readline()
    finally:
        process.kill()
        process.wait()
    return report(line == b"hello, curl\n", name, repr(line))


def said_and_heard(backend, blocks):
    for to in [OURS, OURS6]:
        connected(to).close()                                   # the address is known to be ours, and the neighbour to be there
        refused(f"{backend}: a closed port is refused at once, {to}", to)
        began = time.monotonic()
        fault = echoed(connected(to), blocks << 20)
        took = time.monotonic() - began
        report(not fault, f"{backend}: {blocks} MiB each way in {took:.2f} s, {to}", fault)
        curl(f"{backend}: curl, {to}", to)
    fault = one_by_one(OURS, 30)
    report(not fault, f"{backend}: 30 sessions, one by one", fault)
    faults = many(OURS, 8)
    report(not faults, f"{backend}: 8 sessions of 1 MiB at once", "; ".join(faults))
    fault = echoed(connected(OURS, window=8000), 1 << 20, 0.002)
    report(not fault, f"{backend}: a slow reader of little room", fault)
    cut_off(OURS)
    fault = echoed(connected(OURS), 1 << 20, pieces=997)
    report(not fault, f"{backend}: in pieces, behind a session that was reset", fault)


def weather(backend):
    """The kernel's own queue loses, doubles and delays what it sends to us."""
    bad = "loss 2% duplicate 1% delay 5ms 2ms reorder 20%".split()
    if not shutil.which("tc") or run("tc", "qdisc", "add", "dev", TAP, "root", "netem", *bad).returncode != 0:
        return skip(f"{backend}: weather", "tc netem is not there")
    fault = echoed(connected(OURS), 1 << 20)
    report(not fault, f"{backend}: 1 MiB each way with 2 % lost, 1 % doubled, in disorder", fault)
    return run("tc", "qdisc", "del", "dev", TAP, "root")


def streams(backend, blocks):
    stack = Stack("examples/stream.mok", backend, TAP, f"address={OURS}/24", f"address6={OURS6}/64", seconds=240, pcap=blocks <= 16)
    try:
        if not stack.ready(f"{THEIRS}/24", f"{THEIRS6}/64"):
            return report(False, f"{backend}: the host starts", stack.said())
        said_and_heard(backend, blocks)
        weather(backend)
        report(stack.process.poll() is None, f"{backend}: the host is still there", stack.said())
    finally:
        accounts = stack.stop()
    lost = accounts.get("dropped", {}).get("tcp.Connection.no_room", 0)
    report(accounts.get("reports", -1) == 0 and lost == 0, f"{backend}: no reports, nothing lost for want of room", str(accounts)[:400])
    if blocks <= 16:
        clean_capture(f"{backend}: tshark finds nothing wrong in what we sent", stack.pcap, [OURS, OURS6])


def main():
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    if not fit("streams over TAP"):
        return
    try:
        in_namespace()
        run("ip", "link", "set", "lo", "up")
        for backend in ["c", "interpreter"]:
            streams(backend, blocks)
    finally:
        run("ip", "netns", "del", SPACE)


if __name__ == "__main__":
    main()
    sys.exit(1 if common.failures else 0)

#!/usr/bin/env python3
"""The example hosts against the operating system's own stack, over TAP devices in a namespace of the test's own.

Needs root, /dev/net/tun, iproute2, ping; arping and tshark where there. The long runs are in `campaign`.
"""

import json
import os
import shutil
import socket
import sys
import threading
import time

import common
from common import OURS, OURS6, SPACE, THEIRS, THEIRS6, Stack, clean_capture, fit, in_namespace, report, run, skip
from forward import forwarding
from forward6 import forwarding6
from fragments import fragments
from pings import ping
from rfcs import linux, ours
from streams import streams
from told import told
from tools import tools


def udp(connected, to=OURS):
    plug = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET, socket.SOCK_DGRAM)
    plug.settimeout(2)
    if connected:
        plug.connect((to, 7))
    return plug


SIZES = [0, 1, 2, 3, 17, 63, 64, 511, 512, 513, 1452, 1453, 1471, 1472, 1473, 4000, 20000, 60000]


def echoes(name, connected, to=OURS, times=5):
    """Each size comes back as it went, from the address and port it went to."""
    with udp(connected, to) as plug:
        for size in SIZES * times:
            sent = os.urandom(size)
            try:
                if connected:
                    plug.send(sent)
                    back = plug.recv(70000)
                else:
                    plug.sendto(sent, (to, 7))
                    back, whence = plug.recvfrom(70000)
                    if whence[:2] != (to, 7):
                        return report(False, name, f"answer from {whence}")
            except OSError as error:
                return report(False, name, f"{size} octets: {error}")
            if back != sent:
                return report(False, name, f"{size} octets: another message came back")
    report(True, name)


def refused(name, to=OURS):
    with udp(False, to) as plug:
        plug.settimeout(3)
        plug.connect((to, 4242))
        try:
            plug.send(b"anyone?")
            plug.recv(100)
            report(False, name, "an answer came")
        except ConnectionRefusedError:
            report(True, name)
        except OSError as error:
            report(False, name, str(error))


def address_resolution(name, tap):
    if not shutil.which("arping"):
        return skip(name, "arping is not installed")
    plain = run("arping", "-c", "3", "-w", "5", "-I", tap, OURS)
    report(plain.returncode == 0, f"{name}: arping is answered", plain.stdout.strip())
    # RFC 5227 2.1.1: a probe (sender address 0) for our address must be answered; arping -D then says so by exit 1.
    probe = run("arping", "-D", "-c", "2", "-w", "5", "-I", tap, OURS)
    # Of the two programs of this name the one counts answers, the other writes a `!` for each.
    said = probe.stdout
    report(probe.returncode == 1 and "1 response" in said or "Received 1" in said or "Received 2" in said or said.strip().startswith("!"),
           f"{name}: address probes are answered", probe.stdout.strip())


def host(backend, interval, sizes, large):
    """IPv4 and IPv6 at once: pings, UDP of all sizes, parts by hand."""
    stack = Stack("examples/host6.mok", backend, "mok0", f"address={OURS}/24", f"address6={OURS6}/64")
    try:
        if not stack.ready(f"{THEIRS}/24", f"{THEIRS6}/64"):
            return report(False, f"{backend}: the host starts", stack.said())
        address_resolution(backend, "mok0")
        for size in sizes:
            ping(backend, size, 500, interval)
        for size, count in large:
            pace = 0.01 if backend == "c" else 0.03
            ping(backend, size, count, pace)
            ping(f"{backend}: IPv6", size, count, pace, OURS6)
        for to in [OURS, OURS6]:
            echoes(f"{backend}: UDP echo, unconnected, {to}", False, to)
            echoes(f"{backend}: UDP echo, connected, {to}", True, to)
            refused(f"{backend}: a closed port is refused, {to}", to)
        fragments(backend, False, "mok0")
        fragments(backend, True, "mok0")
        run("ping", "-n", "-q", "-c", "1", "-W", "2", OURS)
        report(stack.process.poll() is None, f"{backend}: the host is still there", stack.said())
    finally:
        accounts = stack.stop()
    # Datagrams that will never be whole are held until their time is over.
    report(accounts.get("reports", -1) == 0 and 0 <= accounts.get("held", -1) <= 256, f"{backend}: no reports, little held",
           json.dumps(accounts)[:400] or stack.said())
    clean_capture(f"{backend}: tshark finds nothing wrong in what we sent", stack.pcap, [OURS, OURS6])


def client(backend):
    plug = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    plug.settimeout(0.2)
    done = threading.Event()
    served = [0]

    def serve():
        plug.bind(("0.0.0.0", 7007))
        while not done.is_set():
            try:
                message, whence = plug.recvfrom(4096)
                plug.sendto(message, whence)
                served[0] += 1
            except TimeoutError:
                pass
            except OSError:
                time.sleep(0.05)

    worker = threading.Thread(target=serve)
    worker.start()
    stack = Stack("examples/client.mok", backend, "mok1", "address=10.78.0.2/24", "server=10.78.0.1", "server_port=7007",
                  seconds=30)
    try:
        if not stack.ready("10.78.0.1/24"):
            return report(False, f"{backend}: the client starts", stack.said())
        time.sleep(4)
    finally:
        accounts = stack.stop()
        done.set()
        worker.join()
        plug.close()
    answered = sum(count for name, count in accounts.get("counters", {}).items() if name.endswith("answered"))
    report(served[0] >= 5 and answered >= 5, f"{backend}: a client of the operating system's echo server",
           f"served {served[0]}, {json.dumps(accounts)[:300]}")


def main():
    if not fit("host over TAP"):
        return
    try:
        in_namespace()
        run("ip", "link", "set", "lo", "up")
        host("c", 0.002, [0, 1, 56, 1471, 1472], [(1473, 100), (20000, 100), (60000, 100)])
        client("c")
        forwarding("c", 100)
        forwarding6("c", 100)
        told("c")
        linux()
        ours("c")
        streams("c", 1)
        tools("c")
        host("interpreter", 0.01, [0, 1472], [(1473, 50), (60000, 30)])
        client("interpreter")
        forwarding("interpreter", 30, 0.03)
        forwarding6("interpreter", 30, 0.03)
        told("interpreter")
        ours("interpreter")
        streams("interpreter", 1)
        tools("interpreter")
    finally:
        run("ip", "netns", "del", SPACE)


if __name__ == "__main__":
    main()
    sys.exit(1 if common.failures else 0)

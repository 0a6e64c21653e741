#!/usr/bin/env python3
"""The example host against the operating system's own stack, over a TAP device in a namespace of its own.

Prints `ok NAME`, `not ok NAME`, `skip NAME: why`. Everything is bounded in time; processes are ended by their ids and
the namespace is removed, whatever happens. Needs root, /dev/net/tun, iproute2, ping; arping and tshark where there.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOKUME = pathlib.Path(os.environ.get("MOKUME", ROOT / "target/release/mokume"))
SPACE = f"mok{os.getpid() % 100000}"
OURS, THEIRS = "10.77.0.2", "10.77.0.1"
SCRATCH = ROOT / "target" / "host-test"
failures = 0


def report(good, name, why=""):
    global failures
    failures += not good
    print(f"{'ok' if good else 'not ok'} {name}{'' if good or not why else ': ' + why}", flush=True)


def skip(name, why):
    print(f"skip {name}: {why}", flush=True)


def run(*command, timeout=120):
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


def inside(*command, timeout=120):
    return run("ip", "netns", "exec", SPACE, *command, timeout=timeout)


def in_namespace():
    """Moves this process (all threads made later) into the test's namespace, so that plain sockets work."""
    handle = os.open(f"/run/netns/{SPACE}", os.O_RDONLY)
    import ctypes
    if ctypes.CDLL(None, use_errno=True).setns(handle, 0x40000000) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    os.close(handle)


class Stack:
    """A running `mokume run`; ended by its process id."""

    def __init__(self, example, backend, tap, *settings, seconds=90):
        self.log = SCRATCH / f"{pathlib.Path(example).stem}-{backend}.log"
        self.pcap = SCRATCH / f"{pathlib.Path(example).stem}-{backend}.pcap"
        command = [str(MOKUME), "run", str(ROOT / example), "--device", f"tap:{tap}", "--backend", backend,
                   "--for", f"{seconds}s", "--pcap", str(self.pcap), "--format", "json"]
        for setting in settings:
            command += ["--set", setting]
        self.out = open(self.log, "w")
        self.process = subprocess.Popen(command, stdout=self.out, stderr=subprocess.STDOUT, cwd=SCRATCH)
        self.tap = tap

    def ready(self, address):
        """Waits until it says that it runs (C is compiled first), and gives our side of the interface its address."""
        for _ in range(900):
            if self.process.poll() is not None:
                return False
            if '"running"' in self.log.read_text():
                break
            time.sleep(0.1)
        run("ip", "address", "add", address, "dev", self.tap)
        return run("ip", "link", "set", self.tap, "up").returncode == 0

    def stop(self):
        """Ends it; returns its accounts (the last JSON line)."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(15)
        self.out.close()
        lines = [line for line in self.log.read_text().splitlines() if line.startswith("{")]
        return json.loads(lines[-1]) if lines else {}

    def said(self):
        return " | ".join(self.log.read_text().splitlines()[-4:])


def ping(name, size, count, interval):
    done = run("ping", "-n", "-q", "-c", str(count), "-i", str(interval), "-s", str(size), "-W", "2", OURS, timeout=180)
    found = re.search(r"(\d+) packets transmitted, (\d+) received", done.stdout)
    good = bool(found) and found.group(1) == found.group(2) == str(count)
    report(good, f"{name}: {count} pings of {size} octets", done.stdout.strip().replace("\n", " ") + done.stderr.strip())


def udp(connected):
    plug = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    plug.settimeout(2)
    if connected:
        plug.connect((OURS, 7))
    return plug


def echoes(name, connected):
    """Each size comes back as it went, from the address and port it went to."""
    with udp(connected) as plug:
        for size in [0, 1, 2, 3, 17, 63, 64, 511, 512, 513, 1471, 1472] * 10:
            sent = os.urandom(size)
            try:
                if connected:
                    plug.send(sent)
                    back = plug.recv(4096)
                else:
                    plug.sendto(sent, (OURS, 7))
                    back, whence = plug.recvfrom(4096)
                    if whence != (OURS, 7):
                        return report(False, name, f"answer from {whence}")
            except OSError as error:
                return report(False, name, f"{size} octets: {error}")
            if back != sent:
                return report(False, name, f"{size} octets: another message came back")
    report(True, name)


def refused(name):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug:
        plug.settimeout(3)
        plug.connect((OURS, 4242))
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
    report(probe.returncode == 1 and "1 response" in probe.stdout or "Received 1" in probe.stdout or "Received 2" in probe.stdout,
           f"{name}: address probes are answered", probe.stdout.strip())


def clean_capture(name, capture):
    if not shutil.which("tshark"):
        return skip(name, "tshark is not installed")
    bad = run("tshark", "-r", str(capture), "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-Y",
              '_ws.malformed || ip.checksum.status == "Bad" || udp.checksum.status == "Bad" || icmp.checksum.status == "Bad"')
    frames = run("tshark", "-r", str(capture), "-T", "fields", "-e", "frame.number")
    # Only what we sent counts: Linux leaves checksums to the device, so its own frames may carry none.
    ours = [line for line in bad.stdout.splitlines() if f" {OURS} " in line.split("→")[0]]
    report(not ours and len(frames.stdout.split()) > 100, name, "\n".join(ours[:3]))


def host(backend, interval, sizes):
    stack = Stack("examples/host.mok", backend, "mok0", f"address={OURS}/24")
    try:
        if not stack.ready(f"{THEIRS}/24"):
            return report(False, f"{backend}: the host starts", stack.said())
        address_resolution(backend, "mok0")
        for size in sizes:
            ping(backend, size, 1000, interval)
        echoes(f"{backend}: UDP echo, unconnected", False)
        echoes(f"{backend}: UDP echo, connected", True)
        refused(f"{backend}: a closed port is refused")
        run("ping", "-n", "-q", "-c", "1", "-W", "2", OURS)
        report(stack.process.poll() is None, f"{backend}: the host is still there", stack.said())
    finally:
        accounts = stack.stop()
    report(accounts.get("reports", -1) == 0 and accounts.get("held", -1) == 0,
           f"{backend}: no reports, nothing held", json.dumps(accounts)[:400] or stack.said())
    clean_capture(f"{backend}: tshark finds nothing wrong in what we sent", stack.pcap)


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
    name = "host over TAP"
    if not MOKUME.exists():
        report(False, name, "target/release/mokume is not built")
        return
    if os.geteuid() != 0:
        return skip(name, "needs root for namespaces and TAP devices")
    if not os.path.exists("/dev/net/tun"):
        return skip(name, "this machine has no /dev/net/tun")
    if not shutil.which("ip") or not shutil.which("ping"):
        return skip(name, "iproute2 and ping are needed")
    if run("ip", "netns", "add", SPACE).returncode != 0:
        return skip(name, "namespaces are not permitted here")
    try:
        probe = inside("ip", "tuntap", "add", "mokprobe", "mode", "tap")
        if probe.returncode != 0:
            return skip(name, f"TAP devices are not permitted here ({probe.stderr.strip()})")
        inside("ip", "link", "del", "mokprobe")
        SCRATCH.mkdir(parents=True, exist_ok=True)
        in_namespace()
        run("ip", "link", "set", "lo", "up")
        host("c", 0.002, [0, 1, 56, 1471, 1472])
        client("c")
        host("interpreter", 0.01, [0, 1472])
        client("interpreter")
    finally:
        run("ip", "netns", "del", SPACE)


main()
sys.exit(1 if failures else 0)

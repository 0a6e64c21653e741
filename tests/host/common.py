"""What the judges share: a namespace of the test's own, running stacks, reports.

Prints `ok NAME`, `not ok NAME`, `skip NAME: why`. Everything is bounded in time; processes are ended by their ids and
the namespaces are removed, whatever happens.
"""

import contextlib
import ctypes
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOKUME = pathlib.Path(os.environ.get("MOKUME", ROOT / "target/release/mokume"))
SPACE = f"mok{os.getpid() % 100000}"
OURS, THEIRS = "10.77.0.2", "10.77.0.1"
OURS6, THEIRS6 = "fd00:77::2", "fd00:77::1"
SCRATCH = ROOT / "target" / "host-test"
# What is sent, as often as is wanted.
BLOCK = os.urandom(1 << 20)
failures = 0


def report(good, name, why=""):
    global failures
    failures += not good
    print(f"{'ok' if good else 'not ok'} {name}{'' if good or not why else ': ' + why}", flush=True)


def skip(name, why):
    print(f"skip {name}: {why}", flush=True)


def run(*command, timeout=120):
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


def inside(space, *command, timeout=120):
    return run("ip", "netns", "exec", space, *command, timeout=timeout)


def in_namespace(space=SPACE):
    """Moves this process (all threads made later) into a namespace, so that plain sockets work."""
    handle = os.open(f"/run/netns/{space}", os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(handle, 0x40000000) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    os.close(handle)


class Stack:
    """A running `mokume run`; ended by its process id. `taps` are names of interfaces, by the stack's device."""

    def __init__(self, example, backend, taps, *settings, seconds=90, pcap=True, stack=None, weather=None):
        taps = {"device": taps} if isinstance(taps, str) else taps
        self.log = SCRATCH / f"{pathlib.Path(example).stem}-{backend}.log"
        self.log.unlink(missing_ok=True)
        self.pcap = SCRATCH / f"{pathlib.Path(example).stem}-{backend}.pcap"
        command = [str(MOKUME), "run", str(ROOT / example), "--backend", backend, "--for", f"{seconds}s", "--format", "json"]
        command += ["--pcap", str(self.pcap)] if pcap else []
        command += ["--stack", stack] if stack else []
        command += ["--weather", weather] if weather else []
        for device, tap in taps.items():
            command += ["--device", f"{device}=tap:{tap}"]
        for setting in settings:
            command += ["--set", setting]
        self.out = open(self.log, "w")
        self.process = subprocess.Popen(command, stdout=self.out, stderr=subprocess.STDOUT, cwd=SCRATCH)
        self.taps = list(taps.values())

    def ready(self, *addresses):
        """Waits until it says that it runs (C is compiled first), and gives our side of the interfaces these addresses."""
        for _ in range(900):
            if self.process.poll() is not None:
                return False
            if '"running"' in self.log.read_text():
                break
            time.sleep(0.1)
        for address in addresses:
            extra = ["nodad"] if ":" in address else []
            run("ip", "address", "add", address, "dev", self.taps[0], *extra)
        # A queue of a few datagrams in parts: this machine may be busy with other tests.
        up = [run("ip", "link", "set", tap, "txqueuelen", "20000", "up").returncode == 0 for tap in self.taps]
        return all(up)

    def stop(self):
        """Ends it; returns its accounts (the last JSON line)."""
        ended(self.process)
        self.out.close()
        return self.accounts()

    def accounts(self):
        """Its last JSON line, once it has ended."""
        lines = [line for line in self.log.read_text().splitlines() if line.startswith("{")]
        return json.loads(lines[-1]) if lines else {}

    def said(self):
        return " | ".join(self.log.read_text().splitlines()[-4:])


def ended(process):
    """Ends a process, by force if it does not; its exit code."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(15)
    return process.returncode


def echoed(plug, count, pace=0.0, pieces=1 << 20):
    """Says so many octets (the block again and again), hears them and the end; what went wrong, or nothing."""
    said, heard, came = hashlib.sha256(), hashlib.sha256(), 0

    def say():
        with contextlib.suppress(OSError):
            left = count
            while left:
                part = BLOCK[:min(left, len(BLOCK))]
                said.update(part)
                for at in range(0, len(part), pieces):
                    plug.sendall(part[at:at + pieces])
                left -= len(part)
            plug.shutdown(socket.SHUT_WR)

    speaker = threading.Thread(target=say, daemon=True)
    speaker.start()
    try:
        while octets := plug.recv(1 << 16):
            heard.update(octets)
            came += len(octets)
            if pace:
                time.sleep(pace)
    except OSError as error:
        return f"{error} after {came} octets"
    speaker.join(10)
    plug.close()
    return "" if heard.digest() == said.digest() and came == count else f"{came} octets of {count}, or others"


def clean_capture(name, capture, ours):
    """tshark finds nothing wrong in what we sent: Linux leaves checksums to the device, so its own frames may carry none."""
    if not shutil.which("tshark"):
        return skip(name, "tshark is not installed")
    wrong = ("_ws.malformed || ip.checksum.status == Bad || udp.checksum.status == Bad || icmp.checksum.status == Bad"
             " || icmpv6.checksum.status == Bad")
    bad = run("tshark", "-r", str(capture), "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-Y",
              wrong.replace("Bad", '"Bad"'), timeout=300)
    frames = run("capinfos", "-c", "-M", str(capture))
    count = re.search(r"(\d+)\s*$", frames.stdout.strip())
    lines = [line for line in bad.stdout.splitlines() if any(f" {own} " in line.split("→")[0] for own in ours)]
    report(bad.returncode == 0 and not lines and bool(count) and int(count.group(1)) > 100, name,
           "\n".join(lines[:3]) or bad.stderr.strip()[-200:] + frames.stdout.strip())


def fit(name):
    """Whether this machine can run the judges; says why not."""
    if not MOKUME.exists():
        report(False, name, f"there is no {MOKUME}: `cargo build --release` builds target/release/mokume, and MOKUME=PATH names another")
        return False
    why = None
    if os.geteuid() != 0:
        why = "needs root for namespaces and TAP devices"
    elif not os.path.exists("/dev/net/tun"):
        why = "this machine has no /dev/net/tun"
    elif not shutil.which("ip") or not shutil.which("ping"):
        why = "iproute2 and ping are needed"
    elif run("ip", "netns", "add", SPACE).returncode != 0:
        why = "namespaces are not permitted here"
    else:
        probe = inside(SPACE, "ip", "tuntap", "add", "mokprobe", "mode", "tap")
        if probe.returncode != 0:
            run("ip", "netns", "del", SPACE)
            why = f"TAP devices are not permitted here ({probe.stderr.strip()})"
        else:
            inside(SPACE, "ip", "link", "del", "mokprobe")
    if why:
        skip(name, why)
        return False
    SCRATCH.mkdir(parents=True, exist_ok=True)
    return True

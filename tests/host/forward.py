"""The example router between two namespaces: what passes, what is said where nothing passes, and the way as `traceroute` sees it."""

import json
import re
import shutil
import socket
import struct
import time

from common import SPACE, Stack, clean_capture, in_namespace, inside, report, run, skip
from pings import ping

FAR = SPACE + "f"
OWN, OTHER = "10.81.0.1", "10.82.0.1"
NEAR_HOST, FAR_HOST = "10.81.0.2", "10.82.0.2"
SMALL = 1200

ECHO = f"""
import socket, threading
def tcp():
    plug = socket.create_server(("{FAR_HOST}", 7))
    while True:
        peer, _ = plug.accept()
        while data := peer.recv(65536):
            peer.sendall(data)
        peer.close()
threading.Thread(target=tcp, daemon=True).start()
plug = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
plug.bind(("{FAR_HOST}", 7))
while True:
    data, whence = plug.recvfrom(70000)
    plug.sendto(data, whence)
"""


def hop(to, ttl, port=33434, patience=2):
    """Who answers a datagram with so many hops, and what: as traceroute asks. Needs a raw socket."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as heard, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug:
        heard.settimeout(patience)
        plug.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, ttl)
        plug.sendto(b"where?", (to, port))
        source = plug.getsockname()[1]
        try:
            while True:
                packet, whence = heard.recvfrom(2000)
                kind, code = packet[20], packet[21]
                quoted = packet[28:]
                if kind in (3, 11) and len(quoted) >= 28 and struct.unpack(">H", quoted[20:22])[0] == source:
                    return whence[0], kind, code
        except TimeoutError:
            return None


def way(name, backend):
    report(hop(FAR_HOST, 1) == (OWN, 11, 0), f"{name}: one hop ends at the router", repr(hop(FAR_HOST, 1)))
    report(hop(FAR_HOST, 2) == (FAR_HOST, 3, 3), f"{name}: two hops reach the far host", repr(hop(FAR_HOST, 2)))
    report(hop(OWN, 1) == (OWN, 3, 3), f"{name}: traceroute to the router itself", repr(hop(OWN, 1)))
    report(hop(OTHER, 1) == (OTHER, 3, 3), f"{name}: traceroute to the router's other address", repr(hop(OTHER, 1)))
    report(hop("10.82.0.77", 5, patience=8) == (OWN, 3, 1), f"{name}: a host that is not there", "nobody told")
    report(hop("192.0.2.9", 5) == (OWN, 3, 0), f"{name}: a network that is not known", repr(hop("192.0.2.9", 5)))
    if not shutil.which("traceroute"):
        return skip(f"{name}: traceroute", "traceroute is not installed")
    done = run("traceroute", "-n", "-q", "1", "-w", "2", FAR_HOST, timeout=60)
    hops = re.findall(r"^ *\d+ +(\S+)", done.stdout, re.M)
    report(hops == [OWN, FAR_HOST], f"{name}: traceroute", done.stdout)


def talk(name, times):
    wrong = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug:
        plug.settimeout(2)
        for size in [0, 1, 1172, 1173, 1472, 1473, 20000, 60000] * times:
            sent = bytes(size)
            plug.sendto(sent, (FAR_HOST, 7))
            try:
                if plug.recv(70000) != sent:
                    wrong.append(size)
            except OSError:
                wrong.append(size)
    report(not wrong, f"{name}: UDP through the router", repr(wrong))
    amount = 300_000 * times
    with socket.create_connection((FAR_HOST, 7), 5) as plug:
        plug.settimeout(10)
        back = 0
        for _ in range(amount // 30_000):
            plug.sendall(b"x" * 30_000)
            while back < amount and (part := plug.recv(65536, socket.MSG_DONTWAIT) if ready(plug) else b""):
                back += len(part)
        plug.shutdown(socket.SHUT_WR)
        while part := plug.recv(65536):
            back += len(part)
    report(back == amount // 30_000 * 30_000, f"{name}: TCP through the router, and its path MTU", f"{back} of {amount}")


def ready(plug):
    import select
    return bool(select.select([plug], [], [], 0)[0])


def forwarding(backend, count, interval=0.01):
    import subprocess
    name = f"{backend}: forwarding"
    if run("ip", "netns", "add", FAR).returncode != 0:
        return skip(name, "a second namespace is not permitted")
    server = None
    try:
        run("ip", "tuntap", "add", "mokw", "mode", "tap")
        run("ip", "link", "set", "mokw", "mtu", str(SMALL))
        stack = Stack("examples/router.mok", backend, {"lan": "mokl", "wan": "mokw"}, f"lan_address={OWN}/24",
                      f"wan_address={OTHER}/24")
        try:
            if not stack.ready(f"{NEAR_HOST}/24"):
                return report(False, f"{name}: the router starts", stack.said())
            run("ip", "route", "add", "default", "via", OWN)
            run("ip", "link", "set", "mokw", "netns", FAR)
            inside(FAR, "ip", "address", "add", f"{FAR_HOST}/24", "dev", "mokw")
            inside(FAR, "ip", "link", "set", "mokw", "txqueuelen", "20000", "up")
            inside(FAR, "ip", "route", "add", "default", "via", OTHER)
            server = subprocess.Popen(["ip", "netns", "exec", FAR, "python3", "-c", ECHO])
            time.sleep(0.5)
            run("ping", "-n", "-c", "2", "-W", "2", "-s", "1472", FAR_HOST)            # Linux learns the path's mtu
            for size in [56, 1472, 20000, 60000]:
                ping(name, size, count, interval, FAR_HOST)
            told = run("ping", "-n", "-c", "1", "-W", "2", "-M", "do", "-s", "1400", FAR_HOST)
            report(f"mtu = {SMALL}" in told.stdout or f"mtu={SMALL}" in told.stdout + told.stderr,
                   f"{name}: fragmentation needed, with the mtu", told.stdout)
            way(name, backend)
            talk(name, 3)
            report(stack.process.poll() is None, f"{name}: the router is still there", stack.said())
        finally:
            accounts = stack.stop()
        report(accounts.get("reports", -1) == 0 and accounts.get("held", -1) == 0, f"{name}: no reports, nothing held",
               json.dumps(accounts)[:400] or stack.said())
        clean_capture(f"{name}: tshark finds nothing wrong in what the router sent", stack.pcap, [OWN, OTHER])
    finally:
        if server:
            server.kill()
            server.wait()
        run("ip", "route", "del", "default")
        run("ip", "netns", "del", FAR)
        run("ip", "link", "del", "mokw")

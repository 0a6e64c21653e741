"""The IPv6 router between two namespaces: what passes, what is said where nothing passes, and the way as `traceroute -6` sees it."""

import json
import re
import shutil
import socket
import subprocess
import time

import forward
from common import SPACE, Stack, clean_capture, inside, report, run, skip
from pings import ping

FAR = SPACE + "s"
OWN, OTHER = "fd00:81::1", "fd00:82::1"
NEAR_HOST, FAR_HOST = "fd00:81::2", "fd00:82::2"
SMALL = 1280

ECHO = forward.ECHO.replace(forward.FAR_HOST, FAR_HOST).replace("socket.AF_INET,", "socket.AF_INET6,").replace(
    "create_server(", "create_server(family=socket.AF_INET6, address=")


def hops(to, *more):
    """Who answers at each hop, with what traceroute makes of the error."""
    done = run("traceroute", "-6", "-n", "-q", "1", "-w", "6", "-m", "4", *more, to, timeout=90)
    return re.findall(r"^ *\d+ +(\S+)(?: +[\d.]+ ms)?(?: +(!\S+))?", done.stdout, re.M)


def way(name):
    if not shutil.which("traceroute"):
        return skip(f"{name}: traceroute", "traceroute is not installed")
    for what, to, expected in [
        ("through us", FAR_HOST, [(OWN, ""), (FAR_HOST, "")]),
        ("to us", OWN, [(OWN, "")]),
        ("to our other address", OTHER, [(OTHER, "")]),
        ("a host that is not there", "fd00:82::77", [(OWN, ""), (OWN, "!H")]),
        ("a network that is not known", "2001:db8::9", [(OWN, "!N")]),
    ]:
        found = hops(to)
        # The first hop may say already that no way leads there.
        good = found == expected or len(expected) == 1 and found[:1] == [(OWN, "")] and found[1:] == expected
        report(good, f"{name}: traceroute -6, {what}", repr(found))
    return None


def talk(name, times):
    wrong = []
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as plug:
        plug.settimeout(5)
        for size in [0, 1, 1232, 1233, 1452, 1453, 20000, 60000] * times:
            sent = bytes(size)
            plug.sendto(sent, (FAR_HOST, 7))
            try:
                if plug.recv(70000) != sent:
                    wrong.append(size)
            except OSError:
                wrong.append(size)
    # The first that were too big were lost: their sender was told.
    report(len(wrong) <= 1, f"{name}: UDP through the router", repr(wrong))
    amount = 300_000 * times
    with socket.create_connection((FAR_HOST, 7), 5) as plug:
        plug.settimeout(20)
        back = 0
        for _ in range(amount // 30_000):
            plug.sendall(b"x" * 30_000)
            while back < amount and (part := plug.recv(65536, socket.MSG_DONTWAIT) if forward.ready(plug) else b""):
                back += len(part)
        plug.shutdown(socket.SHUT_WR)
        while part := plug.recv(65536):
            back += len(part)
    report(back == amount // 30_000 * 30_000, f"{name}: TCP through the router, and its path MTU", f"{back} of {amount}")


def forwarding6(backend, count, interval=0.01):
    name = f"{backend}: IPv6 forwarding"
    if run("ip", "netns", "add", FAR).returncode != 0:
        return skip(name, "a second namespace is not permitted")
    server = None
    try:
        run("ip", "tuntap", "add", "mokw", "mode", "tap")
        run("ip", "link", "set", "mokw", "mtu", str(SMALL))
        stack = Stack("examples/router6.mok", backend, {"lan": "mokl", "wan": "mokw"}, f"lan_address={OWN}/64",
                      f"wan_address={OTHER}/64")
        try:
            if not stack.ready(f"{NEAR_HOST}/64"):
                return report(False, f"{name}: the router starts", stack.said())
            run("ip", "-6", "route", "add", "default", "via", OWN)
            run("ip", "link", "set", "mokw", "netns", FAR)
            inside(FAR, "ip", "address", "add", f"{FAR_HOST}/64", "dev", "mokw", "nodad")
            inside(FAR, "ip", "link", "set", "mokw", "txqueuelen", "20000", "up")
            inside(FAR, "ip", "-6", "route", "add", "default", "via", OTHER)
            server = subprocess.Popen(["ip", "netns", "exec", FAR, "python3", "-c", ECHO])
            time.sleep(2)                                           # our addresses are tentative for a second
            told = run("ping", "-6", "-n", "-c", "2", "-i", "0.5", "-W", "5", "-M", "do", "-s", "1400", FAR_HOST)
            report(f"mtu={SMALL}" in (told.stdout + told.stderr).replace(" ", ""), f"{name}: packet too big, with the mtu",
                   told.stdout + told.stderr)
            for size in [56, 1232, 1452, 20000, 60000]:
                ping(name, size, count, interval, FAR_HOST)
            ping(f"{name}, the router itself", 1452, count, interval, OTHER)
            way(name)
            talk(name, 3)
            report(stack.process.poll() is None, f"{name}: the router is still there", stack.said())
        finally:
            accounts = stack.stop()
        # What Linux says in the last seconds may wait for an answer that does not come any more.
        report(accounts.get("reports", -1) == 0 and 0 <= accounts.get("held", -1) <= 3, f"{name}: no reports, nothing held",
               json.dumps(accounts)[:400] or stack.said())
        clean_capture(f"{name}: tshark finds nothing wrong in what the router sent", stack.pcap, [OWN, OTHER])
    finally:
        if server:
            server.kill()
            server.wait()
        run("ip", "-6", "route", "del", "default")
        run("ip", "netns", "del", FAR)
        run("ip", "link", "del", "mokw")

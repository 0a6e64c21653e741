"""Errors of a Linux router and of a Linux host come to the sessions that they are about: refused, too far, too big, no route."""

import json
import subprocess
import time

from common import SPACE, Stack, clean_capture, inside, report, run, skip

FAR = SPACE + "e"
SMALL = 1280

ECHO = """
import socket
plug = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
plug.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
plug.bind(("::", 7))
while True:
    data, whence = plug.recvfrom(70000)
    plug.sendto(data, whence)
"""

# Of each layer: what it must hear, and whether it must be answered (not at the first message, where its path was too narrow).
EXPECTED = {"closed": ("refused", False), "near": ("too_far", False), "wide": ("too_big", True), "absent": ("no_route", False),
            "closed6": ("refused", False), "near6": ("too_far", False), "wide6": ("too_big", True)}
HEARD = ["refused", "no_route", "too_far", "too_big"]


def links():
    """Linux forwards between our interface and a second namespace, over a link that takes less."""
    run("ip", "link", "add", "mokv", "mtu", str(SMALL), "type", "veth", "peer", "name", "mokv", "mtu", str(SMALL), "netns", FAR)
    for address in ["10.84.0.1/24", "fd00:84::1/64"]:
        run("ip", "address", "add", address, "dev", "mokv", *(["nodad"] if ":" in address else []))
    for address in ["10.84.0.2/24", "fd00:84::2/64"]:
        inside(FAR, "ip", "address", "add", address, "dev", "mokv", *(["nodad"] if ":" in address else []))
    run("ip", "link", "set", "mokv", "up")
    inside(FAR, "ip", "link", "set", "mokv", "up")
    inside(FAR, "ip", "route", "add", "default", "via", "10.84.0.1")
    inside(FAR, "ip", "-6", "route", "add", "default", "via", "fd00:84::1")
    run("sysctl", "-q", "-w", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1",
        "net.ipv4.icmp_ratelimit=0", "net.ipv6.icmp.ratelimit=0")


def judge(name, accounts):
    counters = accounts.get("counters", {})
    for layer, (reason, answers) in EXPECTED.items():
        of = {short: counters.get(f"{layer}.Counts.E.{long}", -1)
              for short, long in [("answered", "answered")] + [(heard, f"heard_{heard}") for heard in HEARD]}
        others = [heard for heard in HEARD if heard != reason and of[heard] != 0]
        good = of[reason] > 0 and not others and (of["answered"] > 0) == answers
        report(good, f"{name}: {layer} hears {reason}, and {'' if answers else 'not '}an answer", json.dumps(of))


def told(backend):
    name = f"{backend}: errors"
    if run("ip", "netns", "add", FAR).returncode != 0:
        return skip(name, "a second namespace is not permitted")
    server = None
    try:
        links()
        server = subprocess.Popen(["ip", "netns", "exec", FAR, "python3", "-c", ECHO])
        stack = Stack("tests/host/knock/knock.mok", backend, "mokk", "address=10.83.0.2/24", "gateway=10.83.0.1", "far=10.84.0.2",
                      "address6=fd00:83::2/64", "gateway6=fd00:83::1", "far6=fd00:84::2")
        try:
            if not stack.ready("10.83.0.1/24", "fd00:83::1/64"):
                return report(False, f"{name}: the host starts", stack.said())
            time.sleep(10)              # Linux looks for the absent neighbour for three seconds
        finally:
            accounts = stack.stop()
        judge(name, accounts)
        report(accounts.get("reports", -1) == 0, f"{name}: no reports", json.dumps(accounts)[:400] or stack.said())
        clean_capture(f"{name}: tshark finds nothing wrong in what we sent", stack.pcap, ["10.83.0.2", "fd00:83::2"])
    finally:
        if server:
            server.kill()
            server.wait()
        run("sysctl", "-q", "-w", "net.ipv4.ip_forward=0", "net.ipv6.conf.all.forwarding=0")
        run("ip", "link", "del", "mokv")
        run("ip", "netns", "del", FAR)

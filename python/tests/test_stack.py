"""Stacks and instances: names, values, what is refused."""

import datetime
import gc
import ipaddress
import os
import shutil
import subprocess
import sys

import pytest

import mokume

PLAIN = """
use thin
stack Plain(device: Device) {
    app = Fcfs over sums
    sums = Checksum16 over device
    export app
}
"""

NUMBERS = """
worker Counts {
    header { n: u8 }
    entity { var n: u8 = 250 }
    on send(msg) {
        n += 1
        below.send(msg, n: n)
    }
    on deliver(msg) { consume msg: came }
}
stack Counting(device: Device) {
    app = Counts over device
    export app
}
"""


@pytest.fixture(scope="module")
def plain():
    return mokume.Stack.of_text(PLAIN)


def test_a_stack_says_what_goes_in_and_what_it_takes(plain):
    assert plain.ports == ["device", "app"] and plain.name == "Plain"
    assert plain.events("app")["send_to"] == ["local_port", "remote_port", "msg"]
    assert plain.parameters == ["device.mac", "device.mtu"]


def test_what_is_wrong_is_refused_with_place_and_way_out():
    with pytest.raises(mokume.Failure) as refused:
        mokume.Stack.of_text(PLAIN.replace("Checksum16", "Checksum61"))
    text = str(refused.value)
    assert "error[M0203]" in text and "stack.mok:5:" in text and "help:" in text and "/tmp" not in text
    with pytest.raises(mokume.Failure, match="nowhere.mok"):
        mokume.Stack("nowhere.mok")
    with pytest.raises(mokume.Failure, match="Other"):
        mokume.Stack.of_text(PLAIN, "Other")
    # What is said to those who type commands has the arguments of these functions here.
    two = PLAIN + "\nstack Second(device: Device, tag: u8) {\n    app = Counts2(tag) over device\n    export app\n}\n"
    two += "worker Counts2(tag: u8) {\n    on send(msg) { below.send(msg) }\n    on deliver(msg) { consume msg: came }\n}\n"
    with pytest.raises(mokume.Failure, match="`stack='NAME'`"):
        mokume.Stack.of_text(two)
    with pytest.raises(mokume.Failure, match="`set={'tag': …}`"):
        mokume.Stack.of_text(two, "Second").start()


def test_values_are_checked_by_name_kind_and_width(plain):
    app = plain.start().app
    for wrong, told in [
        (lambda: app.send_to(1, 2), "`msg` is missing"),
        (lambda: app.send_to(1, 2, 3), "bytes or a str, not int"),
        (lambda: app.send_to("1", 2, b""), "a number, or an address of `ipaddress`, not str"),
        (lambda: app.send_to(1.0, 2, b""), "a number, or an address of `ipaddress`, not float"),
        (lambda: app.send_to(1, 2, b"", 4), "takes"),
        (lambda: app.send_to(1, 2, msg=b"", remote=3), "no `remote`"),
        (lambda: app.send_to(1, local_port=2, remote_port=3, msg=b""), "given twice"),
        (lambda: app.close(7), "a Session, not int"),
    ]:
        with pytest.raises(TypeError, match=told.replace("(", r"\(")):
            wrong()
    with pytest.raises(ValueError, match="16 bits"):
        app.send_to(70_000, 2, b"")
    with pytest.raises(ValueError, match="16 bits"):
        app.send_to(-1, 2, b"")
    with pytest.raises(AttributeError, match="no event `sing`.*send_to"):
        app.sing()
    with pytest.raises(AttributeError, match="no port `nose`"):
        app._instance.nose


def test_messages_are_octets_whole_and_empty(plain):
    network = mokume.Network()
    a, b = network.host("a", plain), network.host("b", plain)
    network.link(a.device, b.device)
    b.app.bind(1, 80)
    for message in (b"", b"\0", b"\0\xff" * 600, "é", bytearray(b"x"), memoryview(b"y")):
        assert a.app.send_to(9, 80, message)
    network.run("1 ms")
    heard = [event["msg"] for event in b.app.take()]
    assert heard == [b"", b"\0", b"\0\xff" * 600, "é".encode(), b"x", b"y"]


def test_sessions_come_back_as_they_were_given(plain):
    a = plain.start()
    assert a.app.open(5, 9, 80)
    opened = a.app.next("opened")
    assert opened["user"] == 5 and isinstance(opened["session"], mokume.Session)
    assert a.app.send(opened["session"], b"by the session")
    assert len(a.device.take("frame")) == 1
    a.app.close(opened["session"])
    assert not a.app.send(opened["session"], b"too late"), "the session has ended"


def test_reasons_have_names(plain):
    a = plain.start()
    a.app.open(1, 9, 80)
    a.app.open(2, 9, 80)
    failed = a.app.next("failed")
    assert failed["user"] == 2 and isinstance(failed["why"], str), failed


def udp_host():
    """UDP over IPv4 over Ethernet."""
    stack = mokume.Graph("Host").module("internet", "ethernet", "arp", "ipv4", "icmp", "udp")
    stack.parameter("device", "Device").parameter("address", "Ipv4Cidr")
    stack.layer("ethernet", "Ethernet(device.mac)", over="device")
    stack.layer("arp", "Arp(address.address)", over="ethernet[type: 0x0806]")
    stack.layer("ip", "Ipv4(address)", over="ethernet[type: 0x0800]", uses=["arp", "icmp"])
    stack.layer("icmp", "Icmp", over="ip[protocol: 1]", uses="ip")
    stack.layer("udp", "Udp", over="ip[protocol: 17]", uses=["icmp"]).export("udp")
    return stack


def test_addresses_are_numbers():
    stack = udp_host()
    assert "over ip[protocol: 17] with icmp" in stack.text
    host = stack.check().start(set={"address": "10.0.0.1/24"})
    own = ipaddress.ip_address("10.0.0.1")
    assert host.udp.bind(1, own, 5000)
    assert host.udp.send_to(own, 5000, ipaddress.ip_address("10.0.0.2"), 7, b"x")
    with pytest.raises(mokume.Failure, match="address"):
        stack.check().start()
    with pytest.raises(mokume.Failure, match="ten"):
        stack.check().start(set={"address": "ten"})


def test_an_address_of_ipv6_is_two_numbers():
    words = """
record Wide { high: u64, low: u64 }
vocabulary Values { down say(host: Wide, port: u16) up said(host: Wide, port: u16) }
worker Says {
    speaks Values
    on say(host, port) { above.said(host, port) }
    on send(msg) { below.send(msg) }
    on deliver(msg) { above.deliver(msg) }
}
stack One(device: Device) {
    app = Says over device
    export app
}
"""
    a = mokume.Stack.of_text(words).start()
    host = ipaddress.ip_address("fd00::1")
    assert a.app.say_to(host, 9) and a.app.say_to(port=9, host=host) and a.app.say_to(0xFD00 << 48, 1, 9)
    assert [list(event.values.values()) for event in a.app.take()] == [[0xFD00 << 48, 1, 9]] * 3
    with pytest.raises(TypeError, match="`port` is missing"):
        a.app.say_to(host)


def test_parameters_are_values_of_python():
    text = "stack Late(device: Device, asks: bool, after: Duration, ten: u8) {\n    app = Waits(asks, after, ten) over device\n    export app\n}\n"
    text += "worker Waits(asks: bool, after: Duration, ten: u8) {\n    entity { timer wait }\n    on start { if asks and ten == 10 { start wait after after } }\n"
    text += "    on expiry wait { below.send(message(x\"0a\")) }\n    on send(msg) { below.send(msg) }\n    on deliver(msg) { above.deliver(msg) }\n}\n"
    stack = mokume.Stack.of_text(text)
    for asks, sent in [(True, 1), (False, 0)]:
        host = stack.start(set={"asks": asks, "after": datetime.timedelta(milliseconds=20), "ten": 10})
        host.advance(by="19 ms")
        assert len(host.device.take()) == 0
        host.advance(by="1 ms")
        assert len(host.device.take()) == sent


def test_an_address_as_text_is_told_how_it_is_written():
    stack = udp_host()
    host = stack.check().start(set={"address": "10.0.0.1/24"})
    with pytest.raises(TypeError, match="`local_host` is a number, or an address of `ipaddress`, not str"):
        host.udp.send_to("10.0.0.1", 7, "10.0.0.2", 7, b"x")


def test_reports_and_accounts_are_told():
    a = mokume.Stack.of_text(NUMBERS).start()
    for _ in range(10):
        a.app.send_to("x")
    reports = a.reports()
    assert len(reports) == 1 and "overflow" in reports[0] and a.reports() == []
    a.device.feed(b"\x01" + b"y")
    assert a.accounts["received"] == 1 and a.accounts["consumed"] == {"app.came": 1}


def test_a_tap_may_call_the_stack_and_what_it_raises_arrives(plain):
    a = plain.start()
    frames = []

    def again(event):
        frames.append(event.message)
        if len(frames) < 5:
            a.app.send_to(9, 80, f"number {len(frames)}")

    a.device.tap(again)
    a.app.send_to(9, 80, "number 0")
    assert len(frames) == 5 and b"number 4" in frames[-1]
    a.device.untap(again)

    @a.device.tap
    def fails(event):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        a.app.send_to(9, 80, "x")
    assert a.device.untap(fails) is None and a.app.send_to(9, 80, "x"), "the stack goes on"


def test_what_only_a_tap_gets_does_not_wait(plain):
    a = plain.start()
    heard = []
    only = a.device.tap(heard.append, keep=False)
    a.app.send_to(9, 80, "one")
    assert len(heard) == 1 and not a.device.take()
    a.device.untap(only)
    a.device.tap(heard.append)
    a.app.send_to(9, 80, "two")
    assert len(heard) == 2 and a.device.next() and not a.device.next()


def test_threads_share_an_instance(plain):
    """Each call's own thread has the instance for itself; a tap may call another instance, whose tap calls this one."""
    words = f"""
import threading, mokume
stack = mokume.Stack.of_text({PLAIN!r})
a, b = stack.start(), stack.start(backend=BACKEND)
a.device.tap(lambda event: b.device.feed(event.message), keep=False)
b.device.tap(lambda event: a.device.feed(event.message), keep=False)
def run(number):
    for i in range(1500):
        one, other = (a, b) if number % 2 else (b, a)
        one.app.open(1, number * 2000 + i, 9)
        one.app.listen(1, i + 1)
        other.app.send_to(9, 80, b"x")
        one.app.take(); other.app.next(); one.next_deadline; one.accounts; one.advance(by=1)
threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
[one.start() for one in threads]
[one.join(100) for one in threads]
assert not any(one.is_alive() for one in threads)
assert a.accounts["received"] == b.accounts["received"] == 3000, (a.accounts, b.accounts)
"""
    backends = ["interpreter"] + (["c"] if shutil.which("cc") else [])
    for backend in backends:
        done = subprocess.run([sys.executable, "-c", words.replace("BACKEND", repr(backend))], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr


VALUES = """
enum Kind: u8 { Ask = 1, Tell }
enum Level: u8 open { Low, High = 7 }
vocabulary Values {
    down say(kind: Kind, level: Level, after: Duration, v: [u8; ..2])
    up said(kind: Kind, level: Level, waited: u64, v: [u8; ..2], long: bool)
}
worker Says {
    speaks Values
    on say(kind, level, after, v) { above.said(kind, level, after / 1 ns, v, after > 1 s) }
    on send(msg) { below.send(msg) }
    on deliver(msg) { above.deliver(msg) }
}
stack Valued(device: Device) {
    app = Says over device
    export app
}
"""


def test_times_and_names_are_arguments_and_what_is_no_value_is_none():
    a = mokume.Stack.of_text(VALUES).start()

    def said(*values):
        assert a.app.say_to(*values)
        return list(a.app.next().values.values())

    assert said("Tell", "Level.High", "20 ms", 1, 5, 6) == [2, 7, 20_000_000, 1, 5, 0, False]
    heard = said(1, 200, datetime.timedelta(seconds=2), 0, 5, 6)
    assert heard == [1, 200, 2 * 10**9, 0, 0, 0, True] and isinstance(heard[-1], bool)
    for wrong, told in [
        ((0, 0, 0, 0, 0, 0), "`kind` is one of Ask, Tell, not 0"),
        (("Low", 0, 0, 0, 0, 0), "`kind` is one of Ask, Tell, not Low"),
        (("Level.Tell", 0, 0, 0, 0, 0), "`kind` is one of"),
        ((1, "None", 0, 0, 0, 0), "`level` is one of Low, High"),
        ((1, 0, "20 parsec", 0, 0, 0), "no time"),
        ((1, 0, 0, 3, 0, 0), "`v_length` is at most 2"),
    ]:
        with pytest.raises(ValueError, match=told):
            a.app.say_to(*wrong)
    assert a.accounts["refused"] == 0, "the stack has not seen them"


def test_arguments_of_one_name_are_told_apart():
    two = """
worker A { on send(msg) { below.send(msg) } on deliver(msg) { above.deliver(msg) } }
multiplexor M { key { p: u8 } }
multiplexor N { key { p: u8 } }
stack S(device: Device) {
    sessions 4
    app = A over m
    m = M over n
    n = N over device
    export app
}
"""
    stack = mokume.Stack.of_text(two)
    a = stack.start()
    assert stack.events("app")["send_to"] == ["local_p", "local_p_2", "remote_p", "remote_p_2", "msg"]
    assert a.app.send_to(1, 2, 3, 4, "x")
    assert a.device.next().message == b"\1\3\2\4x"
    assert a.app.open(9, 1, 2, 3, remote_p_2=4)
    assert list(a.app.next("opened").values.values())[2:] == [1, 2, 3, 4]


def test_time_does_not_run_backwards(plain):
    a = plain.start(at="1 s")
    with pytest.raises(ValueError, match="backwards"):
        a.advance(to="999 ms")
    with pytest.raises(ValueError):
        a.advance()
    a.advance(by="1 ms")
    assert a.now == 1_001_000_000


def test_times_and_seeds_are_of_64_bits(plain):
    a = plain.start(seed=2**64 - 1)
    for wrong in (
        lambda: plain.start(at=-5),
        lambda: plain.start(at=2**64),
        lambda: plain.start(seed=-1),
        lambda: plain.start(seed=2**64),
        lambda: a.advance(to=2**64),
        lambda: a.advance(by=2**64),
    ):
        with pytest.raises(ValueError, match="0 to 2"):
            wrong()
    assert a.now == 0


def test_a_stack_of_text_is_read_whatever_the_locale_is():
    words = f"import mokume; print(mokume.Stack.of_text({ascii('// grüße' + PLAIN)}).name)"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-X", "utf8=0", "-c", words], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "Plain\n", done.stderr


def test_a_file_is_named_in_octets_too(tmp_path):
    path = tmp_path / "plain.mok"
    path.write_text(PLAIN)
    assert mokume.Stack(os.fsencode(path)).name == "Plain"


def test_times_are_written_as_in_the_language():
    assert [mokume.nanoseconds(text) for text in ("1 ns", "1.5ms", "2 s", "1 min", 7)] == [1, 1_500_000, 2 * 10**9, 60 * 10**9, 7]
    for wrong in ("", "5", "5 parsecs", "-1 s", 1.5, True, None):
        with pytest.raises(ValueError):
            mokume.nanoseconds(wrong)


def test_what_was_stopped_says_so_and_leaves_nothing(plain):
    a = plain.start()
    app = a.app
    a.stop()
    a.stop()
    with pytest.raises(mokume.Failure, match="stopped"):
        app.send_to(1, 2, b"")
    for _ in range(50):
        plain.start()
        mokume.Graph("Gone")
    gc.collect()


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_c_does_what_the_interpreter_does(plain):
    def heard(backend):
        a = plain.start(backend=backend, seed=3)
        a.app.open(1, 9, 80)
        a.app.send_to(9, 80, "x")
        a.device.feed(b"too short")
        return [str(event) for event in a.app.take() + a.device.take()], a.accounts

    assert heard("c") == heard("interpreter")
    with pytest.raises(mokume.Failure, match="fortran"):
        plain.start(backend="fortran")

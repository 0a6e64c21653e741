"""Networks in virtual time, records, the command, and the fixtures."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mokume

NETWORK = """
worker Ordered {
    header { number: u32 }
    entity {
        var next: u32 = 1
        var last: u32 = 0
    }
    on send(msg) {
        below.send(msg, number: next)
        next += 1
    }
    on deliver(msg, number) {
        if number > last {
            last = number
            above.deliver(msg)
        } else {
            drop msg: stale
        }
    }
}
stack Link(device: Device) {
    app = Ordered over device
    export app
}
network Pair {
    host left = Link()
    host right = Link()
    link line { left.device, right.device  delay 2 ms }
    at 10 ms  left.app.send_to("one")
    at 20 ms  right.app.send_to("two")
    expect left.app.deliver_from("two") until 22 ms
    until 1 s
}
test "what comes twice is delivered once" {
    stack Link(device)
    device.frame(x"01000000" "one")
    => app.deliver_from("one")
    device.frame(x"01000000" "one")
    => nothing
}
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "pair.mok"
    path.write_text(NETWORK)
    return path


@pytest.fixture
def pair(source):
    def made(seed, weather="", count=2):
        stack = mokume.Stack(source, "Link")
        network = mokume.Network(seed)
        hosts = [network.host(f"h{number}", stack) for number in range(count)]
        network.link(*(host.device for host in hosts), weather=weather)
        return (network, *hosts)

    return made


def test_a_seed_says_all(pair):
    def seen(seed):
        network, a, b = pair(seed, "loss 30 % corrupt 20 % duplicate 20 % delay 1 ms .. 9 ms")
        for number in range(40):
            network.at(f"{number} ms", lambda: a.app.send_to("x" * 20))
        return network.run("1 s").frames

    assert seen(1) == seen(1) and seen(1) != seen(2)


def test_the_delay_of_a_line_is_its_words(pair):
    network, a, b = pair(1, "delay 3 ms")
    network.at("5 ms", lambda: a.app.send_to("hello"))
    network.run(until="7.999 ms")
    assert not b.app.take()
    network.run(until="8 ms")
    assert [event.at for event in b.app.take()] == [8_000_000]
    left, arrived = network.frames
    assert (left.what, left.host, arrived.what, arrived.host) == ("left", "h0", "arrived", "h1")
    assert left.number == arrived.number == 1 and left.octets == arrived.octets


def test_equal_frames_on_their_way_are_told_apart():
    plain = mokume.Stack.of_text("use thin\nstack Plain(device: Device) {\n    app = Fcfs over device\n    export app\n}\n")
    network = mokume.Network(1)
    a, b = network.host("a", plain), network.host("b", plain)
    network.link(a.device, b.device, weather="delay 5 ms")
    for time in ("1 ms", "2 ms"):
        network.at(time, lambda: a.app.send_to(9, 80, "same"))
    network.run("20 ms")
    first, second = ([frame.at for frame in network.frames if frame.number == number] for number in (1, 2))
    assert (first, second) == ([1_000_000, 6_000_000], [2_000_000, 7_000_000])


def test_what_one_sends_comes_to_all_others(pair):
    network, a, *others = pair(1, count=4)
    a.app.send_to("to all")
    network.run("1 ms")
    assert [len(host.app.take("deliver_from")) for host in others] == [1, 1, 1] and not a.app.take()


def test_a_rate_makes_frames_wait(pair):
    network, a, b = pair(1, "rate 1 Mbit/s")
    for _ in range(3):
        a.app.send_to(bytes(121))
    network.run("1 s")
    # 125 octets are 1 ms.
    assert [event.at for event in b.app.take()] == [1_000_000, 2_000_000, 3_000_000]


def test_a_device_is_on_one_link_with_others_of_the_network(pair):
    network, a, b = pair(1)
    c, elsewhere = network.host("c", a.stack), a.stack.start()
    with pytest.raises(ValueError, match="on a link already"):
        network.link(a.device, c.device)
    with pytest.raises(ValueError, match="on a link already"):
        network.link(c.device, c.device)
    with pytest.raises(ValueError, match="two devices or more"):
        network.link(c.device)
    with pytest.raises(ValueError, match="no host of this network"):
        network.link(c.device, elsewhere.device)
    network.link(c.device, network.host("d", a.stack).device)


def test_what_is_no_weather_no_device_and_no_other_host_is_refused(pair):
    network, a, b = pair(1)
    c, d = network.host("c", a.stack), network.host("d", a.stack)
    with pytest.raises(mokume.Failure, match="rain"):
        network.link(c.device, d.device, weather="rain")
    with pytest.raises(ValueError, match="no device"):
        network.link(a.app, b.device)
    with pytest.raises(ValueError, match="already"):
        network.host("h0", a.stack)
    with pytest.raises(ValueError, match="backwards"):
        network.run("1 s").at("1 ms", print)


def test_until_something_holds(pair):
    network, a, b = pair(1, "delay 2 ms")
    a.app.send_to("x")
    assert network.run_until(lambda: b.app.take("deliver_from")) and network.now == 2_000_000
    assert not network.run_until(lambda: False, most="1 s") and network.now == 1_002_000_000


def test_a_network_of_a_file_is_run_and_recorded(source):
    record = mokume.simulate(source, seed=4)
    assert not record.failed and list(record.hosts) == ["left", "right"]
    run = record.run
    assert run.head["seed"] == 4
    heard = run.select("output", host="left")
    assert [one["at"] for one in heard] == [22_000_000]
    assert [one["event"] for one in run.causes(heard[0])][-1] == "input"
    rows = run.rows()
    assert [row["args.msg"] for row in rows if row["event"] == "output"] == [b"one", b"two"]
    columns = run.columns()
    assert {len(column) for column in columns.values()} == {len(run.events)}


def test_what_a_network_expects_and_does_not_find_is_told(source):
    source.write_text(NETWORK.replace("until 22 ms", "until 21 ms"))
    record = mokume.simulate(source)
    assert len(record.failed) == 1 and "pair.mok:" in record.failed[0]["place"]
    source.write_text(NETWORK.replace("above.deliver", "above.delver"))
    with pytest.raises(mokume.Failure, match="M0"):
        mokume.simulate(source)


DOUBTS = """
multiplexor Ports { key { port: u8 } }
worker Numbers {
    header { Say { number: u8 } with message | Heard { number: u8 } }
    entity { var next: u8 = 1 }
    on send(msg) {
        below.send(msg, Say { number: next })
        next +%= 1
    }
    on deliver(msg, Say { number }) {
        below.send(Heard { number })
        above.deliver(msg)
    }
    on deliver(Heard) { }
}
bundle Numbered = Numbers encoded NumberWire
wire NumberWire big {
    kind: u8
    choice kind {
        1 => Say   { number: u8 = Numbers.Say.number }
        2 => Heard { number: u8 = Numbers.Heard.number }
    }
}
stack Host(device: Device) {
    ports = Ports over device
    app   = Numbered over ports
    other = Plain over ports
    export app
    export other
}
worker Plain {
    header { n: u8 }
    on send(msg) { below.send(msg, n: 9) }
    on deliver(msg) { above.deliver(msg) }
}
network Pair {
    host left = Host()
    host right = Host()
    link line { left.device, right.device  delay 2 ms }
    at 10 ms  right.app.bind(1, 7)
    at 20 ms  left.app.send_to(5, 7, "one")
    at 30 ms  left.other.send_to(5, 9, "two")
    until 1 s
}
"""


def _layers(run, frame):
    sent = [one for one in run.select("sends") if one["frame"] == frame]
    return sent[0]["packet"]["layers"]


def test_a_record_says_what_may_be_for_another_layer(tmp_path):
    path = tmp_path / "doubts.mok"
    path.write_text(DOUBTS)
    run = mokume.simulate(path, steps=True).run
    assert run.head["record"] == 4 == mokume.record.VERSIONS[-1]
    said = _layers(run, 1)
    assert [(one["name"], one["may_be_for_another"], one["malformed"]) for one in said] == [("ports", False, None), ("app", True, None)]
    # Nobody knows that it is not for `app`, which would refuse it.
    doubtful = _layers(run, run.select("sends")[-1]["frame"])[-1]
    assert doubtful["may_be_for_another"] and "kind" in doubtful["malformed"]["reason"]
    row = [one for one in run.rows() if one["event"] == "sends"][0]
    assert json.loads(row["packet"])["layers"] == said


def test_older_records_are_read(source, tmp_path):
    kept = tmp_path / "run.jsonl"
    mokume.simulate(source, steps=True, keep=kept)
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    for line in lines:
        for layer in line.get("packet", {}).get("layers", []) if isinstance(line.get("packet"), dict) else []:
            del layer["may_be_for_another"]
    lines[0]["record"] = 2
    kept.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = mokume.Record.read(kept).run
    assert run.head["record"] == 2 and len(run.events) == sum("event" in line for line in lines)
    assert len(run.columns()["id"]) == len(run.events)


def test_records_that_are_none_are_refused(tmp_path):
    for text, told in [("", "empty"), ("{\n", "no JSON"), ('{"record": 99}\n', "version 99"), ('{"id": 1}\n', "head")]:
        path = tmp_path / "run.jsonl"
        path.write_text(text)
        with pytest.raises(mokume.Failure, match=told):
            mokume.Record.read(path)
    for octets, told in [(b"5\n", "line 1 is no event"), (b"null\n", "line 1 is no event"), (b"\xff\xfe", "UTF-8")]:
        path.write_bytes(octets)
        with pytest.raises(mokume.Failure, match=told):
            mokume.Record.read(path)


def test_a_record_is_a_data_frame(source):
    pandas = pytest.importorskip("pandas")
    frame = mokume.simulate(source).run.to_pandas()
    assert frame.index.name == "id" and str(frame["cause"].dtype) == "Int64"
    assert frame[frame.event == "receives"].time.min() == pandas.Timedelta("12 ms")
    assert mokume.simulate(source).to_pandas().index.names == ["run", "id"]


BIG = """
vocabulary Numbers {
    down ask(q: u64, b: bool)
    up told(q: u64, b: bool, n: u8)
}
worker Tells {
    speaks Numbers
    on ask(q, b) { above.told(q +% 1, b, 3) }
    on send(msg) { below.send(msg) }
    on deliver(msg) { above.deliver(msg) }
}
stack Big(device: Device) {
    app = Tells over device
    export app
}
network Large {
    host a = Big()
    at 1 ms a.app.ask_to(FIRST, true)
    at 2 ms a.app.ask_to(9007199254740993, false)
    until 3 ms
}
"""


@pytest.mark.parametrize("first, type", [(0xFEDC_BA98_7654_3211, "UInt64"), (9007199254740991, "Int64")])
def test_numbers_of_a_data_frame_stay_what_they_are(tmp_path, first, type):
    path = tmp_path / "big.mok"
    path.write_text(BIG.replace("FIRST", str(first)))
    record = mokume.simulate(path)
    wanted = [first, first + 1, 9007199254740993, 9007199254740994]
    assert [value for value in record.run.columns()["args.q"] if value is not None] == wanted
    assert [value for value in record.run.columns()["args.b"] if value is not None] == [True, True, False, False]
    pandas = pytest.importorskip("pandas")
    frame = record.run.to_pandas()
    assert frame["args.q"].dropna().tolist() == wanted and str(frame["args.q"].dtype) == type
    assert str(frame["args.b"].dtype) == "boolean" and str(frame["args.n"].dtype) == "Int64"
    assert str(frame["at"].dtype) == "int64" and isinstance(frame["time"].max(), pandas.Timedelta)
    assert record.to_pandas()["args.q"].dropna().tolist() == wanted


def test_files_are_checked_and_tested(source, tmp_path):
    assert mokume.check(source) == []
    outcomes = mokume.test(source, backend="interpreter")
    assert [one["passed"] for one in outcomes] == [True]
    source.write_text(NETWORK.replace("drop msg: stale", "drop mgs: stale"))
    assert [one["severity"] for one in mokume.check(source)][0] == "error"
    with pytest.raises(mokume.Failure, match="M0"):
        mokume.test(source)
    with pytest.raises(mokume.Failure, match="nowhere"):
        mokume.check("nowhere.mok")


def test_a_capture_is_dissected_by_the_stack(pair, source, tmp_path):
    network, a, b = pair(1)
    a.app.send_to("hello")
    network.run("1 ms")
    network.pcap(tmp_path / "x.pcap", link=147)
    assert (tmp_path / "x.pcap").read_bytes() == network.pcap(link=147)
    packet = mokume.dissect(tmp_path / "x.pcap", by=source)[0]
    assert packet["layers"][0]["fields"][0]["value"] == 1


TESTS = """
import mokume, pytest
pytest_plugins = []

@pytest.mark.mokume_seeds(3)
def test_seeds(mokume_network, mokume_seed):
    assert mokume_network.seed == mokume_seed

def test_fails(mokume_network):
    stack = mokume.Stack("pair.mok", "Link")
    a, b = mokume_network.host("a", stack), mokume_network.host("b", stack)
    mokume_network.link(a.device, b.device)
    a.app.send_to("seen")
    mokume_network.run("1 ms")
    assert False, "on purpose"

def test_expects(mokume_simulate):
    mokume_simulate("wrong.mok")
"""


def test_fixtures_take_seeds_and_a_failing_test_shows_the_frames(source, tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "wrong.mok").write_text(NETWORK.replace("until 22 ms", "until 21 ms"))
    path = [str(Path(mokume.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    words = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--mokume-seed", "10"]
    plugin = [] if "site-packages" in mokume.__file__ else ["-p", "mokume.pytest_plugin"]
    ran = subprocess.run(
        [*words, *plugin, "test_it.py"], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    )
    said = ran.stdout
    assert ran.returncode == 1 and "3 passed, 2 failed" in said.replace("2 failed, 3 passed", "3 passed, 2 failed"), said + ran.stderr
    assert "test_seeds[seed 12]" in said and "seed 10, at 1000000 ns, 2 frames seen" in said
    assert f"left    a.device 01000000{b'seen'.hex()}" in said, said
    assert "the network is not as it expects" in said and "wrong.mok:" in said


def test_the_command_is_the_one_that_is_carried():
    ran = subprocess.run([sys.executable, "-m", "mokume", "--version", "--format", "json"], capture_output=True, text=True)
    assert json.loads(ran.stdout)["version"], ran.stderr

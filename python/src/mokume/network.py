"""Networks in virtual time: instances, the lines between them with their weather, and what went over these."""

import ctypes
import heapq
import struct
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from ._native import asked, library, octets
from .stack import Instance, Port, Stack
from .times import Time, nanoseconds

#: Where taps see a frame: as it left, and as it arrived.
LEFT, ARRIVED = "left", "arrived"

_WORDS = (1 << 64) - 1


@dataclass(frozen=True)
class Frame:
    """A frame: as it left a host, or, as often as it arrived, as it arrived at one. `number` is the same of both; it is 0 of one that
    arrived with turned bits."""

    number: int
    at: int
    what: str
    host: str
    port: str
    octets: bytes


class _Line:
    """One direction of a line between two devices."""

    def __init__(self, to: Port, words: str, seed: int):
        self.to = to
        self._line = asked("line_new", octets(words), seed)

    def __del__(self):
        if getattr(self, "_line", None):
            library().mokume_line_free(self._line)
            self._line = None

    def send(self, now: int, frame: bytes, number: int) -> None:
        library().mokume_line_send_as(self._line, now, number, frame, len(frame))

    @property
    def next(self) -> Optional[int]:
        at = ctypes.c_uint64()
        return at.value if library().mokume_line_next(self._line, ctypes.byref(at)) else None

    def arrived(self, now: int) -> Optional[Tuple[int, bytes]]:
        """The number and the octets of a frame that has arrived by now."""
        size = ctypes.c_uint32()
        frame = library().mokume_line_arrived(self._line, now, ctypes.byref(size))
        return (library().mokume_line_number(self._line), ctypes.string_at(frame, size.value)) if frame else None


class Network:
    """Hosts and lines in virtual time: the same seed and the same calls, the same run.

        network = mokume.Network(seed=1)
        a, b = network.host("a", stack), network.host("b", stack)
        network.link(a.device, b.device, weather="loss 2 % delay 1 ms .. 5 ms")
        network.run("10 s")

    What comes to one time comes in this order: frames, timers, what `at` has put there.
    """

    def __init__(self, seed: int = 1):
        self.seed = seed
        self.now = 0
        #: All that went over the lines, in order.
        self.frames: List[Frame] = []
        self.hosts: Dict[str, Instance] = {}
        self._lines: List[_Line] = []
        self._linked: List[Port] = []
        self._seeds = 0
        self._planned: List[Tuple[int, int, Callable[[], Any]]] = []
        self._plans = 0
        self._taps: List[Callable[[Frame], None]] = []
        self._count = 0

    def _a_seed(self) -> int:
        # SplitMix64: a stream for each host and line.
        self._seeds += 1
        word = (self.seed + self._seeds * 0x9E3779B97F4A7C15) & _WORDS
        word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & _WORDS
        word = ((word ^ word >> 27) * 0x94D049BB133111EB) & _WORDS
        return word ^ word >> 31

    def host(
        self, name: str, stack: Stack, set: Optional[Mapping[str, Any]] = None, backend: str = "interpreter"
    ) -> Instance:
        """A host, started now. Devices that `set` says no address of get one of their own."""
        if name in self.hosts:
            raise ValueError(f"there is a host `{name}` already")
        given = dict(set or {})
        number = len(self.hosts) + 1
        for order, parameter in enumerate(one for one in stack.parameters if one.endswith(".mac")):
            # As a number: stacks without Ethernet do not know its way of writing them.
            given.setdefault(parameter, 0x02_00_00_00_00_00 + order * 0x1_00_00 + number)
        host = stack.start(given, backend, self._a_seed(), self.now, name)
        host._clock = lambda: setattr(host, "now", max(host.now, self.now))
        self.hosts[name] = host
        return host

    def link(self, *ports: Port, weather: str = "") -> None:
        """Joins devices: what one sends comes to all others, after the weather, in the words of a network's link:
        `loss 2 % delay 5 ms .. 20 ms rate 10 Mbit/s queue 20`."""
        for port in ports:
            if not port.is_device:
                raise ValueError(f"`{port._instance.name}.{port.name}` is no device")
            if self.hosts.get(port._instance.name) is not port._instance:
                raise ValueError(f"`{port._instance.name}` is no host of this network: make it by `host`")
        if len(ports) < 2:
            raise ValueError("a link joins two devices or more")
        for at, port in enumerate(ports):
            if any(other is port for other in (*self._linked, *ports[:at])):
                name = f"`{port._instance.name}.{port.name}`"
                raise ValueError(f"{name} is on a link already; a stack that is on two has two devices")
        for port in ports:
            lines = [_Line(other, weather, self._a_seed()) for other in ports if other is not port]
            self._lines += lines
            self._linked.append(port)
            port.tap(self._sends(port, lines))
            # What the start has sent before the line was there.
            for event in port.take("frame"):
                self._send(port, lines, event.message)

    def _sends(self, port: Port, lines: List[_Line]):
        def sends(event):
            if event.name == "frame":
                port._waiting.clear()
                self._send(port, lines, event.message)

        return sends

    def _send(self, port: Port, lines: List[_Line], frame: bytes) -> None:
        self._count += 1
        self._seen(Frame(self._count, self.now, LEFT, port._instance.name, port.name, frame))
        for line in lines:
            line.send(self.now, frame, self._count)

    def _seen(self, frame: Frame) -> None:
        self.frames.append(frame)
        for tap in list(self._taps):
            tap(frame)

    def tap(self, function: Callable[[Frame], None]) -> Callable[[Frame], None]:
        """Calls the function with each frame that leaves or arrives, from now on."""
        self._taps.append(function)
        return function

    def at(self, time: Time, function: Callable[[], Any]) -> None:
        """Calls the function when the network's time has come there."""
        when = nanoseconds(time)
        if when < self.now:
            raise ValueError("time does not run backwards")
        self._plans += 1
        heapq.heappush(self._planned, (when, self._plans, function))

    def run(self, by: Optional[Time] = None, until: Optional[Time] = None) -> "Network":
        """Lets time pass: so long, or until then."""
        if (by is None) == (until is None):
            raise ValueError("say how long, or `until`")
        end = nanoseconds(until) if until is not None else nanoseconds(self.now + nanoseconds(by))
        if end < self.now:
            raise ValueError("time does not run backwards")
        while (due := self._next()) is not None and due <= end:
            self._step(max(due, self.now))
        self.now = end
        return self

    def run_until(self, holds: Callable[[], bool], most: Time = "60 s") -> bool:
        """Lets time pass until something holds, at most so long; whether it does."""
        end = nanoseconds(self.now + nanoseconds(most))
        while not holds():
            due = self._next()
            if due is None or due > end:
                self.now = end
                return holds()
            self._step(max(due, self.now))
        return True

    def _next(self) -> Optional[int]:
        times = [line.next for line in self._lines] + [host.next_deadline for host in self.hosts.values()]
        times += [self._planned[0][0]] if self._planned else []
        return min((time for time in times if time is not None), default=None)

    def _step(self, now: int) -> None:
        self.now = now
        for line in self._lines:
            while (arrived := line.arrived(now)) is not None:
                (number, frame), to = arrived, line.to
                self._seen(Frame(number, now, ARRIVED, to._instance.name, to.name, frame))
                to.feed(frame)
        for host in self.hosts.values():
            due = host.next_deadline
            if due is not None and due <= now:
                host._advance(now)
        while self._planned and self._planned[0][0] <= now:
            heapq.heappop(self._planned)[2]()

    def pcap(self, path=None, link: int = 1) -> bytes:
        """What left hosts, as a capture with nanoseconds; written to the path, if there is one. `link` is the number of the link type:
        1 is Ethernet."""
        capture = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, link)]
        for frame in self.frames:
            if frame.what == LEFT:
                size = len(frame.octets)
                capture.append(struct.pack("<IIII", frame.at // 10**9, frame.at % 10**9, size, size) + frame.octets)
        if path is not None:
            with open(path, "wb") as file:
                file.writelines(capture)
        return b"".join(capture)

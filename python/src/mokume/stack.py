"""Stacks: put together or read from a file, checked, and run; events go in by name, and what comes out is kept port by port."""

import ctypes
import datetime
import ipaddress
import json
import operator
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional

from . import _native
from ._native import Failure, Value, asked, library, octets, text
from .times import Time, in_64_bits, nanoseconds


@dataclass(frozen=True)
class Session:
    """A session of a stack, as its events name it. It is of one instance, and one life."""

    object: int
    generation: int


@dataclass(frozen=True)
class Event:
    """What a stack has said at a port: `event.name`, `event["msg"]`, `event.message`."""

    at: int
    port: str
    name: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str):
        return self.values[name]

    @property
    def message(self) -> bytes:
        """The octets of the message that it carries."""
        for value in self.values.values():
            if isinstance(value, bytes):
                return value
        raise Failure(f"`{self.port}.{self.name}` carries no message")

    def __str__(self) -> str:
        values = ", ".join(f"{name}: {value!r}" for name, value in self.values.items())
        return f"{self.port}.{self.name}({values})"


class Graph:
    """A stack that is put together: layers by name, what they stand over, and what an application sees."""

    def __init__(self, name: str):
        self.name = name
        self._graph = library().mokume_graph_new(octets(name))

    def __del__(self):
        if getattr(self, "_graph", None):
            library().mokume_graph_free(self._graph)
            self._graph = None

    def module(self, *names: str) -> "Graph":
        """Makes the layers of modules of the library known."""
        for name in names:
            library().mokume_graph_module(self._graph, octets(name))
        return self

    def source(self, source: str, file: str = "own.mok") -> "Graph":
        """Makes layers of one's own known; diagnostics call the text by the name of the file."""
        library().mokume_graph_source(self._graph, octets(file), octets(source))
        return self

    def parameter(self, name: str, type: str) -> "Graph":
        """A parameter of the stack: `("device", "Device")`, `("address", "Ipv4Cidr")`."""
        library().mokume_graph_parameter(self._graph, octets(name), octets(type))
        return self

    def layer(self, name: str, layer: str, over: str, uses: Iterable[str] = ()) -> "Graph":
        """Adds a layer: its name here, what it is, what it stands over, and who serves what it uses."""
        uses = [uses] if isinstance(uses, str) else uses
        library().mokume_graph_layer(self._graph, octets(name), octets(layer), octets(over), octets(",".join(uses)))
        return self

    def export(self, *layers: str) -> "Graph":
        """Gives the application a port to each of these layers."""
        for layer in layers:
            library().mokume_graph_export(self._graph, octets(layer))
        return self

    @property
    def text(self) -> str:
        """The source that says the same."""
        return text(library().mokume_graph_text(self._graph))

    def check(self) -> "Stack":
        """The stack; `Failure` with all diagnostics if it is wrong."""
        return Stack._of(asked("graph_check", self._graph))


class Stack:
    """A stack that was found right: `Stack("host.mok")`, or `Graph.check()`. Any number of instances may be made of it."""

    def __init__(self, file, stack: Optional[str] = None):
        self._own(asked("stack_of_file", octets(file), octets(stack or "")))

    @classmethod
    def of_text(cls, source: str, stack: Optional[str] = None, file: str = "stack.mok") -> "Stack":
        """A stack of a text, as a file would have it."""
        import tempfile
        from pathlib import Path

        with tempfile.TemporaryDirectory(prefix="mokume-") as folder:
            path = Path(folder) / file
            path.write_text(source, encoding="utf-8")
            try:
                return cls(path, stack)
            except Failure as failure:
                raise Failure(str(failure).replace(f"{folder}/", "")) from None

    @classmethod
    def _of(cls, address) -> "Stack":
        stack = cls.__new__(cls)
        stack._own(address)
        return stack

    def _own(self, address):
        self._stack = address
        interface = json.loads(text(library().mokume_stack_interface(address)))
        self.name: str = interface["name"]
        self.parameters: List[str] = interface["parameters"]
        self._reasons: List[str] = interface["reasons"]
        self._ports = {port["name"]: port for port in interface["ports"]}

    def __del__(self):
        if getattr(self, "_stack", None):
            library().mokume_stack_free(self._stack)
            self._stack = None

    def __repr__(self) -> str:
        return f"<mokume.Stack {self.name}: {', '.join(self._ports)}>"

    @property
    def ports(self) -> List[str]:
        """The names of its ports: devices first, then what it exports."""
        return list(self._ports)

    def events(self, port: str) -> Dict[str, List[str]]:
        """What goes in at a port: events, with the names of what each takes."""
        return {event["event"]: [one["name"] for one in event["takes"]] for event in self._ports[port]["inputs"]}

    def build(self, folder) -> str:
        """Compiles it to C, and that to a shared object in the folder, with its headers beside it; the object's path."""
        return text(asked("stack_shared_object", self._stack, octets(folder)))

    def start(
        self,
        set: Optional[Mapping[str, Any]] = None,
        backend: str = "interpreter",
        seed: int = 0,
        at: Time = 0,
        name: Optional[str] = None,
    ) -> "Instance":
        """An instance, started at this time. `set` has parameters as `mokume run --set` takes them; `backend` is `interpreter` or `c`."""
        start = nanoseconds(at)
        instance = Instance(self, set or {}, backend, in_64_bits(seed, "a seed"), name or self.name)
        instance._start(start)
        return instance


class Port:
    """A port of an instance. Its events are methods, by their names; what comes out waits until it is taken."""

    def __init__(self, instance: "Instance", told: dict):
        self._instance = instance
        self.name: str = told["name"]
        self.is_device: bool = told["kind"] == "device"
        self._inputs = {event["event"]: event for event in told["inputs"]}
        self._outputs = {event["event"]: event["takes"] for event in told["outputs"]}
        self._waiting: deque = deque()
        self._taps: List[Callable[[Event], None]] = []
        # Functions of which each output waits no more: only they get it.
        self._taken: List[Callable[[Event], None]] = []

    def __repr__(self) -> str:
        return f"<mokume.Port {self._instance.name}.{self.name}: {', '.join(self._inputs)}>"

    def __dir__(self):
        return sorted([*super().__dir__(), *self._inputs])

    def __getattr__(self, event: str):
        if event.startswith("_") or event not in self.__dict__.get("_inputs", {}):
            known = ", ".join(self.__dict__.get("_inputs", {}))
            raise AttributeError(f"no event `{event}` goes in at `{self.__dict__.get('name')}`; there are: {known}")
        return lambda *values, **named: self.call(event, *values, **named)

    def call(self, event: str, *values, **named) -> bool:
        """An event into the stack. `False` if it was refused at the door: beyond the credit, no buffer, or a session that has ended."""
        if event not in self._inputs:
            raise Failure(f"no event `{event}` goes in at `{self.name}`; there are: {', '.join(self._inputs)}")
        return self._instance._call(f"{self.name}.{event}", self._inputs[event], values, named)

    def feed(self, frame: bytes) -> bool:
        """A frame from the line into a device."""
        return self.call("frame", frame)

    def tap(self, function: Callable[[Event], None], keep: bool = True) -> Callable[[Event], None]:
        """Calls the function with each event that comes out, from now on; it may call the stack. `untap` ends it. The events also wait
        for `take` and `next`, unless `keep` is false."""
        with self._instance._lock:
            self._taps.append(function)
            if not keep:
                self._taken.append(function)
        return function

    def untap(self, function: Callable[[Event], None]) -> None:
        with self._instance._lock:
            self._taps.remove(function)
            if function in self._taken:
                self._taken.remove(function)

    def take(self, name: Optional[str] = None) -> List[Event]:
        """All that has come out and was not taken; only events of this name, where one is said, and others stay."""
        with self._instance._lock:
            taken = [event for event in self._waiting if name in (None, event.name)]
            kept = [event for event in self._waiting if name not in (None, event.name)]
            self._waiting = deque(kept)
        return taken

    def next(self, name: Optional[str] = None) -> Optional[Event]:
        """The oldest event that was not taken, of this name where one is said; none if there is none."""
        with self._instance._lock:
            for at, event in enumerate(self._waiting):
                if name in (None, event.name):
                    del self._waiting[at]
                    return event
        return None


class Instance:
    """A stack that runs: `instance.udp.send_to(…)`, `instance.udp.take()`. Time is the caller's, and never runs backwards."""

    def __init__(self, stack: Stack, set: Mapping[str, Any], backend: str, seed: int, name: str):
        settings = [octets(f"{key}={_setting(value)}") for key, value in set.items()]
        array = (ctypes.c_char_p * (len(settings) + 1))(*settings, None)
        self.stack, self.name, self.now = stack, name, 0
        # One thread at a time is in the library with it. No thread has it while a tap runs: that may call another instance, whose tap calls this
        # one in another thread.
        self._lock = threading.RLock()
        self._pending: deque = deque()
        self._delivering = False
        self._ports: Dict[str, Port] = {}
        self._clock: Optional[Callable[[], None]] = None
        self._instance = asked("instance_new", stack._stack, octets(backend), array, seed)
        self._heard = []
        for told in stack._ports.values():
            port = Port(self, told)
            self._ports[port.name] = port
            hear = _native.Hear(self._hears(port))
            # The library calls it as long as the instance lives.
            self._heard.append(hear)
            asked("attach", self._instance, octets(port.name), hear, None, failed=lambda number: number < 0)

    def __del__(self):
        self.stop()

    def stop(self) -> None:
        """Ends it, with all that it holds. An instance that nobody has ends by itself."""
        if getattr(self, "_instance", None):
            with self._lock:
                library().mokume_instance_free(self._instance)
                self._instance = None

    def __repr__(self) -> str:
        return f"<mokume.Instance {self.name}: {', '.join(self._ports)}>"

    def __dir__(self):
        return sorted([*super().__dir__(), *self._ports])

    def __getattr__(self, name: str) -> Port:
        try:
            return self.__dict__["_ports"][name]
        except KeyError:
            known = ", ".join(self.__dict__.get("_ports", {}))
            raise AttributeError(f"`{self.__dict__.get('name')}` has no port `{name}`; it has: {known}") from None

    def __getitem__(self, name: str) -> Port:
        """The port of this name, where an attribute would be something else: `instance["name"]`."""
        return self._ports[name]

    def _hears(self, port: Port):
        def hear(_context, at, name, values, count):
            # Nothing is called from here: what fails in a callback of C is lost.
            name = name.decode()
            takes = port._outputs.get(name, [])
            given = {one["name"]: self._read(one, values[index]) for index, one in enumerate(takes[:count])}
            self._pending.append((port, Event(at, port.name, name, given)))

        return hear

    def _read(self, told: dict, value: Value):
        if value.kind == _native.HANDLE:
            return Session(value.object, value.generation)
        if value.kind == _native.OCTETS:
            return ctypes.string_at(value.octets, value.size) if value.size else b""
        reasons = self.stack._reasons
        if told["kind"] == "reason" and value.word < len(reasons):
            return reasons[value.word]
        return value.word != 0 if told.get("is") == "truth" else value.word

    def _living(self):
        if not self._instance:
            raise Failure(f"`{self.name}` was stopped")
        return self._instance

    def _start(self, at: int) -> None:
        with self._lock:
            self.now = at
            library().mokume_start(self._living(), at)
        self._deliver()

    def _call(self, event: str, told: dict, values, named) -> bool:
        given, alive = _arguments(event, told, values, named)
        array = (Value * len(given))(*given)
        with self._lock:
            if self._clock:
                self._clock()
            called = asked(
                "call", self._living(), self.now, octets(event), array, len(given), failed=lambda result: result < 0
            )
        del alive
        self._deliver()
        return called == 1

    def advance(self, to: Optional[Time] = None, by: Optional[Time] = None) -> None:
        """Time passes, to a time or by one; timers run, each when it is due."""
        if (to is None) == (by is None):
            raise ValueError("say `to` or `by`")
        end = nanoseconds(to) if to is not None else nanoseconds(self.now + nanoseconds(by))
        if end < self.now:
            raise ValueError("time does not run backwards")
        while True:
            due = self.next_deadline
            if due is None or due > end:
                break
            self._advance(max(due, self.now))
        self._advance(end)

    def _advance(self, now: int) -> None:
        with self._lock:
            self.now = max(self.now, now)
            library().mokume_advance(self._living(), now)
        self._deliver()

    @property
    def next_deadline(self) -> Optional[int]:
        """When a timer is due."""
        at = ctypes.c_uint64()
        with self._lock:
            return at.value if library().mokume_next_deadline(self._living(), ctypes.byref(at)) else None

    def _deliver(self) -> None:
        # What a tap brings about comes behind what is there, also what it brings about in another thread.
        with self._lock:
            if self._delivering:
                return
            self._delivering = True
        try:
            while True:
                with self._lock:
                    event, taps = self._next_tapped()
                    if event is None:
                        self._delivering = False
                        return
                for tap in taps:
                    tap(event)
        except BaseException:
            self._delivering = False
            raise

    def _next_tapped(self):
        """Puts what has come out where it waits, up to an event that a function gets: that event, and the functions."""
        while self._pending:
            port, event = self._pending.popleft()
            if not port._taken:
                port._waiting.append(event)
            if port._taps:
                return event, list(port._taps)
        return None, []

    @property
    def accounts(self) -> Dict[str, Any]:
        """What became of all messages: `received`, `delivered`, `held`, …; `dropped` and `consumed` by reason; `counters` of layers."""
        with self._lock:
            return json.loads(text(library().mokume_accounts(self._living())))

    def dropped(self, reason: str) -> int:
        """How many messages were dropped for a reason, in all layers that have one of this name."""
        counts = self.accounts["dropped"]
        return sum(count for name, count in counts.items() if name == reason or name.rsplit(".", 1)[-1] == reason)

    def reports(self) -> List[str]:
        """Overflows, indices beyond an array, …: faults of the layers' own; each is taken once."""
        with self._lock:
            return json.loads(text(library().mokume_take_reports(self._living())))

    def attach_device(self, port: str, device: str) -> None:
        """Ties a device of this machine to a port: `tap:mok0`, `udp:127.0.0.1:7001,127.0.0.1:7002`. Then `poll` moves time."""
        with self._lock:
            asked("attach_device", self._living(), octets(port), octets(device))
            self._clock = self._read_clock

    def detach_device(self, port: str) -> bool:
        """Frames that the stack sends there are lost from now on."""
        with self._lock:
            return library().mokume_detach_device(self._living(), octets(port))

    def _read_clock(self) -> None:
        self.now = max(self.now, library().mokume_now(self._living()))

    def poll(self, longest: Time = "100 ms") -> None:
        """Waits for a frame or a deadline, at most so long, and does what there is to do. Other threads that call the instance wait as long."""
        longest = nanoseconds(longest)
        with self._lock:
            asked("poll", self._living(), longest)
            self._read_clock()
        self._deliver()



def _arguments(event: str, told: dict, values, named):
    """The values in their order, as the library takes them, and what must live as long."""
    takes = told["takes"]
    names = [one["name"] for one in takes]
    values, named = _halved(names, values, named)
    unknown = [name for name in named if name not in names]
    if unknown or len(values) > len(takes):
        raise TypeError(f"`{event}` takes ({', '.join(names)})" + (f", and no `{unknown[0]}`" if unknown else ""))
    twice = [name for name in names[: len(values)] if name in named]
    if twice:
        raise TypeError(f"`{event}`: `{twice[0]}` is given twice")
    given = dict(zip(names, values), **named)
    # What is left out at the end has a value by default.
    while names and names[-1] not in given and len(takes) - len(names) < told["defaults"]:
        names.pop()
    missing = [name for name in names if name not in given]
    if missing:
        raise TypeError(f"`{event}` takes ({', '.join(one['name'] for one in takes)}): `{missing[0]}` is missing")
    alive, written = [], []
    for one in takes[: len(names)]:
        written.append(_write(event, one, given[one["name"]], alive))
    return written, alive


def _halved(names: List[str], values, named):
    """The same, with addresses of 128 bits as the two numbers that an event takes: `host_high` and `host_low`."""
    in_order: list = []
    for value in values:
        name = names[len(in_order)] if len(in_order) < len(names) else ""
        is_whole = isinstance(value, ipaddress.IPv6Address) and name.endswith("_high")
        in_order += _halves(value) if is_whole else [value]
    by_name: Dict[str, Any] = {}
    for name, value in named.items():
        parts = [f"{name}_high", f"{name}_low"]
        is_whole = isinstance(value, ipaddress.IPv6Address) and name not in names and all(part in names for part in parts)
        by_name.update(zip(parts, _halves(value)) if is_whole else [(name, value)])
    return in_order, by_name


def _halves(address: ipaddress.IPv6Address) -> List[int]:
    return [int(address) >> 64, int(address) & (1 << 64) - 1]


def _setting(value) -> str:
    """A parameter's value as the command line has it: `true` of True, `20000000ns` of a timedelta, `x"6162"` of octets."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (bytes, bytearray)):
        return f'x"{value.hex()}"'
    return f"{nanoseconds(value)}ns" if isinstance(value, datetime.timedelta) else str(value)


def _ordered(names: Mapping[str, int]) -> str:
    """The names of an enum, as they are numbered."""
    return ", ".join(sorted(names, key=names.__getitem__))


def _write(event: str, told: dict, value, alive: list) -> Value:
    name, kind = told["name"], told["kind"]
    if kind == "session" and isinstance(value, Session):
        return Value(kind=_native.HANDLE, object=value.object, generation=value.generation)
    if kind == "message" and isinstance(value, (str, bytes, bytearray, memoryview)):
        message = value.encode() if isinstance(value, str) else bytes(value)
        buffer = ctypes.create_string_buffer(message, max(len(message), 1))
        alive.append(buffer)
        return Value(kind=_native.OCTETS, size=len(message), octets=ctypes.addressof(buffer))
    if kind == "number" and isinstance(value, (str, datetime.timedelta)) and told.get("is") == "time":
        return Value(kind=_native.WORD, word=nanoseconds(value))
    if kind == "number" and isinstance(value, str) and "names" in told:
        names = told["names"]
        if (short := value.rsplit(".", 1)[-1]) in names and value in (short, f"{told['enum']}.{short}"):
            return Value(kind=_native.WORD, word=names[short])
        raise ValueError(f"`{event}`: `{name}` is one of {_ordered(names)}, not {value}")
    if kind == "number" and not isinstance(value, (str, bytes, float)):
        try:
            number = operator.index(value)
        except TypeError:
            # Addresses of `ipaddress` are no indices, but numbers.
            number = int(value) if hasattr(value, "packed") else None
        if number is not None:
            if not 0 <= number < 1 << told["bits"]:
                raise ValueError(f"`{event}`: `{name}` has {told['bits']} bits, and {value} is beyond them")
            if not told.get("open", True) and number not in told["names"].values():
                raise ValueError(f"`{event}`: `{name}` is one of {_ordered(told['names'])}, not {value}")
            if number > told.get("most", number):
                raise ValueError(f"`{event}`: `{name}` is at most {told['most']}, and {value} is beyond it")
            return Value(kind=_native.WORD, word=number)
    wanted = {"session": "a Session", "message": "bytes or a str", "number": "a number, or an address of `ipaddress`"}.get(kind, "nothing that Python can say")
    raise TypeError(f"`{event}`: `{name}` is {wanted}, not {type(value).__name__}")

"""Records of runs: what `--record` of `sim`, `test` and `run` writes, as dictionaries, rows and data frames."""

import json
import os
from typing import Any, Dict, Iterator, List, Optional, Union

from ._native import Failure

#: Versions that are read.
VERSIONS = (1, 2, 3, 4)


class Run:
    """A run: its head (`network`, `seed`, `hosts`, …), and its events in order."""

    def __init__(self, head: Dict[str, Any]):
        self.head = head
        self.events: List[Dict[str, Any]] = []

    def __repr__(self) -> str:
        return f"<mokume.Run {self.head.get('name')}, seed {self.head.get('seed')}: {len(self.events)} events>"

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.events)

    def select(self, event: Optional[str] = None, host: Optional[str] = None) -> List[Dict[str, Any]]:
        """Events of a kind, of a host."""
        return [one for one in self.events if event in (None, one["event"]) and host in (None, one.get("host"))]

    def causes(self, event: Dict[str, Any]) -> List[Dict[str, Any]]:
        """What brought an event about, and what that, back to the beginning."""
        by_id = {one["id"]: one for one in self.events}
        found = []
        while event.get("cause") is not None:
            event = by_id[event["cause"]]
            found.append(event)
        return found

    def rows(self) -> List[Dict[str, Any]]:
        """Events as flat rows: numbers and texts as they are, octets as `bytes`, arguments of events under their names (`args.msg`),
        all else as JSON. `at` is in nanoseconds."""
        return [_flat(event) for event in self.events]

    def columns(self) -> Dict[str, list]:
        """The rows as columns of one length; `None` where an event has no such field."""
        rows = self.rows()
        names: Dict[str, None] = {}
        for row in rows:
            names.update(dict.fromkeys(row))
        return {name: [row.get(name) for row in rows] for name in names}

    def to_pandas(self):
        """A data frame of pandas, a row an event, by `id`; `time` is `at` as a time difference. Numbers are `Int64`, or `UInt64` where these
        are too narrow, and truth values `boolean`, with gaps where an event has no such field; what fits neither is as in `columns`."""
        import pandas

        columns = self.columns()
        types = {name: _dtype(column) for name, column in columns.items()}
        # Every event has these two.
        types.update((name, "int64") for name in ("id", "at") if types[name] == "Int64")
        types.update((name, types[name] or "Int64") for name in ("cause", "frame", "count") if name in types)
        frame = pandas.DataFrame({name: pandas.Series(column, dtype=types[name]) for name, column in columns.items()}).set_index("id")
        frame.insert(0, "time", pandas.to_timedelta(frame["at"], unit="ns"))
        return frame

    def to_polars(self):
        """A data frame of polars, a row an event."""
        import polars

        return polars.DataFrame(self.columns(), strict=False, infer_schema_length=None)


class Record:
    """A file of runs: of a simulation one, of tests one for each test and back end."""

    def __init__(self, runs: List[Run]):
        self.runs = runs
        #: Of a simulation that Python has run: what was not as expected, and what became of each host's messages.
        self.failed: List[Dict[str, Any]] = []
        self.hosts: Dict[str, Dict[str, Any]] = {}

    @classmethod
    def read(cls, path: Union[str, "os.PathLike[str]"]) -> "Record":
        """Reads a file; `Failure` if it is no record, or of a version that is not known."""
        try:
            with open(path, encoding="utf-8") as lines:
                return cls.of_lines(lines)
        except UnicodeDecodeError:
            raise Failure("the file is no text in UTF-8, so it is no record") from None

    @classmethod
    def of_lines(cls, lines) -> "Record":
        runs: List[Run] = []
        for number, line in enumerate(lines, 1):
            try:
                said = json.loads(line)
            except ValueError:
                raise Failure(f"line {number} is no JSON: the file is no record, or was cut") from None
            if not isinstance(said, dict):
                raise Failure(f"line {number} is no event: the file is no record")
            if "record" in said:
                if said["record"] not in VERSIONS:
                    raise Failure(f"the record is of version {said['record']}; this reads {VERSIONS}")
                runs.append(Run(said))
            elif not runs:
                raise Failure("the file does not begin with the head of a run: it is no record")
            elif "event" in said:
                runs[-1].events.append(said)
        if not runs:
            raise Failure("the file is empty: it is no record")
        return cls(runs)

    @property
    def run(self) -> Run:
        """The only run."""
        if len(self.runs) != 1:
            raise Failure(f"the record has {len(self.runs)} runs: take one of `runs`")
        return self.runs[0]

    def __repr__(self) -> str:
        return f"<mokume.Record: {len(self.runs)} runs, {sum(len(run.events) for run in self.runs)} events>"

    def to_pandas(self):
        """All runs in one data frame of pandas, with `run`, from 1."""
        import pandas

        frames = [run.to_pandas().assign(run=number) for number, run in enumerate(self.runs, 1)]
        # Of one column, one run may have numbers that are too large for another's type.
        for name in {name for frame in frames for name in frame}:
            if len({str(frame[name].dtype) for frame in frames if name in frame and frame[name].notna().any()}) > 1:
                for frame in frames:
                    if name in frame:
                        frame[name] = frame[name].astype(object)
        return pandas.concat(frames).set_index("run", append=True).swaplevel()


def _dtype(column: list) -> Any:
    """The type of a column in a data frame that changes no value; none where pandas itself finds one."""
    values = [value for value in column if value is not None]
    if not any(isinstance(value, int) for value in values):
        return None
    if all(isinstance(value, bool) for value in values):
        return "boolean"
    if not all(type(value) is int for value in values):
        return object
    least, most = min(values), max(values)
    if -(2**63) <= least and most < 2**63:
        return "Int64"
    return "UInt64" if 0 <= least and most < 2**64 else object


def _flat(event: Dict[str, Any]) -> Dict[str, Any]:
    row: Dict[str, Any] = {}
    for name, value in event.items():
        if name == "args":
            for arg in value:
                row[f"args.{arg['name']}"] = _argument(arg)
        elif name == "octets":
            row[name] = None if value is None else bytes.fromhex(value)
        elif name in ("at", "id", "cause") and isinstance(value, str):
            # Numbers of more than 53 bits are written as text.
            row[name] = int(value)
        elif isinstance(value, (dict, list)):
            row[name] = json.dumps(value, ensure_ascii=False)
        else:
            row[name] = value
    return row


def _argument(arg: Dict[str, Any]):
    """A truth value or a number as one, or as it is written where it has several parts; a session as its object and generation; a message's octets."""
    if arg["is"] == "message":
        return bytes.fromhex(arg["octets"])
    if arg["is"] == "number":
        numbers = arg["numbers"]
        if arg.get("written") in ("true", "false"):
            return arg["written"] == "true"
        return int(numbers[0]) if len(numbers) == 1 else arg["written"]
    return f"{arg['object']}/{arg['generation']}" if arg["is"] == "session" else None

"""Times, as the language writes them."""

import datetime
import re
from typing import Union

Time = Union[int, str, datetime.timedelta]

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
_WRITTEN = re.compile(r"\s*(\d+)(?:\.(\d+))?\s*([a-zµ]+)\s*")


#: One more than the largest number of 64 bits: times and seeds are below it.
END = 1 << 64


def nanoseconds(time: Time) -> int:
    """A time in nanoseconds: a number of them, `"20 ms"`, or a `timedelta`. `ValueError` if it is none, negative, or beyond 64 bits.

    >>> nanoseconds("1.5 ms")
    1500000
    """
    return in_64_bits(_nanoseconds(time), "a time in nanoseconds")


def in_64_bits(number: int, what: str) -> int:
    """The number; `ValueError` if it is negative, or beyond 64 bits."""
    if not 0 <= number < END:
        raise ValueError(f"{number} cannot be {what}: these are from 0 to 2**64 - 1")
    return number


def _nanoseconds(time: Time) -> int:
    if isinstance(time, datetime.timedelta):
        return (time.days * 86400 + time.seconds) * 10**9 + time.microseconds * 1000
    if isinstance(time, int) and not isinstance(time, bool):
        return time
    if isinstance(time, str):
        written = _WRITTEN.fullmatch(time)
        if written and written[3] in _UNITS:
            unit, part = _UNITS[written[3]], written[2] or ""
            return int(written[1]) * unit + (int(part) * unit // 10 ** len(part) if part else 0)
    raise ValueError(f'{time!r} is no time: write "20 ms", a number of nanoseconds, or a timedelta')

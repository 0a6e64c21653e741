"""The compiler's library, through C (`mokume_embed.h`), and where it and the command are."""

import ctypes
import os
import re
from ctypes import CFUNCTYPE, POINTER, byref, c_bool, c_char_p, c_int, c_uint8, c_uint32, c_uint64, c_void_p
from pathlib import Path


class Failure(Exception):
    """What Mokume refuses, in its own words: what is wrong, and the way out."""


class Value(ctypes.Structure):
    _fields_ = [
        ("kind", c_uint32),
        ("object", c_uint32),
        ("generation", c_uint32),
        ("size", c_uint32),
        ("word", c_uint64),
        ("octets", c_void_p),
    ]


WORD, HANDLE, OCTETS = range(3)

Hear = CFUNCTYPE(None, c_void_p, c_uint64, c_char_p, POINTER(Value), c_uint32)

_WHY = POINTER(c_void_p)
# A text is freed by who has read it: so it is no c_char_p, of which ctypes keeps a copy only.
_TEXT = c_void_p

_FUNCTIONS = {
    "text_free": (None, [_TEXT]),
    "graph_new": (c_void_p, [c_char_p]),
    "graph_free": (None, [c_void_p]),
    "graph_module": (None, [c_void_p, c_char_p]),
    "graph_source": (None, [c_void_p, c_char_p, c_char_p]),
    "graph_parameter": (None, [c_void_p, c_char_p, c_char_p]),
    "graph_layer": (None, [c_void_p, c_char_p, c_char_p, c_char_p, c_char_p]),
    "graph_export": (None, [c_void_p, c_char_p]),
    "graph_text": (_TEXT, [c_void_p]),
    "graph_check": (c_void_p, [c_void_p, _WHY]),
    "stack_of_file": (c_void_p, [c_char_p, c_char_p, _WHY]),
    "stack_free": (None, [c_void_p]),
    "stack_interface": (_TEXT, [c_void_p]),
    "stack_shared_object": (_TEXT, [c_void_p, c_char_p, _WHY]),
    "instance_new": (c_void_p, [c_void_p, c_char_p, POINTER(c_char_p), c_uint64, _WHY]),
    "instance_free": (None, [c_void_p]),
    "start": (None, [c_void_p, c_uint64]),
    "call": (c_int, [c_void_p, c_uint64, c_char_p, POINTER(Value), c_uint32, _WHY]),
    "advance": (None, [c_void_p, c_uint64]),
    "next_deadline": (c_bool, [c_void_p, POINTER(c_uint64)]),
    "attach": (c_int, [c_void_p, c_char_p, Hear, c_void_p, _WHY]),
    "detach": (c_bool, [c_void_p, c_int]),
    "attach_device": (c_bool, [c_void_p, c_char_p, c_char_p, _WHY]),
    "detach_device": (c_bool, [c_void_p, c_char_p]),
    "poll": (c_bool, [c_void_p, c_uint64, _WHY]),
    "now": (c_uint64, [c_void_p]),
    "accounts": (_TEXT, [c_void_p]),
    "take_reports": (_TEXT, [c_void_p]),
    "line_new": (c_void_p, [c_char_p, c_uint64, _WHY]),
    "line_free": (None, [c_void_p]),
    "line_send_as": (None, [c_void_p, c_uint64, c_uint64, c_char_p, c_uint32]),
    "line_next": (c_bool, [c_void_p, POINTER(c_uint64)]),
    "line_arrived": (POINTER(c_uint8), [c_void_p, c_uint64, POINTER(c_uint32)]),
    "line_number": (c_uint64, [c_void_p]),
}


def carried(variable: str, name: str) -> str:
    """A file that the wheel carries; the environment's variable names another."""
    path = os.environ.get(variable) or str(Path(__file__).parent / "carried" / name)
    if not os.path.exists(path):
        raise Failure(f"there is no {path}; install the wheel, or name the file in {variable}")
    return path


_library = None


def library():
    """The library, opened when it is first asked for."""
    global _library
    if _library is None:
        opened = ctypes.CDLL(carried("MOKUME_LIBRARY", "libmokume_embed.so"))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(opened, f"mokume_{name}")
            function.restype, function.argtypes = result, arguments
        _library = opened
    return _library


def text(address) -> str:
    """A text that the library gives away."""
    if not address:
        return ""
    words = ctypes.string_at(address).decode(errors="replace")
    library().mokume_text_free(address)
    return words


def in_python(words: str) -> str:
    """What the library says to those who type commands, for those who call it: options are arguments here."""
    words = re.sub(r"`--set (\w+)=[^`]*`", r"`set={'\1': …}`", words)
    return re.sub(r"`--(stack|network) NAME`", r"`\1='NAME'`", words)


def asked(name: str, *arguments, failed=lambda result: not result):
    """Calls what may fail: `Failure` with the library's own words if it does."""
    why = c_void_p()
    result = getattr(library(), f"mokume_{name}")(*arguments, byref(why))
    if failed(result):
        raise Failure(in_python(text(why.value).rstrip()) or "the library does not say why")
    return result


def octets(words) -> bytes:
    """A text for the library, which ends with a nul."""
    encoded = words.encode() if isinstance(words, str) else os.fsencode(words)
    if b"\0" in encoded:
        raise ValueError("a text for the compiler has no nul in it")
    return encoded

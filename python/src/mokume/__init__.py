"""Network protocols, layer by layer: stacks of Mokume built, run, fed and tapped from Python.

    stack = mokume.Stack("chat.mok")
    host = stack.start(set={"address": "10.0.0.1/24"})
    host.udp.send_to(...)
    host.udp.take()

`Network` joins instances in virtual time, `simulate` runs a `network` of a file, `Record` reads what happened, as rows and data frames.
"""

from ._native import Failure
from .command import check, dissect, run, simulate, test
from .network import Frame, Network
from .record import Record, Run
from .stack import Event, Graph, Instance, Port, Session, Stack
from .times import nanoseconds

__all__ = [
    "Event",
    "Failure",
    "Frame",
    "Graph",
    "Instance",
    "Network",
    "Port",
    "Record",
    "Run",
    "Session",
    "Stack",
    "check",
    "dissect",
    "nanoseconds",
    "run",
    "simulate",
    "test",
]

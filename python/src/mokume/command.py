"""The command `mokume`: what checks, tests, simulates and dissects, as Python values."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from ._native import Failure, carried, in_python
from .record import Record

Files = Union[str, "os.PathLike[str]"]


def program() -> str:
    """Where the command is: in the wheel, or where the environment says in `MOKUME`."""
    return carried("MOKUME", "mokume")


def main() -> None:
    """The command itself: `mokume …`, `python -m mokume …`."""
    path = program()
    if not os.access(path, os.X_OK):
        # An installer that unpacks a wheel may forget who may run its files.
        os.chmod(path, 0o755)
    os.execv(path, [path, *sys.argv[1:]])


def run(*words: Files, input: bytes = b"", folder: Optional[Files] = None, good=(0, 1)) -> List[Dict[str, Any]]:
    """Carries out a command with `--format json`: a dictionary for each line that it prints.

    Exit code 0 is good, 1 says that the program or its tests are wrong, and is told in the lines; else `Failure`.
    """
    path = program()
    if not os.access(path, os.X_OK):
        os.chmod(path, 0o755)
    words = [os.fspath(word) for word in words]
    ran = subprocess.run([path, *words, "--format", "json"], input=input, capture_output=True, cwd=folder)
    lines = [json.loads(line) for line in ran.stdout.decode(errors="replace").splitlines() if line.startswith("{")]
    if ran.returncode not in good:
        said = [f"{line['error']}; {line['help']}" for line in lines if "error" in line and "help" in line]
        raise Failure(in_python("\n".join(said)) or ran.stderr.decode(errors="replace").strip() or f"it ended with {ran.returncode}")
    return lines


def check(*files: Files) -> List[Dict[str, Any]]:
    """What is wrong with files or folders: a dictionary for each diagnostic (`code`, `severity`, `message`, …); none is good."""
    return [line for line in run("check", *files) if "code" in line]


def test(*files: Files, backend: Optional[str] = None, filter: Optional[str] = None) -> List[Dict[str, Any]]:
    """Runs the `test` blocks of files: a dictionary for each test and back end, with `passed` and `differences`."""
    words = ["test", *files]
    words += ["--backend", backend] if backend else []
    words += ["--filter", filter] if filter else []
    lines = run(*words)
    wrong = [line for line in lines if "code" in line and line.get("severity") == "error"]
    if wrong:
        raise Failure("\n".join(f"{line['code']}: {line['message']}" for line in wrong))
    return [line for line in lines if "test" in line]


def dissect(capture: Union[Files, bytes], by: Optional[Files] = None, filter: Optional[str] = None) -> List[Dict[str, Any]]:
    """The packets of a capture (a file, or its octets), layer by layer and field by field; `by` is a file with the stack that reads them."""
    words: List[Files] = ["dissect", "-" if isinstance(capture, bytes) else capture]
    words += ["--by", by] if by else []
    words += ["--filter", filter] if filter else []
    return run(*words, input=capture if isinstance(capture, bytes) else b"")


def simulate(
    file: Files,
    network: Optional[str] = None,
    seed: Optional[int] = None,
    backend: Optional[str] = None,
    steps: bool = False,
    keep: Optional[Files] = None,
) -> Record:
    """Runs a file's `network` in virtual time. The record has what happened, and `failed` what was not as expected.

    `steps`: with what layers did, and frames field by field. `keep`: where the record's file stays.
    """
    with tempfile.TemporaryDirectory(prefix="mokume-") as folder:
        path = Path(keep) if keep else Path(folder) / "run.jsonl"
        words: List[Files] = ["sim", file, "--record", path]
        words += ["--network", network] if network else []
        words += ["--seed", str(seed)] if seed is not None else []
        words += ["--backend", backend] if backend else []
        words += ["--steps"] if steps else []
        lines = run(*words)
        wrong = [line for line in lines if "code" in line and line.get("severity") == "error"]
        if wrong:
            raise Failure("\n".join(f"{line['code']}: {line['message']}" for line in wrong))
        record = Record.read(path)
    record.failed = [line for line in lines if "failed" in line and "replay" in line]
    record.hosts = {line["host"]: line for line in lines if "host" in line}
    return record

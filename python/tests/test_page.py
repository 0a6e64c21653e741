"""The code of docs/python.md, as one program in an empty folder; its tests by pytest there."""

import os
import subprocess
import sys
from pathlib import Path

import mokume

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def blocks():
    parts = PAGE.read_text().split("```python\n")[1:]
    return [part.split("```")[0] for part in parts]


def test_the_page_runs(tmp_path):
    *program, tests = blocks()
    assert len(program) == 4 and "mokume_network" in tests
    head = "\n".join(program)
    path = [str(Path(mokume.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    (tmp_path / "test_page_again.py").write_text(head + "\n" + tests)
    plugin = [] if "site-packages" in mokume.__file__ else ["-p", "mokume.pytest_plugin"]
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, "test_page_again.py"]
    ran = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0 and "21 passed" in ran.stdout, ran.stdout + ran.stderr
    assert (tmp_path / "seen.pcap").stat().st_size > 24

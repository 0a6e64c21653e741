"""A stack compiled to a shared object, with the C and its header beside it; and what the compiler says of files."""

import shutil
import sys
import tempfile
from pathlib import Path

import mokume

source = Path(__file__).parents[2] / "examples" / "meter.mok"
assert mokume.check(source) == []
for test in mokume.test(source, backend="interpreter"):
    print("passed" if test["passed"] else "FAILED", test["test"])

if not shutil.which("cc"):
    print("no C compiler")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    made = mokume.Stack(source, "House").build(folder)
    print(Path(made).name, sorted(path.name for path in Path(folder).glob("*.h"))[:3])
    assert Path(made).stat().st_size > 1000

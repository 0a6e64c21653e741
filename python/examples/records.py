"""A network of a file, run in virtual time; what happened as a data frame."""

import sys
from pathlib import Path

import mokume

record = mokume.simulate(Path(__file__).parents[2] / "examples" / "meter.mok", seed=3)
run = record.run
print(run)
assert not record.failed

# Without any library: dictionaries, and what brought one about.
last = run.select("receives")[-1]
print("the last frame:", last["at"], "ns at", last["host"], "because of", [one["event"] for one in run.causes(last)])

try:
    import pandas
except ImportError:
    print("no pandas: columns are lists")
    assert len(run.columns()["at"]) == len(run.events)
    sys.exit()

frame = run.to_pandas()
print(frame[frame.event == "sends"].groupby("host")["about"].count().rename("frames sent"))
sends = frame[frame.event == "sends"]
assert sends.octets.map(len).min() > 14 and isinstance(frame.time.iloc[0], pandas.Timedelta)

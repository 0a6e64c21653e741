"""Groups over UDP loopback, each member a process that waits in the kernel: our stacks, and JGroups as it is shipped, with larger
buffers, and without bundling, in turns.

*round trip*: one member casts, the others cast an answer; it ends when all answers are there. *delivered*: all cast as fast as they are let,
until all have all; casts delivered at each member a second. Hashes of what was delivered, in its order, are equal at all members, or the bench
stops (of ours; of JGroups it says so, and has no figure). *instructions*: two members in one program, in virtual time, 100,000 casts a second; all calls of both, timers among them."""

import json
import re
import shutil
import statistics
import subprocess
import time

import method
from method import CC, FLAGS, HERE, WORK, counted, generate, run, stop

SIZES, MEMBERS, TURNS = [100, 1000], [2, 3, 5], 2
TRIPS, CASTS = 3000, 60_000
MANY = 4000
FOLDER = WORK / "groups"
VERSION = "5.4.8.Final"
# The row; what is done to the shipped stack of JGroups.
PEERS = [("jgroups", {}), ("jgroups, 256k", {"bundler.capacity": "256k"}), ("jgroups, unbundled", {"bundler_type": "no-bundler"})]
POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>bench</groupId>
<artifactId>peers</artifactId><version>1</version><dependencies><dependency><groupId>org.jgroups</groupId><artifactId>jgroups</artifactId>
<version>{VERSION}</version></dependency></dependencies></project>
"""


def ours(name):
    """The programs of a stack: a member, and two in one program."""
    folder = FOLDER / name
    generate(HERE / f"groups/{name}.mok", "Group", folder)
    flags = [flag for flag in FLAGS if flag != "-std=c11"]
    # The stack takes minutes, so it is compiled once.
    run([CC, "-std=gnu11", *flags, "-c", folder / "unit.c", "-o", folder / "unit.o"], CC)
    for program in ["member", "inside"]:
        run([CC, "-std=gnu11", *flags, "-I", folder, HERE / f"groups/{program}.c", folder / "unit.o", "-o", folder / program], CC)
    return folder


def jgroups():
    """What starts a member of JGroups, by row; nothing, with a line that says why, if it is not here."""
    if not all(shutil.which(tool) for tool in ["mvn", "javac", "java", "unzip"]):
        print("jgroups is not measured: it needs `mvn`, `javac` and `unzip` (`apt install maven default-jdk-headless unzip`)")
        return {}
    folder = FOLDER / "jgroups"
    folder.mkdir(parents=True, exist_ok=True)
    jar = folder / f"lib/jgroups-{VERSION}.jar"
    if not jar.exists():
        (folder / "pom.xml").write_text(POM)
        got = subprocess.run(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"], cwd=folder, capture_output=True, text=True)
        if got.returncode:
            print(f"jgroups is not measured: maven does not give it ({got.stdout.strip().splitlines()[:1]})")
            return {}
    run(["javac", "-cp", jar, "-d", folder, HERE / "groups/Member.java"], "javac")
    shipped = run(["unzip", "-p", jar, "udp.xml"], "unzip").strip()
    programs = {}
    for row, changed in PEERS:
        more = "".join(f' {name}="{value}"' for name, value in changed.items())
        stack = shipped.replace("<UDP", f"<UDP{more}").replace("<FRAG2", "<SEQUENCER/>\n    <FRAG2")
        file = folder / f"{row.replace(', ', '-')}.xml"
        file.write_text(stack)
        words = ["java", "-Djava.net.preferIPv4Stack=true", "-Djgroups.bind_addr=127.0.0.1", "-cp", f"{jar}:{folder}", "Member"]
        programs[row] = (words, [str(file), "bench"])
    return programs


def group(row, command, members, mode, count, octets, turn):
    """What the members of a group say, one string each; nothing, if one of them does not end well."""
    words, more = command
    port = 20_000 + 997 * turn % 20_000
    more = [str(port)] if row == "ours" else [more[0], f"{more[1]}-{turn}"]
    processes = []
    for place in range(members):
        line = [*words, str(place), str(members), mode, str(count), str(octets), *more]
        processes.append(subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        if row != "ours" and place == 0:
            # Two that begin at once are two groups, for tens of seconds.
            time.sleep(2)
    said = []
    for process in processes:
        try:
            said.append(process.communicate(timeout=90))
        except subprocess.TimeoutExpired:
            process.kill()
            said.append(process.communicate())
    wrong = [error.strip()[-2000:] for process, (_, error) in zip(processes, said) if process.returncode]
    if wrong:
        if row == "ours":
            stop(f"{row}, {members} members: {wrong[0]}")
        why = re.findall(r"Exception.*", wrong[0]) or wrong[0].splitlines()[-1:]
        print(f"{row}, {members} members, {octets} octets, {mode}: {why[0]}")
        return []
    return [out for out, _ in said]


def found(pattern, said, cast=float):
    return [cast(match) for text in said for match in re.findall(pattern, text)]


def measured(row, command, members, octets, turn):
    """p50, p99 in microseconds; delivered a second; what our own queues dropped."""
    trips = group(row, command, members, "trip", TRIPS, octets, turn)
    whole = group(row, command, members, "all", CASTS // members, octets, turn + 1)
    orders = {order for order in found(r"order (\w+)", whole, str) if order != "cut"}
    if len(orders) > 1 and row == "ours":
        stop(f"{row}, {members} members: they deliver in different orders")
    if len(orders) > 1:
        # It was parted meanwhile, say; what it took says nothing then.
        print(f"{row}, {members} members, {octets} octets: they deliver in different orders")
        whole = []
    took, got = found(r"took (\d+)", whole), found(r"got (\d+)", whole)
    dropped = sum(found(r"no_room (\d+)", whole)) + sum(found(r"exhausted (\d+)", whole))
    p50, p99 = found(r"p50 (\d+)", trips), found(r"p99 (\d+)", trips)
    rate = sum(got) / len(got) / (max(took) / 1e9) if got else None
    return (p50[0] / 1e3 if p50 else None, p99[0] / 1e3 if p99 else None, rate, dropped)


def median(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def shown(value, form):
    return "–" if value is None else format(value, form)


def in_program(program, row, who, size):
    """Instructions a cast of two members in one program: of 4,000 casts, the beginning of the group among them, and of each of 8,000 more."""
    counts = [MANY, 3 * MANY]
    inputs = ["Group_app_send_to", "Group_device_frame", "Group_advance"]
    few, many = (count * counted([program, str(who), str(size), str(count)], row, inputs) for count in counts)
    return few / counts[0], (many - few) / (counts[1] - counts[0])


def groups(form):
    ordered, fifo = ours("ordered"), ours("fifo")
    if form == "text":
        print(f"\n{'group, a cast':<28} {'100 octets':>12} {'1000':>12}   instructions, both members of two, as --fuse {method.FUSE}: the group's beginning among them; one more")
    for row, folder, who in [("total order, by the first", ordered, 0), ("total order, by another", ordered, 1), ("FIFO", fifo, 1)]:
        counts = [in_program(folder / "inside", row, who, size) for size in SIZES]
        if form == "json":
            for size, count in zip(SIZES, counts):
                for part, each in zip(["all", "one more"], count):
                    print(json.dumps({"table": "groups", "row": row, "unit": "instructions", "bytes": size, "part": part, "mokume": round(each, 1)}))
        else:
            print(f"{row:<28} " + " ".join(f"{f'{every:.0f}; {more:.0f}':>12}" for every, more in counts))
    commands = {"ours": ([str(ordered / "member")], [])} | jgroups()
    if form == "text":
        print(f"\n{'total order':<20} {'members':>8} {'octets':>8} {'p50 µs':>10} {'p99 µs':>10} {'delivered/s':>12}   medians of {TURNS} turns")
    turn = 0
    for members in MEMBERS:
        for octets in SIZES:
            runs = {row: [] for row in commands}
            for _ in range(TURNS):
                for row, command in commands.items():
                    runs[row].append(measured(row, command, members, octets, turn))
                    turn += 2
            for row, results in runs.items():
                p50, p99, rate = (median([result[at] for result in results]) for at in range(3))
                if form == "json":
                    print(json.dumps({"table": "groups", "row": row, "members": members, "bytes": octets, "p50": p50, "p99": p99, "rate": rate}))
                else:
                    lost = f"   {sum(result[3] for result in results):.0f} dropped by queues" if row == "ours" else ""
                    print(f"{row:<20} {members:>8} {octets:>8} {shown(p50, '.1f'):>10} {shown(p99, '.0f'):>10} {shown(rate, ',.0f'):>12}{lost}", flush=True)
    header = found(r"header (\d+)", group("ours", commands["ours"], 2, "trip", 10, 100, turn), int)[0]
    if form == "json":
        print(json.dumps({"table": "groups", "row": "headers", "unit": "octets", "mokume": header}))
    else:
        print(f"octets of headers of a cast, ours: {header}")

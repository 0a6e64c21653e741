#!/usr/bin/env python3
"""Groups that cast as fast as they may, over UDP loopback: `groups.py [SECONDS [MEMBERS …]]`, 600 s with 3 and with 5 members if nothing is said.

At full speed: nothing is dropped by our own queues, all deliver in one order, the memory stays. Then, still at full speed, a member is slow (all go
as slowly as it does), another is stopped (it is excluded, and comes in again with the state of the others), and the one that says the order is killed
(it comes back as another member, with their state). At the end all have delivered the same.

`groups.py planted [NAME …]`: the same with faults planted in the layers, for seconds; each must be found. `groups.py fit`: whether each planted
fault still fits what it is planted in; runs nothing.
"""

import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import common
from common import MOKUME, ROOT, SCRATCH, report

HERE = pathlib.Path(__file__).resolve().parent / "group"
FOLDER = SCRATCH / "groups"
FLAGS = ["-std=gnu11", "-O2", "-march=x86-64-v3", "-fno-tree-slp-vectorize", "-I", ROOT / "benches/groups"]
OCTETS = 100
# A member that is silent for six times `every` is excluded: `every` of long.mok.
SUSPICION = 6 * 0.5
PORT = 23_000

# What is planted: a name, the check that must fail, a file (of library/group, or ours), what it says, and what it says then.
FAULTS = [
    ("one takes orders backwards", "one order", "total", "        for n in from limit 32 {\n",
     "        for i in 0 .. from.length limit 32 {\n            let n = if me as u32 == 1 { from[from.length - 1 - i] } else { from[i] }\n"),
    ("more credit than room", "nothing is dropped", "mnak", "limit send: From[me].casts.left() reserve", "limit send: From[me].casts.left() + 64 reserve"),
    ("nobody is suspected", "it is excluded", "suspect", "if missed[r] >= patience { failed |= [r] }", "if missed[r] == 0xff { failed |= [r] }"),
    ("no state is given", "it has their state", "long.mok", "all.put_u64be(0, count)", "all.put_u64be(0, 1)"),
    ("memory grows", "the memory stays", "-DPLANTED_GROWTH", "", ""),
]


def run(command, cwd=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=cwd)
    if done.returncode:
        print(f"not ok {command[0]}: {(done.stdout + done.stderr).strip()[-1500:]}")
        sys.exit(1)


def built(name, fault=None):
    """The program of a member, perhaps with a fault."""
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    text = (HERE / "long.mok").read_text()
    flags = list(FLAGS)
    if fault:
        # What decodes all headers together takes the C compiler a minute.
        text = text.replace(" encoded compressed", "")
        where, old, new = fault
        if where.startswith("-D"):
            flags.append(where)
        elif where == "long.mok":
            assert old in text, old
            text = text.replace(old, new)
        else:
            for module in ["group", "containers", "thin"]:
                shutil.copytree(ROOT / "library" / module, folder / "library" / module)
            file = folder / f"library/group/{where}.mok"
            layer = file.read_text()
            assert old in layer, old
            file.write_text(layer.replace(old, new, 1))
            (folder / "Mokume.toml").write_text('[project]\nname = "planted"\nlibrary = ["library"]\n')
    (folder / "long.mok").write_text(text)
    # As a user builds it; the layers alone are compiled sooner.
    fuse = ["--fuse", "0"] if fault else []
    run([MOKUME, "build", "long.mok", "--stack", "Group", *fuse, "--emit", "c", "-o", "c"], folder)
    (folder / "c/unit.c").write_text('#include "mokume.c"\n#include "Group.c"\n')
    run(["cc", *flags, "-I", folder / "c", HERE / "long.c", folder / "c/unit.c", "-o", folder / "member"])
    return folder / "member"


class Member:
    """A process, and what it has said."""

    def __init__(self, group, place, own):
        self.group, self.place, self.own = group, place, own
        self.view, self.orders, self.seconds, self.renewed, self.wrong = (0, 0), [], [], [], []
        self.is_apart = False  # what it delivers now need not be what the others do
        words = [group.program, place, group.size, own, group.size, OCTETS, group.port]
        self.process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            word, *rest = line.split()
            if word == "at" and not self.is_apart:
                self.group.ordered(self, int(rest[0]), rest[1])
            elif word == "view":
                self.view = (int(rest[0]), int(rest[1]))
            elif word == "renewed":
                self.renewed.append((time.time(), int(rest[0]), rest[1]))
                self.is_apart = False
            elif word == "now":
                said = dict(zip(rest[2::2], map(int, rest[3::2])))
                self.seconds.append((time.time(), int(rest[0]), rest[1], said))
            elif word == "wrong:":
                self.wrong.append(line.strip())

    def signal(self, what):
        self.process.send_signal(what)

    @property
    def last(self):
        return self.seconds[-1]


def until(limit, holds):
    """Whether it holds within so many seconds."""
    end = time.time() + limit
    while not holds():
        if time.time() > end:
            return False
        time.sleep(0.02)
    return True


class Group:
    def __init__(self, program, size, port):
        self.program, self.size, self.port = program, size, port
        self.sums, self.differ, self.lock = {}, [], threading.Lock()
        self.members = [Member(self, place, place + 1) for place in range(size)]
        self.gone = []

    def ordered(self, member, count, of):
        """All that have delivered so many have delivered the same, in the same order."""
        with self.lock:
            known = self.sums.setdefault(count, of)
        if known != of:
            self.differ.append(f"member {member.own} after {count}")

    def whole(self, members, size):
        """All these are in one view of so many."""
        return len({member.view for member in members}) == 1 and members[0].view[1] == size

    def rate(self, seconds, members):
        """Deliveries a second at the slowest of these, from now on."""
        begin, at = [member.last[1] for member in members], time.time()
        time.sleep(seconds)
        return min((member.last[1] - was) / (time.time() - at) for member, was in zip(members, begin))

    def end(self):
        for member in self.members + self.gone:
            if member.process.poll() is None:
                member.process.kill()
            member.process.wait()


def full_speed(group, seconds, said):
    """Nothing else happens."""
    view = group.members[0].view
    begin = {member.own: (member.last[1], time.time()) for member in group.members}
    # What the first seconds touch for the first time is no growth.
    time.sleep(min(20, seconds / 3))
    early = {member.own: member.last[3]["kilobytes"] for member in group.members}
    end = time.time() + seconds - min(20, seconds / 3)
    stood = 0
    before = None
    while time.time() < end:
        time.sleep(5)
        now = [member.last[1] for member in group.members]
        stood += before is not None and any(a == b for a, b in zip(now, before))
        before = now
    rates = [(member.last[1] - begin[member.own][0]) / (time.time() - begin[member.own][1]) for member in group.members]
    said(all(member.view == view for member in group.members), "one view all the time", str([member.view for member in group.members]))
    said(stood == 0, f"all the time something is delivered everywhere: {min(rates):,.0f} a second", f"{stood} times 5 s nothing")
    late = {member.own: member.last[3]["kilobytes"] for member in group.members}
    grown = {own: late[own] - early[own] for own in late}
    said(max(grown.values()) <= 64, f"the memory stays: {max(late.values()):,} kB, {max(grown.values())} more than at first", str(grown))
    held = max(second[3]["held"] for member in group.members for second in member.seconds)
    print(f"   most messages held by a member: {held}")
    return min(rates)


def slow(group, usual, said):
    """One runs a tenth of the time: all wait for it, and it stays in the view."""
    view, slow_one = group.members[0].view, group.members[-1]
    over = threading.Event()

    def stop_and_go():
        while not over.is_set():
            slow_one.signal(signal.SIGSTOP)
            time.sleep(0.18)
            slow_one.signal(signal.SIGCONT)
            time.sleep(0.02)

    thread = threading.Thread(target=stop_and_go)
    thread.start()
    time.sleep(2)
    rate = group.rate(15, group.members[:-1])
    counts = [member.last[1] for member in group.members]
    over.set()
    thread.join()
    said(0 < rate < usual * 0.6, f"all go as slowly as a slow member: {rate:,.0f} a second", f"at full speed {usual:,.0f}")
    said(max(counts) - min(counts) <= 2.5 * rate + 1024 * group.size, "the slow one is not left behind", str(counts))
    said(all(member.view == view for member in group.members), "a slow one is not excluded", str([member.view for member in group.members]))


def comes_back(group, one, others, since, said, who):
    """It is in the view of all, with the state of the others."""
    said(until(30, lambda: group.whole(group.members, group.size)), f"{who} is in the view again", str([member.view for member in group.members]))
    said(until(10, lambda: one.renewed and one.renewed[-1][0] > since), f"{who}: it has their state", "none came")
    # A ledger of theirs, and not of its own: the casts go on from theirs.
    least = min(member.last[1] for member in others)
    time.sleep(3)
    has = one.last[1]
    said(has >= least, f"{who}: it has their state, and goes on with them", f"{has} delivered, the others {least}")


def stopped(group, said):
    one, others = group.members[-1], group.members[:-1]
    one.signal(signal.SIGSTOP)
    begin = time.time()
    is_out = until(SUSPICION + 6, lambda: group.whole(others, group.size - 1))
    said(is_out, f"stopped: it is excluded, after {time.time() - begin:.2f} s", str([member.view for member in others]))
    said(group.rate(3, others) > 0, "stopped: the others go on", "they do not")
    one.is_apart, since = True, time.time()
    one.signal(signal.SIGCONT)
    if is_out:
        comes_back(group, one, others, since, said, "stopped")


def killed(group, said):
    one, others = group.members[0], group.members[1:]
    one.process.kill()
    begin = time.time()
    is_out = until(SUSPICION + 6, lambda: group.whole(others, group.size - 1))
    said(is_out, f"killed: it is excluded, after {time.time() - begin:.2f} s", str([member.view for member in others]))
    said(group.rate(3, others) > 0, "killed: the others go on", "they do not")
    one.process.wait()
    group.gone.append(one)
    since = time.time()
    again = Member(group, one.place, 100 + one.own)
    again.is_apart = True
    group.members[0] = again
    until(5, lambda: again.seconds)
    if is_out:
        comes_back(group, again, others, since, said, "killed")


def settled(group, said):
    """Nobody casts any more: all have the same."""
    for member in group.members:
        member.signal(signal.SIGUSR1)
    time.sleep(1)
    same = until(10, lambda: len({member.last[1:3] for member in group.members}) == 1)
    said(same, f"at the end all have the same {group.members[0].last[1]:,}", str([member.last[1:3] for member in group.members]))
    said(not group.differ, f"one order: the same at {len(group.sums):,} places", "; ".join(group.differ[:5]))
    counts = {what: sum(member.last[3][what] for member in group.members + group.gone) for what in ["dropped", "exhausted", "reports"]}
    said(not any(counts.values()), "nothing is dropped by our own queues", str(counts))
    # The first member's orders take of the credit that it was told: the port refuses what is more, and says so to who casts.
    print(f"   refused by the port, and cast again: {sum(member.last[3]['no_credit'] for member in group.members + group.gone)}")
    wrong = [line for member in group.members for line in member.wrong]
    said(not wrong, "the ledger is what was delivered", "; ".join(wrong[:3]))


def tried(program, size, seconds, port, said):
    group = Group(program, size, port)
    try:
        begins = until(30, lambda: group.whole(group.members, size))
        said(begins, f"{size} members: a view of all")
        if not begins or not until(5, lambda: all(member.seconds for member in group.members)):
            return
        time.sleep(2)
        usual = full_speed(group, seconds, lambda good, name, why="": said(good, f"{size} members at full speed: {name}", why))
        def of(good, name, why=""):
            said(good, f"{size} members: {name}", why)
        slow(group, usual, of)
        time.sleep(2)
        stopped(group, of)
        time.sleep(2)
        killed(group, of)
        time.sleep(2)
        settled(group, of)
    finally:
        group.end()


def planted(only):
    for at, (name, check, *fault) in enumerate(FAULTS):
        if only and name not in only:
            continue
        program = built(f"planted{at}", fault)
        failed = []
        tried(program, 3, 15, PORT + 100 + 10 * at, lambda good, what, why="": good or failed.append(f"{what}: {why}"))
        found = [what for what in failed if check in what]
        report(bool(found), f"planted, {name}: found by {found[:1]}", f"{check}: it passed; others: {failed[:3]}")


def planted_in(where):
    if where.startswith("-D"):
        return HERE / "long.c"
    return HERE / where if where == "long.mok" else ROOT / f"library/group/{where}.mok"


def fit():
    for name, _, where, old, _ in FAULTS:
        file = planted_in(where)
        report((old or where[2:]) in file.read_text(), f"planted, {name}: fits {file.name}")


def main():
    if sys.argv[1:2] == ["planted"]:
        planted(sys.argv[2:])
    elif sys.argv[1:2] == ["fit"]:
        fit()
    else:
        seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 600
        program = built("whole")
        for at, size in enumerate(map(int, sys.argv[2:] or [3, 5])):
            tried(program, size, seconds, PORT + 20 * at, report)
        if len(sys.argv) == 1:
            planted([])
    sys.exit(common.failures > 0)


if __name__ == "__main__":
    main()

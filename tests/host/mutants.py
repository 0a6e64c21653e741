#!/usr/bin/env python3
"""Faults planted in the library's TCP, one at a time: do its tests by segments find them? `mutants.py [COUNT [SEED]]`, 100 if nothing is said.

A mutant is one line of `library/tcp` with a fault of those that people make: a statement left out, a condition turned round, a comparison
off by one, a constant changed, `and` for `or`, a timer not started, an argument changed, an `else` forgotten. It is killed if the tests of
`tests/library/tcp_*.mok` fail, or the weather networks with a few seeds; what the compiler refuses is none. Those in `EQUIVALENT`
change nothing that anybody could see, and why is said there. `all` as the count takes every mutant there is.
"""

import concurrent.futures
import pathlib
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile

from common import MOKUME, ROOT, report

FILES = ["closing", "connection", "delivery", "early", "input", "listen", "newreno", "opening", "output", "ports", "receiving", "round_trip",
         "segment_sum", "states", "tcp", "timers", "waiting"]
# Those that find most are the first.
FIRST = ["receiving", "sending", "opening", "options"]
TESTS = [f"tests/library/tcp_{name}.mok" for name in FIRST]
TESTS += sorted({f"tests/library/{path.name}" for path in (ROOT / "tests/library").glob("tcp_*.mok") if "\ntest " in path.read_text()} - set(TESTS))
# And before these what is about the file itself.
NEAR = {"closing": ["closing", "paths", "internet"], "delivery": ["receiving", "store", "untaken"], "early": ["store"], "input": ["attacks", "options"],
        "listen": ["opening", "attacks"], "newreno": ["congestion", "recovery"], "opening": ["opening"], "output": ["sending", "no_room", "paths"],
        "receiving": ["receiving"], "round_trip": ["loss"], "segment_sum": ["internet"], "timers": ["settings", "loss", "closing"], "waiting": ["waiting"]}
NETWORKS = ["Rain", "Slow", "Small"]
SEEDS = 2
WANTED = 0.95

# What a line becomes (its file in front), as a pattern, and why nobody could tell.
EQUIVALENT = [
    (r"(connection|input|listen|opening).mok:var (theirs|iss|mss|with_scale|shift|with_time|time_recent|stamps_from|snd_\w+|their_urgent|fin_at|number): ",
     "set before it is read"),
    (r"(connection|output|timers|waiting).mok:var (sent|next|timed|recent|spoke|since|max_wnd)\b", "set before it is read"),
    (r"waiting.mok:let heard = Heard \{ late: false, anew: false, sent: 1 \}", "nobody reads it but where one begins anew: there it is set"),
    (r"receiving.mok:var (next|edge|said|shift): ", "set before it is read"),
    (r"round_trip.mok:var (timed_end|departed): ", "set before it is read"),
    (r"newreno.mok:var (window|recover): ", "set before it is read"),
    (r"has_mss: false, mss: 1\b|has_scale: false, scale: 1\b|has_time: false, value: 1\b|value: 0, echo: 1|has_time: false, value: 0,$", "the option is not there"),
    (r"urgent: 1, urg: false|urgent: 1,$", "without URG nobody looks at it"),
    (r"clamp\(smoothed .* 60000001", "`backed_off` takes no more than a minute"),
    (r"snd_max - snd_una >= snd_wnd", "they are the same number there"),
    (r"if state == State.SynSent \{ \}", "a session that is being opened hears no `close`: the language does not bring it there"),
    (r"smoothed = max\(r, 2\)", "a microsecond"),
    (r"let left = if snd_nxt <= end", "the difference is 0"),
    (r"smoothed = max\(\(smoothed \* 7 \+ r\) / 8, 2\)", "a microsecond"),
    (r"below.mtu - 14, 65536|path_mtu(\(whom\))? - 20, 65536", "no device carries so much"),
    (r"publish mtu: u32 = max\(room", "there is never credit for more than `room`"),
    (r"if probes and n <= left", "where nothing is left nobody asks for room"),
    (r"var (ack_now|resting): bool = true", "before there is a session nothing is sent again or acknowledged, and the first time clears it"),
    (r"froms\[i\] <= upto and end_of", "it ends where the other begins"),
    (r"if seq <= rcv.next \{ rcv.next - seq", "the difference is 0"),
    (r"const (ACK|PSH|SYN|FIN): u8 = ", "the flags of `emit` and of `answer` are others"),
    (r"60000001", "a microsecond of a minute"),
    (r"if froms\[i\] < from \{", "the longer of the two is kept, and has the same octets"),
    (r"upto >= seq", "the difference is 0"),
    (r"output.mok:if n >= 0 \{", "a view of nothing is an empty message"),
    (r"return upto >= edge", "the difference is 0, and that is no segment"),
    (r"output.mok:if snd_una <= snd_max \{", "what is to be sent again is under way"),
    (r"return if number >= last", "one number of 2^32"),
    (r"if usable >= flight", "the difference is 0"),
    (r"value >= wait.recent", "they are not the same there"),
    (r"dont_fragment", "IPv4 marks what is whole, and no segment is larger than what is known of the path"),
    (r"newreno.mok:var resent_at: ", "set before it is read"),
    (r"connection.mok:var recent_at: ", "set before it is read"),
    (r"end_of\(place \+ 1\) < upto limit room", "what ended where a piece ends was trimmed to where that begins"),
    (r"largest_sent = 1", "no segment is so small"),
    (r"delivery.mok:if given >= 0", "an urgent pointer that is behind says nothing"),
    (r"min\(backoff \+ 1, 10\)", "a timeout is a minute long before that"),
    (r"min\(tries \+ 1, 101\)|min\(told \+ 1, 101\)|min\(duplicates \+ 1, 101\)", "so many or one more are the same"),
    (r"publish mtu: u32 = min\(room, 65536\)", "a message of 65,536 octets is dropped, for another reason"),
    (r">= LONGEST_PIECE", "two pieces that are exactly so long together stay two"),
    (r"if has_(time|scale) \{ (11|4) \}", "the words are the same: it is rounded up"),
]

# And statements that may be left out.
NEEDLESS = [
    (r"count (resends|forgotten)", "for tools alone"),
    (r"listen.mok:ending = Ending.Refused", "`accept` is said of a half alone: it is there"),
    (r"newreno.mok:window = min\(window, 0x3fff_ffff\)", "no connection reaches a window of a gibioctet, and more than four of them"),
    (r"closing.mok:above.closed\(\)", "where the session below ends, the multiplexor says it to all above"),
    (r"msg.dont_fragment = true", "IPv4 marks what is whole, and no segment is larger than what is known of the path"),
]

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
WORDS = {" and ": " or ", " or ": " and ", "min(": "max(", "max(": "min(", "true": "false", "false": "true"}
STATEMENT = re.compile(r"^(\w+[\w.]* (=|\+=|-=) .*|\w[\w.]*\(.*\)|start .*|stop .*|again|end \w+|give .*|pass)$")


def code_of(line):
    """The line without its comment."""
    return re.sub(r"\s*//.*", "", line)


def changes(line):
    """All that may go wrong in a line, as (what, new line)."""
    code = code_of(line)
    bare = code.strip()
    if not bare or bare.startswith(("use ", "container ", "worker ", "bundle ", "vocabulary ", "attribute ")):
        return
    if STATEMENT.match(bare) and bare.count("{") == bare.count("}") and bare.count("(") == bare.count(")"):
        yield "left out", ""
    for inner in re.finditer(r"\{ ([^{}]+) \}", code):
        if STATEMENT.match(inner[1]):
            yield "left out", code[:inner.start()] + "{ }" + code[inner.end():]
    if found := re.search(r"\bif (?:unlikely |likely )?(?!let )(.+?) \{", code):
        yield "turned round", code[:found.start(1)] + "!(" + found[1] + ")" + code[found.end(1):]
    if found := re.search(r" else \{ ([^{}]+) \}$", code):
        if not re.search(r"= if|return|\(", code[:found.start()]) or STATEMENT.match(found[1]):
            yield "without else", code[:found.start()]
    if re.match(r"\} else if .* \{$", bare):
        yield "never", re.sub(r"else if .* \{", "else if false {", code)
    for found in re.finditer(r" (<=|>=|==|!=|<|>) ", code):
        if not (bare.startswith("container") or "<u" in code):
            yield "compared otherwise", code[:found.start(1)] + COMPARISONS[found[1]] + code[found.end(1):]
    for old, new in WORDS.items():
        for found in re.finditer(re.escape(old), code):
            yield "another word", code[:found.start()] + new + code[found.end():]
    for found in re.finditer(r"(?<![\w.])(\d[\d_]*)(?![\w:.])", code):
        yield "another number", code[:found.start()] + str(int(found[1].replace("_", "")) + 1) + code[found.end():]
    for found in re.finditer(r" (\+|-) (?=\w)", code):
        yield "the other sign", code[:found.start(1)] + "-+"["+-".index(found[1]) == 1] + code[found.end(1):]
    for found in re.finditer(r"\b(urgent|window|seq|ack|mss|echo|value): ([a-z][\w.]*(?:\([\w.]*\))?(?: as u\d+)?)(?=[,)])", code):
        yield "another argument", code[:found.start(2)] + "0" + code[found.end(2):]


def mutants():
    """Every one there is, as (file, number of the line, old line, new line, what)."""
    for name in FILES:
        path = f"library/tcp/{name}.mok"
        for number, line in enumerate((ROOT / path).read_text().split("\n")):
            seen = {code_of(line)}
            for what, new in changes(line):
                if new not in seen:
                    seen.add(new)
                    yield path, number, line, new, what


def copy_of_the_library(folder):
    shutil.copytree(ROOT / "library", folder / "library")
    (folder / "tests/library").mkdir(parents=True)
    for path in (ROOT / "tests/library").glob("tcp_*.mok"):
        shutil.copy(path, folder / "tests/library")
    (folder / "Mokume.toml").write_text('[project]\nname = "mutant"\nlibrary = ["library"]\n')
    return folder


def mokume(folder, *arguments):
    """The exit code and what was printed; a run without an end counts as a failure."""
    try:
        done = subprocess.run([str(MOKUME), *arguments], cwd=folder, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return 1, "no end"


def found_by(folder, name):
    """Who sees that the file of this name in this folder is wrong: a test, a network; `refused` if it is none; `None` if nobody does."""
    near = [f"tests/library/tcp_{about}.mok" for about in NEAR.get(name, [])]
    for path in near + [path for path in TESTS if path not in near]:
        code, said = mokume(folder, "test", "--backend", "interpreter", path)
        if code != 0:
            if failed := re.search(r'FAILED \S+ "(.*?)"', said):
                return failed[1]
            return "refused" if re.search(r"^error\[M", said, re.M) else said.strip()[-80:] or "a crash"
    for network in NETWORKS:
        for seed in range(1, SEEDS + 1):
            code, said = mokume(folder, "sim", "tests/library/tcp_weather.mok", "--network", network, "--seed", str(seed), "--backend", "interpreter")
            whole = re.findall(r"(\d+)  talks\.whole", said)
            if code != 0 or whole != ["1", "1"] or re.search(r"talks\.(wrong|cut|failed)", said):
                return f"{network}, seed {seed}"
    return None


def equivalent(path, old, new):
    """Why nobody could tell this mutant from what it was made of."""
    known = EQUIVALENT if new else NEEDLESS
    return next((why for pattern, why in known if re.search(pattern, f"{path}:{new or old}")), None)


def judge(mutant, folders):
    path, number, old, new, _ = mutant
    folder = folders.get()
    file = folder / path
    whole = file.read_text()
    lines = whole.split("\n")
    assert lines[number] == old
    lines[number] = new
    file.write_text("\n".join(lines))
    try:
        return found_by(folder, file.stem)
    finally:
        file.write_text(whole)
        folders.put(folder)


def main():
    count = sys.argv[1] if len(sys.argv) > 1 else "100"
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    every = list(mutants())
    if count != "all":
        random.Random(seed).shuffle(every)
    wanted = len(every) if count == "all" else int(count)
    killed, alive, same = 0, [], 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folders = queue.Queue()
        for worker in range(2):
            folders.put(copy_of_the_library(pathlib.Path(scratch) / str(worker)))
        judged = [(mutant, pool.submit(judge, mutant, folders)) for mutant in every[:2 * wanted]]
        for mutant, finder in judged:
            if killed + len(alive) + same == wanted:
                finder.cancel()
                continue
            path, number, old, new, what = mutant
            if (finder := finder.result()) == "refused":
                continue
            if finder:
                killed += 1
                if killed % 25 == 0:
                    print(f"# {killed} found", flush=True)
                continue
            line = f"{path}:{number + 1}: {what}: {code_of(old).strip()}  ->  {new.strip()}"
            if why := equivalent(path, code_of(old).strip(), new.strip()):
                same += 1
                print(f"# the same: {line} ({why})", flush=True)
            else:
                alive.append(line)
                print(f"# survived: {line}", flush=True)
    all_told = killed + len(alive)
    share = killed / max(all_told, 1)
    name = f"{all_told} faults in TCP, seed {seed}: {killed} found ({100 * share:.1f} %), {same} beside them change nothing"
    report(share >= WANTED, name, f"{len(alive)} survived")
    sys.exit(0 if share >= WANTED else 1)


if __name__ == "__main__":
    main()

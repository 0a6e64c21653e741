# Speaks SMT-LIB with bitwuzla. A line with a word, a number of octets and milliseconds, then so many octets of a script; the verdict,
# values where it is satisfiable, and `done`. `script`: by itself. `begin`: what holds for all that follows by `check`, which adds
# to it; there `;assume` and `;value` in front of a term are what is assumed for this once, and what is asked for.
# A script that does not keep to the limit ends the process.
import sys, signal, time, bitwuzla
stream = sys.stdin.buffer

def options(limit):
    made = bitwuzla.Options()
    made.set(bitwuzla.Option.PRODUCE_MODELS, True)
    made.set(bitwuzla.Option.TIME_LIMIT_PER, limit)
    return made

def verdict(result):
    return {bitwuzla.Result.SAT: "sat", bitwuzla.Result.UNSAT: "unsat"}.get(result, "unknown")

def value(solver, name, term):
    if term.sort().is_bv(): return "(%s #b%s)" % (name, solver.get_value(term).value(2))
    if term.sort().is_bool(): return "(%s %s)" % (name, str(solver.get_value(term).value()).lower())
    return ""

def script(text, limit):
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options(limit))
    parser.parse(text, True, False)
    solver = parser.bitwuzla()
    result = solver.check_sat()
    lines = [verdict(result)]
    if result == bitwuzla.Result.SAT:
        lines += [value(solver, "|%s|" % term.symbol().strip("|"), term) for term in parser.get_declared_funs()]
    return lines

class Until:
    end = 0
    def __call__(self): return time.monotonic() > self.end

parser = solver = None
until = Until()
def begin(text, limit):
    global parser, solver
    made = bitwuzla.Options()
    made.set(bitwuzla.Option.PRODUCE_MODELS, True)
    parser = bitwuzla.Parser(bitwuzla.TermManager(), made)
    parser.parse(text, True, False)
    solver = parser.bitwuzla()
    solver.configure_terminator(until)
    return ["begun"]

def check(text, limit):
    lines = text.split("\n")
    behind = lambda word: [line[len(word):] for line in lines if line.startswith(word)]
    said = "\n".join(line for line in lines if not line.startswith(";"))
    if said: parser.parse(said, True, False)
    until.end = time.monotonic() + limit / 1000
    result = solver.check_sat(*[parser.parse_term(term) for term in behind(";assume ")])
    answer = [verdict(result)]
    if result == bitwuzla.Result.SAT:
        answer += [value(solver, name, parser.parse_term(name)) for name in behind(";value ")]
    return answer

while True:
    head = stream.readline().decode().split()
    if not head: break
    text = stream.read(int(head[1])).decode()
    limit = int(head[2])
    signal.alarm(limit // 1000 + 60)
    try:
        lines = {"script": script, "begin": begin, "check": check}[head[0]](text, limit)
    except Exception as error:
        lines = ["(error %r)" % str(error)]
    signal.alarm(0)
    sys.stdout.write("".join(line.replace("\n", " ") + "\n" for line in lines) + "done\n"); sys.stdout.flush()

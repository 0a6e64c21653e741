# Speaks SMT-LIB with bitwuzla: a line with a number of octets, then so many octets of a script; the verdict, values where it is
# satisfiable, and `done`. A script that does not keep to the limit ends the process.
import sys, signal, bitwuzla
limit = int(sys.argv[1])
stream = sys.stdin.buffer
while True:
    head = stream.readline()
    if not head: break
    text = stream.read(int(head)).decode()
    signal.alarm(limit // 1000 + 60)
    terms = bitwuzla.TermManager(); options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, limit)
    lines = []
    try:
        parser = bitwuzla.Parser(terms, options)
        parser.parse(text, True, False)
        solver = parser.bitwuzla()
        result = solver.check_sat()
        lines.append({bitwuzla.Result.SAT: "sat", bitwuzla.Result.UNSAT: "unsat"}.get(result, "unknown"))
        if result == bitwuzla.Result.SAT:
            for term in parser.get_declared_funs():
                sort = term.sort()
                if sort.is_bv(): lines.append("(|%s| #b%s)" % (term.symbol().strip("|"), solver.get_value(term).value(2)))
                elif sort.is_bool(): lines.append("(|%s| %s)" % (term.symbol().strip("|"), str(solver.get_value(term).value()).lower()))
    except Exception as error:
        lines = ["(error %r)" % str(error)]
    signal.alarm(0)
    sys.stdout.write("".join(line.replace("\n", " ") + "\n" for line in lines) + "done\n"); sys.stdout.flush()

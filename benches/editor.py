"""How long an editor waits: `mokume lsp` on the largest files of the repository, each request behind an edit and without one.

Wall clock, milliseconds, the median of five; a language server should answer within 200.
"""

import json
import statistics
import subprocess
import time

from method import MOKUME, ROOT

# The longest of those that people wrote, and the largest of all.
FILES = ["examples/merge.mok", "tests/library/tcp_urgent.mok"]
TIMES = 5


class Server:
    """A language server, asked one thing after the other."""

    def __init__(self):
        self.child = subprocess.Popen([MOKUME, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.asked = 0
        self.ask("initialize", {"capabilities": {}})
        self.tell("initialized", {})

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.child.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.child.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params):
        self.asked += 1
        self.send({"id": self.asked, "method": method, "params": params})
        while True:
            length = 0
            while line := self.child.stdout.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            answer = json.loads(self.child.stdout.read(length))
            if answer.get("id") == self.asked and "method" not in answer:
                return answer.get("result")

    def time(self, method, params):
        begun = time.perf_counter()
        self.ask(method, params)
        return (time.perf_counter() - begun) * 1000


def waits(file):
    """By request, how long it takes; `edited`: right behind a change of the first line."""
    text = (ROOT / file).read_text()
    lines = text.split("\n")
    uri = f"file://{ROOT / file}"
    document = {"textDocument": {"uri": uri}}
    line = next(at for at in range(len(lines) // 2, len(lines)) if "." in lines[at])
    place = {**document, "position": {"line": line, "character": lines[line].index(".") + 1}}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines) - 1, "character": 0}}
    requests = {
        "hover": place,
        "completion": place,
        "definition": place,
        "references": {**place, "context": {"includeDeclaration": True}},
        "documentSymbol": document,
        "semanticTokens/full": document,
        "foldingRange": document,
        "formatting": {**document, "options": {"tabSize": 4, "insertSpaces": True}},
        "codeLens": document,
        "inlayHint": {**document, "range": whole},
    }
    server = Server()
    server.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "mokume", "version": 1, "text": text}})
    server.ask("textDocument/documentSymbol", document)
    version, found = 1, {}
    for name, params in requests.items():
        still = [server.time(f"textDocument/{name}", params) for _ in range(TIMES)]
        edited = []
        for _ in range(TIMES):
            version += 1
            change = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": f"// {version}\n{text}"}]}
            server.tell("textDocument/didChange", change)
            edited.append(server.time(f"textDocument/{name}", params))
        found[name] = (statistics.median(still), statistics.median(edited))
    server.child.kill()
    return found


def editor(form):
    """The table."""
    if form == "text":
        print(f"\neditor: milliseconds until `mokume lsp` answers\n{'':<24} {'still':>8} {'edited':>8}")
    for file in FILES:
        for name, (still, edited) in waits(file).items():
            if form == "json":
                row = {"table": "editor", "row": f"{file} {name}", "unit": "milliseconds", "still": round(still, 1), "edited": round(edited, 1)}
                print(json.dumps(row))
            else:
                print(f"{name:<24} {still:>8.1f} {edited:>8.1f}  {file}")

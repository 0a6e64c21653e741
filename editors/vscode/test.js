// Colours every `.mok` file of the repository by the grammar. Comments, strings and numbers must be those of the compiler, which says what
// they are by `mokume lsp`; keywords and names may differ, as only the compiler knows where a word is which. In files that are wrong on
// purpose, what is no token of the language (`'one'`) may be coloured as it comes.

const { spawn } = require("child_process");
const fs = require("fs");
const path = require("path");
const onig = require("vscode-oniguruma");
const { Registry, INITIAL, parseRawGrammar } = require("vscode-textmate");

const root = path.join(__dirname, "..", "..");
const mokume = process.env.MOKUME || path.join(root, "target", "tested", "mokume");

function sources(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) return ["target", "node_modules", ".git"].includes(entry.name) ? [] : sources(name);
    return name.endsWith(".mok") ? [name] : [];
  });
}

async function grammar() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await onig.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const onigLib = Promise.resolve({
    createOnigScanner: (patterns) => new onig.OnigScanner(patterns),
    createOnigString: (text) => new onig.OnigString(text),
  });
  const file = path.join(__dirname, "syntaxes", "mokume.tmLanguage.json");
  const loadGrammar = async () => parseRawGrammar(fs.readFileSync(file, "utf8"), file);
  return new Registry({ onigLib, loadGrammar }).loadGrammar("source.mokume");
}

// What a grammar's scopes say of a character.
function kindOf(scopes) {
  const has = (start) => scopes.some((scope) => scope.startsWith(start));
  if (has("comment")) return "comment";
  if (has("string")) return "string";
  return has("constant.numeric") ? "number" : "other";
}

function colours(known, text) {
  let stack = INITIAL;
  return text.split("\n").map((line) => {
    const { tokens, ruleStack } = known.tokenizeLine(line, stack);
    stack = ruleStack;
    const kinds = new Array(line.length).fill("other");
    for (const token of tokens) kinds.fill(kindOf(token.scopes), token.startIndex, Math.min(token.endIndex, line.length));
    return kinds;
  });
}

// A language server, asked one thing after the other.
class Server {
  constructor() {
    this.child = spawn(mokume, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
    this.waiting = new Map();
    this.asked = 0;
    let rest = Buffer.alloc(0);
    this.child.stdout.on("data", (data) => {
      rest = Buffer.concat([rest, data]);
      for (;;) {
        const end = rest.indexOf("\r\n\r\n");
        if (end < 0) return;
        const length = Number(/Content-Length: (\d+)/.exec(rest.subarray(0, end).toString())[1]);
        if (rest.length < end + 4 + length) return;
        const message = JSON.parse(rest.subarray(end + 4, end + 4 + length).toString());
        rest = rest.subarray(end + 4 + length);
        if (message.id !== undefined && this.waiting.has(message.id)) this.waiting.get(message.id)(message.result);
      }
    });
  }
  send(message) {
    const text = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.child.stdin.write(`Content-Length: ${text.length}\r\n\r\n`);
    this.child.stdin.write(text);
  }
  tell(method, params) { this.send({ method, params }); }
  ask(method, params) {
    const id = ++this.asked;
    return new Promise((resolve) => { this.waiting.set(id, resolve); this.send({ id, method, params }); });
  }
}

async function main() {
  const [known, files, server] = [await grammar(), sources(root), new Server()];
  const { capabilities } = await server.ask("initialize", { capabilities: {} });
  const legend = capabilities.semanticTokensProvider.legend.tokenTypes;
  let [compared, wrong] = [0, []];
  for (const file of files) {
    const text = fs.readFileSync(file, "utf8");
    const uri = `file://${file}`;
    server.tell("textDocument/didOpen", { textDocument: { uri, languageId: "mokume", version: 1, text } });
    const { data } = await server.ask("textDocument/semanticTokens/full", { textDocument: { uri } });
    server.tell("textDocument/didClose", { textDocument: { uri } });
    const kinds = colours(known, text);
    const lines = text.split("\n");
    let [line, column] = [0, 0];
    for (let at = 0; at < data.length; at += 5) {
      column = data[at] > 0 ? data[at + 1] : column + data[at + 1];
      line += data[at];
      const kind = legend[data[at + 3]];
      const wanted = ["comment", "string", "number"].includes(kind) ? kind : "other";
      compared += 1;
      const found = kinds[line].slice(column, column + data[at + 2]);
      if (!found.every((one) => one === wanted) && !/tests\/(check|wrong)\//.test(file)) {
        const word = lines[line].slice(column, column + data[at + 2]);
        wrong.push(`${path.relative(root, file)}:${line + 1}: \`${word}\` is ${wanted}, coloured as ${[...new Set(found)]}`);
      }
    }
  }
  server.child.kill();
  console.log(`${files.length} files, ${compared} words, ${wrong.length} coloured as something else`);
  wrong.slice(0, 40).forEach((one) => console.log(one));
  process.exit(wrong.length > 0 || files.length < 500 || compared < 100000 ? 1 : 0);
}

main();

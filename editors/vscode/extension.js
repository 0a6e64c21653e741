// Starts `mokume lsp`, and `mokume debug --dap` where something is debugged, and lets the editor talk with them; all that is known of
// the language is there.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function mokume() {
  return vscode.workspace.getConfiguration("mokume").get("path", "mokume");
}

// Who debugs, and what is debugged where no launch.json says it: the file that is shown.
const debugging = {
  createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(mokume(), ["debug", "--dap"]),
  resolveDebugConfiguration(_folder, asked) {
    if (asked.type || asked.program) return asked;
    const shown = vscode.window.activeTextEditor;
    if (!shown || shown.document.languageId !== "mokume") return undefined;
    return { type: "mokume", request: "launch", name: "Debug the file", program: shown.document.fileName, stopOnEntry: true };
  },
};

async function start() {
  const command = mokume();
  const server = { command, args: ["lsp"] };
  const options = {
    documentSelector: [{ language: "mokume" }],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/{*.mok,Mokume.toml}") },
  };
  client = new LanguageClient("mokume", "Mokume", server, options);
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`\`${command} lsp\` does not start: ${error.message}. Is it on the PATH? See the setting mokume.path.`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running && running.isRunning()) await running.stop();
}

async function activate(context) {
  const restart = async () => { await stop(); await start(); };
  context.subscriptions.push(
    vscode.commands.registerCommand("mokume.restart", restart),
    vscode.debug.registerDebugAdapterDescriptorFactory("mokume", debugging),
    vscode.debug.registerDebugConfigurationProvider("mokume", debugging),
  );
  await start();
}

module.exports = { activate, deactivate: stop };

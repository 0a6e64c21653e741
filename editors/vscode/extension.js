// Starts `mokume lsp` and lets the editor talk with it; all that is known of the language is there.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const command = vscode.workspace.getConfiguration("mokume").get("path", "mokume");
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
  context.subscriptions.push(vscode.commands.registerCommand("mokume.restart", restart));
  await start();
}

module.exports = { activate, deactivate: stop };

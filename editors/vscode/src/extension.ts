// Starts `course lsp` for the folder with the course, with the Python that has the course installed.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { commands, extensions, window, workspace, type ExtensionContext, type WorkspaceFolder } from "vscode";
import { LanguageClient, TransportKind, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

interface PythonApi {
  environments: { getActiveEnvironmentPath(resource?: unknown): { path: string } };
}

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(commands.registerCommand("course.restart", restart));
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
  client = undefined;
}

async function restart(): Promise<void> {
  await deactivate();
  await start();
}

async function start(): Promise<void> {
  const folder = workspace.workspaceFolders?.find((one) => existsSync(join(one.uri.fsPath, "course.toml")));
  if (folder === undefined) {
    return;
  }
  const run = { command: await interpreter(folder), args: ["-m", "autograder", "lsp"], transport: TransportKind.stdio, options: { cwd: folder.uri.fsPath } };
  const server: ServerOptions = { run, debug: run };
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: "file", language: "python", pattern: `${folder.uri.fsPath}/exercises/*.py` }],
    workspaceFolder: folder,
  };
  client = new LanguageClient("course", "Course", server, options);
  try {
    await client.start();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    void window.showErrorMessage(`The course server did not start with ${run.command}: ${reason}. Is pygls installed there?`);
  }
}

// The setting comes first, then the environment in the folder, then the Python that is selected in VS Code.
async function interpreter(folder: WorkspaceFolder): Promise<string> {
  const chosen = workspace.getConfiguration("course", folder).get<string>("interpreter");
  if (chosen) {
    return chosen;
  }
  const own = join(folder.uri.fsPath, ".venv", ...(process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"]));
  if (existsSync(own)) {
    return own;
  }
  const python = extensions.getExtension<PythonApi>("ms-python.python");
  const api = python?.isActive ? python.exports : await python?.activate();
  return api?.environments.getActiveEnvironmentPath(folder.uri).path ?? "python3";
}

// The process that runs the documents' modules, one after the other, and their commands against the served modules.
//
// One process for all of them: loading the packages takes longer than most modules run.
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { format, promisify } from "node:util";
import { freePort } from "../../examples/cluster/src/free-ports.ts";
import type { Module } from "./pages.ts";

/** The output of a module and its commands. */
export interface ModuleRun {
  readonly printed: string;
  readonly commands: readonly string[];
  readonly error: string | undefined;
}

const [folder = "."] = process.argv.slice(2);
const run = promisify(execFile);
let count = 0;

process.on("message", async (module: Module) => process.send?.(await runModule(module)));

async function runModule(module: Module): Promise<ModuleRun> {
  const printed: string[] = [];
  const commands: string[] = [];
  console.log = (...values) => printed.push(format(...values));
  try {
    // A folder for each: a server that an earlier one has started holds its database.
    const home = path.join(folder, String(++count));
    mkdirSync(home);
    process.chdir(home);
    const port = await freePort();
    process.env.PORT = String(port);
    const file = path.join(home, module.name);
    writeFileSync(file, runnable(module.code, port));
    await import(pathToFileURL(file).href);
    let executionId = "";
    for (const { text } of module.commands) {
      if (!text.startsWith("curl")) continue;
      const line = here(text, port).replaceAll("<executionId>", executionId);
      const { stdout } = await run("bash", ["-c", line]);
      executionId = /"executionId":"([^"]+)"/.exec(stdout)?.[1] ?? executionId;
      commands.push(stdout);
    }
    return { printed: printed.join("\n"), commands, error: undefined };
  } catch (error) {
    return { printed: printed.join("\n"), commands, error: format(error) };
  }
}

/** The code as it can run here: on a free port, and with the demo model where it asks one that needs a key. */
function runnable(code: string, port: number): string {
  const model = 'import { demoModel } from "@andante/demo-model"; const openai = (_: string) => demoModel();';
  return here(code.replace('import { openai } from "@ai-sdk/openai";', model), port);
}

function here(text: string, port: number): string {
  return text.replaceAll(/(localhost|127\.0\.0\.1):3141/g, `127.0.0.1:${port}`);
}

// The documents' code runs, and prints the output on the page: `// → …` after a statement, `# → …` after a command. In both `…`
// matches anything, and white space does not count.
import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import type { ModuleRun } from "./module-runner.ts";
import { type Module, modulesOf, pages, root } from "./pages.ts";
import { newProject } from "./project.ts";

const runner = fork(path.join(import.meta.dirname, "module-runner.ts"), [newProject()], {
  execPath: path.join(root, "node_modules/node/bin/node"),
  execArgv: ["--conditions=andante-source"],
  env: {
    ...process.env,
    ANDANTE_LOG_LEVEL: "silent",
    JWT_SECRET: "a secret that is long enough for the tests",
  },
  stdio: ["ignore", "ignore", "inherit", "ipc"],
});
const exited = once(runner, "exit");
afterAll(async () => {
  runner.kill("SIGKILL");
  await exited;
});

const modules = pages()
  .flatMap(modulesOf)
  .filter(({ notRun, code }) => notRun === undefined && !code.includes('from "vitest"'));

test.for(modules.map((module) => [`${module.page} ${module.name}`, module] as const))(
  "%s runs",
  async ([, module]) => {
    const { printed, commands, error } = await run(module);
    expect(error).toBeUndefined();
    expect(plain(printed)).toMatch(pattern(expectedOf(module.code)));
    const curls = module.commands.filter(({ text }) => text.startsWith("curl"));
    for (const [index, { prints }] of curls.entries()) {
      if (prints !== "") expect(plain(commands[index] ?? "")).toMatch(pattern(prints));
    }
  },
);

async function run(module: Module): Promise<ModuleRun> {
  runner.send(module);
  const [result] = await Promise.race([once(runner, "message"), exited.then(ended)]);
  return result;
}

function ended([code, signal]: unknown[]): never {
  throw new Error(`The module ended the process (${code ?? signal})`);
}

function expectedOf(code: string): string {
  return [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text).join("");
}

function plain(text: string): string {
  return text.replaceAll(/\s/g, "");
}

function pattern(text: string): RegExp {
  const parts = plain(text).split("…");
  const literal = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${literal.join(".*")}$`);
}

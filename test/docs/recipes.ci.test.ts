// Each recipe starts as its page says, and the page of the console that it prints is there.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { root } from "./pages.ts";

const recipes = globSync("docs/recipes/*.md", { cwd: root }).map((page) => path.basename(page, ".md"));

test.each(recipes.sort())("npm start --workspace examples/%s", async (name) => {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-recipe-"));
  const npm = process.env.npm_execpath ?? "";
  const args = [npm, "start", "--workspace", `examples/${name}`];
  const env = { ...process.env, PORT: "0", ANDANTE_DB: path.join(folder, "andante.db") };
  // A group of its own: npm does not pass every signal on.
  const recipe = spawn(process.execPath, args, {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  const ended = once(recipe, "exit");
  onTestFinished(async () => {
    if (recipe.pid !== undefined) process.kill(-recipe.pid, "SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  let shown: string | undefined;
  for await (const line of createInterface({ input: recipe.stdout })) {
    shown = /^[^{]*: (http:\S+\/console\/\S+)$/.exec(line)?.[1];
    if (shown !== undefined) break;
  }
  expect(shown).toBeDefined();
  const page = await fetch(shown ?? "");
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<script")]);
  const [, origin = "", executionId] = /^(.*)\/console\/executions\/(.*)$/.exec(shown ?? "") ?? [];
  if (executionId === undefined) return;
  expect((await fetch(`${origin}/api/executions/${executionId}`)).status).toBe(200);
});

// A process that is killed with SIGKILL while messages wait for its reply: the next one replies to all of them, in order.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";

const state = z.object({ texts: z.array(z.string()), queue: z.array(z.string()) });

async function start(file: string, ...args: string[]): Promise<ChildProcess> {
  const script = path.join(import.meta.dirname, "queue-process.ts");
  const child = fork(script, [file, ...args], { execArgv: ["--conditions=andante-source"] });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  await once(child, "message");
  return child;
}

async function stateOf(child: ChildProcess): Promise<z.infer<typeof state>> {
  child.send("state");
  const [answer] = await once(child, "message");
  return state.parse(answer);
}

test("the next process replies to every message that waited in a process that was killed", {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-queue-kill-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "andante.db");
  const first = await start(file, "holds");
  const asked = once(first, "message");
  first.send("u1");
  expect(await asked).toEqual([{ asked: "u1" }, undefined]);
  for (const id of ["u2", "u3", "u4"]) {
    first.send(id);
    await expect.poll(async () => (await stateOf(first)).queue, { timeout: 20_000 }).toContain(id);
  }
  const gone = once(first, "exit");
  first.kill("SIGKILL");
  await gone;
  const second = await start(file);
  const whole = ["u1", "u2", "u3", "u4"].flatMap((id) => [id, `re ${id}`]);
  await expect.poll(() => stateOf(second), { timeout: 45_000 }).toEqual({ texts: whole, queue: [] });
});

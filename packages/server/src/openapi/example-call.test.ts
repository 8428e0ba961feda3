// A real shell runs the example commands.
import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";
import { createLogger, createWorkflow, memoryStore } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { createApp } from "../app.ts";
import { serve } from "../serve.ts";
import { exampleCalls, exampleQuestion } from "./example-call.ts";

test("the command survives a shell: quotes in the example, letters in the id", async () => {
  const input = z.object({ text: z.literal('it\'s "quoted" $HOME `id`') });
  const odd = createWorkflow({ id: "odd one's", input }).andThen({ id: "only", execute: () => 1 });
  const { andante, close } = createApp({
    workflows: { odd },
    store: memoryStore(),
    logger: createLogger({ level: "silent" }),
  });
  const [call = "", ...others] = exampleCalls("http://127.0.0.1:1", andante.workflow("odd one's"));
  expect(others).toEqual([]);
  // printf in place of curl prints each word as the shell parses it.
  const words = execFileSync("sh", ["-c", call.replace("curl", "printf '%s\\n'")], { encoding: "utf8" });
  expect(words.split("\n")).toEqual([
    "-s",
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:1\/workflows\/odd%20one/),
    "-H",
    "Content-Type: application/json",
    "-d",
    JSON.stringify({ input: { text: 'it\'s "quoted" $HOME `id`' } }),
    "",
  ]);
  await close({ grace: 0 });
});

test("a workflow that waits is resumed by a second command, which a shell runs after the first", async () => {
  const gate = createWorkflow({ id: "it's a gate", input: z.object({ n: z.number() }) }).andThen({
    id: "wait",
    resumeSchema: z.object({ approved: z.literal(true) }),
    execute: ({ data, resumeData, suspend }) => (resumeData ? { ...data, ...resumeData } : suspend()),
  });
  const server = await serve({ workflows: { gate }, store: memoryStore(), port: 0, handleSignals: false });
  const calls = exampleCalls(server.url, server.andante.workflow("it's a gate"));
  expect(calls).toHaveLength(2);
  const { stdout } = await promisify(execFile)("sh", ["-c", calls.join("\n")]);
  const [executed = "", resumed = ""] = stdout.split("\n");
  expect(JSON.parse(executed).data.status).toBe("suspended");
  expect(JSON.parse(resumed).data).toMatchObject({ status: "completed", result: { approved: true } });
  await server.close();
});

test("the question for an agent survives a shell, too", () => {
  const call = exampleQuestion("http://127.0.0.1:1", { id: "it's $HOME" });
  const words = execFileSync("sh", ["-c", call.replace("curl", "printf '%s\\n'")], { encoding: "utf8" });
  expect(words.split("\n")[1]).toBe("http://127.0.0.1:1/agents/it's%20%24HOME/text");
});

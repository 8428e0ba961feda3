import { execFileSync } from "node:child_process";
import { createLogger, createWorkflow, memoryStore } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { createApp } from "../app.ts";
import { exampleCall, exampleQuestion } from "./example-call.ts";

test("the command survives a shell: quotes in the example, letters in the id", async () => {
  const input = z.object({ text: z.literal('it\'s "quoted" $HOME `id`') });
  const odd = createWorkflow({ id: "odd one's", input }).andThen({ id: "only", execute: () => 1 });
  const { andante, close } = createApp({
    workflows: { odd },
    store: memoryStore(),
    logger: createLogger({ level: "silent" }),
  });
  const call = exampleCall("http://127.0.0.1:1", andante.workflow("odd one's"));
  // printf in place of curl: what the shell makes of each word.
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

test("the question for an agent survives a shell, too", () => {
  const call = exampleQuestion("http://127.0.0.1:1", { id: "it's $HOME" });
  const words = execFileSync("sh", ["-c", call.replace("curl", "printf '%s\\n'")], { encoding: "utf8" });
  expect(words.split("\n")[1]).toBe("http://127.0.0.1:1/agents/it's%20%24HOME/text");
});

// A process whose work is done ends by itself: nothing of Andante keeps it alive.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

test("a program that executes and never closes ends by itself, with everything answered", async () => {
  const source = (file: string) => JSON.stringify(pathToFileURL(path.join(import.meta.dirname, file)).href);
  const script = `
    import { createAndante } from ${source("../andante.ts")};
    import { memoryStore } from ${source("../store/sqlite/sqlite-store.ts")};
    import { createWorkflow } from ${source("../workflow/create-workflow.ts")};
    import { z } from "zod";
    const workflow = createWorkflow({ id: "w", input: z.number() })
      .andThen({ id: "a", execute: async ({ data }) => data + 1 })
      .andThen({ id: "gate", execute: ({ data, resumeData, suspend }) => resumeData ? data : suspend() });
    const andante = createAndante({ store: memoryStore(), workflows: { workflow } });
    const { executionId } = await andante.execute("w", 1);
    const { result } = await andante.resume("w", executionId, true);
    console.log("result", result);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  await once(child, "close");
  expect(output).toBe("result 2\n");
  expect(child.exitCode).toBe(0);
});

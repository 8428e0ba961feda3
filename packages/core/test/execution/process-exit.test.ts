// A process whose work is done ends by itself; one in which a caller still waits does not.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

/** Runs a program with an Andante on memory and returns its output; it must end by itself. */
async function run(workflow: string, program: string): Promise<string> {
  const source = (file: string) => JSON.stringify(pathToFileURL(path.join(import.meta.dirname, file)).href);
  const script = `
    import { createAndante } from ${source("../../src/andante/create-andante.ts")};
    import { memoryStore } from ${source("../../src/store/sqlite/sqlite-store.ts")};
    import { createWorkflow } from ${source("../../src/workflow/create-workflow.ts")};
    import { z } from "zod";
    const workflow = createWorkflow({ id: "w", input: z.number() })${workflow};
    const andante = createAndante({ store: memoryStore(), workflows: { workflow } });
    ${program}
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  await once(child, "close");
  expect(child.exitCode).toBe(0);
  return output;
}

const nap = `.andSleep({ id: "nap", duration: 1500 }).andThen({ id: "a", execute: ({ data }) => data + 1 })`;

test("a program that executes and never closes ends by itself, with everything answered", async () => {
  const output = await run(
    `.andThen({ id: "a", execute: async ({ data }) => data + 1 })
     .andThen({ id: "gate", execute: ({ data, resumeData, suspend }) => resumeData ? data : suspend() })`,
    `const { executionId } = await andante.execute("w", 1);
     const { result } = await andante.resume("w", executionId, true);
     console.log("result", result);`,
  );
  expect(output).toBe("result 2\n");
});

test("a program that waits for a sleeping execution stays until it has woken up", async () => {
  const output = await run(nap, `console.log("result", (await andante.execute("w", 1)).result);`);
  expect(output).toBe("result 2\n");
});

test("and so does one that follows it", async () => {
  const output = await run(
    nap,
    `const { events } = await andante.stream("w", 1);
     for await (const { type } of events) if (type === "workflow-result") console.log(type);`,
  );
  expect(output).toBe("workflow-result\n");
});

test("one that only starts it does not: the execution continues in the next process", async () => {
  expect(await run(nap, `await andante.start("w", 1); console.log("started");`)).toBe("started\n");
});

test("one that closes while a body outlives the grace period stays until it is closed", async () => {
  const output = await run(
    `.andThen({ id: "a", execute: () => new Promise(() => undefined) })`,
    `await andante.start("w", 1);
     await andante.close({ grace: 1 });
     console.log("closed");`,
  );
  expect(output).toBe("closed\n");
});

// A long value on its way through three steps: each of them has it as input and as output, and the file holds it once.
import { statSync } from "node:fs";
import path from "node:path";
import { createAndante, createLogger, createWorkflow, sqliteStore } from "@andante/core";
import { z } from "zod";
import type { Budget } from "../results.ts";

const executions = 200;
const payload = 20_000;

const input = z.object({ n: z.number(), text: z.string() });

/** Each step passes on its input. */
const same = createWorkflow({ id: "same", input })
  .andThen({ id: "one", execute: ({ data }) => data })
  .andThen({ id: "two", execute: ({ data }) => data })
  .andThen({ id: "three", execute: ({ data }) => data });

/** Each step changes something beside it: four values that are not the same. */
const changed = createWorkflow({ id: "changed", input })
  .andThen({ id: "one", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "two", execute: ({ data }) => ({ ...data, n: data.n + 1 }) })
  .andThen({ id: "three", execute: ({ data }) => ({ ...data, n: data.n + 1 }) });

export async function disk(folder: string): Promise<Budget[]> {
  const passed = await kilobytes(path.join(folder, "same.db"), "same");
  const anew = await kilobytes(path.join(folder, "changed.db"), "changed");
  return [
    {
      name: "disk for a payload of 20 KB through three steps",
      value: `${passed.toFixed(0)} KB`,
      budget: "at most 60 KB",
      held: passed <= 60,
    },
    {
      name: "the same where each step changes something in it",
      value: `${anew.toFixed(0)} KB`,
      budget: "none",
      held: true,
      note: "four values of 20 KB, each of them recorded",
    },
  ];
}

/** The growth of the closed file by one execution, in thousands of bytes. */
async function kilobytes(file: string, workflow: "same" | "changed"): Promise<number> {
  const run = async (count: number) => {
    const andante = createAndante({
      workflows: { same, changed },
      store: sqliteStore({ path: file }),
      logger: createLogger({ level: "error" }),
    });
    for (let index = 0; index < count; index++) {
      const text = String(index).padEnd(payload, "x");
      const { status } = await andante.execute(workflow, { n: index, text });
      if (status !== "completed") throw new Error(`an execution is ${status}`);
    }
    await andante.close();
    return statSync(file).size;
  };
  const before = await run(1);
  return ((await run(executions)) - before) / executions / 1000;
}

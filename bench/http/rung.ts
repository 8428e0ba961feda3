// Andante without its engine, to measure the cost of the parts around it. Arguments: port, database file, rung.
//
// The start of an execution is replaced: "server" makes the commits of the bare route, "store" makes them through the contract
// of stores. Everything before and after it is as usual.
import { createLogger, sqliteStore } from "@andante/core";
import { serve } from "@andante/server";
import { uuid } from "../../packages/core/src/values/uuid.ts";
import { startBareWriter } from "../engine/bare-writer.ts";
import { writeExecution } from "../engine/store-calls.ts";
import { gate, one, three } from "../engine/workflows.ts";

const [port, path = "", rung = ""] = process.argv.slice(2);
const store = sqliteStore({ path });
const steps: Record<string, number> = { one: 1, three: 3 };

interface Writes {
  execution(executionId: string, steps: number): Promise<void>;
  /** Of an execution that suspends and is resumed; undefined where only whole ones are written. */
  half?(executionId: string, which: "first" | "second"): Promise<void>;
}

const writers: Record<string, () => Writes> = {
  server: () => startBareWriter(path.replace(/\.db$/, "-bare.db")),
  store: () => ({ execution: (executionId, steps) => writeExecution(store, executionId, steps) }),
};
const writes = writers[rung]?.();
if (writes === undefined) throw new Error(`unknown rung "${rung}": ${Object.keys(writers).join(", ")}`);
const { andante } = await serve({
  workflows: { one, three, gate },
  store,
  port: Number(port),
  logger: createLogger({ level: "error" }),
});
const handle = (executionId: string, startAt: string, status: string, value: unknown) => {
  const endAt = status === "completed" ? new Date().toISOString() : null;
  return {
    executionId,
    startAt,
    settled: true,
    result: async () => ({ executionId, startAt, endAt, status, result: value }),
  };
};
Object.assign(andante, {
  start: async (id: string, input: { n: number }) => {
    const executionId = uuid();
    const startAt = new Date().toISOString();
    if (id === "gate") {
      await writes.half?.(executionId, "first");
      return handle(executionId, startAt, "suspended", null);
    }
    await writes.execution(executionId, steps[id] ?? 1);
    return handle(executionId, startAt, "completed", { n: input.n + 1 });
  },
  startResume: async (_workflowId: string, executionId: string) => {
    await writes.half?.(executionId, "second");
    return handle(executionId, new Date().toISOString(), "completed", 2);
  },
});

// A node of one release, as a process of its own: runs executions until its parent asks it to stop, then reports them.
import { createAndante, createLogger, createWorkflow } from "@andante/core";
import { z } from "zod";

const [, , place = "", settings = ""] = process.argv;
const { restateStore }: typeof import("@andante/restate") = await import(place);
const lines: string[] = [];
const shape = z.object({ n: z.number() });
const double = createWorkflow({ id: "double", input: shape })
  .andThen({ id: "once", execute: ({ data }) => ({ n: data.n * 2 }) })
  .andThen({ id: "twice", execute: ({ data }) => ({ n: data.n * 2 }) });
const andante = createAndante({
  workflows: { double },
  store: restateStore(JSON.parse(settings)),
  logger: createLogger({
    level: "warn",
    format: "json",
    destination: { write: (line: string) => void lines.push(line) },
  }),
});
await andante.ready();
process.send?.("ready");

let isOver = false;
process.once("message", () => {
  isOver = true;
});
const ended: string[] = [];
const client = async () => {
  while (!isOver) {
    const { executionId, status } = await andante.execute("double", { n: 1 });
    ended.push(`${executionId} ${status}`);
    process.send?.(ended.length);
  }
};
await Promise.all([client(), client(), client()]);
await andante.close();
process.send?.({ ended, lines });
process.disconnect?.();

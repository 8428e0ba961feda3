// The workflows of the benchmark: one short step, started by schedules or after an event.
import { createWorkflow, defineEvent } from "@andante/core";
import { z } from "zod";

/** `schedules`: in code. Default: none. */
export function tick(schedules: Readonly<Record<string, { readonly every: "1s" | "1h" }>> = {}) {
  const given = Object.entries(schedules).map(([name, timing]): [string, object] => [
    name,
    { ...timing, overlap: "allow", input: {} },
  ]);
  return createWorkflow({
    ...{ id: "tick", input: z.object({}), search: false as const },
    schedules: Object.fromEntries(given),
  }).andThen({ id: "run", execute: () => null });
}

const input = z.object({ key: z.string() });
const key = ({ data }: { readonly data: { readonly key: string } }) => data.key;
export const paid = defineEvent({ name: "paid", data: input, key });
export const noted = defineEvent({ name: "noted", data: input, key });
export const everyone = defineEvent({ name: "everyone", data: z.object({}) });

const lines = new Map<string, (at: number) => void>();

/** Resolves with the time at which the body of the execution with this key runs. */
export function onLine(of: string): Promise<number> {
  return new Promise((resolve) => lines.set(of, resolve));
}
/** Bodies of `takesAny` that have run. */
onLine.passed = 0;

/** Each waits for the event of its key. */
export const takesOwn = createWorkflow({ id: "takesOwn", input, search: false })
  .andWaitFor({ id: "wait", event: paid, key })
  .andThen({
    id: "run",
    execute: ({ data }) => {
      lines.get(data.key)?.(performance.now());
      lines.delete(data.key);
    },
  });

/** All wait for the same. */
export const takesAny = createWorkflow({ id: "takesAny", input, search: false })
  .andWaitFor({ id: "wait", event: everyone })
  .andThen({
    id: "run",
    execute: () => {
      onLine.passed++;
    },
  });

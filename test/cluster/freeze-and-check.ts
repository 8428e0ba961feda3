// A node that is frozen until another one has taken over, and then continues.
import { checkAll } from "./checks.ts";
import { bodiesUntil, endOn, type Named, startOn } from "./client.ts";
import type { Cluster } from "./cluster.ts";
import type { Remains } from "./remains.ts";
import { readBodies } from "./side-log.ts";

/** Freezes the first node, which runs some executions, until the second one runs them; returns the faults found at the end. */
export async function freezeAndCheck(
  cluster: Cluster,
  prefix: string,
  remains: () => Promise<Map<string, Remains>>,
): Promise<string[]> {
  const all = [1, 2, 3, 4].map((n): Named => ({ workflowId: "long", executionId: `${prefix}-${n}` }));
  const [first, second] = [cluster.node(0), cluster.node(1)];
  const ran = (pid: number, steps: number) => (lines: { executionId: string; pid: number }[]) =>
    all.every(
      ({ executionId }) =>
        lines.filter((line) => line.executionId === executionId && line.pid === pid).length >= steps,
    );
  await Promise.all(all.map((named) => startOn(first, named, 100)));
  await bodiesUntil(cluster, ran(first.pid, 2));
  first.freeze();
  // A frozen node would not notice that the test ends.
  await bodiesUntil(cluster, ran(second.pid, 3)).finally(() => first.thaw());
  const ended = await endOn(second, all);
  return checkAll(ended, await remains(), readBodies(cluster.log));
}

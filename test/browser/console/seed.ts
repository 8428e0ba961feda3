// Fills a server with an hour of a small company's work, some of it waiting, some of it failed.
import type { Andante } from "@andante/core";
import type { Clock } from "@andante/core/test";

/** The real clock, some time ago, so that events under it are in the past. */
export class ShiftedClock implements Clock {
  /** Milliseconds. */
  ago = 0;

  now(): number {
    return Date.now() - this.ago;
  }

  at(time: number, _kind: "sleep" | "limit", callback: () => void): () => void {
    const timer = setTimeout(callback, Math.max(0, time - this.now()));
    return () => clearTimeout(timer);
  }
}

const minute = 60_000;

export async function seed(andante: Andante, clock: ShiftedClock): Promise<void> {
  const run = (minutesAgo: number, workflowId: string, input: unknown, userId?: string, tags?: string[]) => {
    clock.ago = minutesAgo * minute;
    return andante.execute(workflowId, input, { ...(userId && { userId }), ...(tags && { tags }) });
  };
  const refund = { order: "ord_77120", amount: 1240, reason: "Customer returned two of three items" };
  await run(134, "refund", refund, "support-2");
  await run(90, "publish", { topic: "harbours" }, "support-1");
  for (let ago = 59; ago > 0; ago--) {
    for (let n = (ago * 7) % 5; n >= 0; n--) await run(ago, "measure", { text: "one step after the other" });
    if (ago % 3 === 0)
      await run(ago, "invoice", { customer: `shop-${ago % 9}` }, `shop-${ago % 9}`, ["nightly"]);
    if ([52, 33, 11, 9, 2].includes(ago))
      await run(ago, "invoice", { customer: "shop-7", card: "declined" }, "shop-7", ["nightly"]);
    if (ago === 41 || ago === 5) await run(ago, "invoice", { customer: "shop-2", card: "slow" }, "shop-2");
    if (ago % 20 === 0) await run(ago, "document-pipeline", { pages: 40, milliseconds: 0 }, "batch");
  }
  await run(38, "publish", { topic: "walking" }, "support-2");
  clock.ago = 30 * minute;
  const stopped = await andante.start(
    "document-pipeline",
    { pages: 200, milliseconds: 50 },
    { userId: "batch" },
  );
  await andante.cancel("document-pipeline", stopped.executionId, { reason: "the wrong file" });
  clock.ago = 0;
}

// The last call of a turn's agent: deferred until it is committed.
import { expect, test } from "vitest";
import { DeferredCall } from "./deferred-call.ts";

const call = {
  place: "call[0]",
  call: { kind: "agent" },
  output: '"done"',
  startedAt: 1,
  usage: undefined,
} as const;

function deferring() {
  const committed = Promise.withResolvers<void>();
  const deferred = new DeferredCall(
    { recordLater: () => committed.promise, commit: () => undefined },
    (place) => place,
  );
  deferred.defer(call);
  return { deferred, committed };
}

test("everybody who asks for the commit waits for it", async () => {
  const { deferred, committed } = deferring();
  const order: string[] = [];
  const first = deferred.commit().then(() => order.push("first"));
  expect(deferred.isDeferring).toBe(true);
  const second = deferred.commit().then(() => order.push("second"));
  await Promise.resolve();
  order.push("committed");
  committed.resolve();
  await Promise.all([first, second]);
  expect(order[0]).toBe("committed");
  expect(deferred.isDeferring).toBe(false);
});

test("a commit that failed has failed for everybody", async () => {
  const { deferred, committed } = deferring();
  committed.reject(new Error("refused"));
  for (let asked = 0; asked < 2; asked++) await expect(deferred.commit()).rejects.toThrow("refused");
});

// What a feed passes on: the newest entries in order, and the same array to clients that may see all of it.
import { expect, test } from "vitest";
import { Permission } from "../auth/permission.ts";
import { PermittedFeed } from "./permitted-feed.ts";

type Entry = { readonly workflowId: string; readonly n: number };

/** A feed for a client that may not see the workflow "closed", and the arrays that it sent. */
function feed(decision: Promise<unknown> = Promise.resolve()) {
  const sent: (readonly Entry[])[] = [];
  const authorize = async ({ resource }: { resource: Readonly<Record<string, string>> }) => {
    await decision;
    return resource.workflowId !== "closed";
  };
  const caller = { user: undefined, userId: undefined };
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  const made = new PermittedFeed<Entry>({
    permission: new Permission(authorize, true, caller, { action: "logs.follow" }),
    idsOf: ({ workflowId }) => ({ workflowId }),
    send: (entries) => sent.push(entries),
    failed: reject,
  });
  return { made, sent };
}
const entries = (count: number, workflowId = "open", from = 0): Entry[] =>
  Array.from({ length: count }, (_, n) => ({ workflowId, n: from + n }));

test("clients that may see all of it get the same array, others a copy without the refused ones", async () => {
  const [one, other] = [feed(), feed()];
  const batch = entries(3);
  for (const { made } of [one, other]) made.add(batch);
  await expect.poll(() => [one.sent[0], other.sent[0]]).toEqual([batch, batch]);
  expect([one.sent[0] === batch, other.sent[0] === batch]).toEqual([true, true]);
  one.made.add([...entries(1, "closed"), ...batch]);
  await expect.poll(() => one.sent[1]).toEqual(batch);
});

test("entries that come while the host decides are passed on in order, the newest thousand of them", async () => {
  const { promise: decision, resolve: decide } = Promise.withResolvers<void>();
  const { made, sent } = feed(decision);
  made.add(entries(1));
  for (let n = 1; n <= 1000; n += 1) made.add(entries(1, "open", n));
  made.add(entries(10, "open", 1001));
  decide();
  await expect.poll(() => sent.length).toBe(2);
  expect(sent[1]?.map(({ n }) => n)).toEqual(entries(1000, "open", 11).map(({ n }) => n));
});

// Allowed entries reach a client in order, and the number of waiting entries is bounded.
import { expect, test } from "vitest";
import type { Authorize } from "../auth/authorize.ts";
import { Permission } from "../auth/permission.ts";
import { PermittedFeed } from "./permitted-feed.ts";

/** A feed of agents' ids. */
function feedOf(authorize: Authorize) {
  const sent: (readonly string[])[] = [];
  const failures: unknown[] = [];
  const caller = { user: { sub: "ada" }, userId: "ada" };
  const feed = new PermittedFeed<string>({
    permission: new Permission(authorize, true, caller, { action: "logs.follow" }),
    idsOf: (agentId) => ({ agentId }),
    send: (entries) => sent.push(entries),
    failed: (error) => failures.push(error),
  });
  return { feed, sent, failures };
}

test("entries that the host allows are sent, in order, with those that came while it decided", async () => {
  const asked = Promise.withResolvers<true>();
  const { feed, sent } = feedOf(({ resource }) =>
    resource.agentId === "slow" ? asked.promise : resource.agentId !== "no",
  );
  feed.add(["slow", "no"]);
  feed.add(["a"]);
  feed.add(["no", "b"]);
  expect(sent).toEqual([]);
  asked.resolve(true);
  await expect.poll(() => sent).toEqual([["slow"], ["a", "b"]]);
  feed.add(["c"]);
  await expect.poll(() => sent.flat()).toEqual(["slow", "a", "b", "c"]);
});

test("of those that wait for a decision the newest thousand are kept", async () => {
  const asked = Promise.withResolvers<true>();
  const { feed, sent } = feedOf(({ resource }) => (resource.agentId === "slow" ? asked.promise : true));
  feed.add(["slow"]);
  feed.add(Array.from({ length: 1001 }, (_, index) => `${index}`));
  asked.resolve(true);
  await expect.poll(() => sent).toHaveLength(2);
  expect([sent[1]?.length, sent[1]?.[0], sent[1]?.at(-1)]).toEqual([1000, "1", "1000"]);
});

test("of many that came one after another the newest thousand are kept", async () => {
  const asked = Promise.withResolvers<true>();
  const { feed, sent } = feedOf(({ resource }) => (resource.agentId === "slow" ? asked.promise : true));
  feed.add(["slow"]);
  for (let n = 0; n < 2100; n += 3) feed.add([`${n}`, `${n + 1}`, `${n + 2}`]);
  asked.resolve(true);
  await expect.poll(() => sent).toHaveLength(2);
  expect([sent[1]?.length, sent[1]?.[0], sent[1]?.at(-1)]).toEqual([1000, "1100", "2099"]);
});

test("a host that cannot decide is reported, and the next entries are asked about again", async () => {
  let isBroken = true;
  const broken = new Error("no directory");
  const { feed, sent, failures } = feedOf(() => {
    if (isBroken) throw broken;
    return true;
  });
  feed.add(["a"]);
  await expect.poll(() => failures).toEqual([broken]);
  isBroken = false;
  feed.add(["b"]);
  await expect.poll(() => sent).toEqual([["b"]]);
});

test("clients that may see all entries get the same array, which is not copied", async () => {
  const [one, other] = [feedOf(() => true), feedOf(() => true)];
  const entries = ["a", "b"];
  for (const { feed } of [one, other]) feed.add(entries);
  await expect.poll(() => [one.sent[0] === entries, other.sent[0] === entries]).toEqual([true, true]);
});

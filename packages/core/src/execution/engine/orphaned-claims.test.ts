// Claims that nothing here holds: released at the second look that finds them so, and never before.
import { expect, onTestFinished, test, vi } from "vitest";
import type { ClaimsQuery, OwnedClaim } from "../../store/store.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { type ClaimHolder, OrphanedClaims } from "./orphaned-claims.ts";

interface State {
  closing: boolean;
  /** Thrown by the store. */
  failure: Error | undefined;
  /** Whether that is trouble of the storage. */
  isStorage: boolean;
  /** How often it was announced that there is work. */
  wakes: number;
}

/** A process that owns these claims in the store and holds some of them. */
function holderOf(claims: OwnedClaim[]) {
  const held = new Set<string>();
  const queries: ClaimsQuery[] = [];
  const released: string[] = [];
  const logger = new RecordingLogger();
  const state: State = { closing: false, failure: undefined, isStorage: false, wakes: 0 };
  const holder: ClaimHolder = {
    get closing() {
      return state.closing;
    },
    claims: { owner: "me" },
    holds: (_: string, token: string) => held.has(token),
    logger,
    storage: { failed: () => state.isStorage },
    store: {
      claims: async (query: ClaimsQuery) => {
        queries.push(query);
        if (queries.length > 10) throw new Error("there are not so many claims");
        if (state.failure !== undefined) throw state.failure;
        const { after } = query;
        const from =
          after === undefined ? 0 : claims.findIndex((each) => each.executionId === after.executionId) + 1;
        return claims.slice(from, from + query.limit);
      },
      release: async ({ token }: { readonly token: string }) => {
        released.push(token);
        claims.splice(
          claims.findIndex((each) => each.token === token),
          1,
        );
      },
    },
  };
  const orphans = new OrphanedClaims(holder, { lease: 30_000 }, () => state.wakes++);
  onTestFinished(() => orphans.stop());
  return { orphans, held, queries, released, logger, state };
}

const claim = (number: number): OwnedClaim => ({
  executionId: `e${number}`,
  startAt: number,
  token: `t${number}`,
});

test("one is released at the second look, with a line, and its work is announced", async () => {
  const { orphans, released, logger, state } = holderOf([claim(1)]);
  await orphans.look();
  expect([released, logger.lines, state.wakes]).toEqual([[], [], 0]);
  await orphans.look();
  expect(released).toEqual(["t1"]);
  const msg = "released a claim in the name of this process that nothing here holds";
  expect(logger.lines).toEqual([{ level: "warn", executionId: "e1", msg }]);
  expect(state.wakes).toBe(1);
  await orphans.look();
  expect([released, state.wakes]).toEqual([["t1"], 1]);
});

test("one that is held here, or was at the look before, is not released", async () => {
  const { orphans, held, released, state } = holderOf([claim(1)]);
  held.add("t1");
  await orphans.look();
  await orphans.look();
  held.clear();
  await orphans.look();
  held.add("t1");
  await orphans.look();
  held.clear();
  await orphans.look();
  expect([released, state.wakes]).toEqual([[], 0]);
});

test("more than a thousand are read page by page", async () => {
  const claims = Array.from({ length: 1001 }, (_, index) => claim(index));
  const { orphans, held, queries } = holderOf(claims);
  for (const { token } of claims) held.add(token);
  await orphans.look();
  expect(queries).toEqual([
    { owner: "me", after: undefined, limit: 1000 },
    { owner: "me", after: claims[999], limit: 1000 },
  ]);
});

test("a process that closes releases none", async () => {
  const { orphans, released, state } = holderOf([claim(1)]);
  await orphans.look();
  state.closing = true;
  await orphans.look();
  expect(released).toEqual([]);
});

test("a look that fails is logged, unless the storage is in trouble, and the next one works", async () => {
  const { orphans, released, logger, state } = holderOf([claim(1)]);
  state.failure = new Error("no");
  await orphans.look();
  const msg = "failed to look for claims that nothing here holds";
  expect(logger.lines).toEqual([{ level: "warn", err: state.failure, msg }]);
  state.isStorage = true;
  await orphans.look();
  expect(logger.lines).toHaveLength(1);
  state.failure = undefined;
  await orphans.look();
  await orphans.look();
  expect(released).toEqual(["t1"]);
});

test("one look at a time, three within a lease, and none after the stop", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { orphans, queries } = holderOf([]);
  await Promise.all([orphans.look(), orphans.look()]);
  expect(queries).toHaveLength(1);
  orphans.start();
  orphans.start();
  for (let looks = 2; looks <= 4; looks++) {
    vi.advanceTimersByTime(9999);
    expect(queries).toHaveLength(looks - 1);
    vi.advanceTimersByTime(1);
    expect(queries).toHaveLength(looks);
    await new Promise((resolve) => setImmediate(resolve));
  }
  orphans.stop();
  vi.advanceTimersByTime(60_000);
  expect(queries).toHaveLength(4);
});

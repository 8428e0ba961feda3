// The bytes that cross to and from a thread are bounded in both directions, for any number of calls at once.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { MessagePort } from "node:worker_threads";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { createAndante } from "../../src/andante/create-andante.ts";
import { StoreBusyError } from "../../src/errors/index.ts";
import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { commitOf, event, execution } from "../../src/store-cases/store-cases.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { flow } from "../support/test-andante.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-bytes-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newFile = () => path.join(folder, `${++files}.db`);
const opened: Store[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const store of opened.splice(0)) await store.close();
});
async function open(file = newFile()): Promise<Store> {
  const store = sqliteStore({ path: file });
  await store.open();
  opened.push(store);
  return store;
}

/** A JSON text of so many characters. */
const textOf = (length: number) => JSON.stringify("x".repeat(length - 2));
const million = 1_000_000;

/** The longest message that has come from a thread, and the longest that has gone to one, from now on. */
function watchMessages() {
  const longest = { received: 0, sent: 0 };
  const parse = JSON.parse;
  vi.spyOn(JSON, "parse").mockImplementation((text, reviver) => {
    if (String(text).startsWith('{"groupsReceived"'))
      longest.received = Math.max(longest.received, text.length);
    return parse(text, reviver);
  });
  const post = MessagePort.prototype.postMessage;
  vi.spyOn(MessagePort.prototype, "postMessage").mockImplementation(function (this: MessagePort, ...given) {
    const [message] = given;
    if (typeof message === "string") longest.sent = Math.max(longest.sent, message.length);
    post.apply(this, given);
  });
  return longest;
}

const ids = (count: number) => Array.from({ length: count }, (_, n) => `execution-${n}`);

async function createLarge(store: Store, count: number, length: number) {
  const input = textOf(length);
  for (const executionId of ids(count)) await store.create(execution({ executionId, input }));
}

describe("messages stay short", () => {
  test("when many large states are read at once", async () => {
    const store = await open();
    await createLarge(store, 1, 3 * million);
    const longest = watchMessages();
    const reads = Array.from({ length: 20 }, async () => {
      const state = await store.state("execution-0");
      return state?.execution.input?.length;
    });
    expect(await Promise.all(reads)).toEqual(reads.map(() => 3 * million));
    expect(longest.received).toBeGreaterThan(3 * million);
    expect(longest.received).toBeLessThan(8 * million);
  });

  test("when many large writes are made at once", async () => {
    const store = await open();
    const longest = watchMessages();
    const input = textOf(million);
    const made = ids(20).map((executionId) => store.create(execution({ executionId, input })));
    expect(await Promise.all(made)).toEqual(made.map(() => ({ created: true })));
    expect(longest.sent).toBeGreaterThan(million);
    expect(longest.sent).toBeLessThan(6 * million);
    expect(await store.list({ limit: 100 })).toHaveLength(20);
  });

  test("when executions with large inputs, contexts and results are listed", async () => {
    const store = await open();
    const large = textOf(million);
    for (const executionId of ids(5)) {
      await store.create(execution({ executionId, input: large, context: `{"a":${large}}` }));
      const end = { status: "completed", result: large, error: null } as const;
      await store.commit(commitOf(executionId, { end }));
    }
    const longest = watchMessages();
    expect(await store.list({ limit: 100 })).toHaveLength(5);
    expect(longest.received).toBeLessThan(10_000);
  });

  test("when executions with large inputs are claimed", async () => {
    const store = await open();
    await createLarge(store, 5, million);
    const longest = watchMessages();
    const query = {
      owner: "next",
      key: "key",
      workflowIds: ["publish"],
      limit: 100,
      suspects: false,
      suspectAfter: 2,
    };
    expect(await store.claimAbandoned(query)).toHaveLength(5);
    expect(longest.received).toBeLessThan(10_000);
  });

  test("when a start finds many large journals", async () => {
    const file = newFile();
    const store = await open(file);
    const workflow = flow().andThen({ id: "end", execute: () => "done" });
    const workflowId = workflow.id;
    const emitted = Array.from({ length: 4 }, () =>
      event("emitted", { path: "end", value: textOf(million) }),
    );
    for (const executionId of ids(12)) {
      const start = event("workflow-start", { value: "{}" });
      const detail = JSON.stringify({ type: "note", attempt: 1 });
      const events = [
        start,
        ...emitted.map((each) => ({ ...each, stepIndex: 0, stepType: "andThen", detail })),
      ];
      await store.create(execution({ executionId, workflowId, input: textOf(million), events }));
    }
    await store.close();
    const longest = watchMessages();
    const logger = new RecordingLogger();
    const andante = createAndante({ store: sqliteStore({ path: file }), workflows: { workflow }, logger });
    const { executions } = await andante.list({ limit: 100 });
    expect(executions).toHaveLength(12);
    for (const { executionId } of executions) {
      await expect.poll(async () => (await andante.state(workflowId, executionId)).status).toBe("completed");
    }
    await andante.close();
    expect(logger.messages).toEqual([]);
    expect(longest.received).toBeGreaterThan(4 * million);
    expect(longest.received).toBeLessThan(16 * million);
  });
});

describe("a page ends early when it is long", () => {
  test("of events, also without a limit of bytes in the query", async () => {
    const store = await open();
    const events = Array.from({ length: 12 }, () => event("emitted", { value: textOf(million) }));
    await store.create(execution({ executionId: "a", events }));
    const page = await store.events({ executionId: "a", after: 0, limit: 100 });
    expect(page.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const rest = await store.events({ executionId: "a", after: 8, limit: 100 });
    expect(rest.map(({ sequence }) => sequence)).toEqual([9, 10, 11, 12]);
  });

  test("of messages, and the cursor continues it without gap or empty page", async () => {
    const file = newFile();
    const store = await open(file);
    const body = (n: number) =>
      JSON.stringify({ id: `m${n}`, role: "user", parts: [{ type: "text", text: "x".repeat(million) }] });
    for (let n = 1; n <= 8; n++) {
      await store.conversations.post({
        key: randomUUID(),
        conversationId: "c",
        agentId: "a",
        userId: null,
        title: null,
        messageId: `m${n}`,
        body: body(n),
        again: false,
        at: n,
      });
    }
    expect(await store.conversations.recent({ conversationId: "c", userId: null, limit: 100 })).toHaveLength(
      8,
    );
    await store.close();
    const andante = createAndante({ store: sqliteStore({ path: file }) });
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await andante.conversations.messages("c", { limit: 100, cursor });
      pages.push(page.messages.map(({ id }) => id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    await andante.close();
    expect(pages).toEqual([["m1", "m2", "m3", "m4"], ["m5", "m6", "m7", "m8"], []]);
  });

  test("of a list whose rows are long", async () => {
    const file = newFile();
    const store = await open(file);
    const tags = Array.from({ length: 3 }, (_, n) => `${n}${"t".repeat(500_000)}`);
    for (const executionId of ids(7)) await store.create(execution({ executionId, tags }));
    await store.close();
    const andante = createAndante({ store: sqliteStore({ path: file }) });
    const found: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await andante.list({ limit: 500, cursor });
      found.push(...page.executions.map(({ executionId }) => executionId));
      sizes.push(page.executions.length);
      if (page.nextCursor === null) break;
      expect(page.executions).not.toEqual([]);
      cursor = page.nextCursor;
    }
    await andante.close();
    expect(found).toEqual(ids(7).reverse());
    expect(sizes).toEqual([3, 3, 1]);
  });
});

test("reads beyond the limit of waiting reads are refused with a 503, and the others are served", async () => {
  const store = await open();
  await store.create(execution({ executionId: "a" }));
  const reads = await Promise.allSettled(Array.from({ length: 6000 }, () => store.state("a")));
  const refused = reads.filter((each) => each.status === "rejected");
  expect(refused).toHaveLength(1000);
  expect(refused[0]?.reason).toBeInstanceOf(StoreBusyError);
  expect(refused[0]?.reason).toMatchObject({ status: 503, retryAfter: 1, code: "store-busy" });
  // Reads of the engine itself are not refused.
  const others = Array.from({ length: 6000 }, () => store.events({ executionId: "a", after: 0, limit: 1 }));
  expect((await Promise.all(others)).flat()).toHaveLength(6000);
});

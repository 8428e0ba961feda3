// Databases of every earlier release open with today's code, read as they did, and what is in them continues to its end.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Andante, createAndante, createLogger, sqliteStore } from "@andante/core";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { type Fixture, type FoundFixture, findFixtures } from "./fixture.ts";
import { copyOf, OpenedFixture, plain } from "./opened-fixture.ts";

/**
 * Pages of the file that opening and closing may change, and that it may add: a migration, which also builds some indexes
 * anew, not a rewrite.
 */
const maxChanged = 16;
const maxAdded = 32;

const folder = mkdtempSync(path.join(tmpdir(), "andante-upgrade-"));
afterAll(() => rmSync(folder, { recursive: true }));
// The threads of a store load their modules each time one is opened: keeping them compiled halves what that takes.
process.env.NODE_COMPILE_CACHE = path.join(folder, "compile-cache");

const opened: OpenedFixture[] = [];
afterEach(async () => {
  for (const { andante } of opened.splice(0)) await andante.close({ grace: 0 });
});

async function open(...args: ConstructorParameters<typeof OpenedFixture>): Promise<OpenedFixture> {
  const fixture = new OpenedFixture(...args);
  opened.push(fixture);
  await fixture.andante.ready();
  return fixture;
}

/** Conversations, logs and traces are shown as they were, where they were recorded. */
async function checkObservations(andante: Andante, { observations }: Fixture): Promise<void> {
  if (observations === null) return;
  const { conversations, logs, traces } = observations;
  const listed = await andante.conversations.list({ limit: 500 });
  // Conversations of before had no metadata.
  const expected = conversations.map(({ conversation }) => ({ metadata: {}, ...conversation }));
  expect(plain(listed.conversations)).toEqual(expected);
  for (const { conversation, messages } of conversations) {
    const page = await andante.conversations.messages(String(conversation.conversationId), { limit: 500 });
    expect(plain(page.messages)).toEqual(messages);
  }
  const until = new Date(String(logs.at(-1)?.timestamp));
  expect(plain(await andante.logs.list({ until, limit: 1000 }))).toEqual(logs);
  const page = await andante.traces.list({ limit: 500 });
  expect(plain(page.traces)).toEqual(traces.map(({ summary }) => summary));
  for (const { summary, trace } of traces) {
    const read = await andante.traces.read(String(summary.traceId));
    // Releases of before put what began in the same millisecond in the order of its end.
    expect(plain({ ...read, spans: [] })).toEqual({ ...trace, complete: true, spans: [] });
    expect(read?.spans).toHaveLength(trace.spans.length);
    expect(plain(read?.spans ?? [])).toEqual(expect.arrayContaining(trace.spans));
  }
}

const found = findFixtures();
const named = (name: string) => found.filter((each) => each.name === name);
const title = ({ release, name }: FoundFixture) => `${release}/${name}`;

describe.each(found.map((each) => ({ title: title(each), found: each })))("$title", ({ found }) => {
  const { fixture } = found;

  test("reads as it did and continues to its end, and nothing runs again whose outcome was kept", async () => {
    const opened = await open(found, copyOf(found, folder));
    const { andante } = opened;

    const { executions } = await andante.list({ limit: 500 });
    expect(executions.map(({ executionId }) => executionId)).toEqual(
      fixture.list.map(({ executionId }) => executionId),
    );
    for (const { workflowId, executionId, state } of opened.settled()) {
      expect(plain(await andante.state(workflowId, executionId))).toEqual(state);
      const summary = fixture.list.find((each) => each.executionId === executionId);
      // A later release may show more of each.
      expect(plain(executions.find((each) => each.executionId === executionId))).toMatchObject(
        Object(summary),
      );
    }

    await checkObservations(andante, fixture);

    for (const action of fixture.finish) await opened.perform(action);

    expect(opened.asked.toSorted()).toEqual(fixture.asks);
    for (const { workflowId, executionId, events, done } of fixture.executions) {
      const ran = opened.ran(executionId);
      expect(ran.filter((path) => done.includes(path))).toEqual([]);
      expect({ [executionId]: ran.toSorted() }).toEqual({ [executionId]: fixture.runs[executionId] ?? [] });
      const before = await andante.events(workflowId, executionId, { limit: events.length });
      expect(plain(before)).toEqual(events);
      expect(JSON.stringify(before)).toBe(JSON.stringify(events));
    }
  });

  test("is not rewritten when it is opened", async () => {
    const database = copyOf(found, folder);
    // What a killed process left in the log is moved into the file first, so that only our own changes count.
    const merging = new DatabaseSync(database);
    merging.exec("pragma wal_checkpoint(truncate)");
    merging.close();
    const before = readFileSync(database);
    const andante = createAndante({
      store: sqliteStore({ path: database }),
      logger: createLogger({ level: "silent" }),
    });
    await andante.ready();
    await andante.close();
    const after = readFileSync(database);
    const size = before.readUInt16BE(16);
    const pages = Array.from({ length: before.length / size }, (_, index) => index * size);
    const changed = pages.filter(
      (start) => !before.subarray(start, start + size).equals(after.subarray(start, start + size)),
    );
    expect(changed.length).toBeLessThanOrEqual(maxChanged);
    expect((after.length - before.length) / size).toBeLessThanOrEqual(maxAdded);
  });
});

describe.each(named("parked").map((each) => ({ title: title(each), found: each })))("$title", ({ found }) => {
  test("waits as long as its workflow is another one, and ends with the one that fits", async () => {
    const database = copyOf(found, folder);
    const reason = expect.stringContaining('step 1 was "one" (andThen), now "uno" (andThen)');
    const changed = await open(found, database, "changed");
    const state = await changed.andante.state("changing", "parked");
    expect(state).toMatchObject({ status: "running", parked: { reason } });
    const resume = changed.andante.resume("changing", "misfit", "fine");
    await expect(resume).rejects.toMatchObject({ code: "definition-changed", status: 409 });
    expect([...changed.ran("parked"), ...changed.ran("misfit")]).toEqual([]);
    await changed.andante.close();

    const fitting = await open(found, database);
    for (const action of found.fixture.finish) await fitting.perform(action);
    expect(await fitting.andante.state("changing", "parked")).not.toHaveProperty("parked");
  });
});

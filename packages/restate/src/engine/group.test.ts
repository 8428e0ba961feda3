// Groups of writes: one that is killed between two of its commands, and sent again item by item, has written each item once;
// each attempt makes the same commands, however the clock of the process goes.
import { RestatePromise } from "@restatedev/restate-sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { commitOf, event, execution, suspension } from "../../../core/src/store-cases/store-cases.ts";
import { Cells } from "./cells.ts";
import { type Group, type ItemResult, reads, type Writes, writeGroup } from "./objects.ts";

type State = Map<string, string>;
type Name = keyof Writes;
type Items = readonly (readonly [name: Name, argument: object | string | readonly string[]])[];

const killed = new Error("killed");

/** Performs a group until it has made so many commands. Charges go to `log`. */
async function perform(state: State, log: State, items: Items, limit = Number.POSITIVE_INFINITY) {
  const commands: string[] = [];
  const sent: Group<Name>[] = [];
  const command = (text: string) => {
    if (commands.length === limit) throw killed;
    commands.push(text);
  };
  const context = {
    key: "cases.0",
    get: (key: string) => RestatePromise.resolve(state.get(key) ?? null),
    set: (key: string, value: string) => {
      command(`${key} = ${value}`);
      state.set(key, value);
    },
    clear: (key: string) => {
      command(`${key} is cleared`);
      state.delete(key);
    },
    genericSend: ({ parameter }: { parameter: unknown }) => {
      const text = JSON.stringify(parameter);
      command(`send ${text}`);
      sent.push(JSON.parse(text));
    },
  };
  const group: Group<Name> = JSON.parse(
    JSON.stringify({ at: 9_000, items: items.map(([name, argument]) => ({ name, argument })) }),
  );
  let results: ItemResult[] = [];
  try {
    results = await writeGroup(context, group);
  } catch (error) {
    if (error !== killed) throw error;
  }
  for (const each of sent)
    await perform(
      log,
      log,
      each.items.map(({ name, argument }) => [name, argument]),
    );
  return { commands, results };
}

const of = { agentId: "clerk", scope: "user", subject: "ada" } as const;
const fact = { ...of, changeId: "change", patch: '{"a":1}', by: null, at: 5 };
const used = {
  ...{ day: 100, userId: "ann", agentId: "writer", workflowId: "publish", model: "scripted/one" },
  ...{ calls: 1, inputTokens: 10, cachedInputTokens: 4, cacheWriteTokens: 2, outputTokens: 5 },
  ...{ reasoningTokens: 3, nanos: 1_500, unpricedCalls: 0 },
};
const window = { startsAt: 0, endsAt: 10_000 };
const share = {
  budget: "user/1d/tokens",
  subject: "ada",
  ...window,
  limit: 100,
  amount: 10,
  unbounded: false,
};
const hold = { hold: "call", attempt: "first", at: 100, expiresAt: 5_000, shares: [share] };
const charge = { hold: "call", attempt: "first", budget: share.budget, subject: "ada", ...window, amount: 7 };
const message = (messageId: string, fields: object = {}) => ({
  ...{ key: `key of ${messageId}`, conversationId: "talk", agentId: "clerk", userId: "ada", title: null },
  ...{ messageId, body: `"${messageId}"`, again: false, at: 1_000, ...fields },
});
const queue = { request: "{}", most: 9 };
const beginOf = (executionId: string, conversationId: string, messageId: string, fields: object = {}) => ({
  message: { kind: "post", ...message(messageId, fields) },
  turn: {
    ...{ executionId, agentId: "clerk", conversationId, userId: "ada", input: "{}" },
    ...{ context: "{}", startAt: 2_000, events: [event("workflow-start")] },
    claim: { owner: "here", token: "token" },
  },
});
const cost = { inputTokens: 3, outputTokens: 2, totalTokens: 5, calls: 1 };
const replyOf = (conversationId: string) => ({
  ...{ conversationId, userId: "ada", replyTo: "m7", at: 3_000 },
  message: { messageId: `reply in ${conversationId}`, body: '"reply"', partial: false },
});
const ended = { status: "completed", result: "1", error: null } as const;

/** The state in which groups begin. */
async function prepared() {
  const [state, log] = [new Map<string, string>(), new Map<string, string>()];
  await perform(log, log, [["holdBudgets", hold]]);
  const made = ["e-1", "e-2", "e-3"].map((executionId) => ["create", execution({ executionId })] as const);
  await perform(state, log, [
    ["lease", { owner: "here", count: 1, isAlive: true }],
    ...made,
    ["post", message("m1")],
    ["post", message("m2", { queue })],
    ["post", message("m3", { conversationId: "other", agentId: "amber", queue, at: 1_001 })],
    ["beginTurn", beginOf("waiting", "asked", "m5")],
    ["beginTurn", beginOf("answering", "answered", "m7")],
  ]);
  // A reply that waits for a person: the next message ends its wait.
  const idle = { resumes: 0, event: null };
  const asks = commitOf("waiting", {
    number: 1,
    open: [suspension({ suspensionId: "s-2" })],
    idle,
    usage: cost,
  });
  await perform(state, log, [["endTurn", { commit: asks, reply: replyOf("asked") }]]);
  return { state, log };
}

const cellsOf = (state: State) => new Cells({ get: (key) => RestatePromise.resolve(state.get(key) ?? null) });

/** What callers see of it: members of sets only count with their rows, and texts with their messages. */
async function seen(state: State) {
  const values = [...state].filter(([key]) => /^([abdfhiorsvyU]|bu|usageWriters)/.test(key));
  const conversations = ["talk", "other", "asked", "answered"].map(async (conversationId) => {
    const cells = cellsOf(state);
    const messages = await reads.messages(cells, { conversationId, after: 0, limit: 99 });
    const row = await reads.conversation(cells, { conversationId });
    const queue = await reads.queue(cells, { conversationId });
    return { messages, row, queue, live: await reads.liveTurn(cells, conversationId) };
  });
  return [Object.fromEntries(values), ...(await Promise.all(conversations))];
}

/** Each item changes another part. */
function itemsOf(): Items {
  const open = [suspension({ suspensionId: "s-1" })];
  const events = [event("step-complete")];
  return [
    ["commit", commitOf("e-1", { events, open, facts: [fact], spent: [used], charges: [charge] })],
    ["commit", commitOf("e-2", { hasChildren: true, spent: [used], end: ended })],
    ["create", execution({ executionId: "e-4", input: JSON.stringify("x".repeat(3_000)) })],
    ["post", message("m4", { queue })],
    ["leaveQueue", { key: "leaving", conversationId: "talk", messageId: "m2" }],
    ["beginTurn", beginOf("turn", "talk", "m4", { wasQueued: true })],
    ["beginTurn", beginOf("next", "asked", "m6")],
    [
      "endTurn",
      { commit: commitOf("answering", { events, end: ended, usage: cost }), reply: replyOf("answered") },
    ],
    ["remove", { key: "removal", conversationId: "other" }],
    ["addUsage", { writer: "node", number: 1, entries: [{ ...used, model: "scripted/two" }] }],
    ["addUsage", { writer: "node", number: 2, entries: [{ ...used, model: "scripted/three" }] }],
    ["useApproval", { key: "use", approval: "approval", expiresAt: 2_000, at: 1_000 }],
  ];
}

test("a group that is killed between any two commands has written each item once when its items were sent again", async () => {
  const items = itemsOf();
  const whole = await prepared();
  const { commands, results } = await perform(whole.state, whole.log, items);
  expect(results.map(({ value, error }) => error ?? value)).toMatchObject([
    ...[{ kind: "ok" }, { kind: "ok" }, { created: true }, { kind: "posted" }, true],
    ...[{ kind: "begun" }, { kind: "begun" }, { kind: "ok" }, { turn: null }],
    ...[undefined, undefined, true],
  ]);
  expect(commands.length).toBeGreaterThan(20);
  const expected = await seen(whole.state);
  expect(expected[0]).toHaveProperty(["y/s-1"]);
  for (let limit = 0; limit < commands.length; limit++) {
    const { state, log } = await prepared();
    await perform(state, log, items, limit);
    for (const item of items) {
      const again = await perform(state, log, [item]);
      expect(again.results[0]?.error, `${item[0]} after ${commands[limit]}`).toBeUndefined();
    }
    expect(await seen(state), commands[limit]).toEqual(expected);
    expect(await seen(log), commands[limit]).toEqual(await seen(whole.log));
  }
});

test("another attempt makes the same commands, at any time of the process", async () => {
  onTestFinished(() => void vi.useRealTimers());
  const items = itemsOf();
  const attempts: (readonly string[])[] = [];
  for (const time of [1_000, 2_000]) {
    vi.useFakeTimers({ now: time, toFake: ["Date"] });
    const { state, log } = await prepared();
    attempts.push((await perform(state, log, items)).commands);
  }
  expect(attempts[1]).toEqual(attempts[0]);
});

// Restate attempts a group again with the release that runs then: another sequence of commands blocks the shard until the group is
// ended from outside. A change of a sequence needs a handler with another name, beside the one that earlier releases call.
test("the commands of the handler `write` are those of its first release", async () => {
  const { state, log } = await prepared();
  const { commands } = await perform(state, log, itemsOf());
  const sequence = commands.map((command) => /^send|^\S+ is cleared|^\S+ =/.exec(command)?.[0]);
  expect(sequence).toMatchInlineSnapshot(`
    [
      "send",
      "fa/["user","ada","clerk",5,"change"] =",
      "U/[100,"ann","writer","publish","scripted/one"] =",
      "i/e-4 =",
      "m/4/talk =",
      "m/3/asked =",
      "U/[100,"ann","writer","publish","scripted/two"] =",
      "U/[100,"ann","writer","publish","scripted/three"] =",
      "approvals =",
      "y/s-1 =",
      "y/s-2 is cleared",
      "c0 =",
      "t0 =",
      "cv/talk =",
      "cv/asked =",
      "r/e-1 =",
      "r/e-2 =",
      "r/e-4 =",
      "r/turn =",
      "r/waiting =",
      "r/next =",
      "cv/other is cleared",
      "c0 =",
      "q0 is cleared",
      "w6 =",
      "w11 =",
      "w7 =",
      "usageWriters =",
      "m/5/talk is cleared",
      "m/2/talk is cleared",
      "m/3/talk is cleared",
      "m/1/other is cleared",
      "m/2/other is cleared",
    ]
  `);
});

test("a change of facts that is kept again takes the place of no others that were folded into it", async () => {
  const { state, log } = await prepared();
  await perform(state, log, [["keepFact", fact]]);
  await perform(state, log, [["keepFact", { ...fact, patch: '{"a":1,"b":2}', changes: 2 }]]);
  const folded = new Map(state);
  const again = await perform(state, log, [["keepFact", fact]]);
  expect(again.commands).toEqual([]);
  expect(state).toEqual(folded);
  const others = [{ subject: "eve" }, { agentId: "another" }, { at: 6 }, { scope: "conversation" }];
  await perform(
    state,
    log,
    others.map((fields) => ["keepFact", { ...fact, ...fields }] as const),
  );
  expect([...state.keys()].filter((key) => key.startsWith("fa/"))).toHaveLength(5);
});

test("many queues are found by the times of their first messages, with a write that is no longer for them", async () => {
  const { state, log } = await prepared();
  const post = (number: number) => {
    const conversationId = `c-${number}`;
    return [
      "post",
      message("m", { key: conversationId, conversationId, queue, at: 9_000 - number }),
    ] as const;
  };
  for (let first = 0; first < 1_000; first += 200)
    await perform(
      state,
      log,
      Array.from({ length: 200 }, (_, index) => post(first + index)),
    );
  const { commands } = await perform(state, log, [post(1_000)]);
  expect(Math.max(...commands.map((each) => each.length))).toBeLessThan(10_000);
  const left = await reads.leftQueues(cellsOf(state), { agentIds: ["amber", "clerk"], limit: 3 });
  expect(left.map(({ conversationId }) => conversationId)).toEqual(["talk", "other", "c-1000"]);
});

// One life of a process with the chat of editor-chat.ts: the user asks when the conversation is not there yet, and a person
// decides about everything that waits, until the chat has ended.
import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { APICallError } from "@ai-sdk/provider";
import {
  Agent,
  type Andante,
  createAndante,
  createLogger,
  createWorkflow,
  durable,
  type Store,
  sqliteStore,
  workflowTool,
} from "@andante/core";
import { tool } from "ai";
import { z } from "zod";
import { controlledModel, type Said } from "../../../packages/core/test/support/controlled-model.ts";
import { Killer } from "../child/killer.ts";
import { killingStore } from "../child/killing-store.ts";
import { acknowledged, beginning, inputTokens, outputTokens, recordedBy, refusal } from "./editor-chat.ts";
import { type ChatEnd, type ChatLife, chatLifeSchema } from "./protocol.ts";

const where = { conversationId: "talk", userId: "ada" };
const window = 366 * 86_400_000;
const limit = 200;
const nothing = z.object({});

const message = (id: string, text: string) => ({ id, role: "user", parts: [{ type: "text", text }] });

const script: readonly Said[] = [
  { text: ["I look. "], calls: [{ name: "look", input: {} }] },
  { calls: [{ name: "order", input: {} }] },
  { calls: [{ name: "publish", input: {} }] },
  { calls: [{ name: "report", input: {} }] },
  { text: ["All ", "is done."] },
];

async function live({ database, log, kill }: ChatLife): Promise<ChatEnd> {
  const killer = new Killer(kill);
  const note = (name: string, executionId = "") => appendFileSync(log, `${name} ${executionId}\n`);
  const effect = (name: string) => {
    killer.moment("chat");
    note(name);
    killer.moment("chat");
  };
  const answer = (name: string, said: Said): Said => {
    note(name);
    return { ...said, usage: { input: inputTokens[name] ?? 0, output: outputTokens } };
  };
  const judge = new Agent({
    id: "judge",
    model: controlledModel(() => answer("judge:0", { text: ["Good."] })),
  });
  const publish = createWorkflow({ id: "publish", input: nothing })
    .andThen({
      id: "approve",
      resumeSchema: z.object({ approved: z.boolean() }),
      execute: ({ suspend, resumeData }) => resumeData ?? suspend("Publish?"),
    })
    .andAgent({ id: "judge", agent: judge, prompt: "Is it good?" })
    .andThen({
      id: "file",
      execute: ({ data }) => {
        effect("file");
        return data.text;
      },
    });
  const report = createWorkflow({ id: "report", input: nothing }).andThen({
    id: "write",
    execute: () => {
      effect("write");
      return "written";
    },
  });
  const busy = controlledModel(() => {
    note(refusal);
    const failure = { message: "busy", url: "", requestBodyValues: {}, statusCode: 429 };
    return { refuse: new APICallError({ ...failure, isRetryable: true }) };
  });
  const good = controlledModel(({ prompt }) => {
    const texts = prompt.flatMap(({ role, content }) =>
      role === "user" ? content.map((part) => (part.type === "text" ? part.text : "")) : [],
    );
    if (texts.some((text) => text.startsWith("The work of the tool report")))
      return answer("clerk:end", { text: ["Thank you."] });
    const step = prompt.filter(({ role }) => role === "tool").length;
    const said = script[step];
    if (said === undefined) throw new Error(`there is no step ${step}`);
    return answer(`clerk:${step}`, { text: [`${texts.join(" and ")}: `], ...said });
  });
  const tools = {
    look: tool({
      inputSchema: nothing,
      execute: async () => {
        effect("look");
        // The user goes on while the tool works.
        void read(andante.agents.chat("clerk", [message("u2", "in green")], { ...where, whenBusy: "steer" }));
        await until(async () => (await andante.agents.queue("clerk", "talk", where)).length > 0);
        return "seen";
      },
    }),
    order: tool({
      inputSchema: nothing,
      contextSchema: z.object({ shop: z.string() }),
      execute: async (_, options) => {
        const { checkpoint, suspend, sleep } = durable(options);
        await checkpoint("offer", () => effect("offer"));
        const { paid } = await suspend("Paid?", null, { resumeSchema: z.object({ paid: z.boolean() }) });
        await sleep("20ms");
        effect("order");
        return { paid, from: options.context.shop };
      },
    }),
    publish: workflowTool(publish),
    report: workflowTool(report, { mode: "background", wake: true }),
  };
  const clerk = new Agent({
    ...{ id: "clerk", model: [Object.assign(busy, { modelId: "busy" }), good], tools },
    ...{ toolsContext: { order: { shop: "corner" } }, maxOutputTokens: 100 },
  });
  const store = noting(killingStore(sqliteStore({ path: database }), killer), note);
  const andante = createAndante({
    ...{ agents: { clerk }, workflows: { publish, report }, store },
    budgets: [{ per: "user", window, tokens: limit, onReached: "suspend" }],
    logger: createLogger({ level: "error" }),
  });
  await andante.ready();
  const messages = async () =>
    (await andante.conversations.messages("talk", where).catch(() => ({ messages: [] }))).messages;
  if ((await messages()).length === 0)
    void read(andante.agents.chat("clerk", [message("u1", "Order tea")], where));
  const isDone = async () => {
    const kept = await messages();
    const last = kept.at(-1)?.parts.at(-1);
    if (kept.length !== 4 || last?.type !== "text" || last.text !== "Thank you.") return false;
    if ((await store.liveTurn("talk")) !== undefined) return false;
    const { executions } = await andante.list({ limit: 10 });
    const due = await store.due({ workflowIds: ["publish", "report"], agentIds: ["clerk"], limit: 10 });
    return executions.every(({ status }) => status === "completed") && due.length === 0;
  };
  await until(async () => (await isDone()) || (await decide(andante)));
  const kept = await messages();
  const { executions } = await andante.list({ limit: 10 });
  const rows = await store.usage.totals({
    ...{ by: "agentId", userId: "ada", from: 0, to: 1e6 },
    ...{ limit: 10, offset: 0, rows: 1e6 },
  });
  const { usage } = await andante.conversations.read("talk", where);
  const [account] = await store.budgets.accounts({
    ...{ budget: `user/${window}/tokens`, subject: "ada", at: Date.now(), limit: 1 },
  });
  await andante.close();
  const counts = Object.values(killer.counts);
  const total = (what: "writes" | "moments") => counts.reduce((all, each) => all + each[what], 0);
  const ids = executions.map(({ workflowId }) => workflowId).toSorted();
  const parts: unknown[] = JSON.parse(
    JSON.stringify(kept.map(({ role, parts, partial }) => ({ role, parts, partial }))).replace(
      /child-[0-9a-f-]+/g,
      "child",
    ),
  );
  return {
    seen: null,
    kept: [...parts, ids, usage],
    usage: {
      rows: rows
        .map(({ of, calls, inputTokens }) => ({ of, calls, inputTokens }))
        .toSorted((one, other) => (one.of < other.of ? -1 : 1)),
      budget: account && { used: account.used, held: account.held },
    },
    writes: total("writes"),
    moments: total("moments"),
  };
}

/** A person decides about open waits; false, because more may come. */
async function decide(andante: Andante): Promise<false> {
  for (const { workflowId, executionId, suspension } of (await andante.live.waiting({ limit: 10 })).items) {
    const { suspensionId, reason, data } = suspension;
    const used = z.object({ used: z.number() }).safeParse(data).data?.used ?? 0;
    // The first approval is enough for one more call.
    const more = { approved: true, tokens: used < 1_000 ? 1_000 : 1_000_000_000 };
    const resumeData = reason.startsWith("The budget") ? more : { approved: true, paid: true };
    const shaped =
      reason === "Paid?" ? { paid: true } : reason === "Publish?" ? { approved: true } : resumeData;
    const resumed =
      workflowId === ""
        ? andante.agents.resume("talk", { suspensionId, resumeData: shaped })
        : andante.resume(workflowId, executionId, shaped, { suspensionId });
    // It is decided already.
    await resumed.catch(() => undefined);
  }
  return false;
}

/** Resolves as soon as this is so. */
async function until(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await setTimeout(5);
}

async function read(chunks: Promise<AsyncIterable<unknown>>): Promise<void> {
  try {
    for await (const _ of await chunks);
  } catch {
    // The reply goes on without its reader.
  }
}

/** The same store, with notes of the ids of executions before they are made, and of effects whose commit it has acknowledged. */
function noting(store: Store, note: (name: string, executionId?: string) => void): Store {
  return {
    ...store,
    create: (execution) => {
      note(beginning, execution.executionId);
      return store.create(execution);
    },
    beginTurn: (begin) => {
      note(beginning, begin.turn.executionId);
      return store.beginTurn(begin);
    },
    async commit(commit) {
      const result = await store.commit(commit);
      for (const effect of recordedBy([...commit.events, ...commit.following]))
        note(`${acknowledged}${effect}`);
      return result;
    },
  };
}

process.once("disconnect", () => process.exit());
const end = await live(chatLifeSchema.parse(JSON.parse(process.argv[2] ?? "")));
process.send?.(end);
process.disconnect();

// A conversation on two nodes of one database: messages keep their order, and each has one reply, also when a node is lost.
import { setImmediate as turn } from "node:timers/promises";
import { Agent, type Andante, createAndante } from "@andante/core";
import { type CrashingStore, crashingStore } from "@andante/core/test";
import { postgresStore } from "@andante/postgres";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { controlledModel, lastText } from "../../core/test/support/controlled-model.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());

interface Node {
  readonly andante: Andante;
  readonly asked: readonly string[];
  readonly life: CrashingStore;
  /** From now on it neither writes nor receives; its lease is over. */
  end(): Promise<void>;
}

async function startNode(
  schema: string,
  hold?: (text: string) => Promise<unknown> | undefined,
): Promise<Node> {
  const store = postgresStore({ url: server.url, schema, lease: 2_000 });
  await store.open();
  const life = crashingStore(store);
  const asked: string[] = [];
  const model = controlledModel((call) => {
    const text = lastText(call);
    asked.push(text);
    return { text: [`re ${text}`], hold: () => hold?.(text) };
  });
  const agents = { clerk: new Agent({ id: "clerk", model }) };
  const andante = createAndante({ store: life.store, agents, logs: { level: "error" } });
  await andante.ready();
  let isOver = false;
  const end = async () => {
    if (isOver) return;
    isOver = true;
    await andante.close({ grace: 0 });
    await life.bury();
    await store.close();
  };
  onTestFinished(end);
  return { andante, asked, life, end };
}

const talk = { conversationId: "talk", userId: "ada" };

async function send({ andante }: Node, id: string): Promise<string> {
  const message = { id, role: "user", parts: [{ type: "text", text: id }] };
  let text = "";
  for await (const chunk of await andante.agents.chat("clerk", [message], talk))
    if (chunk.type === "text-delta") text += chunk.delta;
  return text;
}

async function texts({ andante }: Node): Promise<string[]> {
  const { messages } = await andante.conversations.messages("talk", { limit: 200 });
  return messages.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join(""));
}

const waiting = async ({ andante }: Node) =>
  (await andante.agents.queue("clerk", "talk", { userId: "ada" })).map(({ id }) => id);

test("fifty messages of two tabs on two nodes keep the order of each tab, and each has its reply once", {
  timeout: 120_000,
}, async () => {
  const nodes = [await startNode("fifty"), await startNode("fifty")] as const;
  const ids = Array.from({ length: 50 }, (_, index) => `${index % 2 === 0 ? "left" : "right"}-${index}`);
  const sent: Promise<string>[] = [];
  for (const [index, id] of ids.entries()) {
    // A tab sends its messages one after the other, without waiting for replies.
    sent.push(send(nodes[index % 2 === 0 ? 0 : 1], id));
    await turn();
  }
  const replies = await Promise.all(sent);
  expect(replies).toEqual(ids.map((id) => `re ${id}`));
  const kept = await texts(nodes[0]);
  expect(kept).toHaveLength(100);
  const asked = kept.filter((text) => !text.startsWith("re "));
  for (const tab of ["left", "right"])
    expect(asked.filter((id) => id.startsWith(tab))).toEqual(ids.filter((id) => id.startsWith(tab)));
  expect(kept, "each reply follows its message").toEqual(asked.flatMap((id) => [id, `re ${id}`]));
  expect(nodes.flatMap((node) => node.asked).toSorted()).toEqual(ids.toSorted());
});

test("messages that a lost node leaves are seen, withdrawn and replied to on the other one", async () => {
  const asked = Promise.withResolvers<void>();
  const first = await startNode("lost", () => {
    asked.resolve();
    return new Promise(() => undefined);
  });
  const second = await startNode("lost");
  void send(first, "u1").catch(() => undefined);
  await asked.promise;
  for (const id of ["u2", "u3", "u4"]) {
    void send(first, id).catch(() => undefined);
    await expect.poll(() => waiting(second)).toContain(id);
  }
  await second.andante.agents.withdraw("clerk", "talk", "u3", { userId: "ada" });
  expect(await waiting(second)).toEqual(["u2", "u4"]);
  await first.end();
  const all = ["u1", "re u1", "u2", "re u2", "u4", "re u4"];
  await expect.poll(() => texts(second), { timeout: 20_000 }).toEqual(all);
  expect(second.asked).toEqual(["u1", "u2", "u4"]);
});

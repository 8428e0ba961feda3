// A process of queue-kill.ci.test.ts: answers questions about one conversation over its channel, and may hold its replies.
import { Agent } from "../../src/agent/agent.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { controlledModel, lastText } from "../support/controlled-model.ts";

const [path = "", holds] = process.argv.slice(2);
const talk = { conversationId: "talk", userId: "ada" };

const model = controlledModel((call) => ({
  text: [`re ${lastText(call)}`],
  hold: () => {
    if (holds !== "holds") return undefined;
    process.send?.({ asked: lastText(call) });
    return new Promise(() => undefined);
  },
}));
const agents = { clerk: new Agent({ id: "clerk", model }) };
const andante = createAndante({ store: sqliteStore({ path }), agents, logs: { level: "error" } });
await andante.ready();

async function send(id: string): Promise<void> {
  const message = { id, role: "user", parts: [{ type: "text", text: id }] };
  for await (const _ of await andante.agents.chat("clerk", [message], talk));
}

async function state() {
  const { messages } = await andante.conversations.messages("talk").catch(() => ({ messages: [] }));
  const texts = messages.map(({ parts }) =>
    parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
  );
  const queue = await andante.agents.queue("clerk", "talk", { userId: "ada" });
  return { texts, queue: queue.map(({ id }) => id) };
}

process.on("message", (asked: string) => {
  if (asked === "state") void state().then((found) => process.send?.(found));
  else void send(asked);
});
process.send?.({ ready: true });

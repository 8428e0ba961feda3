// One life of a process with a chat: the client attaches to the reply that runs, or asks when there is none.
import { appendFileSync } from "node:fs";
import { Agent, createAndante, createLogger, sqliteStore } from "@andante/core";
import type { UIMessageChunk } from "ai";
import { fiveTools, fiveToolsModel } from "../../../packages/core/test/turns/five-tools.ts";
import { Killer } from "../child/killer.ts";
import { killingStore } from "../child/killing-store.ts";
import { type ChatEnd, type ChatLife, chatLifeSchema } from "./protocol.ts";

const where = { conversationId: "talk", userId: "ada" };
const question = { id: "u1", role: "user", parts: [{ type: "text", text: "Refund order 7" }] };

async function live({ database, log, kill }: ChatLife): Promise<ChatEnd> {
  const killer = new Killer(kill);
  const tools = fiveTools((name, key) => {
    killer.moment("chat");
    appendFileSync(log, `${name} ${key}\n`);
    killer.moment("chat");
  });
  const andante = createAndante({
    agents: { clerk: new Agent({ id: "clerk", model: fiveToolsModel(), tools }) },
    store: killingStore(sqliteStore({ path: database }), killer),
    logger: createLogger({ level: "error" }),
  });
  await andante.ready();
  const messages = async () => (await andante.conversations.messages("talk", where)).messages;
  const running = await andante.agents.attach("clerk", "talk", where);
  const there = running === undefined ? (await messages().catch(() => [])).length : 0;
  const chunks = there > 1 ? undefined : (running ?? (await andante.agents.chat("clerk", [question], where)));
  const seen = chunks === undefined ? null : await shapeOf(chunks);
  const kept = (await messages()).map(({ role, parts, partial }) => ({ role, parts, partial }));
  const { usage } = await andante.conversations.read("talk", where);
  await andante.close();
  const counts = Object.values(killer.counts);
  const sum = (what: "writes" | "moments") => counts.reduce((total, each) => total + each[what], 0);
  return { seen, kept, usage, writes: sum("writes"), moments: sum("moments") };
}

/** Deltas of one text count as one, however it was divided. */
async function shapeOf(chunks: AsyncIterable<UIMessageChunk>): Promise<string[]> {
  const shown: string[] = [];
  let text = "";
  for await (const chunk of chunks) {
    if (chunk.type === "text-delta") {
      text += chunk.delta;
      continue;
    }
    if (text !== "") shown.push(text);
    text = "";
    shown.push("toolCallId" in chunk ? `${chunk.type} ${chunk.toolCallId}` : chunk.type);
  }
  return shown;
}

process.once("disconnect", () => process.exit());
const end = await live(chatLifeSchema.parse(JSON.parse(process.argv[2] ?? "")));
process.send?.(end);
process.disconnect();

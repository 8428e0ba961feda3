// Has replies wait for a person, by an approval and by a tool in turn, and prints a memory in MB. Arguments: `begin` (the
// growth of the heap by so many replies that wait) or `open` (the resident memory after one of the file was continued), the
// database file, and the number of replies.
import { Agent, createAndante, createLogger, durable, sqliteStore } from "@andante/core";
import { tool } from "ai";
import { z } from "zod";
import { controlledModel, lastText } from "../../packages/core/test/support/controlled-model.ts";
import { residentMegabytes, throughput } from "../measure.ts";

const [task, file = "", count = "0"] = process.argv.slice(2);
/** Replies before memory is measured: code is compiled, and caches are filled. */
const warmUp = 500;

const inputSchema = z.object({ text: z.string() });
const model = controlledModel((call) =>
  call.prompt.at(-1)?.role === "tool"
    ? { text: ["Done."] }
    : {
        text: ["Let me ask. "],
        calls: [{ name: lastText(call).split(" ")[0] ?? "", input: { text: "tea" } }],
      },
);
const clerk = new Agent({
  id: "clerk",
  model,
  tools: {
    order: tool({ inputSchema, execute: (_, options) => durable(options).suspend("Is it paid?") }),
    remove: tool({ inputSchema, execute: () => "removed" }),
  },
  toolApproval: { remove: "user-approval" },
});
const andante = createAndante({
  agents: { clerk },
  store: sqliteStore({ path: file }),
  logger: createLogger({ level: "error" }),
});
await andante.ready();

async function begin(id: string, index: number): Promise<void> {
  const question = `${index % 2 === 0 ? "order" : "remove"} ${"words ".repeat(50)}`;
  const reply = await andante.agents.chat("clerk", question, { conversationId: `${id}-${index}` });
  for await (const _ of reply);
}

/** The heap with buffers, after garbage is collected; the cache of the database does not count. */
function heldMegabytes(): number {
  model.asked.length = 0;
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}

if (task === "begin") {
  await throughput(warmUp, 20, (index) => begin("warm", index));
  await andante.settled();
  const before = heldMegabytes();
  await throughput(Number(count), 20, (index) => begin("talk", index));
  await andante.settled();
  console.log(heldMegabytes() - before);
} else {
  const conversationId = "warm-0";
  const { items } = await andante.live.waiting({ limit: 500 });
  const item = items.find((each) => each.conversationId === conversationId);
  const { suspensionId = "" } = item?.suspension ?? {};
  await andante.agents.resume(conversationId, { suspensionId, resumeData: "yes" });
  await andante.settled();
  console.log(residentMegabytes());
}
await andante.close();

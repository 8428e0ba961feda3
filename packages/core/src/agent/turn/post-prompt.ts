// Posts the prompt of a schedule into its conversation, as a message that waits for its turn: any process begins it.
import { randomUUID } from "node:crypto";
import type { UIMessage } from "ai";
import type { ScheduleCause } from "../../schedule/cause.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import { titleOf } from "../conversation/open-conversation.ts";
import { lastOf, readMessages } from "../messages/given-messages.ts";
import type { QueuedRequest } from "./queued-request.ts";
import type { TurnEnvironment } from "./turn-environment.ts";
import type { TurnExecutions } from "./turn-host.ts";

export interface SchedulePrompt {
  readonly agent: Pick<CallableAgent, "id">;
  readonly conversationId: string;
  readonly userId: string | null;
  readonly context: Readonly<Record<string, unknown>>;
  /** The same for each attempt to post it: it is posted once. */
  readonly messageId: string;
  readonly text: string;
  readonly schedule: ScheduleCause;
}

/**
 * - `posted`: it is there, now or before.
 * - `waits`: a reply of the conversation waits for a person or a tool, which another reply would end.
 * - `full`: the queue of the conversation is.
 * - `foreign`: the conversation is another user's.
 */
export type PostedPrompt = "posted" | "waits" | "full" | "foreign";

export async function postPrompt(
  { conversations, queues, clock, maxQueued: most }: TurnEnvironment,
  executions: Pick<TurnExecutions, "live">,
  { agent, conversationId, userId, context, messageId, text, schedule }: SchedulePrompt,
): Promise<PostedPrompt> {
  if ((await executions.live(conversationId))?.waitsSince !== undefined) return "waits";
  const at = new Date(schedule.at).toISOString();
  const prompt = {
    id: messageId,
    role: "user",
    metadata: { schedule: { scheduleId: schedule.scheduleId, at } },
    parts: [{ type: "text", text }],
  };
  // As its turn reads it again: a message of another text counts as edited, and those behind it would be taken back.
  const message: UIMessage = lastOf(await readMessages([prompt], {}, "last"));
  const request: QueuedRequest = {
    ...{ mode: "chat", settings: {}, schema: null, playground: undefined, traceparent: null },
    ...{ process: queues.process, context, steers: false },
  };
  const { kind } = await conversations.post({
    ...{ key: randomUUID(), conversationId, agentId: agent.id, userId, title: titleOf(message) },
    ...{ messageId, body: JSON.stringify(message), again: false, at: clock.now() },
    queue: { request: JSON.stringify(request), most },
  });
  if (kind === "full" || kind === "foreign") return kind;
  queues.release(conversationId);
  return "posted";
}

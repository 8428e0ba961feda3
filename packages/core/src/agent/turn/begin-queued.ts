// Begins the turn of a queued message whose process is gone, and lets it run to its end without a caller.
import { shapeOf } from "../schema/object-shape.ts";
import { drain } from "./decide-approval.ts";
import { objectReply } from "./object-reply.ts";
import type { LeftMessage } from "./queued-turns.ts";
import { runChat } from "./run-chat.ts";
import { startTurn } from "./start-turn.ts";
import { textReply } from "./text-turn.ts";
import type { TurnEnvironment } from "./turn-environment.ts";

/** Rejects where the turn does not begin. */
export async function beginQueued(
  environment: TurnEnvironment,
  { agent, asked, body, conversationId, userId }: LeftMessage,
): Promise<void> {
  const { mode, settings, schema, playground, traceparent, context } = asked;
  const started = await startTurn(environment, agent, [JSON.parse(body)], {
    ...settings,
    ...{ mode, schema: schema ?? undefined, playground, traceparent: traceparent ?? undefined, context },
    ...{ conversationId, userId: userId ?? undefined, whenBusy: "queue", isLeft: true },
  });
  if (started.kind === "shared") return;
  const { turn } = started;
  // Its caller has left: the error is in the log.
  if (mode === "text") await textReply(turn).catch(() => undefined);
  else if (schema === null) await drain(await runChat(turn, { resumable: true }));
  else await objectReply(turn, await shapeOf(schema, environment.schemas)).catch(() => undefined);
}

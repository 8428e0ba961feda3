// Lets messages of the user reach a chat's reply while it is made: those that wait in the queue of the conversation to do so.
import { randomUUID } from "node:crypto";
import type { ToolSet, UIMessage } from "ai";
import type { CallableAgent } from "../call/callable-agent.ts";
import type { Operation } from "../call/operation.ts";
import { messageOf } from "../conversation/kept-message.ts";
import { Steering } from "../durable/steering.ts";
import { attachmentsOf, forModel } from "../messages/given-messages.ts";
import type { ActiveTurn } from "./active-turn.ts";
import { readRequest } from "./queued-request.ts";
import type { TurnEnvironment } from "./turn-environment.ts";

export interface SteeredTurn {
  readonly agent: CallableAgent;
  /** With the loop of the reply. */
  readonly operation: Operation;
  readonly tools: ToolSet;
  readonly active: ActiveTurn;
  readonly conversationId: string;
  readonly userId: string | null;
}

export function steerTurn({ conversations, turns, elsewhere }: TurnEnvironment, turn: SteeredTurn): void {
  const { agent, operation, tools, active, conversationId, userId } = turn;
  const { loop } = operation;
  // Of another agent's calls nothing is known. A reply that ends with its reader has no other.
  if (loop === undefined || !agent.recordsCalls) return;
  const files = attachmentsOf(agent, operation);
  loop.steering = new Steering(loop, {
    async waiting(): Promise<readonly UIMessage[]> {
      // Messages to other processes are not seen here.
      const mayWait = active.isSteered || active.isRecovered || elsewhere !== undefined;
      if (!mayWait || !active.isAttachable) return [];
      active.isSteered = false;
      const queue = (await conversations.queue({ conversationId, userId })) ?? [];
      return queue.filter((each) => each.agentId === agent.id && readRequest(each).steers).map(messageOf);
    },
    async convert(message) {
      const [converted] = await forModel(
        { kind: "chat", messages: [...(await files.resolve([message]))] },
        tools,
        agent.convertDataPart,
      );
      return converted?.role === "user" ? converted : undefined;
    },
    async delivered(messageId) {
      // It is a part of the reply from now on.
      await conversations.leaveQueue({ key: randomUUID(), conversationId, userId, messageId });
      const reply = active.isAttachable ? await active.shared() : undefined;
      if (reply !== undefined) turns.join(conversationId, messageId, reply);
    },
  });
}

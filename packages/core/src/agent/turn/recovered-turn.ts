// A turn that another process left: takes its conversation and can be attached to at once, then continues.
import type { UIMessageChunk } from "ai";
import type { CallableAgent } from "../call/callable-agent.ts";
import { RunningReply } from "../reply/running-reply.ts";
import type { ActiveTurn } from "./active-turn.ts";
import { KeptTurn, readTurnInput } from "./kept-turn.ts";
import type { TurnEnvironment } from "./turn-environment.ts";
import type { RunningTurn } from "./turn-host.ts";

type Chunks = AsyncIterableIterator<UIMessageChunk>;

/** The state from which a recovered turn continues. */
export interface RecoveredTurn {
  readonly agent: CallableAgent;
  readonly running: RunningTurn;
  readonly kept: KeptTurn;
  readonly active: ActiveTurn;
  readonly conversationId: string;
  readonly userId: string | null;
  /** Resolves when it has the conversation to itself. */
  readonly entered: Promise<void>;
  readonly reply: RunningReply;
  /** How a reader sees the reply from its beginning, once that is known: after an approval, with the parts before it. */
  readonly view: PromiseWithResolvers<(chunks: Chunks) => Chunks>;
  /** True when it may make no new calls. */
  readonly onlyRecorded: boolean;
}

/** Nothing is awaited before it can be found: a reader that attaches right after the start must get the reply. */
export function recoveredTurn(
  { turns, clock }: Pick<TurnEnvironment, "turns" | "clock">,
  agents: ReadonlyMap<string, CallableAgent>,
  running: RunningTurn,
): RecoveredTurn {
  const input = readTurnInput(running.input);
  const agent = agents.get(input.agentId);
  if (agent === undefined) throw new TypeError(`the agent ${input.agentId} is not registered`);
  const { executionId, conversationId = "", userId = null } = running;
  const active = turns.recover(agent.id);
  const { mode, messageId, replyTo } = input;
  active.question = { agentId: agent.id, mode, messageId: replyTo ?? messageId, body: undefined };
  const kept = new KeptTurn({ executionId, conversationId, userId, input, active, clock });
  const entered = turns.enter(active, conversationId, userId, async () => userId);
  const reply = new RunningReply();
  const view = Promise.withResolvers<(chunks: Chunks) => Chunks>();
  active.begun();
  if (mode === "chat" || mode === "stream")
    active.allowAttach(reply, () => delayed(reply.read(), view.promise));
  const tooOld = clock.now() - running.activeAt > agent.recoverWithin;
  const onlyRecorded = running.onlyRecorded || tooOld;
  return { agent, running, kept, active, conversationId, userId, entered, reply, view, onlyRecorded };
}

/** The chunks as they are shown, as soon as it is known how. */
function delayed(chunks: Chunks, view: Promise<(chunks: Chunks) => Chunks>): Chunks {
  const shown = view.then((show) => show(chunks));
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: async () => (await shown).next(),
    return: async () => {
      await chunks.return?.();
      return { done: true, value: undefined };
    },
  };
}

// Starts a turn: checks the input, opens the conversation, and collects the prompt.
import { toJson } from "../../values/json.ts";
import { uuid } from "../../values/uuid.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import { FileBudget } from "../call/file-budget.ts";
import { noteFailure } from "../call/note-failure.ts";
import { Operation } from "../call/operation.ts";
import { checkOutputs } from "../conversation/check-outputs.ts";
import { makeTitle } from "../conversation/make-title.ts";
import { DurableLoop } from "../durable/durable-loop.ts";
import { forModel, type GivenMessages, lastOf, readMessages } from "../messages/given-messages.ts";
import type { ActiveTurn, SharedReply, TurnMode } from "./active-turn.ts";
import { type AgentCallOptions, checkCallOptions } from "./call-options.ts";
import type { ClientApprovals } from "./client-approvals.ts";
import { openKeptTurn } from "./open-kept-turn.ts";
import { steerTurn } from "./steer-turn.ts";
import { continuedMessage, Turn, type TurnOptions } from "./turn.ts";
import type { StartTurnOptions, TurnEnvironment } from "./turn-environment.ts";
import type { RunningTurn } from "./turn-host.ts";
import { TurnRecorder } from "./turn-recorder.ts";

/** A new turn, or the reply that runs already to the same message. */
export type StartedTurn =
  | { readonly kind: "new"; readonly turn: Turn }
  | { readonly kind: "shared"; readonly reply: SharedReply };

export async function startTurn(
  environment: TurnEnvironment,
  registered: CallableAgent,
  input: unknown,
  options: StartTurnOptions,
): Promise<StartedTurn> {
  const { turns } = environment;
  const active = options.isLeft
    ? turns.recover(registered.id)
    : turns.begin(registered.id, options.signal, options.userId);
  let operation: Operation | undefined;
  try {
    const agent = inPlayground(registered, options);
    const { settings, context } = checkCallOptions(agent, options, environment.maxContext);
    operation = operationOf(environment, agent, options, context, active);
    const conversationId = agent.window > 0 ? options.conversationId : undefined;
    const tools = await agent.toolsFor(operation);
    const given = await readMessages(input, tools, conversationId === undefined ? "all" : "last");
    await environment.ready;
    await environment.observed?.();
    // Before the message is kept: its caller may send it again later. A deadline has no caller.
    const caller = { userId: options.userId, agentId: agent.id, tags: [] };
    if (options.decision?.byDeadline !== true)
      await environment.meter?.budgets?.check(caller, { only: "refuse" });
    const { approvals, clock } = environment;
    const call = { agent, operation, settings, tools, active, approvals, clock };
    if (conversationId === undefined) return newTurn({ ...call, ...(await unkept(approvals, call, given)) });
    const where = { conversationId, userId: options.userId ?? null };
    const { again = false } = options;
    const asked = { ...call, ...where, context: contextText(options), sent: lastOf(given), again };
    const opened = await openKeptTurn(environment, asked, options);
    if (opened.kind === "new") {
      operation = recordingOperation(operation, opened.running, {
        active,
        mode: options.mode,
        onlyRecorded: false,
      });
      if (options.mode === "chat") steerTurn(environment, { agent, operation, tools, active, ...where });
      const completed = titleAfter(environment, { agent, operation, history: opened.history, ...where });
      return newTurn({ ...call, ...opened, operation, completed });
    }
    active.end();
    return opened;
  } catch (error) {
    active.end();
    const reason: unknown = active.signal.aborted ? active.signal.reason : error;
    if (operation !== undefined) noteFailure(reason, operation);
    throw reason;
  }
}

/** The agent as it replies. */
export function inPlayground(
  agent: CallableAgent,
  { playground }: Pick<StartTurnOptions, "playground">,
): CallableAgent {
  return playground === undefined ? agent : agent.changed(playground);
}

interface TitledTurn extends Pick<TurnOptions, "agent" | "operation" | "history"> {
  readonly conversationId: string;
  readonly userId: string | null;
}

/** Makes the title once the first reply is kept; undefined where there is nothing to make. */
export function titleAfter(
  { turns, conversations, clock }: TurnEnvironment,
  { agent, operation, history, conversationId, userId }: TitledTurn,
): TurnOptions["completed"] {
  const [question] = history;
  if (agent.title === undefined || question?.role !== "user" || history.length > 1) return undefined;
  const where = { conversations, agent, operation, conversationId, userId, now: () => clock.now() };
  return (reply) => turns.afterwards(makeTitle(where, [question, reply]));
}

function newTurn(options: TurnOptions): StartedTurn {
  return { kind: "new", turn: new Turn(options) };
}

/** The caller's context as it is kept with a turn. */
function contextText({ context = {} }: StartTurnOptions): string {
  return toJson(context, "context") ?? "{}";
}

export function operationOf(
  { logger: parent, telemetry, facts, files: pool, meter, schedules }: TurnEnvironment,
  { id: agentId }: CallableAgent,
  {
    userId,
    conversationId,
    traceparent,
  }: Pick<AgentCallOptions, "userId" | "conversationId" | "traceparent">,
  context: Map<string, unknown>,
  { signal, over }: ActiveTurn,
): Operation {
  const logger = parent.child({
    agentId,
    ...(conversationId !== undefined && { conversationId }),
    ...(userId !== undefined && { userId }),
  });
  const files = new FileBudget({ pool, userId });
  void over.then(() => files.end());
  return new Operation(
    { userId, conversationId, context, logger, signal },
    {
      telemetry: telemetry?.({ userId, conversationId, traceparent }, logger),
      facts,
      files,
      meter,
      ...(schedules && { schedules: { agentId, kept: schedules } }),
    },
  );
}

interface RecordedReply {
  readonly active: ActiveTurn;
  readonly mode: TurnMode;
  readonly onlyRecorded: boolean;
}

/** The same operation, whose calls are recorded in the turn's journal. */
export function recordingOperation(
  operation: Operation,
  running: RunningTurn,
  { active: { signal }, mode, onlyRecorded }: RecordedReply,
): Operation {
  // An object is checked first, by the host's schema perhaps, and the end of a stream is reached when it is read.
  const endsAtOnce = mode === "chat" || mode === "text";
  const recorder = new TurnRecorder(running, { signal, onlyRecorded, endsAtOnce });
  const loop = new DurableLoop(recorder, operation.logger);
  return new Operation(operation, { telemetry: operation.telemetry, loop });
}

type TurnMessages = Pick<TurnOptions, "messages" | "history" | "messageId" | "conversation">;

async function unkept(
  approvals: ClientApprovals,
  { agent, operation, tools }: Pick<TurnOptions, "agent" | "operation" | "tools">,
  given: GivenMessages,
): Promise<TurnMessages> {
  const history = given.kind === "chat" ? given.messages : [];
  const continued = continuedMessage(history);
  if (continued !== undefined) await checkOutputs(continued, tools);
  const messages = await forModel(given, tools, agent.convertDataPart);
  return {
    messages: await approvals.accept(agent, operation, messages),
    history,
    messageId: continued?.id ?? uuid(),
    conversation: undefined,
  };
}

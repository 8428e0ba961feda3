// The dependencies of a turn: those that the turns of one Andante share, and the options of the caller.

import type { TelemetryOptions } from "ai";
import type { Logger } from "../../observe/log/logger.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { Clock } from "../../values/clock.ts";
import type { JsonSchema } from "../../values/schema.ts";
import type { FilePool } from "../call/file-budget.ts";
import type { Meter } from "../call/operation.ts";
import type { KeptSchedules } from "../call/own-schedules.ts";
import type { PlaygroundSettings } from "../call/playground.ts";
import type { ToolDecision } from "../conversation/apply-tool-decisions.ts";
import type { FactKeeper } from "../facts/fact-keeper.ts";
import type { SchemaChecker } from "../schema/schema-checker.ts";
import type { TurnMode } from "./active-turn.ts";
import type { ActiveTurns } from "./active-turns.ts";
import type { AgentCallOptions } from "./call-options.ts";
import type { ClientApprovals } from "./client-approvals.ts";
import type { KeptTurns } from "./kept-turns.ts";
import type { QueuedTurns } from "./queued-turns.ts";
import type { TurnsElsewhere } from "./turns-elsewhere.ts";

/** The dependencies that the turns of one Andante share. */
export interface TurnEnvironment {
  readonly turns: ActiveTurns;
  readonly conversations: ConversationStore;
  readonly kept: KeptTurns;
  readonly queues: QueuedTurns;
  /** How many messages may wait in a conversation. */
  readonly maxQueued: number;
  /** The facts that agents keep. */
  readonly facts: FactKeeper;
  /** The schedules that tools of agents keep. */
  readonly schedules?: KeptSchedules | undefined;
  /** Turns of other processes; undefined where one has the store to itself. */
  readonly elsewhere: TurnsElsewhere | undefined;
  readonly approvals: ClientApprovals;
  readonly schemas: SchemaChecker;
  readonly clock: Clock;
  /** The memory that the files of all calls share. */
  readonly files: FilePool;
  /** Puts prices on calls, and keeps the usage of those that are not recorded. */
  readonly meter?: Meter | undefined;
  /** Maximum bytes of a caller's context as JSON. */
  readonly maxContext: number;
  readonly logger: Logger;
  /** Makes the AI SDK's `telemetry` option for the agents of one operation. Default: no observation. */
  readonly telemetry?: OperationTelemetry | undefined;
  /** Resolves when calls of agents can be observed. */
  readonly observed?: (() => Promise<void>) | undefined;
  readonly ready: Promise<void>;
}

/** The caller, as far as spans show it. */
export type OperationTelemetry = (
  caller: Pick<AgentCallOptions, "userId" | "conversationId" | "traceparent">,
  logger: Logger,
) => (agentId: string) => TelemetryOptions;

export interface StartTurnOptions extends AgentCallOptions {
  readonly mode: TurnMode;
  /** For an object: its JSON Schema. */
  readonly schema?: JsonSchema | undefined;
  /** Reply again to a message that already has a reply. Default: false. */
  readonly again?: boolean | undefined;
  /** The id of the reply that `again` means; newer messages are taken back. Default: the last, and there are none. */
  readonly replaces?: string | undefined;
  /** How the reply differs from its agent. Default: not at all. */
  readonly playground?: PlaygroundSettings | undefined;
  /** Stop the reply that runs in the conversation when its user has stopped reading it. Default: false. */
  readonly stopUnread?: boolean | undefined;
  /** The message keeps its place in the queue when its caller leaves. Default: false. */
  readonly keepsPlace?: boolean | undefined;
  /** Refused where the conversation began with another agent. Default: false. */
  readonly ownConversation?: boolean | undefined;
  /** The message is the first of a queue whose process is gone. Default: false. */
  readonly isLeft?: boolean | undefined;
  /** A person decides about one tool call of the last message, beside the chat. Default: the message has all decisions. */
  readonly decision?: (ToolDecision & { readonly waitsSince: number | undefined }) | undefined;
}

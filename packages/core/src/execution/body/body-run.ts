// The parameters of one run of a body.
import type { FilePool } from "../../agent/call/file-budget.ts";
import type { Children } from "../../agent/durable/children.ts";
import type { FactKeeper } from "../../agent/facts/fact-keeper.ts";
import type { Outbox } from "../../delivery/outbox.ts";
import type { EventCause } from "../../event/cause.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { Observation } from "../../observe/observation.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { StoredUsage } from "../../store/usage.ts";
import type { Clock } from "../../values/clock.ts";
import type { JsonText } from "../../values/json.ts";
import type { LinkOptions } from "../../workflow/step-context.ts";
import type { RunCommand } from "../interpreter/commands.ts";
import type { SizeLimits } from "../limits/limits.ts";
import type { LiveText } from "../stream/feed.ts";
import type { AbortScope } from "./abort-scope.ts";
import type { CheckpointLog } from "./checkpoint-log.ts";

export interface BodyRun {
  readonly facts: ExecutionFacts;
  readonly command: RunCommand;
  readonly scope: AbortScope;
  /** The scope of all attempts of the step, where this attempt has a scope of its own. */
  readonly branch?: AbortScope;
  readonly emit: Emit;
  readonly log: CheckpointLog;
}

/** The parameters that all bodies of one execution share. */
export interface ExecutionFacts {
  readonly executionId: string;
  readonly workflowId: string;
  readonly userId: string | undefined;
  readonly conversationId: string | undefined;
  /** Which processes can continue it: see `targetOf`. */
  readonly target: string;
  readonly startAt: number;
  /** The event from outside that has started it. */
  readonly cause?: EventCause | undefined;
  /** A JSON object as text. */
  readonly context: string;
  readonly tags: readonly string[];
  /** When the execution last made progress before it was loaded, in milliseconds since 1970. */
  readonly activeAt: number;
  readonly journal: Journal;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly limits: SizeLimits;
  /** The facts that agents keep. */
  readonly facts: FactKeeper;
  readonly conversations: Pick<ConversationStore, "recent">;
  /** The memory that the files of all agent calls share. */
  readonly files: FilePool;
  readonly observation: Observation;
  /** The executions that its tools have started; undefined where they cannot start any. */
  readonly children?: Children | undefined;
  /** The usage of the execution's agents so far, in every life of it; read from the store. */
  used(): Promise<StoredUsage | null>;
  /** The usage at the moments when these suspensions were resumed, the earliest first; read from the journal. */
  usedAtResumes(suspensionIds: ReadonlySet<string>): Promise<ReadonlyMap<string, StoredUsage>>;
  /** The address of the page for a decision about a step, made by the body at `path`. */
  link(path: string, stepId: string, options: LinkOptions | undefined): string;
  /** Makes the deliveries of events; undefined where the host has no endpoints. */
  readonly outbox: Outbox | undefined;
  /** Publishes the text of an agent to the execution's followers. */
  publishLive(text: LiveText): void;
}

/** Receives an event that a body sends. */
export type Emit = (command: RunCommand, type: string, data: JsonText) => void;

// The context that a body is given, made lazily: most bodies use only a few of its parts.

import type { AgentUsage } from "../agent/operation.ts";
import { StepSchemaError, SuspendPlaceError } from "../errors/index.ts";
import type { Logger } from "../observe/logger.ts";
import { fromJson, toJson } from "../workflow/json.ts";
import { validate } from "../workflow/schema.ts";
import type { StepContext, StepData } from "../workflow/step-context.ts";
import { stepIdOf } from "../workflow/step-path.ts";
import type { AbortScope } from "./abort-scope.ts";
import type { LiveText } from "./feed.ts";
import type { RunCommand } from "./interpreter/commands.ts";
import type { Journal, PathState } from "./journal.ts";
import { type SuspendRequest, SuspendSignal } from "./suspend-signal.ts";

/** What all bodies of one execution share. */
export interface ExecutionFacts {
  readonly executionId: string;
  readonly workflowId: string;
  readonly userId: string | undefined;
  readonly conversationId: string | undefined;
  /** A JSON object as text. */
  readonly context: string;
  readonly journal: Journal;
  readonly logger: Logger;
  /** Tells those who follow the execution what an agent says. */
  publishLive(text: LiveText): void;
}

export class BodyContext implements StepContext {
  readonly #facts: ExecutionFacts;
  readonly #command: RunCommand;
  readonly #scope: AbortScope;
  #logger: Logger | undefined;
  readonly data: unknown;
  /** What the body said when it called `suspend`, also when it caught what that threw. */
  suspendRequest: SuspendRequest | undefined;
  /** What the models of an agent's body have used. */
  usage: AgentUsage | undefined;

  constructor(facts: ExecutionFacts, command: RunCommand, scope: AbortScope, data: unknown) {
    this.#facts = facts;
    this.#command = command;
    this.#scope = scope;
    this.data = data;
  }

  get input(): unknown {
    return fromJson(this.#command.place.scope.input);
  }
  get executionId(): string {
    return this.#facts.executionId;
  }
  get workflowId(): string {
    return this.#facts.workflowId;
  }
  get stepPath(): string {
    return this.#command.path;
  }
  get attempt(): number {
    return 1;
  }
  get idempotencyKey(): string {
    return `${this.#facts.executionId}:${this.#command.path}`;
  }
  get userId(): string | undefined {
    return this.#facts.userId;
  }
  get conversationId(): string | undefined {
    return this.#facts.conversationId;
  }
  get context(): ReadonlyMap<string, unknown> {
    return new Map(Object.entries(JSON.parse(this.#facts.context)));
  }
  get resumeData(): unknown {
    return fromJson(this.#command.answer);
  }
  get suspendData(): unknown {
    if (this.#command.answer === undefined) return undefined;
    return fromJson(this.#facts.journal.get(this.#command.path)?.suspension?.data);
  }
  get signal(): AbortSignal {
    return this.#scope.signal;
  }
  get logger(): Logger {
    this.#logger ??= this.#facts.logger.child({ stepPath: this.#command.path });
    return this.#logger;
  }

  /** An agent's body has heard a piece of its answer. One whose outcome no longer counts is not told. */
  tell(delta: string): void {
    if (this.#scope.closed) return;
    const { path, place } = this.#command;
    const where = { path, stepIndex: place.scope.stepIndex, stepType: place.step.type };
    this.#facts.publishLive({ ...where, timestamp: Date.now(), delta });
  }

  // Arrow functions, because bodies take them out of the context: `({ suspend }) => …`.
  readonly suspend = (reason = "", data?: unknown): never => {
    const { path, place } = this.#command;
    if (path !== place.path) throw new SuspendPlaceError({ path });
    if (typeof reason !== "string") {
      throw new StepSchemaError({ path, what: "suspend reason", detail: "expected a text" });
    }
    const what = `Suspend data of step ${path}`;
    const request = { reason, data: toJson(data === undefined ? undefined : this.#checked(data), what) };
    this.suspendRequest ??= request;
    throw new SuspendSignal(request);
  };

  readonly getStepData = (stepIdOrPath: string): StepData | undefined => {
    const { journal } = this.#facts;
    const exact = journal.get(stepIdOrPath);
    const found = exact ?? newestById(journal, stepIdOrPath);
    if (found?.outcome === undefined) return undefined;
    const output = found.outcome.kind === "output" ? fromJson(found.outcome.value) : undefined;
    return { input: fromJson(found.input), output };
  };

  #checked(data: unknown): unknown {
    const { step, scope } = this.#command.place;
    const schema = step.suspendSchema ?? scope.workflow.suspendSchema;
    if (schema === undefined) return data;
    const path = this.#command.path;
    const result = validate(schema, data);
    // `suspend` throws at once, so it cannot wait for an asynchronous schema.
    if (result instanceof Promise) {
      throw new StepSchemaError({
        path,
        what: "suspend data",
        detail: "the schema must not be asynchronous",
      });
    }
    if (!result.ok) throw new StepSchemaError({ path, what: "suspend data", detail: result.detail });
    return result.value;
  }
}

function newestById(journal: Journal, id: string): PathState | undefined {
  let found: PathState | undefined;
  for (const [path, state] of journal.paths) {
    if (state.outcome === undefined || stepIdOf(path) !== id || path.includes("#")) continue;
    if (found === undefined || state.sequence > found.sequence) found = state;
  }
  return found;
}

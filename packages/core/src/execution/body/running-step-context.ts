// The context that a running body receives, made lazily: most bodies use only a few of its parts.

import type { TelemetryOptions } from "ai";
import type { FilePool } from "../../agent/call/file-budget.ts";
import type { AgentUsage } from "../../agent/call/operation.ts";
import type { FactKeeper } from "../../agent/facts/fact-keeper.ts";
import type { Notice } from "../../delivery/outbox.ts";
import { CheckpointUseError, StepPlaceError, StepSchemaError } from "../../errors/index.ts";
import type { AnyEvent, SendOptions } from "../../event/define-event.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { UsageMeter } from "../../observe/usage/usage-meter.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { NewSignal } from "../../store/signal-store.ts";
import { nothingUsed } from "../../store/usage.ts";
import { parseObject } from "../../values/fields.ts";
import { fromJson, type Json, type JsonText, toJson } from "../../values/json.ts";
import { validateOwn } from "../../values/schema.ts";
import { functionPath } from "../../values/step-path.ts";
import type {
  CheckpointContext,
  CheckpointOptions,
  DeadlineOptions,
  LinkOptions,
  StepContext,
  StepData,
  SuspendOptions,
  WorkflowState,
} from "../../workflow/step-context.ts";
import type { RunCommand } from "../interpreter/commands.ts";
import { checkOutput } from "../limits/limits.ts";
import type { LiveText } from "../stream/feed.ts";
import type { AbortScope } from "./abort-scope.ts";
import { BodyRecords } from "./body-records.ts";
import type { BodyRun, ExecutionFacts } from "./body-run.ts";
import { Checkpoints } from "./checkpoints.ts";
import { type ControlFlowRequest, ControlFlowSignal } from "./control-flow-signal.ts";
import { type Deadline, readDeadline } from "./deadline.ts";
import { awaitsOf, signalOf } from "./event-waits.ts";
import { readNotice } from "./notice.ts";
import { StateChanges, type StatePatch } from "./state-changes.ts";
import { StepRecorder } from "./step-recorder.ts";

/** Types of our own events, now and to come: a body cannot pretend to be the engine. */
const reservedTypes =
  /^(workflow|step|execution|state|checkpoint)-|^(text-delta|tool-call|tool-result|tool-error|emitted)$/;
const maxTypeLength = 100;

export class RunningStepContext implements StepContext {
  readonly #run: BodyRun;
  readonly #facts: ExecutionFacts;
  readonly #command: RunCommand;
  readonly #scope: AbortScope;
  /** Made for the first one: most bodies have none. */
  #checkpoints: Checkpoints | undefined;
  /** It has returned or thrown; checkpoints that it did not wait for may still run. */
  #hasEnded = false;
  /** The body has ended: state and events of code that it left running are dropped. */
  #isOver = false;
  #logger: Logger | undefined;
  readonly data: unknown;
  /** The request of a call of `suspend` or `bail`, also when the body caught the signal. */
  controlFlow: ControlFlowRequest | undefined;
  /**
   * Work is done whose output cannot be recorded. `isFinal`: the body cannot catch the error, because it was to run again
   * and would do that work again.
   */
  failure: { readonly error: unknown; readonly isFinal: boolean } | undefined;
  /** The state that it has set with `setState`; undefined when it has set none. */
  changes: StateChanges | undefined;
  /** The events that it has sent. */
  readonly sends: NewSignal[] = [];
  /** The usage of the models of an agent's body. */
  usage: AgentUsage | undefined;

  constructor(run: BodyRun, data: unknown) {
    this.#run = run;
    this.#facts = run.facts;
    this.#command = run.command;
    this.#scope = run.scope;
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
    return this.#command.attempt;
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
    return new Map(Object.entries(parseObject(this.#facts.context, "The context of an execution")));
  }
  get resumeData(): unknown {
    return fromJson(this.#command.resumeData);
  }
  get suspendData(): unknown {
    if (this.#command.resumeData === undefined) return undefined;
    return fromJson(this.#facts.journal.get(this.#command.path)?.suspension?.data);
  }
  get signal(): AbortSignal {
    return this.#scope.signal;
  }
  get traceparent(): string | undefined {
    return this.#facts.observation.traceparent(this.#facts.executionId, this.#command.path);
  }
  get logger(): Logger {
    this.#logger ??= this.#facts.logger.child({ stepPath: this.#command.path });
    return this.#logger;
  }

  get state(): WorkflowState {
    return (this.changes ?? new StateChanges(this.#facts.journal, this.stepPath)).read();
  }

  /** The AI SDK's option that puts an agent's spans below this step's and its lines beside this step's. */
  telemetryFor(agentId: string): TelemetryOptions {
    const { observation, executionId, userId, conversationId } = this.#facts;
    const facts = { agentId, executionId, stepPath: this.#command.path, userId, conversationId };
    return observation.agentTelemetry(facts, this.logger);
  }

  get facts(): FactKeeper {
    return this.#facts.facts;
  }

  get conversations(): Pick<ConversationStore, "recent"> {
    return this.#facts.conversations;
  }

  get activeAt(): number {
    return this.#facts.activeAt;
  }

  get files(): FilePool {
    return this.#facts.files;
  }

  get tags(): readonly string[] {
    return this.#facts.tags;
  }

  get meter(): UsageMeter {
    return this.#facts.observation.usage;
  }

  observed(): Promise<void> {
    return this.#facts.observation.open();
  }

  async used(): Promise<AgentUsage> {
    return (await this.#facts.used()) ?? nothingUsed;
  }

  usedAtResumes(suspensionIds: ReadonlySet<string>): Promise<ReadonlyMap<string, AgentUsage>> {
    return this.#facts.usedAtResumes(suspensionIds);
  }

  /** Publishes a piece of an agent's reply or a call of its tool, while the attempt counts. */
  publishLive(piece: Pick<LiveText, "delta" | "tool">): void {
    if (this.#scope.closed) return;
    const { path, place } = this.#command;
    const where = { path, stepIndex: place.scope.stepIndex, stepType: place.step.type };
    this.#facts.publishLive({ ...where, timestamp: this.#facts.clock.now(), ...piece });
  }

  // Arrow functions, because bodies take them out of the context: `({ suspend }) => …`.
  readonly suspend = (reason = "", data?: unknown, options: SuspendOptions = {}): never => {
    this.#onlyInBody("suspend");
    const path = this.stepPath;
    if (typeof reason !== "string") {
      throw new StepSchemaError({ path, subject: "suspend reason", detail: "expected a string" });
    }
    checkOutput(this.#facts.limits, reason, `Suspend reason of step ${path}`, "reason");
    const text = this.#text(data === undefined ? undefined : this.#checked(data), "Suspend data");
    const awaits = awaitsOf(this.#facts, options, path);
    const notice = this.#notice(options);
    return this.#leave({ kind: "suspend", reason, data: text, ...this.#deadline(options), awaits, notice });
  };

  readonly link = (stepId: string, options?: LinkOptions): string => {
    this.#onlyInBody("make a link");
    return this.#facts.link(this.stepPath, stepId, options);
  };

  readonly bail = (result?: unknown): never => {
    this.#onlyInBody("bail");
    return this.#leave({ kind: "bail", result: this.#text(result, "Result of bail") });
  };

  readonly setState = (patch: StatePatch): void => {
    this.#onlyInBody("set state");
    if (this.#isOver) return;
    this.changes ??= new StateChanges(this.#facts.journal, this.stepPath);
    this.changes.add(patch);
  };

  readonly send = (event: AnyEvent, data: unknown, options: Pick<SendOptions, "id" | "key"> = {}): void => {
    this.#onlyInBody("send");
    if (this.#isOver) return;
    this.sends.push(signalOf(this.#facts, event, data, options, this.stepPath));
  };

  readonly emit = (type: string, data?: unknown): void => {
    this.#onlyInBody("emit");
    const path = this.stepPath;
    if (typeof type !== "string" || type === "" || type.length > maxTypeLength || reservedTypes.test(type)) {
      const detail = `${JSON.stringify(type)} is reserved, empty or longer than ${maxTypeLength} characters`;
      throw new StepSchemaError({ path, subject: "event type", detail });
    }
    const text = this.#text(data, `Event "${type}"`);
    if (!this.#scope.closed && !this.#isOver) this.#run.emit(this.#command, type, text);
  };

  readonly checkpoint = <Output>(
    id: string,
    work: (context: CheckpointContext) => Output,
    options: CheckpointOptions = {},
  ): Promise<Json<Awaited<Output>>> => {
    this.#onlyInBody("checkpoint");
    if (this.#hasEnded) {
      const problem = "cannot begin: the body has ended. Await every checkpoint";
      throw new CheckpointUseError({ path: functionPath(this.stepPath, String(id)), problem });
    }
    this.#checkpoints ??= new Checkpoints(this.#run, this.#records());
    // The value is the return value of the work, through JSON, of now or of an earlier run of this execution.
    return this.#checkpoints.run(id, work, options) as Promise<Json<Awaited<Output>>>;
  };

  /** The body has returned or thrown. Resolves when no checkpoint is under way; undefined when that is so already. */
  end(): Promise<void> | undefined {
    this.#hasEnded = true;
    const pending = this.#checkpoints?.settled;
    if (pending === undefined) this.#isOver = true;
    return pending?.then(() => {
      this.#isOver = true;
    });
  }

  readonly getStepData = (stepIdOrPath: string): StepData | undefined => {
    const { journal } = this.#facts;
    const exact = journal.find(stepIdOrPath);
    // A step that has not ended yet does not hide one of the same id that has.
    const found = exact?.outcome === undefined ? journal.newest(stepIdOrPath) : exact;
    if (found?.outcome === undefined) return undefined;
    const output = found.outcome.kind === "output" ? fromJson(found.outcome.value) : undefined;
    return { input: fromJson(found.input), output };
  };

  /** Records the calls of an agent that this body asks. */
  recorder(): StepRecorder {
    return new StepRecorder(this.#run, this.#records(), this.emit);
  }

  #records(): BodyRecords {
    return new BodyRecords(this.#run, {
      leave: (request) => this.#leave(request),
      failsWith: (error, isFinal) => this.#failsWith(error, isFinal),
    });
  }

  /** A value as JSON text within the limit of outputs. */
  #text(value: unknown, what: string): JsonText {
    const where = `${what} of step ${this.stepPath}`;
    return checkOutput(this.#facts.limits, toJson(value, where), where);
  }

  #onlyInBody(action: string): void {
    const { path, place } = this.#command;
    if (path !== place.path) throw new StepPlaceError({ path, action });
    const inside = action === "emit" ? undefined : this.#checkpoints?.inside;
    if (inside !== undefined) {
      throw new CheckpointUseError({
        path: inside,
        problem: `cannot ${action}: only the body around it can`,
      });
    }
  }

  #leave(request: ControlFlowRequest): never {
    this.controlFlow ??= request;
    throw new ControlFlowSignal(request);
  }

  #failsWith(error: unknown, isFinal: boolean): void {
    if (!this.failure?.isFinal) this.failure = { error, isFinal };
  }

  #notice(options: SuspendOptions): Notice | undefined {
    const { path } = this.#command;
    const { outbox, clock } = this.#facts;
    const notice = readNotice(options, path, clock.now(), outbox !== undefined);
    // Refuses it here where the host has not configured links.
    if (notice?.linkUntil !== undefined) this.#facts.link(path, path, undefined);
    return notice;
  }

  #deadline(options: DeadlineOptions): Deadline {
    const { step, scope } = this.#command.place;
    const schema = step.resumeSchema ?? scope.workflow.resumeSchema;
    const deadline = readDeadline(options, schema, this.stepPath, this.#facts.clock.now());
    const what = `Resume data for the deadline of step ${this.stepPath}`;
    checkOutput(this.#facts.limits, deadline.onDeadline ?? undefined, what, "resumeData");
    return deadline;
  }

  #checked(data: unknown): unknown {
    const { step, scope } = this.#command.place;
    const schema = step.suspendSchema ?? scope.workflow.suspendSchema;
    if (schema === undefined) return data;
    const path = this.#command.path;
    const result = validateOwn(schema, data);
    // `suspend` throws at once, so it cannot wait for an asynchronous schema.
    if (result instanceof Promise) {
      throw new StepSchemaError({
        path,
        subject: "suspend data",
        detail: "the schema must not be asynchronous",
      });
    }
    if (!result.ok) throw new StepSchemaError({ path, subject: "suspend data", detail: result.detail });
    return result.value;
  }
}

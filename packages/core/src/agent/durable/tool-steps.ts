// How the code of a tool waits and records parts of its work: `suspend`, `sleep` and `checkpoint`. The tool runs again from
// its top when a wait has ended, over these records.
import {
  DeadlineError,
  DefinitionError,
  StepSchemaError,
  ToolWaitError,
  ToolWorkflowError,
} from "../../errors/index.ts";
import { childWaitOf } from "../../store/suspension.ts";
import { type Duration, parseDuration } from "../../values/duration.ts";
import { fromJson, type Json } from "../../values/json.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import { type JsonSchema, type Schema, toJsonSchema, validate } from "../../values/schema.ts";
import type {
  CheckpointContext,
  CheckpointOptions,
  DeadlineOptions,
  EventWaitOptions,
} from "../../workflow/step-context.ts";
import { CallsWaitError, type CallWaits, RetryWaitError } from "./call-waits.ts";
import type { Children, ChildState, ChildToStart } from "./children.ts";
import type { CallRecorder, ToolCheckpoints } from "./recorder.ts";

/** Options of a wait for a person or another system. */
export interface ToolSuspendOptions<Output = unknown>
  extends Pick<DeadlineOptions<Output>, "deadline">,
    EventWaitOptions {
  /** The schema of the resume data. Default: any JSON. */
  readonly resumeSchema?: Schema<unknown, Output> | undefined;
  /** At the deadline: the tool continues with this value, or `suspend` rejects. Default: `fail`. */
  readonly onDeadline?: { readonly resume: Output } | "fail" | undefined;
}

/** A wait of a tool, for the readers of the reply. */
export interface ToolWait {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly reason: string;
  /** Such as `ask#call[2].tool[0].suspend[0]`. */
  readonly path: string;
  /** When it ends, in milliseconds since 1970; undefined when something else ends it. */
  readonly until?: number | undefined;
  /** The execution that it waits for. */
  readonly executionId?: string | undefined;
}

/** A workflow that a tool runs. */
export interface ToolWorkflow extends Omit<ChildToStart, "path" | "background"> {
  /** In the background: whether the agent replies to the end. Undefined where the call waits. */
  readonly wake?: boolean | undefined;
}

/** Milliseconds until a child is started again that found no room. */
const startPause = 1000;

type CheckpointsOf = CallRecorder["checkpoints"];
/** The loop that the tool belongs to. */
interface Loop {
  readonly recorder: CallRecorder;
  readonly waits: ToolWait[];
  checkMayBegin(): void;
}

export class ToolSteps {
  readonly #loop: Loop;
  readonly #place: string;
  readonly #called: Pick<ToolWait, "toolName" | "toolCallId">;
  #checkpoints: ToolCheckpoints | undefined;
  #suspends = 0;
  #sleeps = 0;
  /** Set when the code has asked to wait: it counts also where the code catches the error. */
  #left: LoopLeftError | undefined;

  constructor(
    loop: Loop,
    place: string,
    { toolName, toolCallId }: Pick<ToolWait, "toolName" | "toolCallId">,
  ) {
    this.#loop = loop;
    this.#place = place;
    this.#called = { toolName, toolCallId };
  }

  /** Whether `suspend` and `sleep` work here. */
  get canWait(): boolean {
    return this.#loop.recorder.waits !== undefined;
  }

  // Arrow functions, because tools take them out of their options.
  readonly suspend = async <Output = unknown>(
    reason = "",
    data?: unknown,
    options: ToolSuspendOptions<Output> = {},
  ): Promise<Output> => {
    const waits = this.#waits("suspend");
    const place = `${this.#place}.suspend[${this.#suspends++}]`;
    const path = this.#loop.recorder.pathOf(place);
    const { resumeSchema: schema, deadline, onDeadline, ...events } = options;
    const ended = waits.ended(place);
    if (ended?.expired) throw new DeadlineError({ path });
    if (ended !== undefined) return accepted(schema, fromJson(ended.data), path);
    this.#loop.checkMayBegin();
    const { toolName } = this.#called;
    const why = reason === "" ? `The tool ${toolName} waits` : reason;
    waits.wait(place, {
      reason: why,
      data: { toolName, ...(data !== undefined && { data }) },
      resumeSchema: schema && schemaOf(schema, path),
      ...(deadline !== undefined && {
        deadline: timeOf(deadline, this.#loop.recorder.now(), `${path}, deadline`),
      }),
      ...(typeof onDeadline === "object" && { onDeadline }),
      ...(events.event !== undefined && { events }),
    });
    throw this.#leave({ reason: why, path });
  };

  readonly sleep = async (time: Duration | Date): Promise<void> => {
    const waits = this.#waits("sleep");
    const id = String(this.#sleeps++);
    const place = `${this.#place}.sleep`;
    const { recorder } = this.#loop;
    const path = recorder.pathOf(`${place}.${id}`);
    const begin = () => timeOf(time, recorder.now(), `${path}, sleep`);
    const until = Number(await this.#record((of) => of(place).run(id, begin, {})));
    if (until <= recorder.now()) return;
    waits.sleep(`${place}.${id}`, until);
    throw this.#leave({ reason: `The tool ${this.#called.toolName} sleeps`, path, until });
  };

  readonly checkpoint = <Output>(
    id: string,
    work: (context: CheckpointContext) => Output,
    options: CheckpointOptions = {},
  ): Promise<Json<Awaited<Output>>> => {
    this.#onlyOutside("checkpoint");
    const run = (of: CheckpointsOf) => {
      this.#checkpoints ??= of(this.#place);
      return this.#checkpoints.run(id, work, options);
    };
    // The value is the return value of the work, through JSON, of now or of an earlier run of this tool.
    return this.#record(run) as Promise<Json<Awaited<Output>>>;
  };

  /** Runs a workflow as an execution of its own, and waits for its end. */
  readonly child = async (workflow: ToolWorkflow): Promise<unknown> => {
    const waits = this.#waits("wait for a workflow");
    const place = childWaitOf(this.#place);
    const path = this.#loop.recorder.pathOf(place);
    const { workflowId } = workflow;
    const known = await this.#startedChild(workflow, path, waits.ended(place) !== undefined);
    if (known.status !== "running" && known.status !== "suspended") {
      await this.#children.taken(path);
      if (known.status === "completed") return known.result;
      throw new ToolWorkflowError({ workflowId, ...known });
    }
    const { executionId } = known;
    const reason = `The tool ${this.#called.toolName} waits for the workflow ${workflowId}`;
    const data = { toolName: this.#called.toolName, workflowId, executionId };
    waits.wait(place, { reason, data, resumeSchema: undefined, again: true });
    throw this.#leave({ reason, path, executionId });
  };

  /** Starts a workflow whose end is posted into the conversation. */
  readonly background = async (workflow: ToolWorkflow): Promise<{ readonly executionId: string }> => {
    const path = this.#loop.recorder.pathOf(childWaitOf(this.#place));
    await this.#startChild(workflow, path);
    return { executionId: this.#children.idOf(path) };
  };

  async #startedChild(workflow: ToolWorkflow, path: string, wasStarted: boolean): Promise<ChildState> {
    const children = this.#children;
    const known = await children.read(path);
    if (known !== undefined) return known;
    const { workflowId } = workflow;
    // It would do its work again.
    if (wasStarted) throw new ToolWorkflowError({ workflowId, status: "deleted", problem: undefined });
    await this.#startChild(workflow, path);
    const started = await children.read(path);
    if (started === undefined)
      throw new ToolWorkflowError({ workflowId, status: "deleted", problem: undefined });
    return started;
  }

  /** Leaves the loop for a while when this process can start nothing. */
  async #startChild(workflow: ToolWorkflow, path: string): Promise<void> {
    const { toolName } = this.#called;
    const { wake } = workflow;
    this.#loop.checkMayBegin();
    const background = wake === undefined ? undefined : { toolName, wake };
    if (await this.#children.start({ ...workflow, path, background })) return;
    this.#left ??= new LoopLeftError(new RetryWaitError(this.#loop.recorder.now() + startPause), true);
    throw this.#left;
  }

  get #children(): Children {
    const { children } = this.#loop.recorder;
    if (children !== undefined) return children;
    throw new ToolWaitError({ toolName: this.#called.toolName, action: "run a workflow" });
  }

  /** The code of the tool has ended: throws when it has asked to wait. */
  async end(): Promise<void> {
    await this.#checkpoints?.settled;
    if (this.#left !== undefined) throw this.#left;
  }

  #waits(action: string): CallWaits {
    this.#onlyOutside(action);
    const { waits } = this.#loop.recorder;
    if (waits === undefined) throw new ToolWaitError({ toolName: this.#called.toolName, action });
    return waits;
  }

  #onlyOutside(action: string): void {
    const inside = this.#checkpoints?.inside;
    if (inside === undefined) return;
    throw new StepSchemaError({ path: inside, subject: "checkpoint", detail: `its work cannot ${action}` });
  }

  #leave(wait: Omit<ToolWait, "toolName" | "toolCallId">): LoopLeftError {
    this.#loop.waits.push({ ...this.#called, ...wait });
    this.#left ??= new LoopLeftError(new CallsWaitError(), true);
    return this.#left;
  }

  /** A record that must wait has the code leave, also where it catches the error. */
  async #record(run: (of: CheckpointsOf) => Promise<unknown>): Promise<unknown> {
    const { recorder } = this.#loop;
    try {
      return await run((place) => recorder.checkpoints(place));
    } catch (thrown) {
      if (thrown instanceof LoopLeftError) this.#left ??= thrown;
      throw thrown;
    }
  }
}

function timeOf(time: Duration | Date, now: number, where: string): number {
  const at = time instanceof Date ? time.getTime() : now + parseDuration(time, where);
  if (Number.isNaN(at)) throw new DefinitionError({ where, problem: "is not a valid date" });
  return at;
}

function schemaOf(schema: Schema, path: string): JsonSchema {
  return toJsonSchema(schema, "input", path);
}

async function accepted<Output>(
  schema: Schema<unknown, Output> | undefined,
  data: unknown,
  path: string,
): Promise<Output> {
  // Without a schema the caller has named no type: it is `unknown`.
  if (schema === undefined) return data as Output;
  const result = await validate(schema, data);
  if (!result.ok) throw new StepSchemaError({ path, subject: "resume data", detail: result.detail });
  return result.value;
}

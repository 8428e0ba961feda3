// Runs one user function: its schemas hold before and after, and every outcome is one of a few results.
import { StepSchemaError } from "../../errors/index.ts";
import type { StepUsage } from "../../journal/events.ts";
import { type Failure, toFailure } from "../../journal/failure.ts";
import type { NewSignal } from "../../store/signal-store.ts";
import { fromJson, type JsonText, toJson } from "../../values/json.ts";
import { type Schema, type Validation, validate, validateOwn } from "../../values/schema.ts";
import type { AgentStep } from "../../workflow/step.ts";
import type { RunCommand } from "../interpreter/commands.ts";
import { checkOutput } from "../limits/limits.ts";
import type { askAgent } from "./ask-agent.ts";
import type { BodyRun } from "./body-run.ts";
import {
  type ControlFlowRequest,
  ControlFlowSignal,
  type SuspendCallsRequest,
  type SuspendRequest,
} from "./control-flow-signal.ts";
import { isPermanent } from "./permanent.ts";
import { RunningStepContext } from "./running-step-context.ts";
import type { StateChanges } from "./state-changes.ts";

export type BodyResult =
  | DoneBody
  | FailedBody
  | { readonly kind: "suspended"; readonly request: SuspendRequest }
  /** Calls of its agent wait; it runs again when one of them is resumed, or its time has come. */
  | (Omit<SuspendCallsRequest, "kind"> & { readonly kind: "calls-suspended" })
  /** A checkpoint could not begin: the body runs again when the execution continues. */
  | { readonly kind: "interrupted" }
  /** It runs again at this time. */
  | { readonly kind: "waiting"; readonly until: number };

export interface DoneBody {
  readonly kind: "output" | "bailed";
  readonly value: JsonText;
  /** The usage of its agent, where it asked one. */
  readonly usage?: StepUsage | undefined;
  /** The state that it has set with `setState`. */
  readonly changes?: StateChanges;
  /** The events that it sends. */
  readonly sends?: readonly NewSignal[];
}

export interface FailedBody {
  readonly kind: "error";
  readonly error: Failure;
  /** Another attempt would fail in the same way. */
  readonly permanent: boolean;
}

/**
 * Runs it inside its step's span. Returns at once when nothing in it is asynchronous: a promise per step is a third of
 * a trivial step's time.
 */
export function runBody(run: BodyRun): BodyResult | Promise<BodyResult> {
  const { facts, command } = run;
  return facts.observation.run(facts.executionId, command.path, () => runInside(run));
}

function runInside(run: BodyRun): BodyResult | Promise<BodyResult> {
  const { command } = run;
  let context: RunningStepContext | undefined;
  const succeed = (output: unknown) => settled(context, () => finish(run, context, output));
  const fail = (thrown: unknown) => settled(context, () => failed(run, context, thrown));
  try {
    const { place } = command;
    const schema = checksInput(command) ? place.step.inputSchema : undefined;
    const data = checked(schema, fromJson(place.data), command.path, "input");
    if (data instanceof Promise) {
      return data
        .then((value) => {
          context = new RunningStepContext(run, value);
          return call(command, context);
        })
        .then(succeed)
        .catch(fail);
    }
    context = new RunningStepContext(run, data);
    const returned = call(command, context);
    if (isThenable(returned)) return Promise.resolve(returned).then(succeed).catch(fail);
    const result = succeed(returned);
    return result instanceof Promise ? result.catch(fail) : result;
  } catch (thrown) {
    return fail(thrown);
  }
}

/** A body has ended when its checkpoints have: one that it does not wait for would be done again. */
function settled(
  context: RunningStepContext | undefined,
  end: () => BodyResult | Promise<BodyResult>,
): BodyResult | Promise<BodyResult> {
  const pending = context?.end();
  return pending === undefined ? end() : pending.then(end);
}

/** A container has checked its data against the schema before it runs a function of its own. */
function checksInput({ function: name }: RunCommand): boolean {
  return name === "execute" || name === "agent" || name === "prompt";
}

function call(command: RunCommand, context: RunningStepContext): unknown {
  const { step } = command.place;
  switch (step.type) {
    case "andThen":
    case "andTap":
    case "andWaitFor":
      return step.execute(context);
    case "andWhen":
    case "andDoWhile":
    case "andDoUntil":
      return step.condition(context);
    case "andBranch":
      return step.cases[Number(command.extra)]?.condition(context);
    case "andForEach":
      return step.items?.(context);
    case "andSleep":
      return resolveOption(step.duration, context);
    case "andSleepUntil":
      return resolveOption(step.date, context);
    case "andAgent":
      if (command.function === "agent")
        return ask(step, command.path, fromJson(command.extra), context, callOptionsOf(step, context));
      return resolveOption(step.prompt, context);
    default:
      throw new TypeError(`${step.type} has no body`);
  }
}

/** The call options of an agent step: made again of the same data when the step runs again. */
function callOptionsOf({ callOptions }: AgentStep, context: RunningStepContext): unknown {
  return callOptions && resolveOption(callOptions, context);
}

/** The value of an option that may be a function. */
function resolveOption<Value extends string | number | object>(
  given: Value | ((context: RunningStepContext) => unknown),
  context: RunningStepContext,
): unknown {
  return typeof given === "function" ? given(context) : given;
}

/** Loaded by the first step that asks an agent: it needs the AI SDK. */
async function ask(...question: Parameters<typeof askAgent>): Promise<unknown> {
  const { askAgent } = await import("./ask-agent.ts");
  const [step, path, prompt, body, callOptions] = question;
  return askAgent(step, path, prompt, body, await callOptions);
}

function finish(
  run: BodyRun,
  context: RunningStepContext | undefined,
  output: unknown,
): BodyResult | Promise<BodyResult> {
  if (context?.controlFlow !== undefined) {
    const { controlFlow, failure } = context;
    return failure?.isFinal ? failedWith(run, failure.error) : fromSwallowed(run, context, controlFlow);
  }
  const { command } = run;
  const { step } = command.place;
  if (step.type === "andTap") return serializeOutput(run, context, undefined);
  const isBody = command.function === "execute" || command.function === "agent";
  const value = checked(
    isBody ? step.outputSchema : undefined,
    coerceCondition(command, output),
    command.path,
    "output",
  );
  return value instanceof Promise
    ? value.then((valid) => serializeOutput(run, context, valid))
    : serializeOutput(run, context, value);
}

/** The log lines for a body that swallowed a thrown signal. */
const swallowedMessages = {
  suspend: "suspend() throws; suspending",
  "suspend-calls": "its agent throws; suspending",
  bail: "bail() throws; bailing",
  interrupt: "checkpoint() throws during a pause or a shut-down; running it again",
  wait: "checkpoint() throws before a delay; running it again",
} as const;

/** The body called `suspend` or `bail` and then returned, or threw something else: the call takes effect anyway. */
function fromSwallowed(
  { facts, command }: BodyRun,
  context: RunningStepContext,
  request: ControlFlowRequest,
): BodyResult {
  facts.logger.warn(
    { stepPath: command.path },
    `the body swallowed what ${swallowedMessages[request.kind]} anyway`,
  );
  return fromControlFlow(context, request);
}

function fromControlFlow(context: RunningStepContext | undefined, request: ControlFlowRequest): BodyResult {
  switch (request.kind) {
    case "suspend":
      return { kind: "suspended", request };
    case "suspend-calls":
      return { ...request, kind: "calls-suspended" };
    case "bail":
      return withChanges({ kind: "bailed", value: request.result }, context);
    case "interrupt":
      return { kind: "interrupted" };
    case "wait":
      return { kind: "waiting", until: request.until };
  }
}

/** The value of a condition is its truthiness. */
function coerceCondition(command: RunCommand, output: unknown): unknown {
  return command.function === "condition" ? Boolean(output) : output;
}

function serializeOutput(
  { facts, command }: BodyRun,
  context: RunningStepContext | undefined,
  value: unknown,
): BodyResult {
  const what = `Output of step ${command.path}`;
  const output = checkOutput(facts.limits, toJson(value, what), what);
  return withChanges({ kind: "output", value: output, usage: context?.usage }, context);
}

function withChanges(result: DoneBody, context: RunningStepContext | undefined): DoneBody {
  if (context === undefined || (context.changes === undefined && context.sends.length === 0)) return result;
  const { changes, sends } = context;
  return { ...result, ...(changes && { changes }), ...(sends.length > 0 && { sends }) };
}

function failed(run: BodyRun, context: RunningStepContext | undefined, thrown: unknown): BodyResult {
  const failure = context?.failure;
  if (failure !== undefined && (failure.isFinal || failure.error === thrown))
    return failedWith(run, failure.error);
  const request = ControlFlowSignal.requestOf(thrown);
  if (request !== undefined) return fromControlFlow(context, request);
  if (context?.controlFlow !== undefined) return fromSwallowed(run, context, context.controlFlow);
  return failedWith(run, thrown);
}

function failedWith({ command: { path, attempt } }: BodyRun, thrown: unknown): FailedBody {
  return { kind: "error", error: toFailure(thrown, path, attempt), permanent: isPermanent(thrown) };
}

function checked(
  schema: Schema | undefined,
  value: unknown,
  path: string,
  what: "input" | "output",
): unknown {
  if (schema === undefined) return value;
  const accept = (result: Validation): unknown => {
    if (!result.ok) throw new StepSchemaError({ path, subject: what, detail: result.detail });
    return result.value;
  };
  // The input may be the caller's; the output is the body's own.
  const result = what === "input" ? validate(schema, value) : validateOwn(schema, value);
  return result instanceof Promise ? result.then(accept) : accept(result);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

// Runs one user function: its schemas hold before and after, and whatever it does ends as one of four results.
import { StepSchemaError } from "../errors/index.ts";
import { fromJson, type JsonText, toJson } from "../workflow/json.ts";
import { type Schema, type Validation, validate } from "../workflow/schema.ts";
import type { AbortScope } from "./abort-scope.ts";
import { askAgent } from "./ask-agent.ts";
import { BodyContext, type ExecutionFacts } from "./body-context.ts";
import { toFailure } from "./failure.ts";
import type { RunCommand } from "./interpreter/commands.ts";
import type { Failure } from "./journal.ts";
import { type SuspendRequest, SuspendSignal } from "./suspend-signal.ts";

export type BodyResult =
  | { readonly kind: "output"; readonly value: JsonText; readonly detail?: string | undefined }
  | { readonly kind: "error"; readonly error: Failure }
  | { readonly kind: "suspended"; readonly request: SuspendRequest };

/** Runs it. Answers at once when nothing in it is asynchronous: a promise per step is a third of a trivial step's time. */
export function runBody(
  facts: ExecutionFacts,
  command: RunCommand,
  scope: AbortScope,
): BodyResult | Promise<BodyResult> {
  let context: BodyContext | undefined;
  const succeed = (output: unknown) => finish(facts, command, context, output);
  const fail = (thrown: unknown) => failed(facts, command, context, thrown);
  try {
    const { place } = command;
    const data = checked(place.step.inputSchema, fromJson(place.data), command.path, "input");
    if (data instanceof Promise) {
      return data
        .then((value) => {
          context = new BodyContext(facts, command, scope, value);
          return call(command, context);
        })
        .then(succeed)
        .catch(fail);
    }
    context = new BodyContext(facts, command, scope, data);
    const returned = call(command, context);
    if (isThenable(returned)) return Promise.resolve(returned).then(succeed).catch(fail);
    const result = succeed(returned);
    return result instanceof Promise ? result.catch(fail) : result;
  } catch (thrown) {
    return fail(thrown);
  }
}

function call(command: RunCommand, context: BodyContext): unknown {
  const { step } = command.place;
  switch (step.type) {
    case "andThen":
    case "andTap":
      return step.execute(context);
    case "andWhen":
      return step.condition(context);
    case "andAgent":
      if (command.function === "agent") return askAgent(step, command.path, fromJson(command.extra), context);
      return typeof step.prompt === "string" ? step.prompt : step.prompt(context);
    default:
      throw new TypeError(`${step.type} has no body`);
  }
}

function finish(
  facts: ExecutionFacts,
  command: RunCommand,
  context: BodyContext | undefined,
  output: unknown,
): BodyResult | Promise<BodyResult> {
  const request = context?.suspendRequest;
  if (request !== undefined) return caught(facts, command, request);
  const { step } = command.place;
  if (step.type === "andTap") return { kind: "output", value: undefined };
  const isBody = command.function === "execute" || command.function === "agent";
  const value = checked(
    isBody ? step.outputSchema : undefined,
    meant(command, output),
    command.path,
    "output",
  );
  const detail = context?.usage && JSON.stringify({ usage: context.usage });
  return value instanceof Promise
    ? value.then((valid) => kept(command, valid, detail))
    : kept(command, value, detail);
}

/** The body called `suspend` and then returned, or threw something else: it is suspended all the same. */
function caught(facts: ExecutionFacts, command: RunCommand, request: SuspendRequest): BodyResult {
  facts.logger.warn(
    { stepPath: command.path },
    "the body caught what suspend throws; the step is suspended all the same",
  );
  return { kind: "suspended", request };
}

/** A condition's answer counts by its truth. */
function meant(command: RunCommand, output: unknown): unknown {
  return command.function === "condition" ? Boolean(output) : output;
}

function kept(command: RunCommand, value: unknown, detail: string | undefined): BodyResult {
  return { kind: "output", value: toJson(value, `Output of step ${command.path}`), detail };
}

function failed(
  facts: ExecutionFacts,
  command: RunCommand,
  context: BodyContext | undefined,
  thrown: unknown,
): BodyResult {
  const request = SuspendSignal.requestOf(thrown);
  if (request !== undefined) return { kind: "suspended", request };
  if (context?.suspendRequest !== undefined) return caught(facts, command, context.suspendRequest);
  facts.logger.warn({ stepPath: command.path, err: thrown }, "the step failed");
  return { kind: "error", error: toFailure(thrown, command.path) };
}

function checked(schema: Schema | undefined, value: unknown, path: string, what: string): unknown {
  if (schema === undefined) return value;
  const accept = (result: Validation): unknown => {
    if (!result.ok) throw new StepSchemaError({ path, what, detail: result.detail });
    return result.value;
  };
  const result = validate(schema, value);
  return result instanceof Promise ? result.then(accept) : accept(result);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

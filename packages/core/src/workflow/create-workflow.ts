// createWorkflow: where a workflow begins.
import { DefinitionError } from "../errors/index.ts";
import { checkDefinedUrlId } from "../values/check-id.ts";
import { checkKnownOptions, type KnownOptions } from "../values/check-options.ts";
import { type Duration, parseDuration } from "../values/duration.ts";
import type { Json } from "../values/json.ts";
import {
  checkSchema,
  type Schema,
  type SchemaInput,
  type SchemaOutput,
  toJsonSchema,
} from "../values/schema.ts";
import { checkDefinitionId } from "../values/step-path.ts";
import type { DeclaredResult, ResumeOf } from "./chain-types.ts";
import { checkHooks, type WorkflowHooks } from "./hooks.ts";
import { readSchedules, type WorkflowScheduleOptions } from "./schedules.ts";
import type { WorkflowSearch } from "./step.ts";
import { joinTags, problemWithTags } from "./tags.ts";
import { type CancelTrigger, type EventTrigger, readCancelOn, readTriggers } from "./triggers.ts";
import { type Workflow, WorkflowChain } from "./workflow.ts";

export interface WorkflowOptions<
  I extends Schema = Schema,
  Id extends string = string,
  Result extends Schema | undefined = Schema | undefined,
  R extends Schema | undefined = Schema | undefined,
  D = unknown,
> {
  /** Used as `:id` in paths and kept with each execution; at most 200 characters, no `/`, `[`, `]` or `#`. */
  readonly id: Id;
  /** Display name. Default: the id. */
  readonly name?: string;
  /** The purpose of the workflow. Default: "". */
  readonly purpose?: string;
  /** Schema of the workflow's input. */
  readonly input: I;
  /** Schema of the workflow's result. Default: anything. */
  readonly result?: Result;
  /** Schema of the data that steps without a schema of their own pass to `suspend`. Default: anything. */
  readonly suspendSchema?: Schema;
  /** Schema of the resume data of steps without a schema of their own. Default: anything. */
  readonly resumeSchema?: R;
  /** How long an execution may take, from its start to its end, waiting included; then it fails. Default: no limit. */
  readonly timeout?: Duration;
  /** Called after the commit of starts, ended steps, suspensions and ends. Default: none. */
  readonly hooks?: WorkflowHooks<Json<SchemaOutput<I>>, HookResult<Result>>;
  /** Tags of every execution, beside those given at its start: at most 20, of 1 to 100 characters. Default: none. */
  readonly tags?: readonly string[];
  /**
   * The values by which executions are found: the strings and numbers of `input`, `result`, `state`, `suspension` (the
   * data passed to `suspend`) and `tags`. `false`: none. `{ exclude: ["input.card"] }`: all but those at these paths and
   * below; a path has no numbers of array elements. Default: all.
   */
  readonly search?: WorkflowSearch;
  /** When executions start by themselves, by a name for each. Default: never. */
  readonly schedules?: Readonly<Record<string, WorkflowScheduleOptions<SchemaInput<I>>>>;
  /** The events that start executions: one, or several with their data types named. Default: none. */
  readonly on?: EventTrigger<D, SchemaInput<I>> | readonly EventTrigger<never, SchemaInput<I>>[];
  /** Events that cancel executions which have not ended. Default: none. */
  readonly cancelOn?: CancelTrigger<Json<SchemaOutput<I>>>;
}

/** The result as hooks receive it: the type that the result schema declares, after JSON. */
type HookResult<Result> = Result extends Schema ? Json<SchemaOutput<Result>> : unknown;

const knownOptions: KnownOptions<WorkflowOptions<Schema>> = {
  id: true,
  name: true,
  purpose: true,
  input: true,
  result: true,
  suspendSchema: true,
  resumeSchema: true,
  timeout: true,
  hooks: true,
  tags: true,
  search: true,
  schedules: true,
  on: true,
  cancelOn: true,
};

/**
 * Starts a workflow without steps; add them with `andThen` and its siblings.
 *
 * @example
 * ```ts
 * import { createWorkflow } from "@andante/core";
 * import { z } from "zod";
 *
 * export const publish = createWorkflow({ id: "publish", input: z.object({ topic: z.string() }) })
 *   .andThen({ id: "draft", execute: ({ data }) => ({ text: `All about ${data.topic}` }) })
 *   .andThen({
 *     id: "approve",
 *     resumeSchema: z.object({ approved: z.boolean() }),
 *     execute: ({ data, resumeData, suspend }) =>
 *       resumeData ? { ...data, ...resumeData } : suspend("Waiting for approval"),
 *   });
 * ```
 */
export function createWorkflow<
  I extends Schema,
  const Id extends string = string,
  Result extends Schema | undefined = undefined,
  R extends Schema | undefined = undefined,
  D = unknown,
>(
  options: WorkflowOptions<I, Id, Result, R, D>,
): Workflow<{
  id: Id;
  input: SchemaInput<I>;
  parsed: Json<SchemaOutput<I>>;
  output: Json<SchemaOutput<I>>;
  result: DeclaredResult<Result>;
  resume: ResumeOf<R>;
  steps: never;
}> {
  const id: unknown = options?.id;
  checkKnownOptions(id === undefined ? "createWorkflow" : `Workflow "${id}"`, options, knownOptions);
  checkDefinitionId(id, "createWorkflow");
  checkDefinedUrlId(id, "createWorkflow");
  const where = `Workflow "${options.id}"`;
  if (options.input === undefined) throw new DefinitionError({ where, problem: "input needs a schema" });
  const schemas = {
    input: options.input,
    result: options.result,
    suspendSchema: options.suspendSchema,
    resumeSchema: options.resumeSchema,
  };
  for (const [name, schema] of Object.entries(schemas)) {
    checkSchema(schema, `${where}, ${name}`);
    // Converted once now, so that a schema that cannot be described fails here and not in a later request.
    if (schema !== undefined) toJsonSchema(schema, "input", `${where}, ${name}`);
  }
  checkHooks(options.hooks, where);
  const { tags = [] } = options;
  const problem = problemWithTags(tags);
  if (problem !== undefined) throw new DefinitionError({ where, problem: `tags: ${problem}` });
  checkSearch(options.search, where);
  return new WorkflowChain({
    id: options.id,
    name: options.name ?? options.id,
    purpose: options.purpose ?? "",
    inputSchema: options.input,
    resultSchema: options.result,
    suspendSchema: options.suspendSchema,
    resumeSchema: options.resumeSchema,
    timeout: options.timeout === undefined ? undefined : parseDuration(options.timeout, `${where}, timeout`),
    steps: [],
    hooks: options.hooks,
    tags: joinTags(tags),
    search: options.search,
    ...(options.schedules && { schedules: readSchedules(options.id, options.schedules, where) }),
    ...(options.on && { on: readTriggers(options.on, where) }),
    ...(options.cancelOn && { cancelOn: readCancelOn(options.cancelOn, where) }),
  });
}

const searchedPath = /^(input|result|state|suspension|tags)(\..+)?$/;

function checkSearch(search: unknown, where: string): void {
  if (search === undefined || search === false) return;
  const paths =
    typeof search === "object" && search !== null && "exclude" in search ? search.exclude : undefined;
  if (Array.isArray(paths) && paths.every((path) => typeof path === "string" && searchedPath.test(path)))
    return;
  const problem =
    'search: expected false or { exclude } with paths that begin with "input", "result", "state", "suspension" or "tags"';
  throw new DefinitionError({ where, problem });
}

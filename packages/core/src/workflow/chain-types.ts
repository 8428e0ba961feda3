// The types that flow through a chain: inputs, outputs and resume data of steps. For the compiler only.
import type { Json } from "../values/json.ts";
import type { Schema, SchemaInput, SchemaOutput } from "../values/schema.ts";

/** Carries the output of the last step of a chain. */
export interface HasOutput<Output> {
  readonly "~output"?: () => Output;
}

/** Carries the input of a workflow. */
export interface HasInput<Data> {
  readonly "~input"?: (data: Data) => void;
}

/** Carries the resume data of the steps of a branch or a workflow; `never` when none declares a schema. */
export interface HasResume<Resume> {
  readonly "~resume"?: () => Resume;
}

/** Carries the type that a result schema declares; `SameAsOutput` without a result schema. */
export interface HasResult<Result> {
  readonly "~result"?: () => Result;
}

/** The result type of a workflow without a result schema: its result is the output of its last step. */
export interface SameAsOutput {
  readonly "~sameAsOutput": never;
}

/** Carries the ids of a workflow's top-level steps. A method, so that a chain grown in a loop keeps its type. */
export interface HasStepIds<Ids extends string> {
  "~stepIds"?(id: Ids): void;
}

/** The output of a branch. */
export type BranchOutput<B> = B extends (chain: never) => HasOutput<infer Output> ? Output : never;

/** The resume data of the steps of a branch. */
export type BranchResume<B> = B extends (chain: never) => HasResume<infer Resume> ? Resume : never;

/** The outputs of the branches as a tuple. */
export type BranchOutputs<Branches extends readonly unknown[]> = {
  -readonly [K in keyof Branches]: BranchOutput<Branches[K]>;
};

/** The options of a step whose id is kept in the type of the chain. */
export type Named<Id extends string, Options> = Options & { readonly id: Id };

/** The resume data of a step with this resume schema; `never` without one. */
export type ResumeOf<R> = R extends Schema ? SchemaInput<R> : never;

/** The output of a result schema. */
export type DeclaredResult<R> = R extends Schema ? Json<SchemaOutput<R>> : SameAsOutput;

/** The input of a workflow; `unknown` for `Workflow`, any workflow, of which nothing is known. */
export type InferInput<W> =
  W extends HasInput<infer Input> ? ([Input] extends [never] ? unknown : Input) : unknown;

/** The result of a completed execution of a workflow: dates are strings, as JSON passes them on. */
export type InferResult<W> =
  W extends HasResult<infer Result> ? ([Result] extends [SameAsOutput] ? OutputOf<W> : Result) : unknown;

type OutputOf<W> = W extends HasOutput<infer Output> ? Output : unknown;

/**
 * The resume data of an execution of a workflow: any value that one of the resume schemas of its steps, or its own,
 * accepts. Anything when there is none.
 */
export type InferResume<W> = [DeclaredResume<W>] extends [never] ? unknown : DeclaredResume<W>;

/** The same; `never` when there is none. */
export type DeclaredResume<W> = W extends HasResume<infer Resume> ? Resume : unknown;

/** The ids of a workflow's top-level steps; any string when they are not known. */
export type InferStepId<W> =
  W extends HasStepIds<infer Ids> ? ([Ids] extends [never] ? string : Ids) : string;

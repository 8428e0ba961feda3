// The types that flow through a chain: what a step takes and gives, what it may be resumed with. For the compiler only.
import type { Json } from "../values/json.ts";
import type { Schema, SchemaInput, SchemaOutput } from "../values/schema.ts";

/** Carries what the last step of a chain gives. */
export interface Gives<Output> {
  readonly "~gives"?: () => Output;
}

/** Carries what a workflow takes. */
export interface Takes<Data> {
  readonly "~takes"?: (data: Data) => void;
}

/** Carries what the steps of a branch or a workflow may be resumed with; `never` when none declares a schema. */
export interface Resumes<Resume> {
  readonly "~resumes"?: () => Resume;
}

/** Carries what a result schema makes of that, as `{ json }`; `undefined` when a workflow declares none. */
export interface Declares<Result> {
  readonly "~result"?: () => Result;
}

/** Carries the ids of a workflow's top-level steps. A method, so that a chain grown in a loop keeps its type. */
export interface Steps<Ids extends string> {
  "~steps"?(id: Ids): void;
}

/** What a branch gives. */
export type BranchOutput<B> = B extends (chain: never) => Gives<infer Output> ? Output : never;

/** What the steps of a branch may be resumed with. */
export type BranchResume<B> = B extends (chain: never) => Resumes<infer Resume> ? Resume : never;

/** The outputs of the branches as a tuple. */
export type BranchOutputs<Branches extends readonly unknown[]> = {
  -readonly [K in keyof Branches]: BranchOutput<Branches[K]>;
};

/** The options of a step whose id is kept in the type of the chain. */
export type Named<Id extends string, Options> = Options & { readonly id: Id };

/** What a step with this resume schema may be resumed with; `never` without one. */
export type ResumeOf<R> = R extends Schema ? SchemaInput<R> : never;

/** What a result schema declares. */
export type DeclaredResult<R> = R extends Schema ? { json: Json<SchemaOutput<R>> } : undefined;

/** What a workflow takes as its input; `unknown` for `Workflow`, any workflow, of which nothing is known. */
export type InferInput<W> =
  W extends Takes<infer Input> ? ([Input] extends [never] ? unknown : Input) : unknown;

/** What a completed execution of a workflow has as its result: dates are strings, as JSON passes them on. */
export type InferResult<W> =
  W extends Declares<infer Result> ? (Result extends { json: infer Json } ? Json : OutputOf<W>) : unknown;

type OutputOf<W> = W extends Gives<infer Output> ? Output : unknown;

/**
 * What an execution of a workflow may be resumed with: whatever one of the resume schemas of its steps, or its own,
 * accepts. Anything when there is none.
 */
export type InferResume<W> = [DeclaredResume<W>] extends [never] ? unknown : DeclaredResume<W>;

/** The same; `never` when there is none. */
export type DeclaredResume<W> = W extends Resumes<infer Resume> ? Resume : unknown;

/** The ids of a workflow's top-level steps; any string when they are not known. */
export type InferStepId<W> = W extends Steps<infer Ids> ? ([Ids] extends [never] ? string : Ids) : string;

// Random workflows as plain data: every step kind, and for each body the result of each attempt.
import fc from "fast-check";
import { type Pace, pace, rarely } from "./pace.ts";
import { type Budget, budgets, type Talk, talks } from "./talk.ts";

/** The result of an attempt. `hang`: nothing, until its timeout. */
export type Behaviour = "value" | "throw" | "permanent" | "bail" | "hang";

/** How a suspension ends: the world answers it, or its deadline passes. */
export type Gate = "answer" | "event" | "link" | "deadline-resume" | "deadline-fail" | "deadline-cancel";

export interface Body {
  /** One for each attempt that the step allows. */
  readonly attempts: readonly Behaviour[];
  /** It suspends so often before it does anything else. */
  readonly gates: readonly Gate[];
  /** The records that it makes first. */
  readonly checkpoints: readonly Checkpoint[];
  readonly pace: Pace;
  readonly sets: boolean;
  readonly emits: boolean;
  readonly delay: number;
}

/** Work inside a body: fails so often, then succeeds. */
export interface Checkpoint {
  readonly failures: number;
  readonly pace: Pace;
  readonly delay: number;
}

/** A function beside a body: fails so often, then answers. */
export interface Aside {
  readonly failures: number;
  readonly attempts: number;
  readonly pace: Pace;
  readonly delay: number;
}

export type Steps = readonly Tree[];

export type Tree = Leaf | Container;

type Leaf =
  | { readonly kind: "then" | "tap"; readonly body: Body }
  | {
      readonly kind: "agent";
      readonly aside: Aside;
      readonly fails: boolean;
      readonly isFunction: boolean;
      /** Of an agent of ours. Without one the agent is not ours, and its reply is recorded as a whole. */
      readonly talk: Talk | undefined;
      readonly budget: Budget | undefined;
    }
  | {
      readonly kind: "sleep" | "sleepUntil";
      readonly aside: Aside;
      readonly time: number;
      readonly isFunction: boolean;
    };

export type Container =
  | { readonly kind: "when"; readonly aside: Aside; readonly holds: boolean; readonly steps: Steps }
  | { readonly kind: "all" | "race"; readonly branches: readonly Steps[] }
  | { readonly kind: "workflow"; readonly steps: Steps }
  | {
      readonly kind: "forEach";
      readonly aside: Aside;
      /** Without a number the data is the list. */
      readonly count: number | undefined;
      readonly concurrency: number;
      readonly steps: Steps;
    }
  | {
      readonly kind: "while" | "until";
      readonly aside: Aside;
      readonly rounds: number;
      readonly steps: Steps;
    }
  | {
      readonly kind: "branch";
      readonly aside: Aside;
      readonly holds: readonly boolean[];
      readonly cases: readonly Steps[];
    };

/** Short ones are waited for in memory, long ones at rest; 10 and 30 minutes end together with timeouts and deadlines. */
const time = fc.constantFrom(0, 1, 2, 400, 5000, 600_000, 1_800_000, 3_600_000);
const behaviour = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Behaviour>("value") },
  { weight: 4, arbitrary: fc.constant<Behaviour>("throw") },
  { weight: 1, arbitrary: fc.constantFrom<Behaviour>("permanent", "bail", "hang") },
);
const gate = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Gate>("answer") },
  { weight: 2, arbitrary: fc.constant<Gate>("deadline-resume") },
  { weight: 3, arbitrary: fc.constant<Gate>("event") },
  { weight: 5, arbitrary: fc.constant<Gate>("link") },
  { weight: 1, arbitrary: fc.constant<Gate>("deadline-fail") },
  { weight: 1, arbitrary: fc.constant<Gate>("deadline-cancel") },
);
const checkpoint: fc.Arbitrary<Checkpoint> = fc.record({
  failures: fc.constantFrom(0, 0, 0, 1, 2),
  pace,
  delay: time,
});
const body: fc.Arbitrary<Body> = fc
  .record({
    attempts: fc.array(behaviour, { minLength: 1, maxLength: 3 }),
    gates: fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(gate, { minLength: 1, maxLength: 2 }) },
    ),
    checkpoints: fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(checkpoint, { minLength: 1, maxLength: 2 }) },
    ),
    pace,
    sets: fc.boolean(),
    emits: fc.boolean(),
    delay: time,
  })
  // Where time is limited nothing else takes any: the world moves the clock when it likes.
  .map((one) => (one.attempts.includes("hang") ? { ...one, pace: "at-once", checkpoints: [] } : one));
const aside: fc.Arbitrary<Aside> = fc.record({
  failures: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 }) },
  ),
  attempts: fc.integer({ min: 1, max: 3 }),
  pace,
  delay: time,
});

/** How often an agent and parallel steps are chosen, for five bodies. */
const treesWith = (agents: number, together: number): fc.Arbitrary<Steps> =>
  fc.letrec<{ tree: Tree; steps: Steps }>((tie) => ({
    steps: fc.array(tie("tree"), { minLength: 1, maxLength: 3 }),
    tree: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom("then", "tap"), body }) },
      {
        weight: agents,
        arbitrary: fc.record({
          kind: fc.constant("agent"),
          aside,
          fails: rarely(),
          isFunction: fc.boolean(),
          talk: fc.option(talks, { nil: undefined, freq: 4 }),
          budget: fc.option(budgets, { nil: undefined, freq: 2 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constantFrom("sleep", "sleepUntil"),
          aside,
          time,
          isFunction: fc.boolean(),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant("when"), aside, holds: fc.boolean(), steps: tie("steps") }),
      },
      {
        weight: together,
        arbitrary: fc.record({
          kind: fc.constantFrom("all", "race"),
          branches: fc.array(tie("steps"), { minLength: 1, maxLength: 3 }),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("workflow"), steps: tie("steps") }) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant("forEach"),
          aside,
          count: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined, freq: 6 }),
          concurrency: fc.integer({ min: 1, max: 3 }),
          steps: tie("steps"),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constantFrom("while", "until"),
          aside,
          rounds: fc.integer({ min: 1, max: 3 }),
          steps: tie("steps"),
        }),
      },
      {
        weight: 1,
        arbitrary: fc
          .array(fc.tuple(fc.boolean(), tie("steps")), { minLength: 1, maxLength: 3 })
          .chain((cases) =>
            fc.record({
              kind: fc.constant("branch"),
              aside,
              holds: fc.constant(cases.map(([holds]) => holds)),
              cases: fc.constant(cases.map(([, inner]) => inner)),
            }),
          ),
      },
    ),
  })).steps;

/** The steps of a workflow. */
export const trees = treesWith(2, 2);

/** The steps of a workflow of agents, many of them side by side. */
export const agentTrees = treesWith(12, 5);

/** Steps with the ids they have. */
export type Chain = readonly (readonly [id: string, tree: Tree])[];

/** The steps of a chain with the ids they have; those of all branches are numbered through. */
export function named(steps: Steps, first = 0): Chain {
  return steps.map((tree, index) => [`s${first + index}`, tree]);
}

/** The chains of a container with their ids. */
export function namedBranches(branches: readonly Steps[]) {
  let count = 0;
  return branches.map((branch) => {
    const chain = named(branch, count);
    count += branch.length;
    return chain;
  });
}

/** The part of a tree at a path. */
export function treeAt(steps: Steps, path: string): Tree | undefined {
  return treeIn(named(steps), path);
}

/** The same for a chain with ids of its own. */
export function treeIn(chain: Chain, path: string): Tree | undefined {
  let siblings = chain;
  let found: Tree | undefined;
  for (const part of path.split("/")) {
    const id = part.replace(/[[#].*$/, "");
    found = siblings.find(([name]) => name === id)?.[1];
    if (found === undefined) return undefined;
    siblings = named(innerSteps(found));
  }
  return found;
}

function innerSteps(tree: Tree): Steps {
  if ("steps" in tree) return tree.steps;
  if ("branches" in tree) return tree.branches.flat();
  return "cases" in tree ? tree.cases.flat() : [];
}

/** The output of a body: any other data, path or attempt would give another number. */
export function mix(where: string, data: unknown): number {
  let hash = 2166136261;
  for (const character of `${where} ${JSON.stringify(data)}`) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 16777619);
  }
  return (hash >>> 0) % 1_000_000;
}

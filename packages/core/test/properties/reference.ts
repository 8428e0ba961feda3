// The reference model: how a workflow may end, found without a journal, a store or a clock.
//
// Where several branches run at once, any of them may be first: the answer is the set of endings that are allowed.
import { childPath, functionPath, iterationPath } from "../../src/values/step-path.ts";
import { budgetEnds, endOfTalk } from "./talk-reference.ts";
import {
  type Aside,
  type Body,
  type Chain,
  mix,
  named,
  namedBranches,
  type Steps,
  type Tree,
} from "./tree.ts";

export type Ending =
  | { readonly kind: "output" | "bailed"; readonly value: unknown }
  | { readonly kind: "skipped" | "cancelled" }
  | { readonly kind: "error"; readonly step: string; readonly name: string };

type Endings = readonly Ending[];

/** More are not looked at: the product of many races proves nothing. */
const maxEndings = 200;

export class TooManyEndingsError extends Error {}

/** Every way in which a workflow of these steps may end whose step `from` gets this input. */
export function possibleEndings(steps: Steps, input: unknown, from = 0): Endings {
  return endingsOf(named(steps).slice(from), input);
}

/** Every way in which a workflow of this chain may end. */
export function endingsOf(chain: Chain, input: unknown): Endings {
  return distinct(sequence(chain, "", input).map(unbail));
}

function unbail(ending: Ending): Ending {
  return ending.kind === "bailed" ? { ...ending, kind: "output" } : ending;
}

function sequence(chain: Chain, parent: string, data: unknown): Endings {
  let open: readonly unknown[] = [data];
  const ends: Ending[] = [];
  for (const [id, tree] of chain) {
    const next: unknown[] = [];
    for (const current of open) {
      for (const ending of step(tree, childPath(parent, id), current)) {
        if (ending.kind === "output") next.push(ending.value);
        else if (ending.kind === "skipped") next.push(current);
        else ends.push(ending);
      }
    }
    open = distinct(next);
  }
  return distinct([...ends, ...open.map((value): Ending => ({ kind: "output", value }))]);
}

function step(tree: Tree, path: string, data: unknown): Endings {
  switch (tree.kind) {
    case "then":
      return [body(tree.body, path, data)];
    case "tap": {
      const ending = body(tree.body, path, data);
      return [
        ending.kind === "bailed" || ending.kind === "cancelled" ? ending : { kind: "output", value: data },
      ];
    }
    case "agent": {
      const failed = tree.isFunction ? aside(tree.aside, functionPath(path, "prompt")) : undefined;
      if (failed !== undefined) return [failed];
      const prompt = tree.isFunction ? String(mix(`${path} agent`, data)) : "fixed";
      return agent(tree, path, prompt);
    }
    case "sleep":
    case "sleepUntil": {
      const name = tree.kind === "sleep" ? "duration" : "date";
      const failed = tree.isFunction ? aside(tree.aside, functionPath(path, name)) : undefined;
      return [failed ?? { kind: "output", value: data }];
    }
    case "when": {
      const failed = aside(tree.aside, functionPath(path, "condition"));
      if (failed !== undefined) return [failed];
      return tree.holds ? sequence(named(tree.steps), path, data) : [{ kind: "skipped" }];
    }
    case "all":
      return together(namedBranches(tree.branches).map((chain) => sequence(chain, path, data)));
    case "race":
      return race(namedBranches(tree.branches).map((chain) => sequence(chain, path, data)));
    case "workflow":
      return distinct(sequence(named(tree.steps), path, data).map(unbail));
    case "forEach":
      return forEach(tree, path, data);
    case "while":
    case "until":
      return loop(tree, path, data);
    case "branch":
      return branch(tree, path, data);
  }
}

function body({ gates, attempts }: Body, path: string, data: unknown): Ending {
  for (const gate of gates) {
    if (gate === "deadline-fail") return { kind: "error", step: path, name: "DeadlineError" };
    if (gate === "deadline-cancel") return { kind: "cancelled" };
  }
  for (const [index, behaviour] of attempts.entries()) {
    const last = index === attempts.length - 1;
    const value = mix(`${path} ${index + 1}`, data);
    if (behaviour === "value") return { kind: "output", value };
    if (behaviour === "bail") return { kind: "bailed", value };
    if (behaviour === "permanent") return { kind: "error", step: path, name: "PermanentError" };
    if (last) return { kind: "error", step: path, name: behaviour === "hang" ? "StepTimeoutError" : "Error" };
  }
  throw new Error("a body without attempts");
}

/** The whole text of an agent, and every prefix that its budget may leave. */
function agent(
  { talk, fails, budget }: Extract<Tree, { kind: "agent" }>,
  path: string,
  prompt: string,
): Endings {
  const failed = (name: string): Ending => ({ kind: "error", step: path, name });
  const output = (text: string): Ending => ({ kind: "output", value: { text } });
  if (talk === undefined) return [fails ? failed("Error") : output(prompt)];
  const whole = fails ? undefined : endOfTalk(talk, `${path}#`, prompt);
  const cut = budget === undefined ? [] : budgetEnds(talk, budget);
  return distinct([
    whole === undefined ? failed(fails ? "Error" : "UnserializableError") : output(whole),
    ...cut.map((text) => {
      if (text === undefined) return failed("BudgetReachedError");
      return budget?.allowIncomplete ? output(text) : failed("ReplyIncompleteError");
    }),
  ]);
}

/** The failure of a function beside a body; undefined when it succeeds in the end. */
function aside({ failures, attempts }: Aside, path: string): Ending | undefined {
  return failures >= attempts ? { kind: "error", step: path, name: "Error" } : undefined;
}

/** Any failure, bail or cancellation may come first; and where each branch can succeed, all may. */
function together(branches: readonly Endings[]): Endings {
  const decisive = branches.flat().filter(({ kind }) => kind !== "output");
  let lists: readonly (readonly unknown[])[] = [[]];
  for (const endings of branches) {
    const values = endings.flatMap((ending) => (ending.kind === "output" ? [ending.value] : []));
    lists = lists.flatMap((list) => values.map((value) => [...list, value]));
    if (lists.length > maxEndings) throw new TooManyEndingsError();
  }
  return distinct([...decisive, ...lists.map((value): Ending => ({ kind: "output", value }))]);
}

/** Any success, bail or cancellation may come first; and where each branch can fail, the first failure is any of them. */
function race(branches: readonly Endings[]): Endings {
  const decisive = branches.flat().filter(({ kind }) => kind !== "error");
  const allFail = branches.every((endings) => endings.some(({ kind }) => kind === "error"));
  return distinct(allFail ? branches.flat() : decisive);
}

function forEach(tree: Extract<Tree, { kind: "forEach" }>, path: string, data: unknown): Endings {
  if (tree.count !== undefined) {
    const failed = aside(tree.aside, functionPath(path, "items"));
    if (failed !== undefined) return [failed];
  }
  const items = tree.count === undefined ? data : itemsOf(tree.count, data);
  if (!Array.isArray(items)) return [{ kind: "error", step: path, name: "StepSchemaError" }];
  const endings = items.map((item, index) => sequence(named(tree.steps), iterationPath(path, index), item));
  if (tree.concurrency > 1) return together(endings);
  // One after the other: steps after a certain failure are never reached.
  const certain = endings.findIndex((each) => each.every(({ kind }) => kind !== "output"));
  return together(certain === -1 ? endings : endings.slice(0, certain + 1));
}

export function itemsOf(count: number, data: unknown): unknown[] {
  return Array.from({ length: count }, (_, index) => mix(`item ${index}`, data));
}

function loop(tree: Extract<Tree, { kind: "while" | "until" }>, path: string, data: unknown): Endings {
  let open: readonly unknown[] = [data];
  const ends: Ending[] = [];
  for (let round = 0; round < tree.rounds; round++) {
    const beside = iterationPath(path, round);
    const after = open.flatMap((current) => sequence(named(tree.steps), beside, current));
    ends.push(...after.filter(({ kind }) => kind !== "output"));
    open = distinct(after.flatMap((ending) => (ending.kind === "output" ? [ending.value] : [])));
    const failed = aside(tree.aside, functionPath(beside, "condition"));
    if (failed !== undefined && open.length > 0) return distinct([...ends, failed]);
  }
  return distinct([...ends, ...open.map((value): Ending => ({ kind: "output", value }))]);
}

function branch(tree: Extract<Tree, { kind: "branch" }>, path: string, data: unknown): Endings {
  const chains = namedBranches(tree.cases);
  for (const [index, holds] of tree.holds.entries()) {
    const failed = aside(tree.aside, functionPath(iterationPath(path, index), "condition"));
    if (failed !== undefined) return [failed];
    if (holds) return sequence(chains[index] ?? [], path, data);
  }
  return [{ kind: "skipped" }];
}

export function keyOf(value: unknown): string {
  return JSON.stringify(value);
}

function distinct<Value>(values: readonly Value[]): readonly Value[] {
  const found = [...new Map(values.map((value) => [keyOf(value), value])).values()];
  if (found.length > maxEndings) throw new TooManyEndingsError();
  return found;
}

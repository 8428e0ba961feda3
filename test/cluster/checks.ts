// Rules for every execution once all is over, after any disturbance of the nodes and the database.
import { z } from "zod";
import { numberOf, type Started } from "./load.ts";
import type { Remains, Write } from "./remains.ts";
import type { BodyLine } from "./side-log.ts";

const outcomeTypes = ["step-complete", "step-evaluated", "step-error", "step-skipped", "step-bailed"];
const ranSchema = z.object({ run: z.string() });
const resultSchema = z.object({ n: z.number(), run: z.string() });

/** The claim and the number of a commit, from the row of the journal. */
const commitKey = /^(.{12})\.(\d+)\.(?:ok|paused)/;

/** The commits lost by fail-overs, and the faults that these alone excuse. */
export interface Lost {
  /** Executions that may be gone. */
  readonly unknown: ReadonlySet<string>;
  /** Runs of bodies whose outcomes may be missing, though bodies were given them. */
  readonly runs: ReadonlySet<string>;
}

const nothingLost: Lost = { unknown: new Set(), runs: new Set() };

/** One line for each thing that is wrong, with the id of its execution. */
export function checkAll(
  started: readonly Started[],
  remains: ReadonlyMap<string, Remains>,
  bodies: readonly BodyLine[],
  lost: Lost = nothingLost,
): string[] {
  const byExecution = Map.groupBy(bodies, (line) => line.executionId);
  return started.flatMap((each) => {
    const found = remains.get(each.executionId);
    const lines = byExecution.get(each.executionId) ?? [];
    if (found === undefined && lost.unknown.has(each.executionId)) return [];
    const problems = found === undefined ? ["it is lost"] : checkOne(each, found, lines, lost);
    return problems.map((problem) => `${each.executionId}: ${problem}`);
  });
}

function checkOne(
  started: Started,
  { execution, writes }: Remains,
  lines: readonly BodyLine[],
  lost: Lost,
): string[] {
  return [
    ...checkEnd(started, execution),
    ...checkSequences(execution.sequence, writes),
    ...checkClaims(writes),
    ...checkOutcomes(writes, lines, lost),
  ];
}

function checkEnd({ told }: Started, execution: Remains["execution"]): string[] {
  const { status, owner, suspensions, timers, parked } = execution;
  const problems: string[] = [];
  if (told === undefined) problems.push(`stuck: its client was never told of an end, it is ${status}`);
  else if (told.status !== status) problems.push(`its client was told ${told.status}, it is ${status}`);
  if (status !== "completed") problems.push(`it is ${status}`);
  if (owner !== null) problems.push(`it has ended and is owned by ${owner}`);
  if (parked !== null) problems.push(`it is parked: ${parked}`);
  if (suspensions + timers > 0) problems.push(`${suspensions} suspensions and ${timers} timers are left`);
  return problems;
}

/** Each client of the load received the number of its input, with the name of a run that gave a step its outcome. */
export function checkResults(started: readonly Started[], remains: ReadonlyMap<string, Remains>): string[] {
  return started.flatMap(({ executionId, told }) => {
    const found = remains.get(executionId);
    if (found === undefined || told === undefined) return [];
    const result = resultSchema.safeParse(told.result).data;
    const isRight =
      result?.n === numberOf(executionId) && [...outcomesIn(found.writes).values()].includes(result.run);
    return isRight ? [] : [`${executionId}: its client received ${JSON.stringify(told.result)}`];
  });
}

/** The events are numbered 1, 2, 3 … without a gap, and the row knows the last. */
function checkSequences(last: number, writes: readonly Write[]): string[] {
  const numbers = writes.flatMap(({ events }) => events.map(({ sequence }) => sequence));
  const wrong = numbers.findIndex((sequence, index) => sequence !== index + 1);
  if (wrong !== -1) return [`event ${wrong + 1} has the number ${numbers[wrong]}`];
  return numbers.length === last ? [] : [`the row says ${last} events, there are ${numbers.length}`];
}

/** Once a claim has been replaced nothing is written under it, and its commits come in their order. */
function checkClaims(writes: readonly Write[]): string[] {
  const problems: string[] = [];
  const last = new Map<string, number>();
  let holder: string | undefined;
  for (const { key } of writes) {
    const [, claim, text] = commitKey.exec(key ?? "") ?? [];
    if (claim === undefined) continue;
    const number = Number(text);
    if (claim !== holder && last.has(claim))
      problems.push(`a stale write: commit ${number} of ${claim} after one of ${holder}`);
    if (number <= (last.get(claim) ?? 0)) problems.push(`commit ${number} of ${claim} was written twice`);
    last.set(claim, number);
    holder = claim;
  }
  return problems;
}

/** The run that gave each path its outcome; undefined where its value does not name one. */
export function outcomesIn(writes: readonly Write[]): Map<string, string | undefined> {
  return new Map(outcomeEvents(writes).map(({ path, run }) => [path, run]));
}

function outcomeEvents(writes: readonly Write[]) {
  return writes.flatMap(({ events }) =>
    events.flatMap(({ fields: [type, at, path, , , value] }) => {
      if (path === null || !outcomeTypes.includes(type)) return [];
      const run = typeof value === "string" ? ranSchema.safeParse(JSON.parse(value)).data?.run : undefined;
      return [{ path, at, run }];
    }),
  );
}

/** Each path has one outcome, returned by a run of its body, and later steps got that outcome and no other. */
function checkOutcomes(writes: readonly Write[], lines: readonly BodyLine[], lost: Lost): string[] {
  const problems: string[] = [];
  const outcomes = new Map<string, string | undefined>();
  for (const { path, run } of outcomeEvents(writes)) {
    if (outcomes.has(path)) problems.push(`${path} has two outcomes`);
    outcomes.set(path, run);
    const isBody = lines.some((line) => line.path === path);
    if (isBody && run !== undefined && !lines.some((line) => line.path === path && line.run === run))
      problems.push(`${path} has an outcome that no run of its body gave`);
  }
  const committed = new Set(outcomes.values());
  for (const { path, got, run } of lines) {
    if (got === null || committed.has(got)) continue;
    // A run that was given a lost outcome must not have one in the journal: its step runs again.
    if (committed.has(run) || !lost.runs.has(got))
      problems.push(`${path} was given the outcome of a run that is not in the journal (by run ${run})`);
  }
  return problems;
}

/**
 * Runs of bodies that began after another run had given their step its outcome: by a process that did not yet know that it
 * was taken over. Bodies run at least once, so this is reported and not counted as wrong. The run of the outcome itself does
 * not count: the journal goes by the clock of the store, the bodies by that of their node, and a body may take no time.
 */
export function lateRuns(remains: ReadonlyMap<string, Remains>, bodies: readonly BodyLine[]): number {
  const recorded = new Map<string, { readonly at: number; readonly run: string | undefined }>();
  for (const [executionId, { writes }] of remains)
    for (const { path, at, run } of outcomeEvents(writes))
      recorded.set(`${executionId} ${path}`, { at, run });
  return bodies.filter(({ executionId, path, at, run }) => {
    const outcome = recorded.get(`${executionId} ${path}`);
    return outcome !== undefined && run !== outcome.run && at > outcome.at;
  }).length;
}

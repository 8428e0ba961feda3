// Random rows of an execution, and random writes to it: most as its owner knows it, some not.
import type { Commit, NewStoredEvent, Resume, Suspension } from "../../src/store/index.ts";

export interface RandomExecution {
  readonly executionId: string;
  readonly status: "running" | "suspended" | "completed";
  readonly sequence: number;
  /** The time of the last event. */
  readonly lastAt: number;
  readonly stepIndex: number;
  readonly paused: boolean;
  readonly resumes: number;
  readonly owner: string | null;
  readonly token: string | null;
  readonly commits: number;
  readonly idle: boolean;
  readonly recoveries: number;
  readonly usage: string | null;
  readonly endAt: number | null;
  readonly parked: string | null;
  readonly timeoutAt: number | null;
  readonly suspensions: readonly Suspension[];
  readonly timers: readonly string[];
}

/** `next` returns numbers from 0 to below 1. */
export function randomWrites(next: () => number) {
  const pick = <T>(...values: readonly [T, ...T[]]): T =>
    values[Math.floor(next() * values.length)] ?? values[0];
  const below = (limit: number) => Math.floor(next() * limit);
  let last = 0;

  const event = (): NewStoredEvent => ({
    timestamp: 1_000 + below(9),
    type: "emitted",
    path: pick(null, "a"),
    stepIndex: 1,
    stepType: null,
    value: pick(null, `"${++last}"`),
    detail: null,
  });
  const events = (most: number) => Array.from({ length: below(most + 1) }, event);
  const suspension = (path: string | null): Suspension => ({
    suspensionId: `s${++last}`,
    path,
    stepIndex: 0,
    reason: "",
    data: null,
    suspendedAt: 5,
    deadline: pick(null, 9),
    onDeadline: null,
  });

  const execution = (): RandomExecution => {
    const isOver = next() < 0.1;
    const paused = !isOver && next() < 0.15;
    const paths = isOver ? [] : pick<readonly string[]>([], [], ["gate"], ["gate", "box/inner"]);
    const suspensions = [...paths, ...(paused ? [null] : [])].map(suspension);
    const token = isOver || next() < 0.4 ? null : "0123456789abcdef";
    const suspended = suspensions.length > 0 ? "suspended" : "running";
    return {
      executionId: `e${++last}`,
      status: isOver ? "completed" : suspended,
      sequence: 1 + below(3),
      lastAt: 1_000 + below(5),
      stepIndex: below(3),
      paused,
      resumes: below(3),
      owner: token && "here",
      token,
      commits: below(3),
      idle: !isOver && token === null && next() < 0.8,
      recoveries: below(3),
      usage: pick(null, '{"inputTokens":1,"outputTokens":1,"totalTokens":2,"calls":1}'),
      endAt: isOver ? 2_000 : null,
      parked: pick(null, null, '"reason"'),
      timeoutAt: pick(null, 5_000),
      suspensions,
      timers: isOver ? [] : pick<readonly string[]>([], ["nap"]),
    };
  };

  const commit = (of: RandomExecution): Commit => {
    const end = next() < 0.3;
    const following = end ? [...events(1), event()] : events(2);
    return {
      executionId: of.executionId,
      token: next() < 0.9 ? (of.token ?? "0123456789abcdef") : "another token",
      number: of.commits + pick(0, 1, 1, 1, 1, 1, 2),
      ...(next() < 0.9 && { after: of.sequence + pick(0, 0, 0, 0, 0, -1, 1) }),
      ...(next() < 0.1 && { others: { sequence: of.sequence, at: of.lastAt + below(2) } }),
      events: events(2),
      usage: next() < 0.9 ? null : { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 },
      open: next() < 0.8 ? [] : [suspension(pick("box/new", "door"))],
      closeEnded: next() < 0.9 ? [] : ["box"],
      following,
      closeBelow: next() < 0.85 ? [] : [pick("box", "gate")],
      timers: next() < 0.8 ? [] : [{ path: pick("nap", "sleep"), dueAt: 7 }],
      clear: next() < 0.8 ? [] : ["nap"],
      stepIndex: below(4),
      progress: next() < 0.5,
      end: end
        ? {
            status: "completed",
            result: pick<"1" | null | { sameAs: -1 }>("1", null, { sameAs: -1 }),
            error: null,
          }
        : null,
      idle: next() < 0.6 ? null : { resumes: of.resumes + pick(0, 0, 0, 1), event: pick(null, event()) },
    };
  };

  const resume = (of: RandomExecution): Resume => {
    const ids = of.suspensions.map(({ suspensionId }) => suspensionId);
    const one = ids[below(ids.length)] ?? "missing";
    return {
      executionId: of.executionId,
      suspensionIds: pick<readonly string[]>([one], [one], [one], ["missing"], ids),
      rewind: next() < 0.9 ? null : { stepIndex: 0 },
      events: [event(), ...events(1)],
      claim: { owner: pick("here", "there"), token: "fedcba9876543210" },
      byDeadline: next() < 0.2,
      ...(next() < 0.9 && {
        last: { sequence: of.sequence + pick(0, 0, 0, 0, 1), at: of.lastAt + pick(0, 0, 0, 0, 1) },
      }),
      ...(next() < 0.1 && { pausedFor: 50 }),
    };
  };

  return { execution, commit, resume };
}

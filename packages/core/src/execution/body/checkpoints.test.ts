// Checkpoints of a body: recorded once, tried again within their policy, refused where they cannot work.
import { describe, expect, test, vi } from "vitest";
import { bodyForTest, type GivenBody } from "../../../test/support/running-body.ts";
import { PermanentError } from "../../errors/index.ts";
import { Journal } from "../../journal/journal.ts";
import type { CheckpointContext, CheckpointOptions } from "../../workflow/step-context.ts";
import { ControlFlowSignal } from "./control-flow-signal.ts";

function checkpointing(given: GivenBody = {}) {
  const body = bodyForTest(given);
  return { ...body, context: body.context() };
}

/** The message of the refusal, or the request with which the body leaves. */
const refusal = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => `done: ${JSON.stringify(value)}`,
    (error: unknown) =>
      ControlFlowSignal.requestOf(error) ?? (error instanceof Error ? error.message : error),
  );

/** Fails this many times, then returns the number of its attempt. */
function failing(times: number, error: unknown = new Error("no")) {
  const attempts: number[] = [];
  const work = ({ attempt }: CheckpointContext) => {
    attempts.push(attempt);
    if (attempts.length <= times) throw error;
    return attempt;
  };
  return { work, attempts };
}

const noDelay: CheckpointOptions = { retry: { attempts: 3, delay: 0 } };

describe("a checkpoint", () => {
  test("is recorded with its attempt and time, and read when the body runs again", async () => {
    const journal = new Journal();
    const first = checkpointing({ journal });
    const done = vi.spyOn(first.run.log, "checkpointDone");
    expect(await first.context.checkpoint("a", async () => ({ at: new Date(0) }))).toEqual({
      at: "1970-01-01T00:00:00.000Z",
    });
    expect(done.mock.calls.map(([, checkpoint]) => checkpoint)).toEqual([
      { path: "list/one#a", output: '{"at":"1970-01-01T00:00:00.000Z"}', startedAt: 1000, attempt: 1 },
    ]);
    const again = checkpointing({ journal });
    const work = vi.fn(() => 2);
    expect(await again.context.checkpoint("a", work)).toEqual({ at: "1970-01-01T00:00:00.000Z" });
    expect(work).not.toHaveBeenCalled();
  });

  test("receives its attempt, its key and the signal of the step", async () => {
    const { context, scope } = checkpointing();
    const seen = await context.checkpoint("a", ({ attempt, idempotencyKey, signal }) => {
      const before = signal.aborted;
      scope.abort(new Error("cancelled"));
      return [attempt, idempotencyKey, before, signal.aborted];
    });
    expect(seen).toEqual([1, "e1:list/one#a", false, true]);
  });

  test("needs an id of its own, a function and known options", async () => {
    const { context } = checkpointing();
    const work = vi.fn(() => 1);
    await context.checkpoint("a", work);
    expect(await refusal(context.checkpoint("a", work))).toBe(
      "Checkpoint list/one#a is used twice in one run of the body: each needs an id of its own",
    );
    expect(await refusal(context.checkpoint("b", "work" as never))).toBe(
      "Checkpoint list/one#b needs a function",
    );
    expect(await refusal(context.checkpoint("c#d", work))).toContain("Step list/one, checkpoint");
    expect(await refusal(context.checkpoint("e", work, { tries: 3 } as never))).toBe(
      'Step list/one, checkpoint "e": unknown option "tries"; the options are retry, timeout',
    );
    expect(await refusal(context.checkpoint("f", work, { retry: { attempts: 0 } }))).toBe(
      'Step list/one, checkpoint "f", retry: attempts must be a whole number from 1 to 1000',
    );
    expect(await refusal(context.checkpoint("g", work, { timeout: "soon" as never }))).toContain(
      'Step list/one, checkpoint "g", timeout: expected milliseconds',
    );
    expect(work).toHaveBeenCalledTimes(1);
  });

  test("does not begin under a pause, nor in a body that no longer counts", async () => {
    const work = vi.fn(() => 1);
    const paused = checkpointing({ startsWork: false });
    expect(await refusal(paused.context.checkpoint("a", work))).toEqual({ kind: "interrupt" });
    const closed = checkpointing();
    closed.scope.close();
    expect(await refusal(closed.context.checkpoint("a", work))).toBe("The step has ended");
    const aborted = checkpointing();
    aborted.scope.close();
    aborted.scope.abort(new Error("cancelled"));
    expect(await refusal(aborted.context.checkpoint("a", work))).toBe("cancelled");
    expect(work).not.toHaveBeenCalled();
  });

  test("of a branch that has ended meanwhile is not recorded", async () => {
    const { context, scope, journal } = checkpointing();
    const work = () => scope.close();
    expect(await refusal(context.checkpoint("a", work))).toBe("The step has ended");
    expect(journal.checkpoints).toBeUndefined();
  });

  test("whose output is too long or no JSON fails the body with its path", async () => {
    const { context } = checkpointing();
    expect(await refusal(context.checkpoint("a", () => 1n))).toContain("Output of checkpoint list/one#a");
    expect(context.failure).toMatchObject({ isFinal: false });
    expect(await refusal(context.checkpoint("b", () => "x".repeat(60)))).toContain(
      "Output of checkpoint list/one#b is 62 bytes; the limit is 50",
    );
  });
});

describe("an attempt that fails", () => {
  test("is the last without a policy, at the last attempt, and after a permanent error", async () => {
    const { context } = checkpointing();
    const once = failing(1);
    expect(await refusal(context.checkpoint("a", once.work))).toBe("no");
    const all = failing(3);
    expect(await refusal(context.checkpoint("b", all.work, noDelay))).toBe("no");
    const permanent = failing(1, new PermanentError("never"));
    expect(await refusal(context.checkpoint("c", permanent.work, noDelay))).toBe("never");
    expect([once.attempts, all.attempts, permanent.attempts]).toEqual([[1], [1, 2, 3], [1]]);
  });

  test("is followed by the next, with a line in the log", async () => {
    const { context, logger, failures } = checkpointing();
    const { work, attempts } = failing(2);
    expect(await context.checkpoint("a", work, noDelay)).toBe(3);
    expect(attempts).toEqual([1, 2, 3]);
    const line = { level: "warn", msg: "the checkpoint failed and is tried again", stepPath: "list/one#a" };
    expect(logger.lines).toMatchObject([
      { ...line, attempt: 1, err: { message: "no" } },
      { ...line, attempt: 2, err: { message: "no" } },
    ]);
    expect(failures).toEqual([]);
  });

  test("waits for its delay in memory up to a second, and as a row of the store beyond", async () => {
    const retry = (delay: number): CheckpointOptions => ({ retry: { attempts: 2, delay, jitter: false } });
    const short = checkpointing();
    const value = short.context.checkpoint("a", failing(1).work, retry(1000));
    await expect.poll(() => short.logger.lines).toHaveLength(1);
    let isDone = false;
    void value.then(() => {
      isDone = true;
    });
    short.clock.advance(999);
    await new Promise(setImmediate);
    expect(isDone).toBe(false);
    short.clock.advance(1);
    expect(await value).toBe(2);
    expect(short.failures).toEqual([]);
    const long = checkpointing();
    expect(await refusal(long.context.checkpoint("a", failing(1).work, retry(1001)))).toEqual({
      ...{ kind: "wait", until: 2001 },
    });
    expect(long.failures).toEqual([
      {
        ...{ path: "list/one#a", attempt: 1, retryAt: 2001 },
        error: expect.objectContaining({ name: "Error", message: "no", step: "list/one#a" }),
      },
    ]);
  });

  test("stops waiting when the step is aborted", async () => {
    const { context, scope, logger } = checkpointing();
    const value = refusal(
      context.checkpoint("a", failing(1).work, { retry: { attempts: 2, delay: 900, jitter: false } }),
    );
    await expect.poll(() => logger.lines).toHaveLength(1);
    scope.close();
    scope.abort(new Error("cancelled"));
    expect(await value).toBe("cancelled");
  });

  test("of an earlier run of the same attempt of the step counts, after its delay", async () => {
    const journal = new Journal();
    const options = { retry: { attempts: 3, delay: 2000, jitter: false } };
    const first = checkpointing({ journal });
    expect(await refusal(first.context.checkpoint("a", failing(9).work, options))).toEqual({
      ...{ kind: "wait", until: 3000 },
    });
    // Too early: it waits on.
    const early = checkpointing({ journal });
    expect(await refusal(early.context.checkpoint("a", failing(9).work, options))).toEqual({
      ...{ kind: "wait", until: 3000 },
    });
    const due = checkpointing({ journal });
    due.clock.advanceTo(3000);
    const second = failing(9);
    expect(await refusal(due.context.checkpoint("a", second.work, options))).toEqual({
      ...{ kind: "wait", until: 7000 },
    });
    expect([second.attempts, due.failures.map(({ attempt }) => attempt)]).toEqual([[2], [2]]);
    // The next attempt of the step begins with the first of the checkpoint.
    const next = checkpointing({ journal, command: { attempt: 3 } });
    const anew = failing(0);
    expect(await next.context.checkpoint("a", anew.work, options)).toBe(1);
  });
});

describe("a timeout", () => {
  test("aborts the signal of the attempt, which has failed, and is tried again", async () => {
    const { context, clock } = checkpointing();
    const reasons: string[] = [];
    const started = Promise.withResolvers<void>();
    const work = ({ attempt, signal }: CheckpointContext) => {
      if (attempt === 2) return "second";
      started.resolve();
      return new Promise<string>((resolve) =>
        signal.addEventListener("abort", () => {
          reasons.push(String(signal.reason));
          resolve("late");
        }),
      );
    };
    const value = context.checkpoint("a", work, { timeout: "1s", retry: { attempts: 2, delay: 0 } });
    await started.promise;
    clock.advance("1s");
    expect(await value).toBe("second");
    expect(reasons).toEqual([
      "CheckpointTimeoutError: Checkpoint list/one#a took longer than its timeout of 1000 ms",
    ]);
  });

  test("of work that ends in time has no effect", async () => {
    const { context, clock, scope } = checkpointing();
    let signal: AbortSignal | undefined;
    const work = (checkpoint: CheckpointContext) => {
      signal = checkpoint.signal;
      return 1;
    };
    expect(await context.checkpoint("a", work, { timeout: 500 })).toBe(1);
    clock.advance(1000);
    scope.abort(new Error("cancelled"));
    expect(signal?.aborted).toBe(false);
  });
});

test("work without a timeout leaves the step when it has ended", async () => {
  const { context, scope } = checkpointing();
  let signal: AbortSignal | undefined;
  await context.checkpoint("a", (checkpoint) => {
    signal = checkpoint.signal;
  });
  scope.abort(new Error("cancelled"));
  expect(signal?.aborted).toBe(false);
});

test("a body ends when all of them have, also those that begin meanwhile; failed ones count as ended", async () => {
  const { context } = checkpointing();
  const first = Promise.withResolvers<number>();
  const order: string[] = [];
  const failed = context.checkpoint("a", () => first.promise).catch(() => order.push("a"));
  const ended = context.end();
  expect(ended).toBeInstanceOf(Promise);
  void ended?.then(() => order.push("end"));
  first.reject(new Error("no"));
  await failed;
  await ended;
  expect(order).toEqual(["a", "end"]);
  expect(context.end()).toBeUndefined();
});

// The checkpoints of one run of a body: work inside it that is recorded once and, when the body runs again, read.
import { AsyncLocalStorage } from "node:async_hooks";
import { CheckpointTimeoutError, CheckpointUseError } from "../../errors/index.ts";
import { toFailure } from "../../journal/failure.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import { parseDuration } from "../../values/duration.ts";
import { fromJson, toJson } from "../../values/json.ts";
import { checkDefinitionId, functionPath } from "../../values/step-path.ts";
import { checkRetry, delayAfter, type RetryPolicy } from "../../workflow/retry.ts";
import type { CheckpointContext, CheckpointOptions } from "../../workflow/step-context.ts";
import { AbortScope } from "./abort-scope.ts";
import type { BodyRecords } from "./body-records.ts";
import type { BodyRun } from "./body-run.ts";
import { isPermanent } from "./permanent.ts";
import { withinLimit } from "./time-limit.ts";

type Work = (context: CheckpointContext) => unknown;

interface Checkpoint {
  readonly path: string;
  readonly work: Work;
  readonly retry: RetryPolicy | undefined;
  readonly timeout: number | undefined;
}

type Settled =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

/** Milliseconds: a longer delay before the next attempt is a row of the store, and the body is not held in memory. */
const shortDelay = 1000;

const knownOptions: KnownOptions<CheckpointOptions> = { retry: true, timeout: true };

/** The checkpoint that the current code is part of, and whose it is: an execution that is started inside has its own. */
const current = new AsyncLocalStorage<{ readonly of: Checkpoints; readonly path: string }>();

export class Checkpoints {
  readonly #run: BodyRun;
  readonly #records: BodyRecords;
  readonly #pathOf: (id: string) => string;
  readonly #used = new Set<string>();
  readonly #inFlight = new Set<Promise<unknown>>();

  /** `pathOf` is the path of the checkpoint with an id. Default: beside the body. */
  constructor(
    run: BodyRun,
    records: BodyRecords,
    pathOf = (id: string) => functionPath(run.command.path, id),
  ) {
    this.#run = run;
    this.#records = records;
    this.#pathOf = pathOf;
  }

  /** The path of the checkpoint of this body that the current code is part of. */
  get inside(): string | undefined {
    const around = current.getStore();
    return around?.of === this ? around.path : undefined;
  }

  /** Resolves when none is under way; undefined when that is so already. */
  get settled(): Promise<void> | undefined {
    return this.#inFlight.size === 0 ? undefined : this.#settle();
  }

  /** The recorded value, or the return value of the work once it is recorded. */
  run(id: string, work: Work, options: CheckpointOptions): Promise<unknown> {
    const running = this.#start(id, work, options);
    this.#inFlight.add(running);
    const leave = () => this.#inFlight.delete(running);
    running.then(leave, leave);
    return running;
  }

  async #settle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight);
  }

  async #start(id: string, work: Work, options: CheckpointOptions): Promise<unknown> {
    const { command } = this.#run;
    const where = `Step ${command.path}, checkpoint`;
    checkDefinitionId(id, where);
    const path = this.#pathOf(id);
    if (this.#used.has(id)) {
      const problem = "is used twice in one run of the body: each needs an id of its own";
      throw new CheckpointUseError({ path, problem });
    }
    this.#used.add(id);
    if (typeof work !== "function") throw new CheckpointUseError({ path, problem: "needs a function" });
    checkKnownOptions(`${where} "${id}"`, options, knownOptions);
    const retry = checkRetry(options.retry, `${where} "${id}"`);
    const timeout =
      options.timeout === undefined ? undefined : parseDuration(options.timeout, `${where} "${id}", timeout`);
    const known = this.#records.read(path);
    if (known !== undefined) return fromJson(known.output);
    return this.#attempts({ path, work, retry, timeout });
  }

  async #attempts(checkpoint: Checkpoint): Promise<unknown> {
    const { facts, command } = this.#run;
    const { path, retry } = checkpoint;
    const known = facts.journal.checkpoints?.get(path);
    let failures = 0;
    // Those of an earlier attempt of the step do not count.
    if (known?.stepAttempt === command.attempt) {
      failures = known.failures;
      await this.#waitUntil(known.retryAt);
    }
    for (;;) {
      const attempt = failures + 1;
      this.#records.checkMayBegin();
      const startedAt = facts.clock.now();
      const result = await this.#try(checkpoint, attempt);
      if (result.ok) return this.#record(path, result.value, attempt, startedAt);
      const { error } = result;
      if (retry === undefined || isPermanent(error) || attempt >= retry.attempts) throw error;
      failures = attempt;
      const fields = { stepPath: path, attempt, err: error };
      facts.logger.warn(fields, "the checkpoint failed and is tried again");
      const retryAt = facts.clock.now() + delayAfter(retry, attempt, Math.random());
      if (this.#isLong(retryAt)) {
        const failure = toFailure(error, path, attempt);
        this.#records.failed({ path, error: failure, attempt, retryAt });
      }
      await this.#waitUntil(retryAt);
    }
  }

  async #record(path: string, value: unknown, attempt: number, startedAt: number): Promise<unknown> {
    const what = `Output of checkpoint ${path}`;
    try {
      return await this.#records.record({ path, output: toJson(value, what), startedAt, attempt }, what);
    } catch (error) {
      this.#records.failsWith(error, false);
      throw error;
    }
  }

  /** One attempt; it always settles. */
  async #try({ path, work, timeout }: Checkpoint, attempt: number): Promise<Settled> {
    const { facts, scope: around } = this.#run;
    const scope = new AbortScope(around);
    const context = new CheckpointAttempt(attempt, `${facts.executionId}:${path}`, scope);
    const running = current.run({ of: this, path }, () => settle(() => work(context)));
    if (timeout === undefined) {
      const result = await running;
      scope.leave();
      return result;
    }
    const error = new CheckpointTimeoutError({ path, timeout });
    const late: Settled = { ok: false, error };
    return withinLimit(running, { clock: facts.clock, timeout, scope, error, late });
  }

  #isLong(until: number): boolean {
    return until - this.#run.facts.clock.now() > shortDelay;
  }

  async #waitUntil(time: number): Promise<void> {
    const { facts, scope } = this.#run;
    if (this.#isLong(time)) this.#records.leave({ kind: "wait", until: time });
    if (time <= facts.clock.now()) return;
    await new Promise<void>((resolve) => {
      const { signal } = scope;
      const done = () => {
        cancel();
        signal.removeEventListener("abort", done);
        resolve();
      };
      const cancel = facts.clock.at(time, "sleep", done);
      signal.addEventListener("abort", done);
    });
  }
}

/** A class, because V8 makes a new map for each object literal with a getter. */
class CheckpointAttempt implements CheckpointContext {
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly #scope: AbortScope;

  constructor(attempt: number, idempotencyKey: string, scope: AbortScope) {
    this.attempt = attempt;
    this.idempotencyKey = idempotencyKey;
    this.#scope = scope;
  }

  /** Made when it is read. */
  get signal(): AbortSignal {
    return this.#scope.signal;
  }
}

async function settle(work: () => unknown): Promise<Settled> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error };
  }
}

// Group commit: all arrived writes go into one transaction; a refused item fails alone; trouble is waited out.
import type { DatabaseSync } from "node:sqlite";
import { intake } from "./operation-kinds.ts";
import { rollBack } from "./roll-back.ts";
import type { Call, CallResult } from "./thread-messages.ts";

/** Runs one operation against the open database. */
export type Perform = (call: Call) => unknown;

export interface GroupWriterOptions {
  readonly database: DatabaseSync;
  readonly perform: Perform;
  /** Called with results, only after their commit. */
  readonly sendResults: (results: CallResult[]) => void;
}

// Milliseconds between two tries while the storage is in trouble.
const minPause = 20;
const maxPause = 2000;

export class GroupWriter {
  readonly #options: GroupWriterOptions;
  #waiting: Call[] = [];
  /** Milliseconds until the next try while the storage is in trouble; 0 when it is well. */
  #pause = 0;
  #trouble = "";
  /** Why the last commit failed; undefined when it did not. */
  #failure: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: GroupWriterOptions) {
    this.#options = options;
  }

  /** Why the last commit failed, or waiting writes cannot be written; undefined when all is well. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Commits all arrived writes together. While there is trouble, repeatable calls are refused. */
  write(calls: readonly Call[]): void {
    if (this.#pause === 0) return this.#flush(calls);
    const refused = calls.filter(([, operation]) => intake.includes(operation));
    this.#waiting.push(...calls.filter((call) => !refused.includes(call)));
    this.#options.sendResults(refused.map((call) => unavailable(call, this.#trouble)));
  }

  /** Tries waiting writes once more; those that still fail are refused as unavailable. */
  close(): void {
    clearTimeout(this.#timer);
    const calls = this.#waiting.splice(0);
    if (calls.length === 0) return;
    const results = this.#commit(calls);
    this.#options.sendResults(results ?? calls.map((call) => unavailable(call, this.#trouble)));
  }

  #flush(calls: readonly Call[]): void {
    const results = this.#commit(calls);
    if (results === undefined) return this.#stall(calls);
    this.#pause = 0;
    if (calls.length > 0) this.#failure = undefined;
    this.#options.sendResults(results);
  }

  /** Commits the calls together; undefined when the storage is in trouble and nothing was written. */
  #commit(calls: readonly Call[]): CallResult[] | undefined {
    try {
      return this.#transaction(() => calls.map((call) => this.#perform(call)));
    } catch (error) {
      if (isOwnFault(error)) return this.#commitApart(calls);
      this.#trouble = messageOf(error);
      return undefined;
    }
  }

  // Savepoints cost two statements an item, so they are paid only by a group that holds a refused item.
  #commitApart(calls: readonly Call[]): CallResult[] | undefined {
    try {
      return this.#transaction(() => calls.map((call) => this.#performApart(call)));
    } catch (error) {
      this.#trouble = messageOf(error);
      return undefined;
    }
  }

  #perform(call: Call): CallResult {
    const [id] = call;
    const value = this.#options.perform(call);
    return value === undefined ? id : { id, value };
  }

  #performApart(call: Call): CallResult {
    const { database } = this.#options;
    database.exec("savepoint item");
    try {
      const result = this.#perform(call);
      database.exec("release item");
      return result;
    } catch (error) {
      if (!isOwnFault(error)) throw error;
      database.exec("rollback to item; release item");
      return { id: call[0], failure: { kind: "refused", message: messageOf(error) } };
    }
  }

  #transaction(work: () => CallResult[]): CallResult[] {
    const { database } = this.#options;
    database.exec("begin immediate");
    try {
      const results = work();
      database.exec("commit");
      return results;
    } catch (error) {
      rollBack(database);
      throw error;
    }
  }

  #stall(calls: readonly Call[]): void {
    this.#failure = this.#trouble;
    this.#pause = Math.min(maxPause, this.#pause === 0 ? minPause : this.#pause * 2);
    const refused = calls.filter(([, operation]) => intake.includes(operation));
    this.#waiting.unshift(...calls.filter((call) => !refused.includes(call)));
    this.#options.sendResults(refused.map((call) => unavailable(call, this.#trouble)));
    this.#timer = setTimeout(() => this.#flush(this.#waiting.splice(0)), this.#pause);
  }
}

function unavailable([id]: Call, message: string): CallResult {
  return { id, failure: { kind: "unavailable", message } };
}

// SQLite's primary result codes for the failure of one statement: error (such as malformed JSON), too big, constraint,
// mismatch, range. All others (full, I/O, busy, read-only, corrupt, no memory) are failures of the storage.
const ownFaults = new Set([1, 18, 19, 20, 25]);

function isOwnFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (!("errcode" in error) || typeof error.errcode !== "number") return true;
  return ownFaults.has(error.errcode & 0xff);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

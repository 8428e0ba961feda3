// Checks callers' JSON Schemas, and values against JSON Schemas, in a thread of their own: no schema holds up the process.
//
// The thread starts with the first call and works on one schema at a time. Each gets 10 ms; one that needs more is tried
// again with 100 ms when no other waits, so twenty hostile schemas delay an ordinary one by 0.2 s and not by 2 s.
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { SchemaBusyError, ShuttingDownError } from "../../errors/index.ts";
import type { Logger } from "../../observe/log/logger.ts";
import { longestTries } from "../../values/within-limit.ts";
import type { FromSchemaThread, SchemaThreadData, SchemaVerdict, SchemaWork } from "./schema-thread.ts";

// Sources run as they are in development, compiled files when published: the thread's file has the same ending as ours.
const isSource = import.meta.url.endsWith(".ts");
const threadFile = new URL(isSource ? "./schema-thread.ts" : "./schema-thread.js", import.meta.url);

/** Milliseconds of the first try. */
const shortLimit = 10;
/** Milliseconds of the second try, unless the caller allows more. */
const longLimit = 100;
/** Milliseconds that the schemas waiting for their first try may need together, and the same for the second. */
const maxWaiting = 5000;
/** Milliseconds beyond its limit after which a thread that reports nothing is ended. */
const silence = 2000;
/** A schema that fills more memory than this ends the thread, not the process. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };
/**
 * Characters of a schema, and of a value. JSON.parse is not interrupted when the memory is full: 24 million characters of
 * empty lists kept the thread busy for minutes beyond its limit, and its end then ended the process. The
 * parsed form of this many characters fits.
 */
const maxLength = 4 * 1024 * 1024;

interface Job {
  readonly work: SchemaWork;
  /** Milliseconds of the second try. */
  readonly limit: number;
  resolve(verdict: SchemaVerdict): void;
  reject(error: unknown): void;
}

interface Thread {
  readonly worker: Worker;
  readonly port: MessagePort;
  isReady: boolean;
}

const tooLong: SchemaVerdict = {
  ok: false,
  detail: `the schema or the value has more than ${maxLength} characters`,
  overran: false,
};
const notEvaluated: SchemaVerdict = {
  ok: false,
  detail: "the schema could not be evaluated",
  overran: false,
};

export class SchemaChecker {
  readonly #logger: Logger;
  readonly #short: Job[] = [];
  readonly #long: Job[] = [];
  #current: Job | undefined;
  #thread: Thread | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * Whether the schema is one that we evaluate; with a value, whether the value fits it. Both are JSON text. `limit` is in
   * milliseconds.
   */
  check(schema: string, value?: string, limit = longLimit): Promise<SchemaVerdict> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new ShuttingDownError());
      if (Math.max(schema.length, value?.length ?? 0) > maxLength) return resolve(tooLong);
      this.#add(this.#short, { work: { schema, value, limit: shortLimit }, limit, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of [...this.#short.splice(0), ...this.#long.splice(0)])
      job.reject(new ShuttingDownError());
    this.#current?.reject(new ShuttingDownError());
    await this.#end()?.worker.terminate();
  }

  #add(waiting: Job[], job: Job): void {
    const needed = waiting.reduce((sum, { work }) => sum + work.limit, job.work.limit);
    if (needed <= maxWaiting) waiting.push(job);
    else job.reject(new SchemaBusyError());
  }

  #next(): void {
    if (this.#current !== undefined) return;
    this.#current = this.#short.shift() ?? this.#long.shift();
    if (this.#current === undefined) return this.#thread?.worker.unref();
    this.#thread ??= this.#start();
    // The thread keeps the process alive only while a caller waits for it.
    this.#thread.worker.ref();
    if (this.#thread.isReady) this.#send(this.#thread);
  }

  #send({ port, worker }: Thread): void {
    if (this.#current === undefined) return;
    const { work } = this.#current;
    port.postMessage(work);
    this.#timer = setTimeout(
      () => {
        this.#end();
        worker.terminate();
        const detail = `the schema could not be checked within ${work.limit} ms`;
        this.#settle({ ok: false, detail, overran: true });
      },
      work.limit * longestTries + silence,
    );
  }

  #start(): Thread {
    const { port1: port, port2 } = new MessageChannel();
    const workerData: SchemaThreadData = { port: port2 };
    // No flags: a thread would inherit those of its process, and some of them (--input-type) would stop it.
    const worker = new Worker(threadFile, {
      workerData,
      transferList: [port2],
      name: "andante-schemas",
      execArgv: [],
      resourceLimits,
    });
    const thread: Thread = { worker, port, isReady: false };
    port.on("message", (message: FromSchemaThread) => {
      // A thread that was given up may still send a verdict.
      if (this.#thread !== thread) return;
      if (message !== "ready") return this.#settle(message);
      thread.isReady = true;
      this.#send(thread);
    });
    port.unref();
    worker.on("error", (error: Error) => this.#died(thread, error));
    worker.on("exit", () => this.#died(thread, undefined));
    return thread;
  }

  #settle(verdict: SchemaVerdict): void {
    clearTimeout(this.#timer);
    const job = this.#current;
    this.#current = undefined;
    if (job !== undefined) {
      const again = !verdict.ok && verdict.overran && job.work.limit < job.limit;
      if (again) this.#add(this.#long, { ...job, work: { ...job.work, limit: job.limit } });
      else job.resolve(verdict);
    }
    this.#next();
  }

  /** The next call starts another thread. */
  #died(thread: Thread, error: Error | undefined): void {
    if (this.#thread !== thread) return;
    this.#end();
    if (error !== undefined) this.#logger.error({ err: error }, "the thread that checks schemas has died");
    const job = this.#current;
    if (thread.isReady) return this.#settle(notEvaluated);
    // It did not even start, which is not the schema's fault.
    this.#current = undefined;
    job?.reject(new SchemaBusyError({ cause: error }));
    this.#next();
  }

  #end(): Thread | undefined {
    const thread = this.#thread;
    clearTimeout(this.#timer);
    thread?.port.close();
    this.#thread = undefined;
    return thread;
  }
}

// The yardstick: a thread that writes the rows of a trivial three-step execution in grouped, flushed commits. No engine.
import { DatabaseSync } from "node:sqlite";
import { isMainThread, parentPort, receiveMessageOnPort, Worker, workerData } from "node:worker_threads";

/** One write of one execution: step 0 creates it, each further one goes on, the last ends it. */
export interface BareWrite {
  readonly id: number;
  readonly executionId: string;
  readonly step: number;
  readonly last: boolean;
}

export interface BareWriter {
  /** Makes the writes of an execution of this many steps, one commit after the other. */
  execution(executionId: string, steps: number): Promise<void>;
  /** Half of the writes of an execution of three steps: as many commits as one that suspends, or as its resume. */
  half(executionId: string, which: "first" | "second"): Promise<void>;
  close(): Promise<void>;
}

/** Starts the thread on a database that has the store's tables. */
export function startBareWriter(path: string): BareWriter {
  const worker = new Worker(new URL(import.meta.url), { workerData: { bareWriter: path } });
  const waiting = new Map<number, () => void>();
  let outbox: BareWrite[] = [];
  let last = 0;
  let scheduled = false;
  worker.on("message", (ids: number[]) => {
    for (const id of ids) {
      waiting.get(id)?.();
      waiting.delete(id);
    }
  });
  const send = () => {
    scheduled = false;
    worker.postMessage(outbox);
    outbox = [];
  };
  const write = (executionId: string, step: number, isLast: boolean) =>
    new Promise<void>((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      outbox.push({ id, executionId, step, last: isLast });
      if (!scheduled) queueMicrotask(send);
      scheduled = true;
    });
  return {
    execution: async (executionId, steps) => {
      for (let step = 0; step <= steps; step++) await write(executionId, step, step === steps);
    },
    half: async (executionId, which) => {
      for (const step of which === "first" ? [0, 1] : [2, 3]) await write(executionId, step, step === 3);
    },
    close: async () => {
      await worker.terminate();
    },
  };
}

if (!isMainThread && parentPort !== null && workerData?.bareWriter !== undefined)
  serveWrites(parentPort, workerData.bareWriter);

function serveWrites(port: NonNullable<typeof parentPort>, path: string): void {
  const database = new DatabaseSync(path);
  database.exec("pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -32768");
  const create = database.prepare(
    `insert into executions (execution_id, workflow_id, status, input, context, start_at, sequence, owner, token)
     values (?, 'three', 'running', '{"n":1}', '{}', ?, 2, 'owner', 'token')`,
  );
  const advance = database.prepare(
    "update executions set sequence = ?, step_index = ?, recoveries = 0 where execution_id = ? and token = 'token'",
  );
  const end = database.prepare(
    `update executions set sequence = ?, status = 'completed', end_at = ?, result = '4', owner = null, token = null
     where execution_id = ? and token = 'token'`,
  );
  const appendRow = database.prepare(
    `insert into journal (execution, sequence, events, write_key)
     values ((select id from executions where execution_id = ?), ?, ?, '0123456789ab.1.ok')`,
  );
  type Event = readonly [type: string, path: string | null, index: number | null, value: string | null];
  const append = (executionId: string, last: number, now: number, events: readonly Event[]) => {
    const fields = events.map(([type, path, index, value]) => [
      type,
      now,
      path,
      index,
      "andThen",
      value,
      null,
    ]);
    appendRow.run(executionId, last + events.length, JSON.stringify(fields));
  };
  const perform = ({ executionId, step, last }: BareWrite) => {
    const now = Date.now();
    if (step === 0) {
      create.run(executionId, now);
      append(executionId, 0, now, [
        ["workflow-start", null, null, null],
        ["step-start", "one", 0, '{"n":1}'],
      ]);
      return;
    }
    append(executionId, step * 2, now, [
      ["step-complete", "one", step - 1, "2"],
      [last ? "workflow-complete" : "step-start", "two", step, "2"],
    ]);
    if (last) end.run(step * 2 + 2, now, executionId);
    else advance.run(step * 2 + 2, step, executionId);
  };
  port.on("message", (first: BareWrite[]) => {
    const writes: BareWrite[] = [];
    for (let group: BareWrite[] | undefined = first; group; group = receiveMessageOnPort(port)?.message)
      writes.push(...group);
    database.exec("begin immediate");
    for (const write of writes) perform(write);
    database.exec("commit");
    port.postMessage(writes.map((write) => write.id));
  });
}

// A database thread: opens the file and serves calls in groups. Entry point of a worker.
import { isMainThread, type MessagePort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { JournalDamagedError } from "../../errors/index.ts";
import { FileWatch } from "./file-watch.ts";
import { GroupWriter } from "./group-writer.ts";
import { openForReading, openForWriting } from "./open-database.ts";
import { type Health, ownReads, reads, writes } from "./operations/index.ts";
import { ResultSender } from "./result-sender.ts";
import { type Call, type CallResult, pack, type ThreadData, unpackToThread } from "./thread-messages.ts";

if (!isMainThread) serveCallsOf(workerData);

/** Opens the database and serves the calls that come through the port, on the thread that calls it. */
export function serveCallsOf({ port, underWay, ...start }: ThreadData): void {
  let opened: ReturnType<typeof openForWriting>;
  try {
    opened = start.role === "read" ? openForReading(start) : openForWriting(start);
  } catch (error) {
    port.postMessage(pack({ failed: error instanceof Error ? error.message : String(error) }));
    return port.close();
  }
  const { database } = opened;
  const reading = new Map<string, (argument: never) => unknown>(
    start.role === "write" ? [] : Object.entries(reads(database)),
  );
  const writing = new Map<string, (argument: never) => unknown>();
  if (start.role !== "read") {
    for (const [name, operation] of Object.entries(ownReads(database))) reading.set(name, operation);
    for (const [name, operation] of Object.entries(writes(database))) writing.set(name, operation);
  }
  const perform = ([, name, argument]: Call): unknown => {
    const operation = writing.get(name) ?? reading.get(name);
    if (operation === undefined) throw new Error(`unknown operation ${name}`);
    return Reflect.apply(operation, undefined, [argument]);
  };
  const sender = new ResultSender(port, underWay);
  const writer = new GroupWriter({
    database,
    perform,
    sendResults: (results) => sender.send(results),
  });

  const watch = new FileWatch(database, start.path);
  reading.set("health", (): Health => {
    database.prepare("select 1 from executions limit 1").get();
    if (start.role === "read") return { problem: null, bytes: null };
    const failing = writer.failure && `the last commit failed: ${writer.failure}`;
    return { problem: watch.problem() ?? failing ?? null, bytes: watch.bytes() };
  });

  port.on("message", (first: string) => {
    const calls: Call[] = [];
    // Everything that has arrived meanwhile joins the group.
    for (let text: string | undefined = first; text !== undefined; text = nextMessage(port)) {
      const message = unpackToThread(text);
      if (message === "close") {
        if (calls.length > 0) serveCalls(calls.splice(0));
        writer.close();
        opened.close();
        return port.close();
      }
      for (const call of message) calls.push(call);
      sender.groupReceived();
    }
    serveCalls(calls);
  });
  port.postMessage(pack({ opened: true }));

  function serveCalls(calls: readonly Call[]): void {
    const toWrite = calls.filter(([, name]) => writing.has(name));
    if (toWrite.length > 0) writer.write(toWrite);
    sender.send(readOneByOne(calls.filter(([, name]) => !writing.has(name))));
  }

  /** Only when the results before it are on their way: results are never held all together. */
  function* readOneByOne(calls: readonly Call[]): Generator<CallResult> {
    for (const call of calls) yield read(call, perform);
  }
}

function nextMessage(port: MessagePort): string | undefined {
  return receiveMessageOnPort(port)?.message;
}

function read(call: Call, perform: (call: Call) => unknown): CallResult {
  const [id] = call;
  try {
    return { id, value: perform(call) };
  } catch (error) {
    if (error instanceof JournalDamagedError) {
      const { sequence, problem } = error;
      return { id, failure: { kind: "damaged", sequence, problem } };
    }
    const message = error instanceof Error ? error.message : String(error);
    return { id, failure: { kind: "unavailable", message } };
  }
}

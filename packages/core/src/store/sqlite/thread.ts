// A database thread: opens the file and serves calls in groups. Entry point of a worker.
import { isMainThread, type MessagePort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { GroupWriter } from "./group-writer.ts";
import { openForReading, openForWriting } from "./open-database.ts";
import { reads, writes } from "./operations/index.ts";
import {
  type Call,
  type CallResult,
  type FromThread,
  pack,
  type ThreadData,
  unpackToThread,
} from "./thread-messages.ts";

if (!isMainThread) serveCallsOf(workerData);

/** Opens the database and serves the calls that come through the port, on the thread that calls it. */
export function serveCallsOf({ port, ...start }: ThreadData): void {
  const send = (message: FromThread) => port.postMessage(pack(message));
  let opened: ReturnType<typeof openForWriting>;
  try {
    opened = start.role === "read" ? openForReading(start) : openForWriting(start);
  } catch (error) {
    send({ failed: error instanceof Error ? error.message : String(error) });
    return port.close();
  }
  const { database } = opened;
  const reading = new Map<string, (argument: never) => unknown>(
    start.role === "write" ? [] : Object.entries(reads(database)),
  );
  const writing = new Map<string, (argument: never) => unknown>(
    start.role === "read" ? [] : Object.entries(writes(database)),
  );
  const perform = (call: Call): unknown => {
    const operation = writing.get(call.operation) ?? reading.get(call.operation);
    if (operation === undefined) throw new Error(`unknown operation ${call.operation}`);
    return Reflect.apply(operation, undefined, [call.argument]);
  };
  let groupsReceived = 0;
  const sendResults = (results: readonly CallResult[]) => {
    if (results.length === 0 && groupsReceived === 0) return;
    send({ groupsReceived, results });
    groupsReceived = 0;
  };
  const writer = new GroupWriter({ database, perform, sendResults });

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
      calls.push(...message);
      groupsReceived++;
    }
    serveCalls(calls);
  });
  send({ opened: true });

  function serveCalls(calls: readonly Call[]): void {
    const toWrite = calls.filter((call) => writing.has(call.operation));
    if (toWrite.length > 0) writer.write(toWrite);
    sendResults(calls.filter((call) => !writing.has(call.operation)).map((call) => read(call, perform)));
  }
}

function nextMessage(port: MessagePort): string | undefined {
  return receiveMessageOnPort(port)?.message;
}

function read(call: Call, perform: (call: Call) => unknown): CallResult {
  try {
    return { id: call.id, value: perform(call) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { id: call.id, failure: { kind: "unavailable", message } };
  }
}

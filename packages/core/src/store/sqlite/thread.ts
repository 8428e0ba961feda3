// A database thread: opens the file and serves calls in groups. Entry point of a worker.
import { isMainThread, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { GroupWriter } from "./group-writer.ts";
import { openForReading, openForWriting } from "./open-database.ts";
import { reads, writes } from "./operations/index.ts";
import {
  type Answer,
  type Call,
  type FromThread,
  pack,
  type ThreadStart,
  unpackCalls,
} from "./thread-messages.ts";

if (!isMainThread && parentPort !== null) serve(parentPort, workerData);

function serve(port: NonNullable<typeof parentPort>, start: ThreadStart): void {
  const say = (message: FromThread) => port.postMessage(pack(message));
  let opened: ReturnType<typeof openForWriting>;
  try {
    opened = start.role === "read" ? openForReading(start) : openForWriting(start);
  } catch (error) {
    say({ failed: error instanceof Error ? error.message : String(error) });
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
  let taken = 0;
  const reply = (answers: readonly Answer[]) => {
    if (answers.length === 0 && taken === 0) return;
    say({ taken, answers });
    taken = 0;
  };
  const writer = new GroupWriter({ database, perform, reply });

  port.on("message", (first: string) => {
    const calls: Call[] = [];
    // Everything that has arrived meanwhile joins the group.
    for (let text: string | undefined = first; text !== undefined; text = next(port)) {
      const message = unpackCalls(text);
      if (message === "close") {
        if (calls.length > 0) serveCalls(calls.splice(0));
        writer.close();
        opened.close();
        return port.close();
      }
      calls.push(...message);
      taken++;
    }
    serveCalls(calls);
  });
  say({ opened: true });

  function serveCalls(calls: readonly Call[]): void {
    const toWrite = calls.filter((call) => writing.has(call.operation));
    if (toWrite.length > 0) writer.write(toWrite);
    reply(calls.filter((call) => !writing.has(call.operation)).map((call) => read(call, perform)));
  }
}

function next(port: NonNullable<typeof parentPort>): string | undefined {
  return receiveMessageOnPort(port)?.message;
}

function read(call: Call, perform: (call: Call) => unknown): Answer {
  try {
    return { id: call.id, value: perform(call) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { id: call.id, failure: { kind: "unavailable", message } };
  }
}

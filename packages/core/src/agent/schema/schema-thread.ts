// The thread that works on callers' schemas, one at a time, so that none of them holds up the process. Entry point of a worker.
import { isMainThread, workerData } from "node:worker_threads";
import { type FromSchemaThread, performWork, type SchemaThreadData, type SchemaWork } from "./schema-work.ts";

if (!isMainThread) serve(workerData);

function serve({ port }: SchemaThreadData): void {
  const send = (message: FromSchemaThread) => port.postMessage(message);
  port.on("message", (work: SchemaWork) => send(performWork(work)));
  send("ready");
}

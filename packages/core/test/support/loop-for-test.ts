// The loop of an agent over given records, for tests of the calls in it.
import { type CallGate, DurableLoop } from "../../src/agent/durable/durable-loop.ts";
import type { CallRecorder, EndedCall, RecordedCall } from "../../src/agent/durable/recorder.ts";
import type { ToolWork } from "../../src/agent/durable/tool-call.ts";
import { createLogger } from "../../src/observe/log/create-logger.ts";
import type { Logger } from "../../src/observe/log/logger.ts";

interface Given {
  readonly checkMayBegin?: () => void;
  readonly logger?: Logger;
  readonly gate?: CallGate;
  /** Further fields of the recorder. */
  readonly recorder?: Partial<CallRecorder>;
}

/** A loop over these records, and the calls that it writes. */
export function loopOver(records: Readonly<Record<string, RecordedCall>>, given: Given = {}) {
  const { checkMayBegin = () => undefined, logger = createLogger({ level: "silent" }), gate } = given;
  const written: EndedCall[] = [];
  const recorder: CallRecorder = {
    executionId: "e",
    attempt: 2,
    isEmpty: Object.keys(records).length === 0,
    signal: new AbortController().signal,
    now: () => 0,
    pathOf: (place) => `ask#${place}`,
    read: (place) => records[place],
    usedBelow: () => undefined,
    checkpoints: () => ({
      run: () => Promise.reject(new Error("no checkpoints")),
      inside: undefined,
      settled: undefined,
    }),
    checkMayBegin,
    record: async (call) => {
      written.push(call);
    },
    failed: () => undefined,
    emit: () => undefined,
    ...given.recorder,
  };
  return { loop: new DurableLoop(recorder, logger, gate), written };
}

/** The work of a tool with this function. */
export const workOf = (execute: ToolWork["execute"], fields: Partial<ToolWork> = {}): ToolWork => ({
  input: {},
  execute,
  isClients: false,
  yields: false,
  show: () => undefined,
  used: () => undefined,
  parse: (input) => input,
  inputSchema: async () => ({}),
  outputSchema: async () => undefined,
  ...fields,
});

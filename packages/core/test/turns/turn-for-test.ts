// A turn over a scripted agent, for tests of replies: the calls of the agent, the conversation and the readers are recorded.
import { Operation } from "../../src/agent/call/operation.ts";
import { Turn, type TurnOptions } from "../../src/agent/turn/turn.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";

interface Given {
  readonly isKept?: boolean;
  readonly options?: Partial<TurnOptions>;
  readonly agent?: object;
  /** Rejects the end of the turn. */
  readonly failure?: unknown;
  /** The parts of each reply, in the order of the calls. A function runs between two parts. */
  readonly replies?: readonly (readonly (object | (() => unknown))[])[];
  /** Further fields of the loop that records the calls. */
  readonly loop?: object;
}

/** A turn, and the calls of the agent, the conversation and the reply's readers. */
export function turnForTest(given: Given = {}) {
  const { isKept = true, options = {}, agent = {}, failure, replies = [], loop = {} } = given;
  const calls: unknown[][] = [];
  const note =
    (name: string) =>
    (...values: unknown[]) => {
      calls.push([name, ...values]);
    };
  const logger = new RecordingLogger();
  const controller = new AbortController();
  const { signal } = controller;
  const caller = { userId: "ada", conversationId: "c", context: new Map(), logger, signal };
  const operation = new Operation(caller, {
    loop: Object({ toolsEnded: async (time: number) => note("toolsEnded")(time), recorder: {}, ...loop }),
  });
  const finish = async (...values: unknown[]) => {
    note("finish")(...values);
    if (failure !== undefined) throw failure;
  };
  const conversation = Object({ finish, endsEarlyWith: note("endsEarlyWith") });
  const left = [...replies];
  async function* streamed() {
    for (const part of left.shift() ?? []) {
      if (typeof part === "function") await part();
      else yield Object(part);
    }
  }
  const parts = async (request: unknown) => {
    note("parts")(request);
    return { stream: ReadableStream.from(streamed()) };
  };
  const turn = new Turn({
    agent: Object({ id: "clerk", recordsCalls: true, generate: note("generate"), parts, ...agent }),
    operation,
    settings: { topK: 1 },
    tools: { look: Object({}) },
    messages: [{ role: "user", content: "hello" }],
    history: [],
    messageId: "m",
    conversation: isKept ? conversation : undefined,
    completed: note("completed"),
    active: Object({
      stop: (...values: unknown[]) => {
        note("stop")(...values);
        controller.abort(...values);
      },
      end: note("end"),
      allowAttach: note("allowAttach"),
      shareText: note("shareText"),
    }),
    approvals: Object({
      sign: async (...values: unknown[]) => {
        note("sign")(...values);
        return "signed";
      },
    }),
    clock: new TestClock({ start: new Date(1000) }),
    ...options,
  });
  /** The calls by their names, without the values. */
  const names = () => calls.map(([name]) => name);
  return { turn, calls, names, logger, controller, operation };
}

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

/** The parts of a complete reply with this text, in these pieces. */
export const textParts = (...pieces: string[]): object[] => [
  { type: "start" },
  { type: "start-step", warnings: [] },
  { type: "text-start", id: "1" },
  ...pieces.map((text) => ({ type: "text-delta", id: "1", text })),
  { type: "text-end", id: "1" },
  { type: "finish-step", finishReason: "stop", usage, response: {} },
  { type: "finish", finishReason: "stop", totalUsage: usage },
];

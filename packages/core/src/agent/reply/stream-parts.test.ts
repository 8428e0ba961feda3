// The parts of a streamed reply, fit for callers.
import { expect, test } from "vitest";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { Operation } from "../call/operation.ts";
import { type Part, safeParts } from "./stream-parts.ts";

function operation(logger = new RecordingLogger()): Operation {
  const { signal } = new AbortController();
  return new Operation({ userId: undefined, conversationId: undefined, context: new Map(), logger, signal });
}

const broken = new ReadableStream<Part>({ start: (controller) => controller.error(new Error("cut")) });

test.each([
  ["breaks", () => Promise.resolve({ stream: broken })],
  ["cannot be opened", () => Promise.reject(new Error("refused"))],
])("of a stream that %s the failure is the last part", async (_, open) => {
  const parts = safeParts(open, operation());
  expect(await parts.next()).toMatchObject({ done: false, value: { type: "error" } });
  expect(await parts.next()).toEqual({ done: true, value: undefined });
});

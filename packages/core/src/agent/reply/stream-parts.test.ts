// The parts of a streamed reply, fit for callers.
import { expect, test } from "vitest";
import { allInTime } from "../../../test/support/in-time.ts";
import {
  InputValidationError,
  ModelFailedError,
  PublicError,
  ReplyStoppedError,
  ReplyTimeoutError,
  ShuttingDownError,
} from "../../errors/index.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { Operation } from "../call/operation.ts";
import { type Part, safeParts } from "./stream-parts.ts";

function operation(
  logger = new RecordingLogger(),
  { signal }: Pick<AbortController, "signal"> = new AbortController(),
): Operation {
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

const streamOf =
  (...parts: object[]) =>
  async () => ({
    stream: ReadableStream.from<Part>(parts.map((part) => Object(part))),
  });
const read = (given: Operation, ...parts: object[]) =>
  allInTime(safeParts(streamOf(...parts), given), "the end of the parts");

test("calls that are not valid and tools that fail are described in safe words, and only the latter are logged", async () => {
  const logger = new RecordingLogger();
  const call = { toolName: "add", input: {} };
  const [broken, open] = [new Error("password is x"), new PublicError("No paper")];
  const parts = await read(
    operation(logger),
    { type: "tool-call", toolCallId: "1", ...call, invalid: true, error: new Error("bad input") },
    { type: "tool-error", toolCallId: "1", ...call, error: new Error("bad input") },
    { type: "tool-call", toolCallId: "2", ...call },
    { type: "tool-error", toolCallId: "2", ...call, error: broken },
    { type: "tool-error", toolCallId: "3", ...call, error: open },
    { type: "tool-result", toolCallId: "4", ...call, output: { at: new Date(0) } },
    { type: "text-delta", id: "t", text: "hi" },
  );
  expect(parts).toEqual([
    { type: "tool-call", toolCallId: "1", ...call, invalid: true, error: "The call is not valid" },
    { type: "tool-error", toolCallId: "1", ...call, error: "The call is not valid" },
    { type: "tool-call", toolCallId: "2", ...call },
    { type: "tool-error", toolCallId: "2", ...call, error: "The tool failed" },
    { type: "tool-error", toolCallId: "3", ...call, error: "No paper" },
    { type: "tool-result", toolCallId: "4", ...call, output: { at: "1970-01-01T00:00:00.000Z" } },
    { type: "text-delta", id: "t", text: "hi" },
  ]);
  const line = { level: "warn", msg: "a tool of the agent failed", toolName: "add" };
  expect(logger.lines).toEqual([
    { ...line, err: broken },
    { ...line, err: open },
  ]);
});

test("an error is the last part, and is logged once: as a failure, or as the caller's mistake", async () => {
  const logger = new RecordingLogger();
  const cause = new Error("provider down");
  const parts = await read(operation(logger), { type: "error", error: cause }, { type: "finish" });
  const failed = new ModelFailedError({ cause });
  expect(parts).toEqual([{ type: "error", error: failed }]);
  expect(logger.lines).toEqual([{ level: "error", msg: "a reply of the agent failed", err: failed }]);
  logger.lines.length = 0;
  const error = new InputValidationError({ detail: "input: no" });
  expect(await read(operation(logger), { type: "error", error })).toEqual([{ type: "error", error }]);
  const msg = "a reply of the agent did not come about";
  expect(logger.lines).toEqual([{ level: "debug", msg, err: error }]);
});

test("a reply that was stopped is aborted, with the reason where it is one for callers", async () => {
  for (const [reason, expected] of [
    [new ReplyStoppedError(), { type: "abort", reason: new ReplyStoppedError().message }],
    ["gone", { type: "abort" }],
  ]) {
    const controller = new AbortController();
    controller.abort(reason);
    expect(await read(operation(undefined, controller), { type: "abort" })).toEqual([expected]);
  }
  // Nothing stopped it but a timeout of the agent.
  expect(await read(operation(), { type: "abort" })).toEqual([
    { type: "error", error: new ReplyTimeoutError() },
  ]);
});

test("a recorded reply that continues elsewhere is aborted, and one whose record fails has failed", async () => {
  const left = (reason: unknown) => Object.assign(operation(), { loop: { left: { reason } } });
  const words = (error: Error) => ({ type: "abort", reason: error.message });
  for (const reason of [new ShuttingDownError(), new ReplyStoppedError()]) {
    expect(await read(left(reason), { type: "error", error: "x" })).toEqual([words(reason)]);
    expect(await read(left(reason), { type: "abort" })).toEqual([words(reason)]);
  }
  const full = new Error("disk full");
  expect(await read(left(full), { type: "error", error: full })).toEqual([
    { type: "error", error: new ModelFailedError({ cause: full }) },
  ]);
});

test("approval requests are signed where there is a signature, and a signing that fails is the last part", async () => {
  const request = { type: "tool-approval-request", approvalId: "a", toolCall: { toolCallId: "c" } };
  expect(await read(operation(), request)).toEqual([request]);
  const signed = safeParts(streamOf(request), operation(), async ({ approvalId }) => `of ${approvalId}`);
  expect(await allInTime(signed, "the parts")).toEqual([{ ...request, signature: "of a" }]);
  const error = new InputValidationError({ detail: "no" });
  const refused = safeParts(streamOf(request, request), operation(), () => Promise.reject(error));
  expect(await allInTime(refused, "the parts")).toEqual([{ type: "error", error }]);
});

test("a reader that leaves ends the stream, also while it waits", async () => {
  const cancelled = Promise.withResolvers<void>();
  const stream = new ReadableStream<Part>({ cancel: () => cancelled.resolve() });
  const parts = safeParts(async () => ({ stream }), operation());
  const waiting = parts.next();
  // The stream is opened by then.
  await new Promise((resolve) => setImmediate(resolve));
  expect(await parts.return?.()).toEqual({ done: true, value: undefined });
  expect(await waiting).toEqual({ done: true, value: undefined });
  await cancelled.promise;
  expect(await parts.next()).toEqual({ done: true, value: undefined });
});

// The causes of a failed reply as messages for the caller: a provider that is busy, and a missing file.
import {
  APICallError,
  DownloadError,
  InvalidDataContentError,
  InvalidPromptError,
  InvalidToolApprovalError,
  InvalidToolApprovalSignatureError,
  MissingToolResultsError,
  NoObjectGeneratedError,
  RetryError,
  ToolCallNotFoundForApprovalError,
} from "ai";
import { expect, onTestFinished, test, vi } from "vitest";
import { ModelFailedError, PublicError, ReplyTimeoutError } from "../../errors/index.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import { replyErrorText, toAgentError, toolErrorText } from "./model-failure.ts";

const never = new AbortController().signal;

const refused = (after: string) =>
  new APICallError({
    message: "slow down",
    url: "http://provider.example",
    requestBodyValues: {},
    statusCode: 429,
    responseHeaders: { "retry-after": after },
  });

test.each([
  ["seconds", "17", 17],
  ["more seconds than anybody waits", "86400", 3600],
  ["a date", "Sun, 06 Nov 2094 08:49:37 GMT", 3600],
  ["a date in the old form", "Sat Nov  6 08:49:37 2094", 3600],
  ["a date that is over", "Sun, 06 Nov 1994 08:49:37 GMT", 1],
  ["neither", "soon", 1],
])("a busy provider that names %s", (_, after, retryAfter) => {
  expect(toAgentError(refused(after), never)).toMatchObject({ code: "model-busy", status: 503, retryAfter });
});

const approval = { approvalId: "a", toolCallId: "c" };

test.each([
  [
    "the messages are not a conversation that a model can continue",
    new InvalidPromptError({ prompt: [], message: "empty" }),
  ],
  ["a tool call has no result", new MissingToolResultsError({ toolCallIds: ["c"] })],
  ["a file is not a data URL in base64", new InvalidDataContentError({ content: "x" })],
  [
    "a file could not be downloaded from its URL",
    new DownloadError({ url: "https://files.example/x.png", statusCode: 404 }),
  ],
  [
    "an approval was not requested by this server",
    new InvalidToolApprovalSignatureError({ ...approval, reason: "forged" }),
  ],
  ["an approval does not belong to a tool call", new InvalidToolApprovalError({ approvalId: "a" })],
  ["an approval does not belong to a tool call", new ToolCallNotFoundForApprovalError(approval)],
])("the caller's mistake in the messages: %s", (problem, thrown) => {
  expect(toAgentError(thrown, never)).toMatchObject({
    status: 400,
    message: expect.stringContaining(`input: ${problem}`),
  });
});

test("any other error of a call is a timeout, or an error of the reply, of the provider or of ours", () => {
  const late = new DOMException("late", "TimeoutError");
  expect(toAgentError(late, never)).toMatchObject({ code: "reply-timeout", cause: late });
  expect(toAgentError(new DOMException("gone", "AbortError"), never)).toMatchObject({
    code: "reply-timeout",
  });
  const other = new DOMException("odd", "DataError");
  expect(toAgentError(other, never)).toMatchObject({ code: "model-failed", cause: other });
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const shapeless = new NoObjectGeneratedError({
    ...{ response: { id: "r", timestamp: new Date(0), modelId: "m" }, finishReason: "stop" },
    usage: Object(usage),
  });
  expect(toAgentError(shapeless, never)).toMatchObject({
    message: expect.stringContaining("it has another shape than the agent's output"),
  });
  const left = new PublicError("enough");
  expect(toAgentError(new Error("broken"), AbortSignal.abort(left))).toBe(left);
  expect(toAgentError(left, never)).toBe(left);
  const retried = new RetryError({
    message: "three times",
    reason: "maxRetriesExceeded",
    errors: [refused("5")],
  });
  expect(toAgentError(retried, never)).toMatchObject({ code: "model-busy", retryAfter: 5, cause: retried });
});

test("an abort counts with its own reason only where that is ours; a loop that was left has its reason", () => {
  const broken = new Error("broken");
  const foreign = AbortSignal.abort(new Error("the host left"));
  expect(toAgentError(broken, foreign)).toMatchObject({ code: "model-failed", cause: broken });
  const aborted = new DOMException("gone", "AbortError");
  expect(toAgentError(aborted, foreign)).toMatchObject({ code: "model-failed", cause: aborted });
  const reason = new PublicError("enough");
  expect(toAgentError(new LoopLeftError(reason), never)).toBe(reason);
  expect(toAgentError(new LoopLeftError(broken), never)).toMatchObject({ cause: broken });
  const { message, url } = refused("5");
  const plain = (statusCode: number) => new APICallError({ message, url, requestBodyValues: {}, statusCode });
  expect(toAgentError(plain(429), never)).toMatchObject({ code: "model-busy", retryAfter: 1 });
  expect(toAgentError(plain(500), never)).toMatchObject({ code: "model-failed" });
});

test("a stream that fails without our words has words of its own", () => {
  expect(replyErrorText(new Error("inner"))).toBe("The reply failed");
  expect(replyErrorText("said so")).toBe("said so");
  expect(toolErrorText(new Error("inner"))).toBe("The tool failed");
});

test.each([
  ["reply", replyErrorText],
  ["tool", toolErrorText],
])("a stream shows the host's words about a failed %s without the secrets in them", (_, text) => {
  const words = new PublicError("cannot reach postgres://ada:hunter2@db.example/orders");
  expect(text(words)).toBe("cannot reach postgres://[redacted]@db.example/orders");
});

test.each(["AbortError", "TimeoutError"])("an %s without an abort of the caller is a time limit", (name) => {
  const thrown = new DOMException("too late", name);
  expect(toAgentError(thrown, never)).toEqual(new ReplyTimeoutError({ cause: thrown }));
  expect(toAgentError(thrown, AbortSignal.abort("left"))).toBeInstanceOf(ModelFailedError);
  const other = new DOMException("too late", "DataError");
  expect(toAgentError(other, never)).toBeInstanceOf(ModelFailedError);
});

test("a date is counted from now, in whole seconds; words and missing headers are a second", () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  onTestFinished(() => void vi.useRealTimers());
  const after = (words: string) => toAgentError(refused(words), never);
  expect(after("Thu, 01 Jan 2026 00:02:00 GMT")).toMatchObject({ retryAfter: 120 });
  expect(after("17 minutes")).toMatchObject({ retryAfter: 1 });
  const { responseHeaders: _, ...fields } = refused("");
  const bare = new APICallError({ ...fields, message: "slow down" });
  expect(toAgentError(bare, never)).toMatchObject({ code: "model-busy", retryAfter: 1 });
});

test("another refusal of the provider is a failure of the model", () => {
  const broken = new APICallError({ ...refused("17"), message: "broken", statusCode: 500 });
  expect(toAgentError(broken, never)).toEqual(new ModelFailedError({ cause: broken }));
  const plain = Object.assign(new Error("slow down"), { statusCode: 429 });
  expect(toAgentError(plain, never)).toEqual(new ModelFailedError({ cause: plain }));
});

// The causes of a failed reply as messages for the caller: a provider that is busy, and a missing file.
import { APICallError, DownloadError } from "ai";
import { expect, test } from "vitest";
import { PublicError } from "../../errors/index.ts";
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

test("a file that the AI SDK could not download is the caller's mistake", () => {
  const thrown = new DownloadError({ url: "https://files.example/x.png", statusCode: 404 });
  expect(toAgentError(thrown, never)).toMatchObject({
    status: 400,
    message: expect.stringContaining("a file could not be downloaded from its URL"),
  });
});

test.each([
  ["reply", replyErrorText],
  ["tool", toolErrorText],
])("a stream shows the host's words about a failed %s without the secrets in them", (_, text) => {
  const words = new PublicError("cannot reach postgres://ada:hunter2@db.example/orders");
  expect(text(words)).toBe("cannot reach postgres://[redacted]@db.example/orders");
});

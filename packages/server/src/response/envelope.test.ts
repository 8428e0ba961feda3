import { AndanteError, PublicError } from "@andante/core";
import { ExecutionFailedError, ShuttingDownError } from "@andante/core/errors";
import { RecordingLogger } from "@andante/core/test";
import { HTTPException } from "hono/http-exception";
import { expect, test } from "vitest";
import { InvalidTokenError } from "../errors/auth-errors.ts";
import { failure, headerText, success } from "./envelope.ts";

const quiet = new RecordingLogger();

test("a success without data has data null: the field is always there", async () => {
  expect(await success(undefined).toResponse().text()).toBe('{"success":true,"data":null}');
});

test("of a foreign error the caller learns nothing but that it happened, and the log everything", async () => {
  const logger = new RecordingLogger();
  const secret = new Error("SELECT * FROM passwords");
  const response = failure(secret, logger).toResponse();
  expect(response.status).toBe(500);
  expect(await response.text()).toBe('{"success":false,"error":"Internal server error"}');
  expect(response.headers.has("x-error-code")).toBe(false);
  expect(logger.lines).toEqual([{ level: "error", msg: expect.any(String), err: secret }]);
});

test.each([undefined, null, "text", { status: 200, message: "x" }])(
  "anything may be thrown: %s",
  (thrown) => {
    expect(failure(thrown, quiet).status).toBe(500);
  },
);

test("status, message, x-error-code, x-execution-id and Retry-After come from the error", async () => {
  const response = failure(new ShuttingDownError({ executionId: "e-1" }), quiet).toResponse();
  expect(response.status).toBe(503);
  expect(response.headers.get("x-error-code")).toBe("shutting-down");
  expect(response.headers.get("x-execution-id")).toBe("e-1");
  expect(response.headers.get("retry-after")).toBe("5");
});

test("an error that does not name an execution has no such header", () => {
  const response = failure(new AndanteError("no", { code: "no", status: 400 }), quiet).toResponse();
  expect([...response.headers.keys()]).toEqual([
    "cache-control",
    "content-type",
    "x-content-type-options",
    "x-error-code",
  ]);
});

test("a header carries any id, and its letters come back", () => {
  for (const id of ["a/b", "ü\r\nset-cookie: x", "100%", "🎹"]) {
    expect(headerText(id)).toMatch(/^[\x21-\x7e]+$/);
    expect(decodeURIComponent(headerText(id))).toBe(id);
    expect(() => failure(new ExecutionFailedError({ executionId: id }), quiet).toResponse()).not.toThrow();
  }
});

const address = "postgres://ada:hunter2@db.example/orders";
test.each([
  ["an error for callers", new PublicError(`cannot reach ${address}`), "cannot reach "],
  ["a host's middleware", new HTTPException(400, { message: `cannot reach ${address}` }), "cannot reach "],
  [
    "a refused token",
    new InvalidTokenError({ reason: `no keys at ${address}` }),
    "Invalid token: no keys at ",
  ],
])("a secret in the message of %s is not shown", async (_, error, words) => {
  expect(await failure(error, quiet).toResponse().json()).toEqual({
    success: false,
    error: `${words}postgres://[redacted]@db.example/orders`,
  });
});

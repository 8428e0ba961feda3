// The log lines about replies that failed: one for each failure, none for a caller's mistake.
import { expect, test } from "vitest";
import {
  FilesBusyError,
  InputValidationError,
  ModelFailedError,
  ObjectMismatchError,
} from "../../errors/index.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { isNoted, noteFailure } from "./note-failure.ts";
import { Operation } from "./operation.ts";

function note(...errors: unknown[]) {
  const logger = new RecordingLogger();
  const operation = new Operation({ ...Operation.from(undefined, undefined), logger });
  for (const error of errors) noteFailure(error, operation);
  return logger.lines;
}

const failed = (err: unknown) => ({ level: "error", msg: "a reply of the agent failed", err });

test.each<[string, unknown]>([
  ["an error of the host", new Error("boom")],
  ["a failure of the model", new ModelFailedError({ cause: new Error("500") })],
  ["a reply of another shape", new ObjectMismatchError({ detail: "it is a list" })],
])("%s has one line, however often it is noted", (_, error) => {
  expect(isNoted(error)).toBe(false);
  expect(note(error, error)).toEqual([failed(error)]);
  expect(isNoted(error)).toBe(true);
});

test.each([
  ["a caller's mistake", new InputValidationError({ detail: "input: empty" })],
  ["a call that finds no room for its files", new FilesBusyError()],
])("%s is a line for debugging, each time", (_, err) => {
  const line = { level: "debug", msg: "a reply of the agent did not come about", err };
  expect(note(err, err)).toEqual([line, line]);
  expect(isNoted(err)).toBe(false);
});

test("values that are no objects cannot be marked and are noted each time", () => {
  expect(note("boom", null)).toEqual([failed("boom"), failed(null)]);
  for (const value of ["boom", null, undefined]) expect(isNoted(value)).toBe(false);
});

// The options of a host, and the errors of wrong ones.
import { expect, test } from "vitest";
import { postgresStore } from "./postgres-store.ts";

const url = "postgres://ada:secret@127.0.0.1/app";

test.each([
  [{ url: "" }, "url"],
  [{ url: "mysql://127.0.0.1/app" }, "url"],
  [{ url, listenUrl: "nowhere" }, "listenUrl"],
  [{ url, schema: "" }, "schema"],
  [{ url, schema: "x".repeat(64) }, "schema"],
  [{ url, writers: 0 }, "writers"],
  [{ url, readers: 1.5 }, "readers"],
  [{ url, statementTimeout: -1 }, "statementTimeout"],
])("%j is refused, and the option is named", (options, option) => {
  expect(() => postgresStore(options)).toThrow(option);
  expect(() => postgresStore(options)).not.toThrow("secret");
});

test("a misspelled option is refused", () => {
  const options = { url, scheme: "andante" };
  expect(() => postgresStore(options)).toThrow("schema");
});

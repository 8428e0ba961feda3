// The options of a host, and the errors of wrong ones.
import { expect, test } from "vitest";
import { addressesIn } from "./options.ts";
import { postgresStore } from "./postgres-store.ts";

const url = "postgres://ada:secret@127.0.0.1/app";

test.each([
  [{ url: "" }, "url"],
  [{ url: "mysql://127.0.0.1/app" }, "url"],
  [{ url: "postgres://ada:secret@one:5432,two:port/app" }, "url"],
  [{ url: "postgres://ada:secret@one:5432,/app" }, "url"],
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

test("an address may name several servers, also with ports, IPv6 and parameters", () => {
  expect(addressesIn(url)).toEqual([url]);
  expect(addressesIn("postgres://ada:a,b%40@one,[::1]:5433,two:5434/app?sslmode=require")).toEqual([
    "postgres://ada:a,b%40@one/app?sslmode=require",
    "postgres://ada:a,b%40@[::1]:5433/app?sslmode=require",
    "postgres://ada:a,b%40@two:5434/app?sslmode=require",
  ]);
  const { location } = postgresStore({ url: "postgres://ada:secret@one:5433,two/app" });
  expect(location).toBe("postgres://one:5433,two/app (schema andante)");
});

// A misspelled option is refused by name, with the one that was probably meant.
import { expect, test } from "vitest";
import { UnknownOptionError } from "../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "./check-options.ts";

interface Options {
  readonly port?: number;
  readonly hostname?: string;
  readonly inputSchema?: object;
  readonly id: string;
}
const known: KnownOptions<Options> = { port: true, hostname: true, inputSchema: true, id: true };

test("known options pass, also without a value", () => {
  checkKnownOptions("serve", { port: 1, hostname: undefined, id: "a" }, known);
  checkKnownOptions("serve", undefined, known);
});

test.each([
  ["two letters swapped", "prot", "port"],
  ["a letter too few", "hostnme", "hostname"],
  ["a letter too many", "ports", "port"],
  ["a wrong letter", "inputScheme", "inputSchema"],
  ["other capitals", "hostName", "hostname"],
  ["short and in capitals", "ID", "id"],
  ["the beginning alone", "host", "hostname"],
])("%s: %s is %s", (_, option, meant) => {
  const check = () => checkKnownOptions("serve", { [option]: 1 }, known);
  expect(check).toThrow(UnknownOptionError);
  expect(check).toThrow(`serve: unknown option "${option}"; did you mean "${meant}"?`);
});

test.each(["colour", "x", "constructor", "toString"])("%s is like none of them: all are listed", (option) => {
  expect(() => checkKnownOptions("serve", { [option]: 1 }, known)).toThrow(
    `serve: unknown option "${option}"; the options are port, hostname, inputSchema, id`,
  );
});

// The attacks for a quarter of a minute: the server keeps its memory and responds. `npm run attacks` runs them for longer.
import { expect, test } from "vitest";
import { attacks } from "./attacks.ts";
import { runAttacks } from "./campaign.ts";

const short = [
  "1 000 connections ask for pages and scripts",
  "1 000 connections ask for a script and read nothing",
  "abandoned requests",
  "4 000 pipelined reads",
  "one user opens 1 000 streams",
  "400 exports that are not read",
];

test("the server keeps its memory and responds under all attacks at once", { timeout: 120_000 }, async () => {
  const names = attacks.map(({ name }) => name).filter((name) => short.includes(name));
  expect(names).toEqual(short);
  const { problems } = await runAttacks({ names, seconds: 15 });
  expect(problems).toEqual([]);
});

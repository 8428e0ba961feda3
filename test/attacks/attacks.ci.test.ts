// The attacks for a third of a minute: the server keeps its memory and responds. `npm run attacks` runs them for longer.
import { expect, test } from "vitest";
import { attacks } from "./attacks.ts";
import { runAttacks } from "./campaign.ts";

// Those that take longer than this, or nearly all of the processor, are left to the script.
const long = /forks|replays|files|complete bodies|52400/;

test("the server keeps its memory and responds under all attacks at once", { timeout: 120_000 }, async () => {
  const names = attacks.map(({ name }) => name).filter((name) => !long.test(name));
  expect(names).toHaveLength(attacks.length - 6);
  const { problems } = await runAttacks({ names, seconds: 20, quiet: false });
  expect(problems).toEqual([]);
});

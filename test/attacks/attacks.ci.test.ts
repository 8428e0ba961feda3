// All attacks for a quarter of a minute: the server keeps its memory and responds. `npm run attacks` runs them for longer.
import { expect, test } from "vitest";
import { attacks } from "./attacks.ts";
import { runAttacks } from "./campaign.ts";

test("the server keeps its memory and responds under all attacks at once", { timeout: 120_000 }, async () => {
  const names = attacks.map(({ name }) => name);
  const { outcomes, problems } = await runAttacks({ names, seconds: 15 });
  expect(problems).toEqual([]);
  expect(outcomes.filter(({ seen }) => Object.keys(seen).length === 0)).toEqual([]);
});

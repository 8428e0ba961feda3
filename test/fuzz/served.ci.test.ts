// The short version of `npm run fuzz`: requests and socket sessions of every kind against a served process.
import { expect, test } from "vitest";
import { runFuzz } from "./campaign.ts";

const seed = Number(process.env.FUZZ_SEED ?? 1);

test(`the process lives and responds as designed to every request (FUZZ_SEED=${seed})`, async () => {
  const { problems, requests, sessions } = await runFuzz({ seed, requests: 1500, sessions: 150, hostile: 0 });
  expect(problems).toEqual([]);
  expect([requests >= 1500, sessions >= 150]).toEqual([true, true]);
});

test("no request of a hostile size costs more than its bound", {
  timeout: 300_000,
}, async () => {
  const { problems } = await runFuzz({ seed, requests: 300, sessions: 0, hostile: 80 });
  expect(problems.filter((problem) => !problem.startsWith("no request came near"))).toEqual([]);
});

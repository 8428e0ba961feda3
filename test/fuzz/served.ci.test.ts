// The short version of `npm run fuzz`: requests and socket sessions of every kind against a served process.
import { expect, test } from "vitest";
import { runFuzz } from "./campaign.ts";

const seed = Number(process.env.FUZZ_SEED ?? 1);

test(`whatever is sent, the process lives and responds as designed (FUZZ_SEED=${seed})`, {
  timeout: 120_000,
}, async () => {
  const { problems, requests, sessions } = await runFuzz({ seed, requests: 1500, sessions: 150 });
  expect(problems).toEqual([]);
  expect([requests >= 1500, sessions >= 150]).toEqual([true, true]);
});

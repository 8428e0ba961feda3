// Whether a row is older than the knowledge of its owner: each sign of a loss, at its bound.
import { expect, test } from "vitest";
import { commitOf } from "../store-cases/store-cases.ts";
import { hasLost } from "./has-lost.ts";
import type { Commit } from "./store.ts";

const row = { commits: 3, sequence: 9, resumes: 2 };
const idle = (resumes: number) => ({ resumes, event: null });

test.each<[string, Partial<Commit>, number | undefined, boolean]>([
  ["the next commit", { number: 4 }, undefined, false],
  ["a commit that is repeated", { number: 3 }, undefined, false],
  ["a commit after one that the row does not have", { number: 5 }, undefined, true],
  ["events up to its last one", { number: 4, after: 9 }, undefined, false],
  ["fewer events: others have written since", { number: 4, after: 8 }, undefined, false],
  ["an event that it does not have", { number: 4, after: 10 }, undefined, true],
  ["its resumes", { number: 4, idle: idle(2) }, undefined, false],
  ["fewer resumes", { number: 4, idle: idle(1) }, undefined, false],
  ["a resume that it does not have", { number: 4, idle: idle(3) }, undefined, true],
  ["the time of another writer's event", { number: 4, others: { sequence: 5, at: 7 } }, 7, false],
  ["another time of that event", { number: 4, others: { sequence: 5, at: 7 } }, 8, true],
  ["an event of another writer that is gone", { number: 4, others: { sequence: 5, at: 7 } }, undefined, true],
])("an owner that knows %s", (_, fields, timeAt, isLost) => {
  expect(hasLost(commitOf("e", fields), row, timeAt)).toBe(isLost);
});

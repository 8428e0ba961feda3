// The page on errors has every code that there is, with its status, and no other.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { maxRunsWithoutEvent } from "../../packages/core/src/execution/run/reentry-guard.ts";
import { errorCodes } from "../../scripts/error-codes.ts";
import { root } from "./pages.ts";

test("every error code is on the page, with its status, and no other is", async () => {
  const codes = (await errorCodes()).map(([code, status]) => [code, String(status)]);
  const page = readFileSync(path.join(root, "docs/errors.md"), "utf8");
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (\d+) \| .+ \| .+ \|$/gm)];
  expect(rows.map(([, code, status]) => [code, status]).sort()).toEqual(codes.sort());
  expect(codes.length).toBeGreaterThan(50);
});

test("the pages give the number of runs without a new event after which an execution is parked", () => {
  const sentences = {
    "docs/ARCHITECTURE.md": /re-entered (\d+) times without a new event/g,
    "docs/errors.md": /ran (\d+) times without a new event/g,
    "docs/workflows.md": /runs (\d+) times in a row without a new event/g,
  };
  for (const [page, sentence] of Object.entries(sentences)) {
    const numbers = [...readFileSync(path.join(root, page), "utf8").matchAll(sentence)].map(([, n]) => n);
    expect(numbers, page).toEqual([String(maxRunsWithoutEvent)]);
  }
});

// The example of the guide, "Testing your workflows": it runs here, and the guide shows exactly this.
import { readFileSync } from "node:fs";
import { createWorkflow } from "@andante/core";
import { crashTest } from "@andante/core/test";
import { expect, test } from "vitest";
import { z } from "zod";

const charged = new Map<string, number>();

const buy = createWorkflow({ id: "buy", input: z.object({ amount: z.number() }) })
  .andThen({
    id: "approve",
    execute: ({ data, resumeData, suspend }) => (resumeData === undefined ? suspend("Approve?") : data),
  })
  .andSleep({ id: "cooling-off", duration: "14d" })
  .andThen({
    id: "charge",
    execute: ({ data, idempotencyKey }) => {
      charged.set(idempotencyKey, data.amount);
      return { paid: data.amount };
    },
  });

test("a crash anywhere charges once", async () => {
  const { differences } = await crashTest({
    workflow: buy,
    input: { amount: 20 },
    resume: ({ stepPath }) => (stepPath === "approve" ? { approved: true } : undefined),
    reset: () => charged.clear(),
    observe: () => [...charged.values()],
  });
  expect(differences).toEqual([]);
});

test("the guide shows this file", () => {
  const [, ...lines] = readFileSync(new URL(import.meta.url), "utf8").split("\n");
  const example = lines
    .join("\n")
    .split('\ntest("the guide shows')[0]
    ?.replace(/^import .* from "node:fs";\n/, "");
  const guide = readFileSync(new URL("../../docs/guide.md", import.meta.url), "utf8");
  expect(guide).toContain(`\`\`\`ts\n${example}\`\`\``);
});

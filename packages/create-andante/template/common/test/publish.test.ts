// A post is published once, wherever the process crashes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { crashTest } from "@andante/core/test";
import { demoModel } from "@andante/demo-model";
import { createPublish } from "../src/publish.ts";
import { createWriter } from "../src/writer.ts";

test("a crash at any write publishes once", async () => {
  const published = new Map<string, string>();
  const writer = createWriter(demoModel());
  const { expected, differences } = await crashTest({
    workflow: createPublish(writer, (text, key) => void published.set(key, text)),
    input: { topic: "rivers" },
    resume: ({ stepPath }) => (stepPath === "approve" ? { approved: true } : undefined),
    reset: () => published.clear(),
    observe: () => [...published.values()],
  });
  assert.equal(expected.status, "completed");
  assert.equal(published.size, 1);
  assert.deepEqual(differences, []);
});

// A full disk: starts are refused, running executions wait without failing, closing still works, and the work continues later.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { createAndante } from "../../src/andante/create-andante.ts";
import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { flow, heldBody } from "../support/test-andante.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-full-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a running execution stalls on a full disk and completes once there is room", async () => {
  const file = path.join(folder, "full.db");
  const held = heldBody("x".repeat(200_000));
  let after = 0;
  const workflow = flow()
    .andThen({ id: "held", execute: held.execute })
    .andThen({ id: "after", execute: ({ data }) => [Object(data).length, ++after] });
  const filler = flow();
  const workflows = { workflow, filler };
  const logger = new RecordingLogger();
  const first = createAndante({ store: sqliteStore({ path: file, maxBytes: 500_000 }), workflows, logger });
  const { executionId, result } = await first.start(workflow.id, {});
  const answer = result().catch((error: unknown) => error);
  await held.started;

  const input = "y".repeat(20_000);
  let refused: unknown;
  const created: string[] = [];
  while (refused === undefined) {
    await first.start(filler.id, input).then(
      (started) => created.push(started.executionId),
      (error: unknown) => (refused = error),
    );
  }
  expect(refused).toMatchObject({ status: 503, code: "store-unavailable", retryAfter: 2 });

  // Its outcome does not fit; the commit waits, the caller too, and nothing that follows starts.
  held.finish();
  await expect(first.start(filler.id, input)).rejects.toMatchObject({ code: "store-unavailable" });
  expect((await first.state(workflow.id, executionId)).status).toBe("running");
  await first.close({ grace: 100 });
  expect(await answer).toMatchObject({ code: "shutting-down", executionId });
  expect(after).toBe(0);

  const second = createAndante({
    store: sqliteStore({ path: file, maxBytes: 50_000_000 }),
    workflows,
    logger,
  });
  const stream = await second.attach(workflow.id, executionId);
  let last: unknown;
  for await (const event of stream?.events ?? []) last = event;
  expect(last).toMatchObject({ type: "workflow-result", status: "completed", result: [200_000, 1] });
  // Nothing that was ever answered is lost; a filler that found no room for its end has ended now.
  for (const id of created) {
    expect((await second.execute(filler.id, input, { executionId: id })).status).toBe("completed");
  }
  await second.close();
});

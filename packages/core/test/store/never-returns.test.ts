// Closing resolves even when the store never does.
import { expect, test } from "vitest";
import { createAndante } from "../../src/andante/create-andante.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { flow } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

const never = () => new Promise<never>(() => undefined);
const operations = ["create", "commit", "state", "due", "release", "claimAbandoned", "endedBeyond"] as const;

test.each(operations)("closing resolves when `%s` never returns", async (operation) => {
  const store = memoryStore();
  await store.open();
  let hangs = operation === "claimAbandoned" || operation === "due" || operation === "endedBeyond";
  const hanging: Partial<Store> = {
    [operation]: (argument: never) => (hangs ? never() : Reflect.apply(store[operation], store, [argument])),
  };
  const workflow = flow().andThen({ id: "say", execute: () => "done" });
  const andante = createAndante({
    store: wrapStore(store, hanging),
    workflows: { workflow },
    logger: new RecordingLogger(),
    retention: { maxCount: 1 },
  });
  if (!hangs) {
    await andante.execute(workflow.id, {});
    hangs = true;
    andante.execute(workflow.id, {}).catch(() => undefined);
  }
  await expect(andante.close({ grace: 50 })).resolves.toBeUndefined();
  await store.close();
});

// Storage trouble as operators see it: one line when it begins, one when it ends, and two metrics; not one per retry.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Andante } from "../../src/andante/andante.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import { StoreUnavailableError } from "../../src/errors/index.ts";
import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { flow, heldBody, onMemory } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

/** A store on a disk that fills up: starts and other calls that can be repeated are refused, commits wait. */
function troubledStore(store: Store) {
  let trouble = false;
  let over = Promise.withResolvers<void>();
  let refusals = 0;
  let problem: string | null = null;
  let questions = 0;
  const refusing =
    <Argument, Result>(operation: (argument: Argument) => Promise<Result>) =>
    (argument: Argument): Promise<Result> => {
      if (!trouble) return operation(argument);
      refusals++;
      return Promise.reject(new StoreUnavailableError({ cause: new Error("database or disk is full") }));
    };
  return {
    store: wrapStore(store, {
      create: refusing(store.create),
      heartbeat: refusing(store.heartbeat),
      claimAbandoned: refusing(store.claimAbandoned),
      wake: refusing(store.wake),
      health: async () => {
        questions++;
        return { ...(await store.health()), problem };
      },
      commit: async (commit) => {
        if (trouble) await over.promise;
        return store.commit(commit);
      },
    }),
    begin: () => {
      trouble = true;
      over = Promise.withResolvers<void>();
    },
    end: () => {
      trouble = false;
      over.resolve();
    },
    /** The health that the store reports. */
    feels: (how: string | null) => {
      problem = how;
    },
    /** How often it was asked. */
    get questions() {
      return questions;
    },
    get refusals() {
      return refusals;
    },
  };
}

const begins = { level: "error", msg: expect.stringMatching(/^the storage is in trouble/) };
const ends = { level: "warn", msg: expect.stringMatching(/^the storage works again/) };
// The store is shared: work that others left in it is logged at start.
const isTrouble = ({ msg }: { msg: string }) => /the stor(e|age) /.test(msg);
const isAboutStorage = ({ msg }: { msg: string }) => !msg.includes("not registered");

function whatOperatorsSee(andante: Andante) {
  return {
    health: () => andante.health(),
    metrics: async () => Number(/^andante_storage_in_trouble (\d)$/m.exec(await andante.metrics.text())?.[1]),
  };
}

onMemory((bench) => {
  test("is one error line when it begins and one line when it ends, however many operations fail meanwhile", async () => {
    const held = heldBody("done");
    const running = flow().andThen({ id: "held", execute: held.execute });
    const sleeping = flow().andSleep({ id: "nap", duration: 1200 });
    const troubled = troubledStore(bench.store);
    const logger = new RecordingLogger();
    const andante = bench.andanteWith({ store: troubled.store, logger }, running, sleeping);
    const { result } = await andante.start(running.id, {});
    const asleep = await andante.start(sleeping.id, {});
    await held.started;
    const due = () => bench.store.due({ workflowIds: [sleeping.id], limit: 1 });
    await expect.poll(async () => await due()).toHaveLength(1);

    troubled.begin();
    for (let tries = 0; tries < 5; tries++)
      await expect(andante.start(running.id, {})).rejects.toMatchObject({ status: 503 });
    held.finish();
    // The scheduler tries to wake the sleeper again and again.
    await expect.poll(() => troubled.refusals).toBeGreaterThan(9);
    const during = await andante.metrics.text();
    expect(during).toMatch(/^andante_storage_in_trouble 1$/m);
    expect(Number(/^andante_storage_failures_total (\d+)$/m.exec(during)?.[1])).toBeGreaterThan(9);

    troubled.end();
    expect(await result()).toMatchObject({ status: "completed", result: "done" });
    expect(await asleep.result()).toMatchObject({ status: "completed" });
    // The reply to a question about the store's health may be on its way, and ends the trouble then.
    const lines = () => logger.of("warn", "error").filter(isAboutStorage);
    await expect.poll(lines).toMatchObject([begins, ends]);
    expect(await andante.metrics.text()).toMatch(/^andante_storage_in_trouble 0$/m);
    expect(lines()[0]?.err).toMatchObject({ cause: { message: "database or disk is full" } });
  });

  test("is noticed also when nothing is refused and commits only wait", async () => {
    const held = heldBody("done");
    const workflow = flow().andThen({ id: "held", execute: held.execute });
    const troubled = troubledStore(bench.store);
    const logger = new RecordingLogger();
    const andante = bench.andanteWith({ store: troubled.store, logger }, workflow);
    const { result } = await andante.start(workflow.id, {});
    await held.started;
    troubled.begin();
    held.finish();
    await expect.poll(() => logger.of("error")).toMatchObject([begins]);
    troubled.end();
    expect((await result()).status).toBe("completed");
    await expect.poll(() => logger.of("warn", "error").filter(isAboutStorage)).toMatchObject([begins, ends]);
  });

  test.each(["a refused start", "the store itself"])(
    "that %s notices first, and the other later, is logged once",
    async (first) => {
      const workflow = flow();
      const troubled = troubledStore(bench.store);
      const logger = new RecordingLogger();
      const andante = bench.andanteWith({ store: troubled.store, logger }, workflow);
      const { metrics, health } = whatOperatorsSee(andante);
      await andante.ready();
      const refuseStart = () =>
        expect(andante.start(workflow.id, {})).rejects.toMatchObject({ code: "store-unavailable" });

      if (first === "the store itself") {
        troubled.feels("the disk is full");
        await health();
        expect(await metrics()).toBe(1);
        troubled.begin();
        await refuseStart();
      } else {
        troubled.begin();
        await refuseStart();
        expect(await metrics()).toBe(1);
        troubled.feels("the disk is full");
        await health();
      }
      expect(logger.of("info", "warn", "error").filter(isTrouble)).toMatchObject([begins]);

      // A small write finds room, a file that is as good as full is still in trouble.
      troubled.end();
      expect(await andante.execute(workflow.id, {})).toMatchObject({ status: "completed" });
      await health();
      expect(await metrics()).toBe(1);

      troubled.begin();
      await refuseStart();
      troubled.feels(null);
      // Its health is good, but nothing was written since the refusal.
      await health();
      expect(await metrics()).toBe(1);
      expect(logger.of("info", "warn", "error").filter(isTrouble)).toMatchObject([begins]);

      troubled.end();
      expect(await andante.execute(workflow.id, {})).toMatchObject({ status: "completed" });
      await expect.poll(metrics).toBe(0);
      expect(logger.of("info", "warn", "error").filter(isTrouble)).toMatchObject([
        { ...begins, store: bench.store.location },
        { ...ends, store: bench.store.location, failures: 2 },
      ]);
    },
  );

  test("the first failure asks the store how it is: as good as full it stays in trouble, though something finds room", async () => {
    const workflow = flow();
    const troubled = troubledStore(bench.store);
    const logger = new RecordingLogger();
    const andante = bench.andanteWith({ store: troubled.store, logger }, workflow);
    const { metrics } = whatOperatorsSee(andante);
    await andante.ready();
    troubled.feels("the disk is full");
    troubled.begin();
    await expect(andante.start(workflow.id, {})).rejects.toMatchObject({ code: "store-unavailable" });
    await expect.poll(() => troubled.questions).toBe(1);
    troubled.end();
    expect(await andante.execute(workflow.id, {})).toMatchObject({ status: "completed" });
    expect(await metrics()).toBe(1);
    expect(logger.of("info", "warn", "error").filter(isTrouble)).toMatchObject([begins]);
  });

  test("a store that does not reply at all is in trouble, too", async () => {
    const held = heldBody("done");
    const workflow = flow().andThen({ id: "held", execute: held.execute });
    const silence = Promise.withResolvers<void>();
    let silent = false;
    const quiet =
      <Argument, Result>(operation: (argument: Argument) => Promise<Result>) =>
      async (argument: Argument): Promise<Result> => {
        if (silent) await silence.promise;
        return operation(argument);
      };
    const { commit, heartbeat } = bench.store;
    const store = wrapStore(bench.store, { commit: quiet(commit), heartbeat: quiet(heartbeat) });
    const logger = new RecordingLogger();
    const andante = bench.andanteWith({ store, logger }, workflow);
    const { result } = await andante.start(workflow.id, {});
    await held.started;
    silent = true;
    held.finish();
    await expect.poll(() => logger.of("error")).toMatchObject([begins]);
    silent = false;
    silence.resolve();
    expect((await result()).status).toBe("completed");
    await expect.poll(() => logger.of("warn", "error").filter(isAboutStorage)).toMatchObject([begins, ends]);
  });
});

test("a real file that cannot grow is one line, however many starts are refused", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-trouble-"));
  const workflow = flow();
  const logger = new RecordingLogger();
  const store = sqliteStore({ path: path.join(folder, "full.db"), maxBytes: 600_000 });
  const andante = createAndante({ store, workflows: { workflow }, logger });
  onTestFinished(async () => {
    await andante.close({ grace: 0 });
    rmSync(folder, { recursive: true });
  });
  let refused = 0;
  while (refused < 20) {
    await andante.start(workflow.id, "y".repeat(100_000)).catch(() => refused++);
  }
  expect(logger.of("warn", "error")).toMatchObject([begins]);
});

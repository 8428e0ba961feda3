// close() always resolves: neither a body nor a store that never returns holds it up, and one line names the rest.
import { expect, test, vi } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { flow, heldBody, onMemory } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

const never = <T>() => new Promise<T>(() => undefined);
const isAboutClosing = ({ msg }: { msg: string }) => msg.startsWith("closing");

onMemory((bench) => {
  test("a body that ignores its signal is named and left", async () => {
    const stubborn = heldBody("late");
    const polite = heldBody("in time");
    const workflow = flow().andThen({ id: "stubborn", execute: stubborn.execute });
    const other = flow().andThen({ id: "polite", execute: polite.execute });
    const logger = new RecordingLogger();
    const andante = bench.andanteWith({ logger }, workflow, other);
    const { executionId, result } = await andante.start(workflow.id, {}, { userId: "ada" });
    const ended = await andante.start(other.id, {});
    const stopped = result().catch((error: unknown) => error);
    const signal = await stubborn.started;
    await polite.started;
    polite.finish();
    await ended.result();
    await andante.close({ grace: 50 });
    expect(signal.aborted).toBe(true);
    expect(await stopped).toMatchObject({ code: "shutting-down" });
    expect(logger.of("warn", "error").filter(isAboutClosing)).toMatchObject([
      {
        level: "warn",
        msg: expect.stringMatching(/^closing without waiting longer for bodies that run/),
        executions: [{ workflowId: workflow.id, executionId }],
        count: 1,
      },
    ]);
    stubborn.finish();
  });

  test("nothing is logged when everything ends in time", async () => {
    const workflow = flow().andSleep({ id: "nap", duration: "1h" });
    const logger = new RecordingLogger();
    const andante = bench.andanteWith({ logger }, workflow);
    await andante.start(workflow.id, {});
    await andante.close({ grace: 50 });
    expect(logger.of("warn", "error").filter(isAboutClosing)).toEqual([]);
  });

  /** A store one of whose operations never returns once `hang` is called. */
  const hanging = <Name extends "wake" | "create" | "state" | "claimAbandoned" | "countUnfinished">(
    name: Name,
    asked: () => void,
  ) => {
    let hangs = false;
    const operation: Store[Name] = bench.store[name];
    const replaced = (argument: never) => {
      if (!hangs) return Reflect.apply(operation, undefined, [argument]);
      asked();
      return never();
    };
    const hang = () => {
      hangs = true;
    };
    return { store: wrapStore(bench.store, { [name]: replaced }), hang };
  };

  test("a round of the scheduler that never ends does not hold it up", async () => {
    const workflow = flow().andSleep({ id: "nap", duration: 1100 });
    const asked = Promise.withResolvers<void>();
    const { store, hang } = hanging("wake", asked.resolve);
    const logger = new RecordingLogger();
    const andante = bench.andanteWith({ store, logger }, workflow);
    await andante.start(workflow.id, {});
    hang();
    await asked.promise;
    await andante.close({ grace: 50 });
    expect(logger.of("warn", "error").filter(isAboutClosing)).toMatchObject([
      { msg: "closing without waiting longer for what does not end", waiting: ["due timers"] },
    ]);
  });

  test("a recovery that never ends at start does not hold it up", async () => {
    const asked = Promise.withResolvers<void>();
    const { store, hang } = hanging("claimAbandoned", asked.resolve);
    hang();
    const logger = new RecordingLogger();
    const andante = bench.andanteWith({ store, logger }, flow());
    await asked.promise;
    await andante.close({ grace: 50 });
    expect(logger.of("warn", "error").filter(isAboutClosing)).toMatchObject([
      { waiting: expect.arrayContaining(["the start"]) },
    ]);
  });

  test("a start whose store never replies does not hold it up", async () => {
    const asked = Promise.withResolvers<void>();
    const { store, hang } = hanging("create", asked.resolve);
    const workflow = flow();
    const andante = bench.andanteWith({ store }, workflow);
    await andante.ready();
    hang();
    andante.start(workflow.id, {}).catch(() => undefined);
    await asked.promise;
    await andante.close({ grace: 50 });
  });

  test("an execution that is loaded from a store that never replies does not hold it up", async () => {
    const workflow = flow().andSleep({ id: "nap", duration: 1100 });
    const held = heldBody("x");
    const beside = flow().andThen({ id: "held", execute: held.execute });
    const asked = Promise.withResolvers<void>();
    const { store, hang } = hanging("state", asked.resolve);
    const andante = bench.andanteWith({ store }, workflow, beside);
    await andante.start(workflow.id, {});
    const { result } = await andante.start(beside.id, {});
    const stopped = result().catch((error: unknown) => error);
    const signal = await held.started;
    hang();
    await asked.promise;
    await andante.close({ grace: 50 });
    expect(signal.aborted).toBe(true);
    expect(await stopped).toMatchObject({ code: "shutting-down" });
    held.finish();
  });

  test("logs that cannot be written do not hold it up", async () => {
    const observations = { ...bench.store.observations, append: vi.fn(() => never<void>()) };
    const andante = bench.andanteWith({ store: wrapStore(bench.store, { observations }) }, flow());
    await andante.ready();
    andante.logger.info({}, "a line");
    await andante.close({ grace: 50 });
    expect(observations.append).toHaveBeenCalled();
  });
});

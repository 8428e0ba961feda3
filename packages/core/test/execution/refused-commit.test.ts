// A write that the store refuses for good ends its execution, visibly; a store that is gone only stops it.
import { expect, test } from "vitest";
import { StoreRefusedError, StoreUnavailableError } from "../../src/errors/index.ts";
import type { Commit } from "../../src/store/store.ts";
import { flow, onMemory } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

onMemory((bench) => {
  const workflow = flow()
    .andThen({ id: "one", execute: () => 1 })
    .andThen({ id: "two", execute: () => 2 });

  /** An Andante whose store fails commits in this way; after five it gives in, so that one that tries for ever ends. */
  const failingWith = (fail: (commit: Commit) => Error | undefined) => {
    const commits: Commit[] = [];
    const store = wrapStore(bench.store, {
      commit: async (commit) => {
        commits.push(commit);
        const error = fail(commit);
        if (error !== undefined && commits.length < 5) throw error;
        return bench.store.commit(commit);
      },
    });
    return { andante: bench.andanteWith({ store }, workflow), commits };
  };
  const refusal = () => new StoreRefusedError({ operation: "commit", cause: new Error("too big") });

  test("a refused commit ends the execution in error, with one more commit that records the error", async () => {
    const { andante, commits } = failingWith(({ end }) => (end === null ? refusal() : undefined));
    const { executionId, status } = await andante.execute(workflow.id, {});
    expect(status).toBe("error");
    expect(commits.map(({ end }) => end?.status)).toEqual([undefined, "error"]);
    const { execution } = (await bench.store.state(executionId)) ?? {};
    expect([execution?.status, execution?.error]).toEqual(["error", expect.stringContaining("refused")]);
    expect(bench.logger.messages).toContain("the execution failed");
  });

  test("an ending that is refused too is not tried for ever, and the next process may try again", async () => {
    const { andante, commits } = failingWith(refusal);
    const { executionId, result } = await andante.start(workflow.id, {});
    const [outcome] = await Promise.allSettled([result()]);
    expect(commits.map(({ end }) => end?.status)).toEqual([undefined, "error"]);
    expect(outcome).toMatchObject({ reason: { status: 503 } });
    expect((await bench.store.state(executionId))?.execution.status).toBe("running");
  });

  test("a store that is gone ends nothing", async () => {
    const { andante, commits } = failingWith(() => new StoreUnavailableError());
    const { executionId, result } = await andante.start(workflow.id, {});
    const [outcome] = await Promise.allSettled([result()]);
    expect(commits).toHaveLength(1);
    expect(outcome).toMatchObject({ reason: { status: 503 } });
    expect((await bench.store.state(executionId))?.execution.status).toBe("running");
  });
});

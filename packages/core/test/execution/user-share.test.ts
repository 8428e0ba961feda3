// One user cannot take every slot: while others wait, a user with its full share waits.
import { expect, test } from "vitest";
import type { Andante } from "../../src/andante/andante.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { heldBodies } from "../support/held-bodies.ts";
import { flow, onMemory } from "../support/test-andante.ts";

const clockOf = () => new TestClock({ skipSleeps: false });
/** Longer than a refused user counts as waiting. */
const patience = "6s";

onMemory((bench) => {
  /** A workflow whose executions run until the test ends them; with a gate before that for those that ask for one. */
  const setUp = (limits: { running: number; userShare?: number }) => {
    const bodies = heldBodies();
    const clock = clockOf();
    const workflow = flow()
      .andThen({
        id: "gate",
        execute: ({ input, resumeData, suspend }) => (input === "gate" ? (resumeData ?? suspend()) : null),
      })
      .andThen({ id: "work", execute: ({ userId }) => bodies.run(userId) });
    const sleeper = flow()
      .andSleep({ id: "nap", duration: "1h" })
      .andThen({ id: "work", execute: ({ userId }) => bodies.run(userId) });
    const andante = bench.andanteWith({ clock, limits }, workflow, sleeper);
    const start = (userId?: string) => andante.start(workflow.id, null, { userId });
    return { bodies, clock, workflow, sleeper, andante, start };
  };
  const fill = async (start: (userId?: string) => Promise<unknown>, count: number, userId?: string) => {
    for (let n = 0; n < count; n++) await start(userId);
  };
  const full = { code: "capacity", status: 503, retryAfter: 1 };
  const share = { code: "user-share", status: 503, retryAfter: 1 };

  test("a user may take every slot while no other user waits", async () => {
    const { start, bodies } = setUp({ running: 4 });
    await fill(start, 4, "ada");
    await expect(start("ada")).rejects.toMatchObject(full);
    await bodies.reach(4);
    bodies.finishOne();
    await expect
      .poll(() =>
        start("ada").then(
          () => "started",
          () => "refused",
        ),
      )
      .toBe("started");
  });

  test("one who was turned away gets the next free slot, and not the one who holds them", async () => {
    const { start, bodies } = setUp({ running: 4 });
    await fill(start, 4, "ada");
    await bodies.reach(4);
    await expect(start("bob")).rejects.toMatchObject(full);
    bodies.finishOne();
    await expect.poll(() => start("ada").catch(({ code }) => code)).toBe("user-share");
    await expect(start("ada")).rejects.toMatchObject(share);
    await start("bob");
    await expect(start("bob")).rejects.toMatchObject(full);
  });

  test("the free slots are anyone's again when the other does not come back", async () => {
    const { start, bodies, clock } = setUp({ running: 4 });
    await fill(start, 4, "ada");
    await bodies.reach(4);
    await expect(start("bob")).rejects.toMatchObject(full);
    bodies.finishOne();
    await expect.poll(() => start("ada").catch(({ code }) => code)).toBe("user-share");
    clock.advance(patience);
    await start("ada");
  });

  test("below its share a user is never held back", async () => {
    const { start, bodies } = setUp({ running: 4 });
    await fill(start, 3, "ada");
    await start("bob");
    await bodies.reach(4);
    await expect(start("cid")).rejects.toMatchObject(full);
    bodies.finishOne();
    bodies.finishOne();
    await expect
      .poll(() =>
        start("ada").then(
          () => "started",
          () => "refused",
        ),
      )
      .toBe("started");
  });

  test("executions without a user count together, as those of one", async () => {
    const { start, bodies } = setUp({ running: 4 });
    await fill(start, 4);
    await bodies.reach(4);
    await expect(start("bob")).rejects.toMatchObject(full);
    bodies.finishOne();
    await expect.poll(() => start().catch(({ code }) => code)).toBe("user-share");
    await start("bob");
  });

  test("the share is settable, and 1 holds no user back", async () => {
    const { start, bodies } = setUp({ running: 4, userShare: 1 });
    await fill(start, 4, "ada");
    await bodies.reach(4);
    await expect(start("bob")).rejects.toMatchObject(full);
    bodies.finishOne();
    await expect
      .poll(() =>
        start("ada").then(
          () => "started",
          () => "refused",
        ),
      )
      .toBe("started");
    for (const userShare of [0, -1, 1.5, Number.NaN]) {
      expect(() => setUp({ running: 4, userShare })).toThrow(
        "Option limits.userShare: expected a number above 0 and up to 1",
      );
    }
  });

  const suspended = async (andante: Andante, workflowId: string, count: number, userId: string) => {
    const ids: string[] = [];
    for (let n = 0; n < count; n++)
      ids.push((await andante.execute(workflowId, "gate", { userId })).executionId);
    return ids;
  };

  test("many resumes of one user do not keep another user's waiting", async () => {
    const { andante, workflow, bodies } = setUp({ running: 4 });
    const many = await suspended(andante, workflow.id, 40, "ada");
    const [one = ""] = await suspended(andante, workflow.id, 1, "bob");
    for (const id of many) await andante.startResume(workflow.id, id, 1);
    await bodies.reach(4);
    const resumed = await andante.startResume(workflow.id, one, 1);
    bodies.finishOne();
    await bodies.reach(4);
    expect(bodies.order).toEqual(["ada", "ada", "ada", "ada", "bob"]);
    await bodies.finishAll(41);
    expect((await resumed.result()).status).toBe("completed");
  });

  test("more resumes than memory keeps do not keep another user from starting", {
    timeout: 60_000,
  }, async () => {
    const { andante, workflow, bodies, start } = setUp({ running: 4 });
    const many = await suspended(andante, workflow.id, 600, "ada");
    await Promise.all(many.map((id) => andante.startResume(workflow.id, id, 1)));
    await bodies.reach(4);
    await expect(start("bob")).rejects.toMatchObject(full);
    bodies.finishOne();
    await expect
      .poll(() =>
        start("bob").then(
          () => "started",
          () => "refused",
        ),
      )
      .toBe("started");
    await bodies.finishAll(601);
    expect(bodies.most).toBe(4);
  });

  test("many sleepers of one user do not keep another user from starting", async () => {
    const { andante, sleeper, bodies, start, clock } = setUp({ running: 4 });
    for (let n = 0; n < 40; n++) {
      await andante.start(sleeper.id, null, { userId: "ada" });
      await andante.settled();
    }
    clock.advance("1h");
    await bodies.reach(4);
    await expect(start("bob")).rejects.toMatchObject(full);
    bodies.finishOne();
    await expect
      .poll(() =>
        start("bob").then(
          () => "started",
          () => "refused",
        ),
      )
      .toBe("started");
    const move = setInterval(() => clock.advance(100), 5);
    await bodies.finishAll(41);
    clearInterval(move);
  });
});

// Links to decisions on one store: made by bodies, used before and while their step waits, once.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { LinkState } from "../../src/execution/commands/links.ts";
import { andAll, andThen, createAndante } from "../../src/index.ts";
import { LinkTokens } from "../../src/link/link-token.ts";
import type { Store } from "../../src/store/store.ts";
import { type CrashingStore, crashingStore } from "../../src/test-kit/crashing-store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { LinkOptions } from "../../src/workflow/step-context.ts";
import { crashPoints } from "../support/crash-points.ts";
import { sharedStore } from "../support/shared-store.ts";
import { type Bench, flow, onStore } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

export const secret = "a secret of more than thirty-two characters";
export const links = { url: "https://app.example.com/ai/", secret };
const answer = z.object({ approved: z.boolean(), note: z.string().optional() });
const yes = { approved: true };

function tokenOf(url: string): string {
  expect(url).toMatch(/^https:\/\/app\.example\.com\/ai\/decide\/[\w.-]+$/);
  return url.slice(url.lastIndexOf("/") + 1);
}

/** A workflow that makes a link before its gate; the link goes to the caller while the step runs, which then waits. */
function approval(options: LinkOptions = {}) {
  const made = Promise.withResolvers<string>();
  const reached = Promise.withResolvers<void>();
  const workflow = flow()
    .andThen({
      id: "mail",
      execute: async ({ link }) => {
        made.resolve(tokenOf(link("gate", options)));
        await reached.promise;
        return null;
      },
    })
    .andThen({
      id: "gate",
      resumeSchema: answer,
      execute: ({ resumeData, suspend }) => resumeData ?? suspend("Publish?", { text: "a" }),
    });
  return { workflow, token: made.promise, reach: () => reached.resolve() };
}

/** The message in the journal. */
async function failureOf(andante: ReturnType<Bench["andante"]>, workflowId: string): Promise<string> {
  const { executionId } = await andante.execute(workflowId, null);
  const events = await andante.events(workflowId, executionId);
  return JSON.stringify(events.find(({ type }) => type === "step-error")).replaceAll('\\"', '"');
}

type Linked = Pick<ReturnType<Bench["andante"]>, "links">;
const press = async ({ links: of }: Linked, token: string, data?: unknown): Promise<LinkState> =>
  of.decide(token, (await of.read(token)).form, data);

export function linkCases(name: string, makeStore: () => Store): void {
  onStore(name, makeStore(), casesOn);
  crashesOn(name, makeStore);
}

function casesOn({ andanteWith, store }: Bench): void {
  test("a link resumes a step that waits, once; a second press shows who decided", async () => {
    const {
      workflow,
      token: made,
      reach,
    } = approval({ to: "ada@example.com", label: "Approve", resume: yes });
    const andante = andanteWith({ links }, workflow);
    reach();
    const { executionId } = await andante.execute(workflow.id, null);
    const token = await made;
    for (let times = 0; times < 3; times++)
      expect(await andante.links.read(token)).toMatchObject({
        ...{ status: "open", reason: "Publish?", data: { text: "a" }, to: "ada@example.com" },
        ...{ choice: { label: "Approve" }, decision: undefined, execution: "suspended" },
      });
    expect(await andante.state(workflow.id, executionId)).toMatchObject({ status: "suspended" });
    const decided = { by: "ada@example.com", label: "Approve", byDeadline: false, at: expect.any(Date) };
    expect(await press(andante, token)).toMatchObject({ status: "decided", decision: decided });
    expect(await press(andante, token)).toMatchObject({ status: "decided", decision: decided });
    await andante.settled();
    const state = await andante.state(workflow.id, executionId);
    expect(state).toMatchObject({ status: "completed", result: yes });
    const resumes = (await andante.events(workflow.id, executionId)).filter(
      ({ type }) => type === "workflow-resumed",
    );
    expect(resumes).toMatchObject([{ userId: "ada@example.com", link: "Approve", resumeData: yes }]);
  });

  test("a decision before the step waits is kept, and the step continues with it at once", async () => {
    const { workflow, token: made, reach } = approval({ to: "ada" });
    const andante = andanteWith({ links }, workflow);
    const { executionId, result } = await andante.start(workflow.id, null);
    const token = await made;
    expect(await andante.links.read(token)).toMatchObject({ status: "early", reason: "", choice: undefined });
    expect(await press(andante, token, { approved: false })).toMatchObject({ status: "decided" });
    expect(await press(andante, token, yes)).toMatchObject({ status: "decided", decision: { by: "ada" } });
    reach();
    expect(await result()).toMatchObject({ status: "completed", result: { approved: false } });
    const events = await andante.events(workflow.id, executionId);
    const types = events.map(({ type }) => type);
    expect(types).not.toContain("workflow-suspended");
    expect(types.indexOf("workflow-resumed")).toBeLessThan(types.indexOf("step-suspended"));
  });

  test("data that does not fit decides nothing", async () => {
    const { workflow, token: made, reach } = approval();
    const andante = andanteWith({ links }, workflow);
    const { result } = await andante.start(workflow.id, null);
    const token = await made;
    await expect(press(andante, token, { approved: "maybe" })).rejects.toMatchObject({ status: 400 });
    expect(await andante.links.read(token)).toMatchObject({ status: "early" });
    reach();
    expect(await result()).toMatchObject({ status: "suspended" });
    await expect(press(andante, token, {})).rejects.toMatchObject({ code: "resume-validation" });
    expect(await andante.links.read(token)).toMatchObject({ status: "open" });
  });

  test("of two links pressed at once one decides, and the other shows it", async () => {
    for (const isEarly of [true, false]) {
      const made = Promise.withResolvers<readonly [string, string]>();
      const reached = Promise.withResolvers<void>();
      const workflow = flow()
        .andThen({
          id: "mail",
          execute: async ({ link }) => {
            const choose = (approved: boolean, label: string) =>
              tokenOf(link("gate", { label, resume: { approved } }));
            made.resolve([choose(true, "Approve"), choose(false, "Reject")]);
            await reached.promise;
          },
        })
        .andThen({
          id: "gate",
          resumeSchema: answer,
          execute: ({ resumeData, suspend }) => resumeData ?? suspend(),
        });
      const andante = andanteWith({ links }, workflow);
      const { executionId, result } = await andante.start(workflow.id, null);
      if (!isEarly) {
        reached.resolve();
        await result();
      }
      const both = await Promise.all((await made.promise).map((token) => press(andante, token)));
      const [one, other] = both.map(({ status, decision }) => ({ status, label: decision?.label }));
      expect(one).toEqual(other);
      expect(one).toMatchObject({ status: "decided" });
      reached.resolve();
      await expect.poll(async () => (await andante.state(workflow.id, executionId)).status).toBe("completed");
      const { result: approved } = await andante.state(workflow.id, executionId);
      expect(approved).toEqual({ approved: one?.label === "Approve" });
    }
  });

  test("a late press does not count for the next question of the same step", async () => {
    const made: string[] = [];
    const workflow = flow().andThen({
      id: "gate",
      execute: ({ resumeData, suspend, link, stepPath }) => {
        made.push(tokenOf(link(stepPath, { resume: made.length })));
        return resumeData === undefined || resumeData === 0 ? suspend() : resumeData;
      },
    });
    const andante = andanteWith({ links }, workflow);
    const { executionId } = await andante.execute(workflow.id, null);
    const [first = ""] = made;
    await press(andante, first);
    await andante.settled();
    expect(await press(andante, first)).toMatchObject({ status: "decided" });
    expect(await andante.state(workflow.id, executionId)).toMatchObject({ status: "suspended" });
    expect(await press(andante, made.at(-1) ?? "")).toMatchObject({ status: "decided" });
    await andante.settled();
    expect(await andante.state(workflow.id, executionId)).toMatchObject({ status: "completed", result: 1 });
  });

  test("a rewind withdraws links and decisions that were made before it", async () => {
    const { workflow, token: made, reach } = approval();
    const andante = andanteWith({ links }, workflow);
    reach();
    const { executionId } = await andante.execute(workflow.id, null);
    const token = await made;
    await andante.resume(workflow.id, executionId, undefined, { stepId: "mail" });
    expect(await andante.links.read(token)).toMatchObject({ status: "replaced" });
    expect(await press(andante, token, yes)).toMatchObject({ status: "replaced" });
    expect(await andante.state(workflow.id, executionId)).toMatchObject({ status: "suspended" });
  });

  test("the link of an execution that was cancelled says so", async () => {
    const { workflow, token: made, reach } = approval();
    const andante = andanteWith({ links }, workflow);
    reach();
    const { executionId } = await andante.execute(workflow.id, null);
    const token = await made;
    await andante.cancel(workflow.id, executionId);
    expect(await press(andante, token, yes)).toMatchObject({ status: "ended", execution: "cancelled" });
  });

  test("the deadline of a step that waits decides before a late press", async () => {
    const clock = new TestClock();
    const made = Promise.withResolvers<string>();
    const workflow = flow().andThen({
      id: "gate",
      execute: ({ resumeData, suspend, link, stepPath }) => {
        if (resumeData !== undefined) return resumeData;
        made.resolve(tokenOf(link(stepPath, { resume: yes })));
        return suspend("", null, { deadline: "1h", onDeadline: { resume: "too late" } });
      },
    });
    const andante = andanteWith({ links, clock }, workflow);
    await andante.execute(workflow.id, null);
    clock.advance("2h");
    await andante.settled();
    const state = await press(andante, await made.promise);
    expect(state).toMatchObject({ status: "decided", decision: { byDeadline: true } });
  });

  test("tokens that are changed, cut together or foreign are 404, expired ones 410, and nothing is read for them", async () => {
    const clock = new TestClock();
    const { workflow, token: made, reach } = approval({ expires: "1h" });
    const reads: string[] = [];
    const counting = wrapStore(store, {
      state: (id) => {
        reads.push("state");
        return store.state(id);
      },
    });
    const andante = createAndante({ store: counting, links, clock, workflows: { workflow } });
    try {
      reach();
      await andante.execute(workflow.id, null);
      await andante.execute(workflow.id, null);
      const token = await made;
      const [payload = "", signature = ""] = token.split(".");
      const other = new LinkTokens([`${secret}!`]).sign({
        executionId: "e",
        path: "gate",
        visit: "",
        expiresAt: 9e15,
      });
      const changed = `${payload.slice(0, -2)}AA.${signature}`;
      reads.length = 0;
      const forged = [
        changed,
        `${payload}.${other.split(".")[1]}`,
        `${token}.`,
        `${token}.x`,
        other,
        "",
        ".",
        "__proto__",
      ];
      // The same bytes in another spelling.
      forged.push(`${payload}.${signature}=`, token.toLowerCase(), "x".repeat(100_000));
      for (const each of forged)
        await expect(andante.links.read(each), each.slice(0, 50)).rejects.toMatchObject({ status: 404 });
      clock.advance(3_600_000);
      await expect(andante.links.read(token)).rejects.toMatchObject({ status: 410, code: "link-expired" });
      expect(reads).toEqual([]);
    } finally {
      await andante.close({ grace: 0 });
    }
  });

  test("the form of one link does not decide another one", async () => {
    const { workflow, token: made, reach } = approval();
    const andante = andanteWith({ links }, workflow);
    reach();
    await andante.execute(workflow.id, null);
    const token = await made;
    const other = new LinkTokens([secret]).formOf("another token");
    for (const form of ["", "x", other])
      await expect(andante.links.decide(token, form, yes)).rejects.toMatchObject({ code: "link-form" });
    expect(await andante.links.read(token)).toMatchObject({ status: "open" });
  });

  test("the secret is changed without a moment in which links do not work", async () => {
    const { workflow, token: made, reach } = approval();
    const join = sharedStore(store);
    const secrets = [[secret], [`new ${secret}`, secret], [`new ${secret}`]];
    const [before, between, after] = secrets.map((each) =>
      andanteWith({ store: join(), links: { ...links, secret: each } }, workflow),
    );
    reach();
    await before?.execute(workflow.id, null);
    const token = await made;
    expect(await between?.links.read(token)).toMatchObject({ status: "open" });
    await expect(after?.links.read(token)).rejects.toMatchObject({ status: 404 });
  });

  test("a link inside containers is for the step beside it", async () => {
    const made = new Map<string, string>();
    const workflow = flow(z.array(z.string())).andForEach({
      id: "each",
      items: ({ data }) => data,
      concurrency: 2,
      step: (item) =>
        item
          .andThen({
            id: "mail",
            execute: ({ data, link }) => {
              made.set(data, tokenOf(link("gate", { resume: data.toUpperCase() })));
              return data;
            },
          })
          .andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() }),
    });
    const andante = andanteWith({ links }, workflow);
    const { executionId } = await andante.execute(workflow.id, ["a", "b"]);
    for (const token of made.values()) await press(andante, token);
    await andante.settled();
    expect(await andante.state(workflow.id, executionId)).toMatchObject({ result: ["A", "B"] });
  });

  test("a whole path is that of the step also where steps of containers have the same ids", async () => {
    let made = "";
    const inner = andAll({ id: "a", steps: [andThen({ id: "b", execute: () => "no gate" })] });
    const gate = andThen({
      id: "b",
      execute: ({ resumeData, suspend, link, stepPath }) => {
        if (resumeData !== undefined) return resumeData;
        made = tokenOf(link(stepPath, { resume: yes }));
        return suspend("Publish?");
      },
    });
    const workflow = flow().andAll({ id: "a", steps: [inner, gate] });
    const andante = andanteWith({ links }, workflow);
    const { executionId } = await andante.execute(workflow.id, null);
    await press(andante, made);
    await andante.settled();
    expect(await andante.state(workflow.id, executionId)).toMatchObject({ result: [["no gate"], yes] });
  });

  test("options that are wrong fail the step with the name of the field", async () => {
    const bad: readonly (readonly [string, LinkOptions, string])[] = [
      ["nowhere", {}, "the workflow has no step"],
      ["gate", { to: "" }, '"to"'],
      ["gate", { label: "x".repeat(101) }, '"label"'],
      ["gate", { resume: "x".repeat(2_000) }, '"resume"'],
      ["gate", { resume: { approved: 1 } }, '"resume" does not fit'],
      ["gate", { expires: "soon" as never }, "expires"],
      ["gate", { for: "ada" } as never, "for"],
    ];
    for (const [stepId, options, problem] of bad) {
      const workflow = flow()
        .andThen({ id: "mail", execute: ({ link }) => link(stepId, options) })
        .andThen({ id: "gate", resumeSchema: answer, execute: () => null });
      expect(await failureOf(andanteWith({ links }, workflow), workflow.id)).toContain(problem);
    }
    const workflow = flow().andThen({ id: "mail", execute: ({ link }) => link("mail") });
    expect(await failureOf(andanteWith({}, workflow), workflow.id)).toContain("set links: { url, secret }");
  });
}

function crashesOn(name: string, makeStore: () => Store): void {
  describe(`nodes on ${name}`, () => {
    test("an early decision from another node is found when the step suspends", async () => {
      const store = makeStore();
      await store.open();
      const join = sharedStore(store);
      const { workflow, token: made, reach } = approval();
      const [one, two] = [0, 1].map(() => createAndante({ store: join(), links, workflows: { workflow } }));
      if (one === undefined || two === undefined) throw new Error("two nodes");
      try {
        const { result } = await one.start(workflow.id, null);
        expect(await press(two, await made, yes)).toMatchObject({ status: "decided" });
        reach();
        expect(await result()).toMatchObject({ status: "completed", result: yes });
      } finally {
        await Promise.all([one, two].map((each) => each.close({ grace: 0 })));
        await store.close();
      }
    });

    test("a process that dies at any write loses no early decision and makes none twice", {
      timeout: 60_000,
    }, async () => {
      for (const { write, variant } of crashPoints()) {
        const store = makeStore();
        await store.open();
        const pressed = Promise.withResolvers<void>();
        let made = "";
        const workflow = flow()
          .andThen({
            id: "mail",
            execute: async ({ link }) => {
              made ||= tokenOf(link("gate", { to: "ada" }));
              await pressed.promise;
              return null;
            },
          })
          .andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() });
        const executionId = `pressed-${variant}-${write}`;
        /** One life: starts the execution or finds it, presses the link, and waits for the end. */
        const live = async (life: CrashingStore) => {
          const andante = createAndante({ store: life.store, links, workflows: { workflow } });
          const run = async () => {
            const { result } = await andante.start(workflow.id, null, { executionId });
            while (made === "") await new Promise((resolve) => setImmediate(resolve));
            await press(andante, made, yes);
            pressed.resolve();
            return (await result()).status;
          };
          const status = await Promise.race([run().catch(() => "died"), life.crash.then(() => "died")]);
          if (life.crashed) await life.bury();
          await andante.close({ grace: 0 });
          return status;
        };
        const first = crashingStore(store, { write, variant });
        const isOver = (await live(first)) === "completed" && !first.crashed;
        if (!isOver) expect(await live(crashingStore(store)), `${variant} ${write}`).toBe("completed");
        const state = await store.state(executionId);
        expect(state?.execution).toMatchObject({ status: "completed", result: '{"approved":true}' });
        const events = await store.events({ executionId, after: 0, limit: 100 });
        expect(
          events.filter(({ type }) => type === "workflow-resumed"),
          `${variant} ${write}`,
        ).toHaveLength(1);
        await store.close();
        if (isOver) break;
      }
    });
  });
}

// Log lines from where they are written to where they are read: steps, lists, followers, bounds, trouble.
import { expect, test } from "vitest";
import { collect, flow, onMemory } from "../../../test/support/test-andante.ts";
import { wrapStore } from "../../../test/support/wrapped-store.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import type { LogLine } from "./log-feed.ts";
import type { Logger } from "./logger.ts";

onMemory(({ andante, andanteWith, store }) => {
  const talkative = () =>
    flow().andAll({
      id: "both",
      steps: [
        (chain) =>
          chain.andThen({
            id: "left",
            execute: ({ logger }) => {
              logger.info({ n: 1, token: "hidden" }, "left speaks");
              return 1;
            },
          }),
        (chain) =>
          chain.andThen({
            id: "right",
            execute: () => {
              throw new Error("right fails");
            },
          }),
      ],
    });

  test("children of children are made without end", async () => {
    const here = andante();
    let logger = here.logger.child({ workflowId: "endless" });
    for (let round = 0; round < 20_000; round++) logger = logger.child({ round });
    logger.info({}, "the last round");
    const [line] = await here.logs.list({ workflowId: "endless" });
    expect(line).toMatchObject({ msg: "the last round", workflowId: "endless", round: 19_999 });
  });

  test("a line whose ids no database can hold is kept, with ids that it can", async () => {
    const here = andante();
    const long = "é\ud800".repeat(3_000);
    here.logger.info({ agentId: "a\u0000b", conversationId: long, userId: "" }, "odd ids");
    const kept = `${"é\ufffd".repeat(100).slice(0, 199)}…`;
    const lines = await here.logs.list({ agentId: "a\ufffdb", conversationId: kept });
    expect(lines).toMatchObject([{ msg: "odd ids", agentId: "a\u0000b" }]);
    here.logger.child({ userId: long }).info({}, "an odd user");
    expect(await here.logs.list({ userId: kept })).toMatchObject([{ msg: "an odd user" }]);
  });

  test("every line of an execution carries its ids, the step's own path, and no secret", async () => {
    const workflow = talkative();
    const here = andante(workflow);
    const options = { userId: "ada", conversationId: "c1" };
    const { executionId } = await here.execute(workflow.id, {}, options);
    const lines = await here.logs.list({ executionId });
    const ids = { workflowId: workflow.id, executionId, userId: "ada", conversationId: "c1" };
    expect(lines).toContainEqual({
      timestamp: expect.stringMatching(/Z$/),
      level: "info",
      msg: "left speaks",
      ...ids,
      stepPath: "both/left",
      n: 1,
      token: "[redacted]",
    });
    const failure = lines.find(({ msg }) => msg === "the execution failed");
    expect(failure).toMatchObject({ level: "error", ...ids, stepPath: "both/right" });
    expect(failure?.err).toMatchObject({ name: "Error", message: "right fails", stack: expect.any(String) });
    for (const line of lines) expect(line).toMatchObject(ids);
  });

  test("a list has the newest that match, oldest first, by level, ids, time and number", async () => {
    const here = andante();
    const workflowId = flow().id;
    const logger = here.logger.child({ workflowId });
    logger.debug({}, "below");
    for (let n = 1; n <= 5; n++)
      logger.info({ n, agentId: n % 2 ? "odd" : "even", conversationId: `c${n}` }, "line");
    logger.error({ n: 6 }, "trouble");
    const numbers = async (filter: object) =>
      (await here.logs.list({ workflowId, ...filter })).map((line) => line.n);
    expect(await numbers({})).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await numbers({ limit: 2 })).toEqual([5, 6]);
    expect(await numbers({ level: "warn" })).toEqual([6]);
    expect(await numbers({ agentId: "even" })).toEqual([2, 4]);
    expect(await numbers({ conversationId: "c3" })).toEqual([3]);
    expect(await numbers({ since: new Date(Date.now() + 60_000) })).toEqual([]);
    expect(await numbers({ until: new Date(Date.now() - 60_000) })).toEqual([]);
    expect(await numbers({ since: new Date(Date.now() - 60_000), until: new Date() })).toHaveLength(6);
  });

  test("a line belongs to its execution's user, though a body adds another; the newest of one user are found", async () => {
    const workflow = flow().andThen({
      id: "speak",
      execute: ({ logger }) => {
        logger.info({ n: 1 }, "line");
        logger.info({ n: 2, userId: "eve" }, "line");
        logger.child({ userId: "eve" }).info({ n: 3 }, "line");
      },
    });
    const here = andante(workflow);
    const live: (string | null)[] = [];
    const following = here.logs.follow((line) => live.push(line.userId), { workflowId: workflow.id });
    const ofAda = await here.execute(workflow.id, {}, { userId: "ada" });
    const ofNobody = await here.execute(workflow.id, {});
    for (let n = 4; n <= 5; n++) here.logger.info({ n, userId: "ada", workflowId: workflow.id }, "line");
    following.stop();
    expect(live).toEqual(["ada", "ada", "ada", null, null, null, "ada", "ada"]);
    const numbers = async (filter: object) =>
      (await here.logs.list({ workflowId: workflow.id, ...filter })).map(({ n }) => n);
    expect(await numbers({})).toEqual([1, 2, 3, 1, 2, 3, 4, 5]);
    expect(await numbers({ userId: "ada" })).toEqual([1, 2, 3, 4, 5]);
    expect(await numbers({ userId: "ada", limit: 3 })).toEqual([3, 4, 5]);
    expect(await numbers({ userId: "ada", executionId: ofAda.executionId })).toEqual([1, 2, 3]);
    expect(await numbers({ userId: "ada", executionId: ofNobody.executionId })).toEqual([]);
    expect(await numbers({ userId: "eve" })).toEqual([]);
  });

  test.each([{ limit: 0 }, { limit: 1001 }, { limit: 1.5 }, { level: "loud" as "info" }])(
    "a list refuses %o",
    async (filter) => {
      await expect(andante().logs.list(filter)).rejects.toMatchObject({ status: 400 });
    },
  );

  test("a follower gets new lines; together with a list none is missing and none comes twice", async () => {
    const here = andante();
    const workflowId = flow().id;
    const logger = here.logger.child({ workflowId });
    const seen: unknown[] = [];
    logger.info({ n: 1 }, "before");
    const following = here.logs.follow((line: LogLine) => seen.push(JSON.parse(line.record).n), {
      workflowId,
    });
    logger.info({ n: 2 }, "after");
    const kept = here.logs.kept({ workflowId }, following.after);
    logger.info({ n: 3 }, "after");
    expect((await kept).records.map(({ n }) => n)).toEqual([1]);
    following.stop();
    logger.info({ n: 4 }, "too late");
    expect(seen).toEqual([2, 3]);
  });

  test("the host's logger gets the same lines with their fields; a line that neither takes is not even made", async () => {
    const lines: unknown[] = [];
    const put = (fields: object, message: string) => lines.push({ ...fields, message });
    const host: Logger = {
      debug: put,
      info: put,
      warn: put,
      error: put,
      child: () => host,
      isLevelEnabled: (level) => level === "warn",
    };
    const workflow = flow().andTap({
      id: "speak",
      execute: ({ logger }) => {
        logger.debug(
          {
            get trap() {
              throw new Error("made");
            },
          },
          "for nobody",
        );
        logger.info({}, "for the store");
        logger.warn({ password: "hidden" }, "for both");
      },
    });
    const here = andanteWith({ logger: host }, workflow);
    const { executionId } = await here.execute(workflow.id, {});
    const ids = { workflowId: workflow.id, executionId, stepPath: "speak" };
    expect(lines).toEqual([
      { ...ids, message: "for the store" },
      { ...ids, password: "[redacted]", message: "for both" },
    ]);
    const kept = await here.logs.list({ executionId });
    expect(kept.map(({ msg }) => msg)).toEqual(["for the store", "for both"]);
  });

  test("a line that is too long keeps its ids and is marked as cut", async () => {
    const here = andante();
    const workflowId = flow().id;
    const big = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, "x".repeat(7_000)]));
    here.logger.info({ workflowId, big }, "much");
    const [line] = await here.logs.list({ workflowId });
    expect(line).toMatchObject({ workflowId, msg: "much", cut: expect.stringMatching(/characters$/) });
  });

  test("logs.level silent keeps nothing; a level that is none is refused", async () => {
    const here = andanteWith({ logs: { level: "silent" } });
    const workflowId = flow().id;
    here.logger.error({ workflowId }, "x");
    expect(await here.logs.list({ workflowId })).toEqual([]);
    expect(() => andanteWith({ logs: { level: "loud" as "info" } })).toThrow("logs.level");
    expect(() => andanteWith({ logs: { maxAge: -1 } })).toThrow("logs.maxAge");
  });

  test("a store in trouble costs lines and nothing else: the oldest go, and their number is logged", async () => {
    const observations = { ...store.observations };
    const broken = wrapStore(store, { observations });
    const refused = Promise.withResolvers<void>();
    observations.append = async () => {
      refused.resolve();
      throw new Error("no room");
    };
    const logger = new RecordingLogger();
    const workflow = flow().andThen({ id: "speak", execute: ({ logger }) => logger.info({}, "x") });
    const here = andanteWith({ store: broken, logger }, workflow);
    const events = await here.stream(workflow.id, {});
    await collect(events.events);
    await refused.promise;
    const workflowId = flow().id;
    for (let n = 0; n < 25_000; n++) here.logger.info({ n, workflowId }, "line");
    expect(logger.messages).toContain("log lines and spans were dropped: the store cannot keep up");
    observations.append = store.observations.append;
    const [last] = await here.logs.list({ workflowId, limit: 1 });
    expect(last).toMatchObject({ n: 24_999 });
  });
});

// GET /api/logs
import { createWorkflow } from "@andante/core";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { errorOf, type Fields, payloadOf, textOf, timestamp } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const talk = createWorkflow({ id: "talk", input: z.object({ lines: z.number() }) }).andThen({
  id: "speak",
  execute: ({ data, logger }) => {
    for (let n = 1; n <= data.lines; n++)
      logger[n % 2 ? "info" : "warn"]({ n, secret: "hidden" }, `line ${n}`);
    logger.debug({}, "not kept");
    return data;
  },
});

const server = await serveForTest({ workflows: { talk } });

const logs = async (query: string): Promise<Fields[]> =>
  z.array(z.record(z.string(), z.unknown())).parse(payloadOf(await server.get(`/api/logs${query}`)));

async function speak(lines: number, options: Fields = {}): Promise<string> {
  const answer = await server.post("/workflows/talk/execute", { input: { lines }, options });
  return textOf(
    z.object({ data: z.record(z.string(), z.unknown()) }).parse(JSON.parse(answer.text)).data,
    "executionId",
  );
}

test("a line is there as soon as the execution that wrote it has answered, in the contract's order and with its ids", async () => {
  const executionId = await speak(2, { userId: "ada", conversationId: "c1" });
  const ids = { workflowId: "talk", executionId, stepPath: "speak", userId: "ada", conversationId: "c1" };
  expect(await logs(`?executionId=${executionId}`)).toEqual([
    { timestamp, level: "info", msg: "line 1", ...ids, n: 1, secret: "[redacted]" },
    { timestamp, level: "warn", msg: "line 2", ...ids, n: 2, secret: "[redacted]" },
  ]);
});

describe("filters", () => {
  let executionId: string;
  beforeAll(async () => {
    await speak(3);
    executionId = await speak(130, { conversationId: "long" });
  });
  const numbers = async (query: string) => (await logs(query)).map((line) => line.n);

  test("the newest hundred by default, oldest first", async () => {
    const newest = await numbers(`?executionId=${executionId}`);
    expect([newest.length, newest[0], newest.at(-1)]).toEqual([100, 31, 130]);
    expect(await numbers(`?executionId=${executionId}&limit=1000`)).toHaveLength(130);
    expect(await numbers(`?executionId=${executionId}&limit=2`)).toEqual([129, 130]);
  });

  test("level is the lowest one", async () => {
    const levels = (await logs(`?executionId=${executionId}&level=warn&limit=1000`)).map(
      (line) => line.level,
    );
    expect([levels.length, new Set(levels)]).toEqual([65, new Set(["warn"])]);
    expect(await numbers(`?executionId=${executionId}&level=error`)).toEqual([]);
  });

  test("workflowId, conversationId, agentId", async () => {
    expect(await numbers("?workflowId=talk&conversationId=long&limit=1")).toEqual([130]);
    expect(await numbers("?workflowId=other")).toEqual([]);
    expect(await numbers("?agentId=nobody")).toEqual([]);
  });

  test("since and until", async () => {
    const at = (shift: number) => encodeURIComponent(new Date(Date.now() + shift).toISOString());
    expect(await numbers(`?executionId=${executionId}&since=${at(60_000)}`)).toEqual([]);
    expect(await numbers(`?executionId=${executionId}&until=${at(-60_000)}`)).toEqual([]);
    expect(await numbers(`?executionId=${executionId}&since=${at(-60_000)}&until=${at(1000)}`)).toHaveLength(
      100,
    );
  });
});

test.each(["limit=0", "limit=1001", "limit=x", "level=loud", "since=yesterday", "until=never"])(
  "%s is 400",
  async (query) => {
    const error = errorOf(await server.get(`/api/logs?${query}`), 400);
    expect(error).toContain(`query.${query.split("=")[0]}`);
  },
);

test("a token in the address of a request is in no line", async () => {
  await server.get("/nowhere?token=hidden-token");
  expect(JSON.stringify(await logs("?limit=1000"))).not.toContain("hidden-token");
});

// options.tags of a start, and the filter `tag` of lists
import { createWorkflow } from "@andante/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { dataOf, errorOf, type Fields, listOf, textOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const marked = createWorkflow({ id: "marked", input: z.object({}), tags: ["billing", "nightly"] }).andThen({
  id: "only",
  execute: () => "done",
});
const plain = createWorkflow({ id: "plain", input: z.object({}) }).andThen({
  id: "only",
  execute: () => "done",
});

const server = await serveForTest({ workflows: { marked, plain } });

const execute = (workflow: string, options: Fields = {}) =>
  server.post(`/workflows/${workflow}/execute`, { input: {}, options });
const idOf = async (workflow: string, options: Fields = {}) =>
  textOf(dataOf(await execute(workflow, options)), "executionId");
const stateOf = async (workflow: string, executionId: string) =>
  dataOf(await server.get(`/workflows/${workflow}/executions/${executionId}/state`));
const found = async (path: string) =>
  listOf(dataOf(await server.get(path)), "executions").map((each) => each.executionId);

test("the workflow's tags and those of the start are kept, each once, and shown in state and lists", async () => {
  const executionId = await idOf("marked", { tags: ["customer 7", "billing"] });
  const tags = ["billing", "nightly", "customer 7"];
  expect((await stateOf("marked", executionId)).tags).toEqual(tags);
  const [listed] = listOf(dataOf(await server.get(`/api/executions?id=${executionId}`)), "executions");
  expect(listed?.tags).toEqual(tags);
});

test("an execution without any shows none", async () => {
  const executionId = await idOf("plain");
  expect(await stateOf("plain", executionId)).not.toHaveProperty("tags");
});

test("lists are filtered by a tag, alone and with other filters, in both places", async () => {
  const first = await idOf("plain", { tags: ["ünïque & odd?"], userId: "ada" });
  const second = await idOf("marked", { tags: ["ünïque & odd?"] });
  await idOf("plain", { tags: ["another"] });
  const tag = encodeURIComponent("ünïque & odd?");
  expect((await found(`/api/executions?tag=${tag}`)).sort()).toEqual([first, second].sort());
  expect(await found(`/api/executions?tag=${tag}&userId=ada`)).toEqual([first]);
  expect(await found(`/workflows/marked/executions?tag=${tag}`)).toEqual([second]);
  expect(await found(`/workflows/marked/executions?tag=${tag}&status=error`)).toEqual([]);
  expect(await found("/api/executions?tag=nobody")).toEqual([]);
});

test("pages of a tag lead from one to the next", async () => {
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) ids.push(await idOf("plain", { tags: ["paged"] }));
  const seen: unknown[] = [];
  let cursor = "";
  do {
    const page = dataOf(await server.get(`/api/executions?tag=paged&limit=2${cursor}`));
    seen.push(...listOf(page, "executions").map((each) => each.executionId));
    cursor = page.nextCursor === null ? "" : `&cursor=${textOf(page, "nextCursor")}`;
  } while (cursor !== "" && seen.length <= ids.length);
  expect(seen).toEqual(ids.toReversed());
});

test("a stream takes tags too", async () => {
  const stream = await server.stream("/workflows/plain/stream", { input: {}, options: { tags: ["live"] } });
  const last = (await stream.rest()).at(-1);
  expect(await found("/api/executions?tag=live")).toEqual([last?.executionId]);
});

describe("bad tags are 400, name the fault, and start nothing:", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `tag ${index}`);
  test.each<[string, unknown, string]>([
    ["no list", "red", "tags"],
    ["no texts", [1], "tags"],
    ["an empty one", [""], "1 to 100 characters"],
    ["a long one", ["x".repeat(101)], "1 to 100 characters"],
    ["a control character", ["a\u0000b"], "control character"],
    ["half a character", ["\ud800"], "control character"],
    ["too many", many(21), "at most 20"],
  ])("%s", async (_, tags, words) => {
    const options = { tags, executionId: "bad-tags" };
    expect(errorOf(await execute("plain", options), 400)).toContain(words);
    expect((await server.get("/workflows/plain/executions/bad-tags/state")).status).toBe(404);
  });

  test("too many with those of the workflow", async () => {
    expect(dataOf(await execute("marked", { tags: many(18) })).status).toBe("completed");
    expect(errorOf(await execute("marked", { tags: many(19) }), 400)).toContain("at most 20");
  });
});

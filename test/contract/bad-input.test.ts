// Any malformed request: the envelope, a 4xx, and no execution left behind.
import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { countExecutions, ended, startApproval } from "../support/executions.ts";
import { call, dataOf, errorOf, type TestResponse } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const limit = 64 * 1024;
const server = await serveForTest({ limits: { body: limit } });
const waiting = (await startApproval(server)).executionId;

const json = { "content-type": "application/json" };
const send = (path: string, body: string | undefined, headers: Record<string, string> = json) =>
  call(server.url + path, { method: "POST", headers, ...(body !== undefined && { body }) });

/** A refused request has started nothing, and earlier suspensions are still open. */
async function refused(status: number, what: () => Promise<TestResponse>): Promise<string> {
  const before = await countExecutions(server);
  const message = errorOf(await what(), status);
  expect(await countExecutions(server)).toBe(before);
  const state = dataOf(await server.get(`/workflows/approval/executions/${waiting}/state`));
  expect(state.status).toBe("suspended");
  return message;
}

const starts = ["/workflows/mirror/execute", "/workflows/mirror/stream"];
const steers = () =>
  ["suspend", "resume", "cancel"].map((what) => `/workflows/approval/executions/${waiting}/${what}`);

describe.each(starts)("%s", (path) => {
  test.each([
    ["malformed JSON", '{"input":'],
    ["two values", '{"input":1}{"input":2}'],
    ["not JSON at all", "input=1"],
    ["NaN", '{"input":NaN}'],
    ["a text", '"input"'],
    ["a number", "1"],
    ["null", "null"],
    ["an array", '[{"input":1}]'],
    ["no input", "{}"],
    ["options of another type: text", '{"input":1,"options":"x"}'],
    ["options of another type: array", '{"input":1,"options":[]}'],
    ["options of another type: number", '{"input":1,"options":1}'],
    ["userId: number", '{"input":1,"options":{"userId":1}}'],
    ["userId: empty", '{"input":1,"options":{"userId":""}}'],
    ["conversationId: object", '{"input":1,"options":{"conversationId":{}}}'],
    ["executionId: number", '{"input":1,"options":{"executionId":1}}'],
    ["executionId: empty", '{"input":1,"options":{"executionId":""}}'],
    ["executionId: too long", `{"input":1,"options":{"executionId":"${"x".repeat(201)}"}}`],
    ["executionId: half a letter", '{"input":1,"options":{"executionId":"\\ud800"}}'],
    ["executionId: a NUL", '{"input":1,"options":{"executionId":"a\\u0000b"}}'],
    ["executionId: a line break", '{"input":1,"options":{"executionId":"a\\r\\nx: y"}}'],
    ["userId: a NUL", '{"input":1,"options":{"userId":"a\\u0000b"}}'],
    ["context: text", '{"input":1,"options":{"context":"x"}}'],
    ["context: array", '{"input":1,"options":{"context":[1]}}'],
    ["__proto__", '{"input":1,"__proto__":{"admin":true}}'],
    ["__proto__ nested", '{"input":{"a":[{"__proto__":{"admin":true}}]}}'],
    ["__proto__ escaped", '{"input":{"\\u005f\\u005fproto\\u005f\\u005f":{"admin":true}}}'],
    ["__proto__ half escaped", '{"input":{"__pr\\u006Fto__":1}}'],
    ["__proto__ in options", '{"input":1,"options":{"context":{"__proto__":{"admin":true}}}}'],
    ["nested too deeply", `{"input":${"[".repeat(20_000)}${"]".repeat(20_000)}}`],
    [
      "nested too deeply, with an escape",
      `{"x":"\\u0041","input":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
    ],
    [
      "nested too deeply in context",
      `{"input":1,"options":{"context":{"a":${"[".repeat(9000)}${"]".repeat(9000)}}}}`,
    ],
  ])("%s is 400", async (_, body) => {
    await refused(400, () => send(path, body));
  });

  test("no body and an empty body are 400", async () => {
    for (const body of [undefined, "", " \n"]) {
      expect(await refused(400, () => send(path, body))).toBe("The request needs a JSON body");
    }
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/jsonp",
    "",
  ])("content type %j is 415", async (type) => {
    const message = await refused(415, () => send(path, '{"input":1}', { "content-type": type }));
    expect(message).toContain("application/json");
  });

  test("a body over the limit is 413 by its content-length", async () => {
    const body = JSON.stringify({ input: "x".repeat(limit) });
    expect(await refused(413, () => send(path, body))).toContain(String(limit));
  });

  test("a body over the limit is 413 also in chunks of unknown number", async () => {
    await refused(413, () =>
      sendChunks(
        path,
        Array.from({ length: 40 }, () => "x".repeat(4096)),
      ),
    );
  });

  test("a body of exactly the limit is taken", async () => {
    const empty = JSON.stringify({ input: "" }).length;
    const body = JSON.stringify({ input: "x".repeat(limit - empty) });
    const answer = await send(path, body);
    expect(answer.status).toBe(200);
  });
});

/** Sends without a content-length, over a real socket. */
function sendChunks(
  path: string,
  chunks: string[],
  headers: Record<string, string> = json,
): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request(server.url + path, { method: "POST", headers }, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8");
      incoming.on("data", (part: string) => {
        text += part;
      });
      incoming.on("end", () => {
        const given = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]);
        resolve({ status: incoming.statusCode ?? 0, headers: new Headers(given), text });
      });
    });
    outgoing.on("error", reject);
    for (const chunk of chunks) outgoing.write(chunk);
    outgoing.end();
  });
}

test("a body in chunks is read, also when a letter is cut in two", async () => {
  const bytes = Buffer.from('{"input":"ü"}');
  const cut = bytes.indexOf(0xc3) + 1;
  const response = await fetch(`${server.url}/workflows/mirror/execute`, {
    method: "POST",
    headers: json,
    duplex: "half",
    body: new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes.subarray(0, cut));
        controller.enqueue(bytes.subarray(cut));
        controller.close();
      },
    }),
  } satisfies RequestInit & { duplex: "half" });
  expect(await response.json()).toMatchObject({ data: { result: { data: "ü" } } });
});

test.each(["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "application/ld+json"])(
  "content type %s is JSON",
  async (type) => {
    const answer = await send("/workflows/mirror/execute", '{"input":1}', { "content-type": type });
    expect(dataOf(answer).status).toBe("completed");
  },
);

test("steering: malformed JSON, wrong shapes, wrong types and __proto__ are 400, the wrong content type 415", async () => {
  for (const path of steers()) {
    for (const body of ["{", "[]", "1", "null", '{"__proto__":1}', '{"x":[{"\\u005f_proto__":1}]}']) {
      await refused(400, () => send(path, body));
    }
    await refused(415, () => send(path, '{"reason":"x"}', { "content-type": "text/plain" }));
    await refused(413, () => send(path, JSON.stringify({ reason: "x".repeat(limit) })));
  }
});

test.each([
  '{"options":1}',
  '{"options":[]}',
  '{"options":{"stepId":1}}',
  '{"options":{"stepId":""}}',
  '{"options":{"suspensionId":{}}}',
])("resume with options of wrong types is 400: %s", async (body) => {
  await refused(400, () => send(`/workflows/approval/executions/${waiting}/resume`, body));
});

describe("unknown keys", () => {
  test("in the body and in options are ignored and never reach the engine", async () => {
    const options = {
      resumeFrom: { executionId: waiting, stepIndex: 1 },
      startAt: 5,
      token: "x",
      userId: "ada",
    };
    const body = { input: { topic: "x" }, options, extra: true };
    const data = dataOf(await server.post("/workflows/approval/execute", body));
    expect(data).toMatchObject({ status: "suspended" });
    const state = dataOf(await server.get(`/workflows/approval/executions/${data.executionId}/state`));
    expect(state.context).toEqual({ userId: "ada" });
    dataOf(await server.post(`/workflows/approval/executions/${data.executionId}/cancel`));
  });

  test("in the options of a resume do nothing: userId is not for the caller to say", async () => {
    const data = await startApproval(server);
    const path = `/workflows/approval/executions/${data.executionId}`;
    const body = { resumeData: { approved: true }, options: { userId: "eve", rewind: 0 } };
    dataOf(await server.post(`${path}/resume`, body));
    expect((await server.get(`${path}/events`)).text).not.toContain("eve");
  });

  test("constructor and prototype are ordinary keys", async () => {
    const input = { constructor: { prototype: { polluted: true } } };
    const data = dataOf(await server.post("/workflows/mirror/execute", { input }));
    expect(data.result).toMatchObject({ data: input });
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
});

describe("ids in paths", () => {
  test.each([
    "%2F",
    "%00",
    "..%2F..",
    "%E4%BD%A0%E5%A5%BD",
    "%F0%9F%8E%B9",
    "%zz",
    "%",
    "%ff",
    "a%20b",
    "%25",
    "' or 1=1 --",
  ])("%s is an unknown workflow or execution, 404", async (id) => {
    for (const path of [
      `/workflows/${id}`,
      `/workflows/sum/executions/${id}/state`,
      `/workflows/sum/executions/${id}/events`,
      `/workflows/sum/executions/${id}/stream`,
    ]) {
      expect(await refused(404, () => server.get(path))).toMatch(/not found$/);
    }
    for (const what of ["suspend", "resume", "cancel"]) {
      await refused(404, () => server.post(`/workflows/sum/executions/${id}/${what}`));
    }
    await refused(404, () => server.post(`/workflows/${id}/execute`, { input: {} }));
  });

  test.each([
    "a/b",
    "100%",
    "%2F",
    "ü ß 你好 🎹",
    "a?b#c&d=e",
    "'; drop table executions",
    "a+b",
    "x".repeat(200),
  ])(
    "an execution named %j can be found, followed, listed and steered by its encoded id",
    async (executionId) => {
      const id = encodeURIComponent(executionId);
      const body = { input: { topic: "x" }, options: { executionId } };
      const answer = await server.post("/workflows/approval/execute", body);
      expect(dataOf(answer).executionId).toBe(executionId);
      expect(decodeURIComponent(answer.headers.get("x-execution-id") ?? "")).toBe(executionId);
      const path = `/workflows/approval/executions/${id}`;
      expect(dataOf(await server.get(`${path}/state`)).executionId).toBe(executionId);
      expect((await server.get(`/api/executions?id=${id}`)).text).toContain(JSON.stringify(executionId));
      const resumed = await server.post(`${path}/resume`, { resumeData: { approved: true } });
      expect(dataOf(resumed)).toMatchObject({ executionId, status: "completed" });
      expect(await ended(server, "approval", id)).toMatchObject({ executionId });
    },
  );

  test("a reason with any letters comes back as it was", async () => {
    const reason = 'line\nbreak, NUL \0, "quotes", 你好';
    const { executionId } = await startApproval(server);
    const path = `/workflows/approval/executions/${executionId}`;
    dataOf(await server.post(`${path}/cancel`, { reason }));
    expect((await server.get(`${path}/events`)).text).toContain(JSON.stringify(reason));
  });
});

describe("unknown methods and paths are 404 in the envelope", () => {
  test.each([
    ["GET", "/nope"],
    ["GET", "/workflows/"],
    ["GET", "//workflows"],
    ["POST", "/workflows"],
    ["PUT", "/workflows/sum"],
    ["DELETE", "/workflows/sum"],
    ["PATCH", "/workflows/sum/execute"],
    ["GET", "/workflows/sum/execute"],
    ["GET", "/workflows/sum/stream"],
    ["GET", "/workflows/sum/executions/x/resume"],
    ["POST", "/workflows/sum/executions/x/state"],
    ["POST", "/workflows/sum/executions"],
    ["PROPFIND", "/workflows"],
  ])("%s %s", async (method, path) => {
    const message = await refused(404, () => call(server.url + path, { method }));
    expect(message).toContain(method);
  });
});

test("a request that HTTP itself does not allow is 400 in the envelope", async () => {
  const answer = await new Promise<TestResponse>((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const outgoing = request({ hostname, port, path: "/workflows\\sum", method: "GET" }, async (incoming) => {
      let text = "";
      for await (const part of incoming) text += String(part);
      const type = incoming.headers["content-type"] ?? "";
      resolve({ status: incoming.statusCode ?? 0, headers: new Headers({ "content-type": type }), text });
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
  errorOf(answer, 400);
});

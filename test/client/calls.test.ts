// Calls of the client: errors with their codes, and repeating only calls that are safe to repeat.
import { AndanteApiError, createClient } from "@andante/client";
import { createJWT, jwtAuth, type RunningServer } from "@andante/server";
import { describe, expect, test } from "vitest";
import { gates } from "../support/gates.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { workflows } from "./workflows.ts";

type Host = RunningServer<typeof workflows>;
const requests: string[] = [];
const server = await serveForTest({
  workflows,
  middleware: [
    async ({ req }, next) => {
      requests.push(`${req.method} ${req.path.replaceAll(/[0-9a-f-]{36}/g, "*")}`);
      await next();
    },
  ],
});
const andante = createClient<Host>({ baseUrl: `${server.url}/` });
const refund = andante.workflow("refund");

/** A client whose first connection is cut as soon as the response begins: the server has processed the request. */
async function withFirstResponseLost() {
  const proxy = await CuttingProxy.to(server.url);
  const lost = [1];
  proxy.allowance = () => lost.pop();
  requests.splice(0);
  return { client: createClient<Host>({ baseUrl: proxy.url }), proxy, lost };
}

describe("calls", () => {
  test("execute, state, resume and lists", async () => {
    const waiting = await refund.execute({ order: 12 });
    if (waiting.status !== "suspended") throw new Error(waiting.status);
    expect(waiting.suspension).toMatchObject({ stepId: "approve", reason: "Refund?", data: { order: 12 } });
    const execution = refund.execution(waiting.executionId);
    expect(await execution.state()).toMatchObject({ status: "suspended", input: { order: 12 } });
    const { suspensionId } = waiting.suspension;
    const done = await execution.resume({ approved: true }, { suspensionId });
    expect(done).toMatchObject({ status: "completed", result: { order: 12, approved: true } });
    expect(await andante.execution(waiting.executionId).state()).toMatchObject({ workflowId: "refund" });
    const events = await andante.execution(waiting.executionId).events({ after: 1, limit: 2 });
    expect(events.map(({ type }) => type)).toEqual(["step-start", "step-complete"]);
  });

  test("a list is a page when it is awaited, and every item when it is iterated", async () => {
    const options = { tags: ["listed"] };
    for (const order of [1, 2, 3]) await refund.start({ order }, options);
    const page = await refund.executions({ tag: "listed", limit: 2 });
    expect(page.executions).toHaveLength(2);
    expect(page.nextCursor).toEqual(expect.any(String));
    const ids = [];
    for await (const { executionId } of andante.executions({ tag: "listed", limit: 2 }))
      ids.push(executionId);
    expect(new Set(ids).size).toBe(3);
  });

  test("suspend, cancel and replay", async () => {
    const held = await andante.workflow("held").start({ door: "calls" });
    await gates.arrival("calls");
    expect(await held.suspend({ reason: "lunch" })).toMatchObject({ suspension: { reason: "lunch" } });
    expect(await held.cancel({ reason: "too late" })).toMatchObject({ status: "cancelled" });
    gates.open("calls");
    const { executionId } = await refund.execute({ order: 7 });
    const replayed = await refund.execution(executionId).replay({ stepId: "approve" });
    expect(replayed).toMatchObject({ status: "suspended" });
    const other = await refund.execution(executionId).startReplay({ stepId: "look" });
    expect(await other.state()).toMatchObject({ replayOf: { executionId, stepId: "look" } });
  });

  test("an abort ends a call with its reason, and not the execution", async () => {
    const leave = new AbortController();
    const executionId = "aborted call";
    const options = { executionId, signal: leave.signal };
    const call = andante.workflow("held").execute({ door: "aborted" }, options);
    await gates.arrival("aborted");
    leave.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    expect(await andante.execution(executionId).state()).toMatchObject({ status: "running" });
    gates.open("aborted");
  });

  test("the token is a string or a function, asked for every request; further headers are sent along", async () => {
    const secret = "a secret that is long enough for tests";
    const guarded = await serveForTest({ workflows, auth: jwtAuth({ secret }) });
    const token = await createJWT({ sub: "ada" }, secret, { expiresIn: "1m" });
    let asked = 0;
    const fresh = async () => {
      asked += 1;
      return token;
    };
    for (const given of [token, fresh]) {
      const client = createClient<Host>({ baseUrl: guarded.url, token: given });
      expect((await client.workflow("refund").execute({ order: 1 })).status).toBe("suspended");
      expect((await client.executions({ userId: "ada" })).executions).not.toEqual([]);
    }
    expect(asked).toBe(2);
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const seen: string[] = [];
    const client = createClient({
      baseUrl: server.url,
      headers: { traceparent },
      fetch: (input, init) => {
        seen.push(new Headers(init?.headers).get("traceparent") ?? "");
        return fetch(input, init);
      },
    });
    await client.workflows();
    expect(seen).toEqual([traceparent]);
  });
});

describe("errors", () => {
  const refused = (call: PromiseLike<unknown>) =>
    Promise.resolve(call).then(
      () => undefined,
      (error: unknown) => error,
    );

  test("have status, code, message, and the execution", async () => {
    const any = createClient({ baseUrl: server.url });
    const unknown = await refused(any.workflow("nothing").execute({}));
    expect(unknown).toBeInstanceOf(AndanteApiError);
    expect(unknown).toMatchObject({
      status: 404,
      code: "workflow-not-found",
      message: "Workflow nothing not found",
    });
    const wrong = await refused(any.workflow("refund").execute({ order: "12" }));
    expect(wrong).toMatchObject({ status: 400, code: "input-validation" });
    const executionId = "broken, with an ü";
    const failed = await refused(andante.workflow("broken").execute({}, { executionId }));
    expect(failed).toMatchObject({ status: 500, code: "execution-failed", executionId });
    expect(await andante.execution(executionId).state()).toMatchObject({ error: "out of paper" });
  });

  test("a server that cannot be reached is status 0, after the time for which it was tried", async () => {
    const client = createClient({ baseUrl: "http://127.0.0.1:9", retryFor: 40 });
    expect(await refused(client.workflows())).toMatchObject({ status: 0, code: "unreachable" });
  });

  test("a response that is not ours has its status and no code", async () => {
    const client = createClient({
      baseUrl: "http://proxy.example",
      fetch: async () => new Response("<h1>no</h1>", { status: 418 }),
    });
    expect(await refused(client.workflows())).toMatchObject({ status: 418, code: undefined });
    const page = createClient({ baseUrl: "http://proxy.example", fetch: async () => new Response("<h1>") });
    expect(await refused(page.workflows())).toMatchObject({ status: 200, code: undefined });
  });

  test("Retry-After is obeyed", async () => {
    const times: number[] = [];
    const client = createClient({
      baseUrl: "http://busy.example",
      fetch: async () => {
        times.push(performance.now());
        return times.length < 2
          ? Response.json(
              { success: false, error: "full" },
              { status: 503, headers: { "retry-after": "0.2" } },
            )
          : Response.json({ success: true, data: [] });
      },
    });
    expect(await client.workflows()).toEqual([]);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(190);
    const impatient = createClient({
      baseUrl: "http://busy.example",
      retryFor: 100,
      fetch: async () => new Response(null, { status: 503, headers: { "retry-after": "5" } }),
    });
    expect(await refused(impatient.workflows())).toMatchObject({ status: 503, retryAfter: 5 });
  });
});

describe("calls that are repeated when their response is lost", () => {
  test("a start, under the same id: there is one execution", async () => {
    const { client, proxy } = await withFirstResponseLost();
    const { executionId } = await client.workflow("refund").execute({ order: 1 }, { tags: ["once"] });
    expect(proxy.cuts).toBe(1);
    expect(requests).toEqual(Array(2).fill("POST /workflows/refund/execute"));
    const { executions } = await andante.executions({ tag: "once" });
    expect(executions.map((each) => each.executionId)).toEqual([executionId]);
  });

  test("a replay, under the same id", async () => {
    const { executionId } = await refund.execute({ order: 1 });
    const { client, proxy } = await withFirstResponseLost();
    const replayed = await client.workflow("refund").execution(executionId).replay({ stepId: "look" });
    expect([replayed.status, proxy.cuts]).toEqual(["suspended", 1]);
  });

  test("a read", async () => {
    const { client, proxy } = await withFirstResponseLost();
    expect(await client.workflows()).toHaveLength(4);
    expect(proxy.cuts).toBe(1);
  });

  test("a resume reads the state first: an accepted one is not sent again", async () => {
    const { executionId, ...waiting } = await refund.execute({ order: 1 });
    if (waiting.status !== "suspended") throw new Error(waiting.status);
    const { suspensionId } = waiting.suspension;
    const { client, proxy } = await withFirstResponseLost();
    const done = await client
      .workflow("refund")
      .execution(executionId)
      .resume({ approved: true }, { suspensionId });
    expect(proxy.cuts).toBe(1);
    expect(done).toMatchObject({ status: "completed", result: { order: 1, approved: true } });
    const at = "/workflows/refund/executions/*";
    expect(requests.slice(0, 3)).toEqual([`POST ${at}/resume`, `GET ${at}/state`, `GET ${at}/events`]);
    expect(requests.filter((request) => request.endsWith("/resume"))).toHaveLength(1);
  });

  test("a resume that did not arrive is sent again", async () => {
    const { executionId } = await refund.execute({ order: 1 });
    const { client, proxy, lost } = await withFirstResponseLost();
    // The state is read, then the connection is cut, and the next attempts go nowhere for a while.
    lost.splice(0);
    const execution = client.workflow("refund").execution(executionId);
    await execution.state();
    proxy.retarget("http://127.0.0.1:9");
    proxy.cut();
    setTimeout(() => proxy.retarget(server.url), 60);
    expect(await execution.resume({ approved: false })).toMatchObject({ result: { approved: false } });
  });

  test("a resume that loses to another person's is rejected as uncertain", async () => {
    const { executionId, ...waiting } = await refund.execute({ order: 1 });
    if (waiting.status !== "suspended") throw new Error(waiting.status);
    const { suspensionId } = waiting.suspension;
    const { client, proxy } = await withFirstResponseLost();
    proxy.allowance = () => undefined;
    proxy.retarget("http://127.0.0.1:9");
    const late = client
      .workflow("refund")
      .execution(executionId)
      .resume({ approved: true }, { suspensionId });
    await refund.execution(executionId).resume({ approved: false });
    proxy.retarget(server.url);
    await expect(late).rejects.toMatchObject({ code: "resume-uncertain", executionId });
  });

  test("nothing else: a cancel whose response is lost is an error", async () => {
    const held = await andante.workflow("held").start({ door: "cancelled" });
    const { client, proxy } = await withFirstResponseLost();
    const cancel = client.workflow("held").execution(held.executionId).cancel();
    await expect(cancel).rejects.toMatchObject({ status: 0, code: "unreachable" });
    expect(proxy.cuts).toBe(1);
    expect(requests).toHaveLength(1);
    gates.open("cancelled");
  });
});

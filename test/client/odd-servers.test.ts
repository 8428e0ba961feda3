// Servers and networks that misbehave: the client gives up after its timeout, and fails with its own error.
import { AndanteApiError, createClient } from "@andante/client";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";

const baseUrl = "http://odd.example";
const events = (...all: object[]) => all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const ok = (data: unknown) => Response.json({ success: true, data });

/** A stream with these bytes, which breaks after so many milliseconds. */
function broken(text: string, after: number): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(`: hello\n\n${text}`));
      setTimeout(() => controller.error(new TypeError("reset")), after);
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

async function read<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all = [];
  for await (const each of stream) all.push(each);
  return all;
}

/** How a call ends, and after how many seconds. */
async function outcome(call: PromiseLike<unknown>) {
  const begun = Date.now();
  const error = await Promise.resolve(call).then(
    (value) => ({ value }),
    (reason: unknown) => reason,
  );
  return { error, seconds: (Date.now() - begun) / 1000 };
}

describe("for how long something is tried again", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** The outcome after some minutes at most. */
  async function later(call: PromiseLike<unknown>) {
    const ended = outcome(call);
    await vi.advanceTimersByTimeAsync(300_000);
    return Promise.race([ended, "still trying"]);
  }

  /** Like a host that nothing comes back from: each connection is given up after ten seconds. */
  const blackHole: typeof fetch = () =>
    new Promise((_, reject) => setTimeout(() => reject(new TypeError("connect timeout")), 10_000));

  test.each([
    ["a read", (client: ReturnType<typeof createClient>) => client.workflows()],
    ["a start", (client: ReturnType<typeof createClient>) => client.workflow("a").execute({})],
    ["a stream", (client: ReturnType<typeof createClient>) => read(client.execution("1").stream())],
    ["the changes", (client: ReturnType<typeof createClient>) => read(client.changes())],
  ])("%s of a host that swallows everything ends, however slowly each attempt fails", async (_, call) => {
    const ended = await later(call(createClient({ baseUrl, fetch: blackHole })));
    expect(ended).toMatchObject({ error: { code: "unreachable" } });
    expect(Object(ended).seconds).toBeLessThan(45);
  });

  test("a start that a proxy cuts every minute is repeated while the server responds", async () => {
    let starts = 0;
    const fetch = vi.fn(async (address: unknown) => {
      if (!String(address).endsWith("/execute")) return new Response(null, { status: 401 });
      starts += 1;
      if (starts === 4) return ok({ executionId: "1", status: "completed" });
      await new Promise((resolve) => setTimeout(resolve, 60_000));
      return new Response(null, { status: 504 });
    });
    const ended = await later(createClient({ baseUrl, fetch }).workflow("a").execute({}));
    expect(ended).toMatchObject({ error: { value: { status: "completed" } } });
  });

  test("a stream on which little happens and that is cut all the time is followed to its end", async () => {
    let attempts = 0;
    const fetch = async () => {
      attempts += 1;
      if (attempts === 1) return broken(events({ type: "workflow-start", sequence: 1 }), 200);
      if (attempts < 40) return broken("", 200);
      return broken(events({ type: "workflow-result", status: "completed" }), 200);
    };
    const ended = await later(read(createClient({ baseUrl, fetch }).workflow("a").stream({})));
    expect(ended).toMatchObject({
      error: { value: [{ type: "workflow-start" }, { type: "workflow-result" }] },
    });
  });

  test("a reply that ran for long and was not kept is given up", async () => {
    let requests = 0;
    const fetch: typeof globalThis.fetch = async (address, init) => {
      requests += 1;
      if (init?.method === "POST") return broken(events({ type: "start", messageId: "m" }), 20_000);
      if (String(address).endsWith("/stream")) return new Response(null, { status: 204 });
      return ok({ messages: [], nextCursor: null });
    };
    const chat = createClient({ baseUrl, fetch }).agent("a").chat("hi", { conversationId: "c" });
    expect(await later(read(chat))).toMatchObject({ error: { code: "connection-lost" } });
    expect(requests).toBeLessThan(50);
  });

  test("a Retry-After that is a date is obeyed", async () => {
    const times: number[] = [];
    const fetch = async () => {
      times.push(Date.now());
      if (times.length > 1) return ok([]);
      const date = new Date(Date.now() + 10_000).toUTCString();
      return new Response(null, { status: 503, headers: { "retry-after": date } });
    };
    await later(createClient({ baseUrl, fetch }).workflows());
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(8000);
  });

  test("connections whose headers do not come count as lost, too", async () => {
    let attempts = 0;
    const fetch: typeof globalThis.fetch = async (_, init) => {
      attempts += 1;
      if (attempts === 1) return broken(events({ type: "workflow-start", sequence: 1 }), 1);
      if (attempts > 2) return broken(events({ type: "workflow-result", status: "completed" }), 1);
      return new Promise((_, reject) =>
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)),
      );
    };
    const ended = await later(read(createClient({ baseUrl, fetch }).workflow("a").stream({})));
    expect(ended).toMatchObject({
      error: { value: [{ type: "workflow-start" }, { type: "workflow-result" }] },
    });
    expect(Object(ended).seconds).toBeCloseTo(15, 0);
  });
});

describe("responses that are not Andante's", () => {
  /** The error of a call while no timer fires: nothing was waited for. */
  async function errorAtOnce(call: () => PromiseLike<unknown>) {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    return (await outcome(call())).error;
  }

  const page = async () => new Response("<h1>Log in</h1>", { headers: { "content-type": "text/html" } });

  test.each([
    ["an execution", () => read(createClient({ baseUrl, fetch: page }).workflow("a").stream({}))],
    ["changes", () => read(createClient({ baseUrl, fetch: page }).changes())],
    ["a chat", () => read(createClient({ baseUrl, fetch: page }).agent("a").chat("hi"))],
    ["a description", () => createClient({ baseUrl, fetch: page }).description()],
  ])("a page in place of %s is an error at once", async (_, call) => {
    const error = await errorAtOnce(call);
    expect(error).toBeInstanceOf(AndanteApiError);
    expect(error).toMatchObject({ status: 200, message: "The response is not one of Andante's" });
  });

  test.each(["{", "null", '"x"'])("an event that is %s is an error at once", async (data) => {
    const fetch = async () => broken(`data: ${data}\n\n`, 1000);
    const error = await errorAtOnce(() => read(createClient({ baseUrl, fetch }).workflow("a").stream({})));
    expect(error).toMatchObject({ message: "The response is not one of Andante's" });
  });

  test("a header with an id that cannot be decoded is left as it is", async () => {
    const fetch = async () => new Response(null, { status: 404, headers: { "x-execution-id": "100%" } });
    const { error } = await outcome(createClient({ baseUrl, fetch }).execution("1").state());
    expect(error).toMatchObject({ name: "AndanteApiError", status: 404, executionId: "100%" });
  });

  test("metrics whose connection breaks are read again", async () => {
    let attempts = 0;
    const fetch = async () => {
      attempts += 1;
      return attempts === 1 ? broken("", 1) : new Response("andante_up 1");
    };
    expect(await createClient({ baseUrl, fetch }).metrics()).toBe("andante_up 1");
  });
});

test("an abort does not wait for the token", async () => {
  const leave = new AbortController();
  const token = () => new Promise<string>(() => undefined);
  const call = createClient({ baseUrl, token }).workflows({ signal: leave.signal });
  leave.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
});

test("a resume whose response is lost is found by the sent JSON, not by the value it was made of", async () => {
  let isResumed = false;
  const at = new Date();
  const fetch: typeof globalThis.fetch = async (address, init) => {
    const { pathname, searchParams } = new URL(String(address));
    if (init?.method === "POST") {
      isResumed = true;
      throw new TypeError("reset");
    }
    if (pathname.endsWith("/state"))
      return ok({
        executionId: "1",
        ...(!isResumed && { suspensions: [{ suspensionId: "s", stepId: "a" }] }),
      });
    const resumeData = { at: at.toISOString(), score: null, by: ["ada", null] };
    const resumed = { type: "workflow-resumed", sequence: 3, suspensionId: "s", resumeData };
    return ok(searchParams.get("after") === "0" ? [resumed] : []);
  };
  const execution = createClient({ baseUrl, fetch }).workflow("a").execution("1");
  const sent = { at, score: Number.NaN, by: ["ada", undefined], note: undefined };
  expect(await execution.startResume(sent)).toMatchObject({ executionId: "1" });
});

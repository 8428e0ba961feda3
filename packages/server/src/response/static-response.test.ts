// Responses that are the same for many requests are built once, in each form, and the cache is bounded.
import { createWorkflow, memoryStore } from "@andante/core";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { createApp } from "../app.ts";
import { compress } from "./compress.ts";
import { RouteResponse } from "./route-response.ts";
import { StaticResponse, StaticResponses } from "./static-response.ts";

const text = "tempo ".repeat(2000);
const page = () => new RouteResponse(text, { headers: { "content-type": "text/html" } });
const accepting = (encoding: string) => (name: string) => (name === "accept-encoding" ? encoding : undefined);

const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) }).andThen({
  id: "times-two",
  execute: ({ data }) => data.n * 2,
});
const describeApi = vi.hoisted(() => vi.fn());
vi.mock(import("../openapi/openapi.ts"), async (load) => {
  const original = await load();
  describeApi.mockImplementation(original.describeApi);
  return { ...original, describeApi };
});

const landingPage = vi.hoisted(() => vi.fn());
vi.mock(import("../openapi/landing-page.ts"), async (load) => {
  const original = await load();
  landingPage.mockImplementation(original.landingPage);
  return { ...original, landingPage };
});

const exampleCalls = vi.hoisted(() => vi.fn());
vi.mock(import("../openapi/example-call.ts"), async (load) => {
  const original = await load();
  exampleCalls.mockImplementation(original.exampleCalls);
  return { ...original, exampleCalls };
});

test("a compressed form is made once, also for requests that come while it is made", async () => {
  const built = new StaticResponse(text, page());
  const [one, other] = await Promise.all([
    compress(built, accepting("gzip")),
    compress(built, accepting("gzip")),
  ]);
  expect(one).toBe(other);
  expect(await compress(built, accepting("gzip"))).toBe(one);
  expect((await compress(built, accepting("br"))).headers["content-encoding"]).toBe("br");
  expect((await compress(built, () => undefined)).body).toBe(text);
});

test("a response is built once for each key; the one that was requested longest ago is forgotten", async () => {
  const responses = new StaticResponses(2);
  const build = vi.fn(page);
  const get = (key: string) => responses.get(key, build);
  const [one, same] = await Promise.all([get("a"), get("a")]);
  expect(one).toBe(same);
  await get("b");
  await get("a");
  await get("c");
  expect(build).toHaveBeenCalledTimes(3);
  expect(await get("a")).toBe(one);
  await get("b");
  expect(build).toHaveBeenCalledTimes(4);
});

test("a failure is not kept", async () => {
  const responses = new StaticResponses(2);
  const fail = () => {
    throw new Error("no");
  };
  await expect(responses.get("a", fail)).rejects.toThrow("no");
  await expect(responses.get("a", page)).resolves.toMatchObject({ body: text });
});

const app = createApp({ workflows: { double }, store: memoryStore() });
afterAll(() => app.close());
const ask = async (path: string, origin = "http://localhost") => {
  const response = await app.fetch(new Request(origin + path, { headers: { "accept-encoding": "gzip" } }));
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    body: await response.arrayBuffer(),
  };
};

test("the API is described once for callers who see the same", async () => {
  const first = await ask("/doc");
  const second = await ask("/doc");
  expect(describeApi).toHaveBeenCalledTimes(1);
  expect(second).toEqual(first);
});

test("the landing page goes by the name under which it is asked for", async () => {
  const page = async (origin: string) => await (await app.fetch(new Request(`${origin}/`))).text();
  expect(await page("http://one.example")).toContain("http://one.example/workflows/double");
  expect(await page("http://two.example")).not.toContain("one.example");
});

test("the landing page is built once for all hosts; a host with the shell's or HTML's own characters does no harm", async () => {
  const page = async (host: string) => await (await app.fetch(new Request(`http://${host}/`))).text();
  await page("first.example");
  await page("o'reilly.example");
  landingPage.mockClear();
  expect(await page("$&.example")).toContain("&#39;http://$&#38;.example/workflows/double/execute&#39;");
  expect(await page("o'neil.example")).toContain("&#39;http://o&#39;\\&#39;&#39;neil.example/workflows");
  for (let n = 0; n < 100; n += 1) expect(await page(`h${n}.example`)).toContain(`http://h${n}.example/work`);
  expect(landingPage).not.toHaveBeenCalled();
});

test("a hundred hosts do not push out the description of the API", async () => {
  await ask("/doc");
  describeApi.mockClear();
  for (let n = 0; n < 100; n += 1) await ask("/", `http://h${n}.example`);
  await ask("/doc");
  expect(describeApi).not.toHaveBeenCalled();
});

test("a response with a very long key is built, and not kept", async () => {
  const responses = new StaticResponses(2);
  const build = vi.fn(page);
  for (const key of ["a".repeat(512), "a".repeat(513)])
    for (let n = 0; n < 2; n += 1) expect((await responses.get(key, build)).body).toBe(text);
  expect(build).toHaveBeenCalledTimes(3);
});

test.each(["swagger-ui-bundle.js", "swagger-ui.css", "start.js"])("/ui/%s has its type", async (file) => {
  const { status, type, body } = await ask(`/ui/${file}`);
  expect([status, type]).toEqual([200, `text/${file.endsWith("css") ? "css" : "javascript"}; charset=utf-8`]);
  expect(body.byteLength).toBeGreaterThan(100);
  expect((await ask("/ui/toString")).status).toBe(404);
});

test("an asset of the interactive page is compressed once for all its requests", async () => {
  const app = createApp({ workflows: { double }, store: memoryStore() });
  onTestFinished(() => app.close());
  let made = 0;
  const { form } = StaticResponse.prototype;
  const counted = vi.spyOn(StaticResponse.prototype, "form").mockImplementation(function (
    this: StaticResponse,
    name,
    make,
  ) {
    const counting = () => {
      made += 1;
      return make();
    };
    return form.call(this, name, counting);
  });
  onTestFinished(() => counted.mockRestore());
  const headers = { "accept-encoding": "gzip" };
  const encodings = [];
  for (let request = 0; request < 3; request += 1) {
    const response = await app.fetch(new Request("http://localhost/ui/swagger-ui.css", { headers }));
    encodings.push(response.headers.get("content-encoding"));
    await response.arrayBuffer();
  }
  expect(encodings).toEqual(["gzip", "gzip", "gzip"]);
  expect(made).toBe(1);
});

test("the example of a workflow is made once for all hosts, and each sees its own address", async () => {
  exampleCalls.mockClear();
  const expectAt = async (origin: string, address: string) => {
    const response = await app.fetch(new Request(`${origin}/api/workflows/double/example`));
    const calls = [expect.stringContaining(`curl -s ${address} -H`)];
    expect(await response.json()).toMatchObject({ data: { input: { n: expect.any(Number) }, calls } });
  };
  for (const host of ["one.example", "two.example:8080", "one.example"])
    await expectAt(`http://${host}`, `http://${host}/workflows/double/execute`);
  expect(exampleCalls).toHaveBeenCalledTimes(1);
  await expectAt("http://it's", `'http://it'\\''s/workflows/double/execute'`);
});

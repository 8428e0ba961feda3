// The host's own routes are held to a body size as the built-in ones are, unless the host sets another.
import { describe, expect, test } from "vitest";
import { errorOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { provider } from "../support/tokens.ts";

type CustomApp = Parameters<NonNullable<NonNullable<Parameters<typeof serveForTest>[0]>["configureApp"]>>[0];

const size = (bytes: number) => "x".repeat(bytes);

/** Routes that read a body in each of the ways there are. */
function configureApp(app: CustomApp): void {
  app.post("/own/text", async (c) => c.text(String((await c.req.text()).length)));
  app.post("/own/json", async (c) => c.json({ length: JSON.stringify(await c.req.json()).length }));
  app.post("/own/throws", () => {
    throw "not an error";
  });
  app.post("/own/ignored", (c) => c.text("not read"));
  app.post("/own/stream", async (c) => {
    let bytes = 0;
    for await (const chunk of c.req.raw.body ?? []) bytes += chunk.length;
    return c.text(String(bytes));
  });
}

/** Sends a body piece by piece, without saying how long it will be. */
function chunked(server: TestServer, path: string, text: string): Promise<Response> {
  const pieces = text.match(/.{1,100}/g) ?? [];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(Buffer.from(piece));
    },
  });
  const headers = { "content-type": "application/json" };
  return fetch(server.url + path, { method: "POST", headers, body, duplex: "half" });
}

const paths = ["/own/text", "/own/json", "/own/ignored", "/own/stream"];

describe("by default", async () => {
  const server = await serveForTest({ limits: { body: 1000 }, configureApp });
  const refused = "The request body is larger than 1000 bytes (limits.customBody)";

  test.each(paths)("%s takes a body of the limit of `body`, and no more", async (path) => {
    const fits = JSON.stringify(size(998));
    expect((await server.send("POST", path, size(998))).status).toBe(200);
    expect((await chunked(server, path, fits)).status).toBe(200);
    expect(errorOf(await server.send("POST", path, size(999)), 413)).toBe(refused);
    for (const bytes of [999, 5000]) {
      const response = await chunked(server, path, JSON.stringify(size(bytes)));
      const read = { status: response.status, headers: response.headers, text: await response.text() };
      expect(errorOf(read, 413)).toBe(refused);
    }
  });

  test("a body that fits arrives whole", async () => {
    const response = await chunked(server, "/own/json", JSON.stringify({ text: size(900) }));
    expect(await response.json()).toEqual({ length: 911 });
  });
});

test("an error of a route is not taken for a problem of the body", async () => {
  const server = await serveForTest({ limits: { body: 200_000 }, configureApp });
  for (const bytes of [10, 100_000])
    expect((await server.send("POST", "/own/throws", size(bytes))).status).toBe(500);
  expect((await chunked(server, "/own/throws", JSON.stringify(size(1000)))).status).toBe(500);
});

test("customBody is a limit of its own", async () => {
  const server = await serveForTest({ limits: { body: 100, customBody: 5000 }, configureApp });
  expect((await server.send("POST", "/own/text", size(4000))).status).toBe(200);
  expect((await server.send("POST", "/own/text", size(5001))).status).toBe(413);
  expect((await server.post("/workflows/sum/execute", { input: { a: 1, text: size(200) } })).status).toBe(
    413,
  );
});

test("with customBody: false a route streams as much as it likes", async () => {
  const server = await serveForTest({ limits: { body: 1000, customBody: false }, configureApp });
  const megabytes = 8 * 1024 * 1024;
  expect(await (await chunked(server, "/own/stream", size(5000))).text()).toBe("5000");
  expect((await server.send("POST", "/own/text", size(megabytes))).text).toBe(String(megabytes + 2));
});

test("the limit comes after authentication: who may not call learns nothing else", async () => {
  const auth = provider({ defaultPrivate: true });
  const server = await serveForTest({ auth, limits: { body: 100 }, configureApp });
  expect((await server.send("POST", "/own/text", size(1000))).status).toBe(401);
});

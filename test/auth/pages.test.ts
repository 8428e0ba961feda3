// The pages for people: registered names and purposes are escaped on them, and the calls they show work.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createWorkflow } from "@andante/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { rawRequest } from "../support/raw-request.ts";
import { dataOf, errorOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const evil = `</code><script>alert("1")</script><img src=x onerror='alert(2)'>&amp;`;
const hostile = createWorkflow({
  id: `it's "<script>" & co`,
  name: evil,
  purpose: evil,
  input: z.object({ text: z.string().default(`'; touch hacked; echo "$(id)" <b>`) }),
}).andThen({ id: "look", execute: ({ data }) => data });

const server = await serveForTest({ workflows: { hostile } });

const readable = (html: string) =>
  html.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

describe("the landing page", () => {
  test("shows every name escaped", async () => {
    const { text } = await server.get("/");
    expect(text).not.toMatch(/<script|<img|onerror='|<b>/);
    expect(readable(text)).toContain(evil);
  });

  test("shows curl commands that work unchanged, for agents and workflows", async () => {
    const { text } = await server.get("/");
    for (const [kind, data] of [
      ["agents", { finishReason: "stop" }],
      ["workflows", { status: "completed" }],
    ] as const) {
      const commands = [...text.matchAll(/<pre><code>(.*?)<\/code><\/pre>/gs)].map(([, command = ""]) =>
        readable(command),
      );
      const command = commands.find((each) => each.includes(`/${kind}/`)) ?? "";
      const { stdout } = await promisify(execFile)("sh", ["-c", command], { timeout: 20_000 });
      expect(JSON.parse(stdout)).toMatchObject({ success: true, data });
    }
  });

  test("repeats neither a hostile host nor a hostile query", async () => {
    const lines = ["GET /?<script>alert(3)</script>", `host: a'b"<script>alert(3)</script>`];
    const answer = await rawRequest(server.url, lines);
    expect(answer.body).not.toContain("alert(3)");
  });

  test("has a note when nothing is registered", async () => {
    const empty = await serveForTest({ workflows: {} });
    expect((await empty.get("/")).text).toContain("No workflows registered.");
  });
});

describe.each(["/", "/ui"])("the page %s", (path) => {
  test("is HTML under a policy that lets nothing foreign in", async () => {
    const { status, headers } = await server.get(path);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain(
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(policy).not.toMatch(/script-src[^;]*unsafe|https?:|\*/);
  });

  test("names no address outside", async () => {
    const { text } = await server.get(path);
    const addresses = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = ""]) => address);
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(address).toMatch(/^(data:,|[a-z][a-z/.-]*)$/);
  });
});

test.each([
  ["start.js", "text/javascript; charset=utf-8"],
  ["swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
  ["swagger-ui.css", "text/css; charset=utf-8"],
])("the asset %s is served from here", async (name, type) => {
  const { status, headers, text } = await server.get(`/ui/${name}`);
  expect([status, headers.get("content-type")]).toEqual([200, type]);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(text.length).toBeGreaterThan(50);
});

test.each([
  "package.json",
  "..%2fpackage.json",
  "%2e%2e%2fpackage.json",
  "constructor",
  "__proto__",
  "index.html",
])("no other file is: %s", async (name) => {
  expect(errorOf(await server.get(`/ui/${name}`), 404)).toMatch(/^No route for GET \/ui\//);
});

test("the health of the service is in the envelope", async () => {
  expect(dataOf(await server.get("/health"))).toEqual({ status: "ok" });
});

// Links over HTTP: pages that show, forms that decide, and requests that do neither.
import { createClient } from "@andante/client";
import { createWorkflow } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { dataOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { provider } from "../support/tokens.ts";

const secret = "a secret of more than thirty-two characters";

/** A server whose workflow makes links before its gate. */
async function approving(basePath = "", options: object = {}) {
  const made: string[] = [];
  const publish = createWorkflow({ id: "publish", input: z.object({ text: z.string() }) })
    .andThen({
      id: "mail",
      execute: ({ data, link }) => {
        const choose = (approved: boolean, label: string) =>
          link("review", { label, to: "ada <b>", resume: { approved } });
        made.push(link("review", { to: "ada" }), choose(true, "Approve"), choose(false, "Reject"));
        return data;
      },
    })
    .andThen({
      id: "review",
      resumeSchema: z.object({
        approved: z.boolean(),
        note: z.string().optional(),
        level: z.number().max(3).optional(),
      }),
      execute: ({ data, suspend, resumeData }) =>
        resumeData ?? suspend("<script>alert(1)</script>", { text: data.text }),
    });
  const links = { url: `https://app.example.com${basePath}`, secret };
  const server = await serveForTest({
    workflows: { publish },
    links,
    ...(basePath !== "" && { basePath }),
    ...options,
  });
  const { executionId } = await server.andante.execute("publish", { text: '"<img src=x>' });
  const [form = "", approve = "", reject = ""] = made.map((url) =>
    new URL(url).pathname.replace(/^\/ai/, ""),
  );
  return { server, executionId, form, approve, reject };
}

const fieldOf = (page: string) => /name="form" value="([\w-]+)"/.exec(page)?.[1] ?? "";
const send = (server: TestServer, path: string, fields: Record<string, string>, headers = {}) =>
  fetch(server.url + path, { method: "POST", body: new URLSearchParams(fields), headers });
const statusOf = async (server: TestServer, executionId: string) =>
  (await server.andante.find(executionId)).status;

test("a scanner that opens every link decides nothing; then a press resumes once", async () => {
  const { server, executionId, approve, reject } = await approving();
  for (let times = 0; times < 100; times++)
    for (const path of [approve, reject])
      for (const method of ["GET", "HEAD"])
        expect((await fetch(server.url + path, { method })).status).toBe(200);
  // Scanners that also post have no field of the form.
  expect((await send(server, approve, {})).status).toBe(403);
  expect(await statusOf(server, executionId)).toBe("suspended");
  const page = await (await fetch(server.url + approve)).text();
  const pressed = await send(server, approve, { form: fieldOf(page) });
  expect([pressed.status, await pressed.text()]).toEqual([
    200,
    expect.stringContaining("Decided by ada &#60;b&#62; on"),
  ]);
  await server.andante.settled();
  expect(await server.andante.find(executionId)).toMatchObject({
    status: "completed",
    result: { approved: true },
  });
  // The same press once more: who decided, and nothing changes.
  const second = await send(server, approve, { form: fieldOf(page) });
  expect([second.status, await second.text()]).toEqual([
    200,
    expect.stringContaining("Decided by ada &#60;b&#62; on"),
  ]);
  expect(await server.andante.find(executionId)).toMatchObject({ result: { approved: true } });
  const late = await fetch(server.url + reject);
  expect([late.status, await late.text()]).toEqual([200, expect.stringContaining("(Approve)")]);
  const again = await send(server, reject, { form: fieldOf(page) });
  expect(again.status).toBe(403);
});

test("the page is generated from the schema, escapes its texts, and has no scripts", async () => {
  const { server, form } = await approving();
  const response = await fetch(server.url + form);
  const page = await response.text();
  expect(response.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; img-src data:; style-src 'sha256-[^']+'$/,
  );
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("referrer-policy")).toBe("same-origin");
  expect(page).not.toContain("<script");
  expect(page).not.toContain("<img");
  expect(page).toContain("&#60;script&#62;alert(1)");
  expect(page).toContain('<form method="post">');
  expect(page).toContain('name="value.approved" value="true">approved: yes</button>');
  expect(page).toMatch(/<textarea name="value\.note"/);
  expect(page).toMatch(/<input type="number" step="any" name="value\.level"/);
});

test("data that does not fit is refused with its message and the fields as they were sent", async () => {
  const { server, executionId, form } = await approving();
  const field = fieldOf(await (await fetch(server.url + form)).text());
  const bad = { form: field, "value.approved": "true", "value.note": "a & b", "value.level": "4" };
  const refused = await send(server, form, bad);
  const page = await refused.text();
  expect(refused.status).toBe(400);
  expect(page).toContain('role="alert"');
  expect(page).toContain("level");
  expect(page).toContain(">a &#38; b</textarea>");
  expect(await statusOf(server, executionId)).toBe("suspended");
  const taken = await send(server, form, { ...bad, "value.level": "2" });
  expect(taken.status).toBe(200);
  await server.andante.settled();
  const { result } = await server.andante.find(executionId);
  expect(result).toEqual({ approved: true, note: "a & b", level: 2 });
});

test("requests of pages of other sites, foreign tokens and large forms are refused", async () => {
  const { server, executionId, approve } = await approving();
  const form = fieldOf(await (await fetch(server.url + approve)).text());
  expect((await send(server, approve, { form }, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await send(server, `${approve}x`, { form })).status).toBe(404);
  expect((await fetch(`${server.url}/decide/none`)).status).toBe(404);
  expect((await send(server, approve, { form, note: "x".repeat(300_000) })).status).toBe(413);
  expect(await statusOf(server, executionId)).toBe("suspended");
});

test("links work below a base path, where every route needs a token, and authorize denies everything", async () => {
  const options = { auth: provider({ defaultPrivate: true }), authorize: () => false };
  const { server, executionId, approve } = await approving("/ai", options);
  const page = await (await fetch(server.url + approve)).text();
  expect((await send(server, approve, { form: fieldOf(page) })).status).toBe(200);
  await server.andante.settled();
  expect(await statusOf(server, executionId)).toBe("completed");
});

test("the inbox shows who is to decide, over HTTP and in the client, also without endpoints", async () => {
  const ask = createWorkflow({ id: "ask", input: z.object({}) }).andThen({
    id: "review",
    execute: ({ suspend, resumeData }) => resumeData ?? suspend("Pay?", null, { to: "ada@example.com" }),
  });
  const server = await serveForTest({ workflows: { ask } });
  const { executionId } = await server.andante.execute("ask", {});
  const { items } = dataOf(await server.get("/api/inbox?text=ADA@example"));
  expect(items).toMatchObject([{ executionId, suspension: { reason: "Pay?", to: "ada@example.com" } }]);
  expect(dataOf(await server.get("/api/inbox?text=bob@example"))).toMatchObject({ items: [] });
  const client = createClient({ baseUrl: server.url });
  const [item] = (await client.inbox()).items;
  expect(item?.suspension.to).toBe("ada@example.com");
  expect(dataOf(await server.get(`/workflows/ask/executions/${executionId}/state`))).toMatchObject({
    suspension: { to: "ada@example.com" },
  });
});

test("the inbox and a link are for the same wait: the link shows who decided there", async () => {
  const { server, executionId, form } = await approving();
  const path = `/workflows/publish/executions/${executionId}/resume`;
  expect((await server.post(path, { resumeData: { approved: false } })).status).toBe(200);
  const page = await (await fetch(server.url + form)).text();
  expect(page).toContain("Decided on");
  expect(page).not.toContain("<form");
});

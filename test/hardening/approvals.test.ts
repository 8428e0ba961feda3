// Tool approvals that only the client keeps: bound to the user, limited in time, used once, also across restarts.
import { Agent } from "@andante/core";
import { TestClock } from "@andante/core/test";
import { ToolLoopAgent, tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";
import { errorOf, type Fields } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { temporaryFile } from "../support/temporary-file.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const notOurs = "Input validation failed: input: an approval was not requested by this server";
const used = "This approval has already been used";
const user = { id: "u1", role: "user", parts: [{ type: "text", text: "pay" }] };

/** An agent that pays when a person allows it, and its payments. */
function payer(options: Partial<ConstructorParameters<typeof Agent>[0]> = {}) {
  const paid: string[] = [];
  const agent = new Agent({
    id: "payer",
    model: controlledModel((call) =>
      call.prompt.at(-1)?.role === "tool"
        ? { text: ["Done."] }
        : { calls: [{ name: "pay", input: { to: "bob" } }] },
    ),
    tools: {
      pay: tool({
        inputSchema: z.object({ to: z.string() }),
        execute: ({ to }) => {
          paid.push(to);
          return "paid";
        },
      }),
    },
    toolApproval: { pay: "user-approval" },
    ...options,
  });
  return { agents: { payer: agent }, paid };
}

/** Asks for the payment; returns the request as the client keeps it. */
async function request(server: TestServer, headers: Record<string, string> = {}): Promise<Fields> {
  const chunks = await (await server.stream("/agents/payer/chat", { input: [user] }, headers)).rest();
  const { approvalId, signature } = chunks.find(({ type }) => type === "tool-approval-request") ?? {};
  expect([approvalId, signature]).toEqual([expect.any(String), expect.any(String)]);
  return { id: approvalId, signature };
}

/** The request with a decision, as a chat client sends it back. */
function decided(approval: Fields, approved = true): Fields {
  const call = {
    type: "tool-pay",
    toolCallId: "call-pay",
    input: { to: "bob" },
    state: "approval-responded",
  };
  return {
    input: [user, { id: "a1", role: "assistant", parts: [{ ...call, approval: { ...approval, approved } }] }],
  };
}

const decide = (server: TestServer, body: Fields, headers: Record<string, string> = {}) =>
  server.post("/agents/payer/chat", body, headers);

test("an approval is used once", async () => {
  const { agents, paid } = payer();
  const server = await serveForTest({ agents });
  const body = decided(await request(server));
  expect((await decide(server, body)).status).toBe(200);
  expect(errorOf(await decide(server, body), 409)).toBe(used);
  expect(paid).toEqual(["bob"]);
});

test("of many that use it at the same time one succeeds", async () => {
  const { agents, paid } = payer();
  const server = await serveForTest({ agents });
  const body = decided(await request(server));
  const responses = await Promise.all(Array.from({ length: 5 }, () => decide(server, body)));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  expect(paid).toEqual(["bob"]);
});

test("a denial uses it up", async () => {
  const { agents, paid } = payer();
  const server = await serveForTest({ agents });
  const approval = await request(server);
  expect((await decide(server, decided(approval, false))).status).toBe(200);
  expect(errorOf(await decide(server, decided(approval)), 409)).toBe(used);
  expect(paid).toEqual([]);
});

test("it survives a restart, and so does that it was used", async () => {
  const file = temporaryFile();
  const before = payer();
  const first = await serveForTest({ agents: before.agents, store: file.open() });
  const [open, done] = [decided(await request(first)), decided(await request(first))];
  expect((await decide(first, done)).status).toBe(200);
  await first.close();
  const after = payer();
  const second = await serveForTest({ agents: after.agents, store: file.open() });
  expect(errorOf(await decide(second, done), 409)).toBe(used);
  expect((await decide(second, open)).status).toBe(200);
  expect([before.paid, after.paid]).toEqual([["bob"], ["bob"]]);
});

test("it is the user's who asked", async () => {
  const { agents, paid } = payer();
  const server = await serveForTest({ agents, auth: provider() });
  const [ada, eve] = [bearer(await tokenFor("ada")), bearer(await tokenFor("eve"))];
  const body = decided(await request(server, ada));
  expect(errorOf(await decide(server, body, eve), 400)).toBe(notOurs);
  expect(paid).toEqual([]);
  expect((await decide(server, body, ada)).status).toBe(200);
  expect(paid).toEqual(["bob"]);
});

test("users whose tokens say no id are not one user", async () => {
  const { agents, paid } = payer();
  const auth = {
    type: "names",
    verifyToken: async (name: string) => ({ name }),
    extractToken: (request: Request) => request.headers.get("x-name") ?? undefined,
  };
  const server = await serveForTest({ agents, auth });
  const body = decided(await request(server, { "x-name": "ada" }));
  expect(errorOf(await decide(server, body, { "x-name": "eve" }), 400)).toBe(notOurs);
  expect((await decide(server, body, { "x-name": "ada" })).status).toBe(200);
  expect(paid).toEqual(["bob"]);
});

test.each([
  [undefined, "1h"],
  ["90s", "90s"],
] as const)("it expires: approvalMaxAge %s", async (approvalMaxAge, age) => {
  const { agents, paid } = payer(approvalMaxAge && { approvalMaxAge });
  const clock = new TestClock();
  const server = await serveForTest({ agents, clock });
  const [early, late] = [decided(await request(server)), decided(await request(server))];
  clock.advance(age);
  expect((await decide(server, early)).status).toBe(200);
  clock.advance(1);
  expect(errorOf(await decide(server, late), 400)).toBe(
    "Input validation failed: input: an approval has expired",
  );
  // Nor can the client give it more time.
  const [, approval] = [await request(server), await request(server)];
  const longer = { ...approval, signature: String(approval.signature).replace(/^\d+/, "9999999999999") };
  expect(errorOf(await decide(server, decided(longer)), 400)).toBe(notOurs);
  expect(paid).toEqual(["bob"]);
});

test.each([
  ["another input", (text: string) => text.replace('"to":"bob"', '"to":"eve"')],
  ["another tool call", (text: string) => text.replaceAll("call-pay", "call-2")],
  [
    "another approval's id",
    (text: string) => text.replace(/"id":"[^"]+","signature"/, '"id":"x","signature"'),
  ],
  ["no signature", (text: string) => text.replace(/"signature":"[^"]+",/, "")],
  ["a signature without an expiry", (text: string) => text.replace(/"signature":"\d+\./, '"signature":"')],
])("it does not fit %s", async (_, change) => {
  const { agents, paid } = payer();
  const server = await serveForTest({ agents });
  const before = JSON.stringify(decided(await request(server)));
  const after = change(before);
  expect(after).not.toBe(before);
  expect(errorOf(await decide(server, JSON.parse(after)), 400)).toBe(notOurs);
  expect(paid).toEqual([]);
});

test("an agent of the AI SDK that signs for itself still gets its own signature back", async () => {
  const { agents, paid } = payer();
  const model = controlledModel((call) =>
    call.prompt.at(-1)?.role === "tool"
      ? { text: ["Done."] }
      : { calls: [{ name: "pay", input: { to: "bob" } }] },
  );
  const { tools } = agents.payer;
  const foreign = new ToolLoopAgent({
    model,
    tools,
    toolApproval: { pay: "user-approval" },
    experimental_toolApprovalSecret: "its own",
  });
  const server = await serveForTest({ agents: { payer: foreign } });
  const body = decided(await request(server));
  expect((await decide(server, body)).text).toContain("Done.");
  expect(errorOf(await decide(server, body), 409)).toBe(used);
  expect(paid).toEqual(["bob"]);
});

test("the request of one agent is not another's, and a host's own secret counts", async () => {
  const [one, other] = [payer({ approvalSecret: "one" }), payer({ approvalSecret: "other" })];
  const [first, second] = [
    await serveForTest({ agents: one.agents }),
    await serveForTest({ agents: other.agents }),
  ];
  const body = decided(await request(first));
  expect(errorOf(await decide(second, body), 400)).toBe(notOurs);
  const same = await serveForTest({ agents: payer({ approvalSecret: "one" }).agents });
  expect((await decide(same, body)).status).toBe(200);
  expect(() => payer({ approvalSecret: "" })).toThrow("approvalSecret must be a string");
});

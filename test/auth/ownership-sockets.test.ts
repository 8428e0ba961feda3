// Sockets that show data of users: every caller × every socket × every setting of the host.
import { once } from "node:events";
import type { AuthorizationRequest } from "@andante/server";
import { describe, expect, test } from "vitest";
import {
  headersOf,
  hosts,
  ownersIn,
  serveOwnedData,
  sightOf,
  speak,
  tokens,
} from "../support/ownership-fixture.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { refusal, SocketClient } from "../support/socket-client.ts";
import { provider } from "../support/tokens.ts";

/** Everything that the server has sent so far has come. */
async function settled(client: SocketClient): Promise<void> {
  client.socket.ping();
  await once(client.socket, "pong");
}

const inHeader = (caller: string) => [headersOf(caller), ""] as const;
const inQuery = (caller: string) => {
  const token = tokens[caller];
  return [{}, token === undefined ? "" : `&token=${token}`] as const;
};

describe.each(Object.keys(hosts))("the host decides: %s", async (host) => {
  describe.each([
    ["the header", inHeader],
    ["the query", inQuery],
  ])("a token in %s", (_, tokenOf) => {
    test("each caller sees its own kept and new entries alone", async () => {
      const server = await serveOwnedData(host);
      await speak(server);
      const clients = new Map<string, { logs: SocketClient; all: SocketClient }>();
      for (const caller of Object.keys(tokens)) {
        const [headers, query] = tokenOf(caller);
        const paths = [`/ws/logs?limit=1000${query}`, `/ws/observability?x=y${query}`] as const;
        const sight = sightOf(host, caller);
        if (sight === "refused") {
          for (const path of paths) expect((await refusal(server, path, headers)).status).toBe(403);
          expect((await refusal(server, `/ws?x=y${query}`, headers)).status).toBe(403);
          continue;
        }
        const logs = await SocketClient.connect(server, paths[0], headers);
        const kept = JSON.stringify(await logs.next());
        expect(ownersIn(kept), caller).toEqual(sight === "outline" ? [] : sight);
        expect(kept.includes("the step speaks"), caller).toBe(sight === "outline" || sight.length > 0);
        clients.set(caller, { logs, all: await SocketClient.connect(server, paths[1], headers) });
      }
      if (host === "no") return;
      await speak(server, "-again");
      // Lines are sent to all clients at once, in their order: when alice has the last one, so have the others.
      server.andante.logger.info({ userId: "alice" }, "the last line");
      const alice = clients.get("alice");
      if (alice === undefined) throw new Error("alice could not connect");
      const ofAlice = await alice.logs.until((message) => JSON.stringify(message).includes("the last line"));
      for (const [caller, { logs, all }] of clients) {
        const sight = sightOf(host, caller);
        await settled(logs);
        await settled(all);
        const lines = JSON.stringify(caller === "alice" ? ofAlice : logs.arrived);
        const spans = JSON.stringify(all.arrived);
        for (const shown of [lines, spans]) {
          expect(ownersIn(shown), caller).toEqual(sight === "outline" ? [] : sight);
          expect(shown.includes("the step speaks"), caller).toBe(sight === "outline" || sight.length > 0);
        }
        expect(spans.includes("invoke_workflow talk"), caller).toBe(sight === "outline" || sight.length > 0);
      }
    });
  });
});

test("authorize is asked about sockets, with the ids that the filter names, and again about another filter", async () => {
  const asked: AuthorizationRequest[] = [];
  const server = await serveForTest({
    auth: provider(),
    authorize: (request) => {
      asked.push(request);
      if (request.resource.workflowId === "broken") throw new Error("of-server");
      return request.resource.workflowId !== "secret";
    },
  });
  const headers = headersOf("alice");
  const about = (action: string, resource: object) =>
    expect.objectContaining({ userId: "alice", action, resource });
  const following = (resource: object) => [about("logs.follow", resource), about("logs.read", resource)];
  await SocketClient.connect(server, "/ws", headers);
  await SocketClient.connect(server, "/ws/observability?entityType=workflow&entityId=w", headers);
  const client = await SocketClient.connect(server, "/ws/logs?workflowId=w&limit=5", headers);
  await client.next();
  client.send({ type: "updateFilter", filter: { executionId: "e", level: "warn" } });
  expect(await client.next()).toMatchObject({ type: "initial" });
  client.send({ type: "updateFilter", filter: { agentId: "a", conversationId: "c", level: "warn" } });
  expect(await client.next()).toMatchObject({ type: "initial" });
  client.send({ type: "updateFilter", filter: { executionId: "e", level: "warn" } });
  expect(await client.next()).toMatchObject({ type: "initial" });
  expect(asked).toEqual([
    about("sockets.echo", {}),
    ...["observability.follow", "logs.read", "traces.list", "traces.read"].map((action) =>
      about(action, { entityType: "workflow", entityId: "w", workflowId: "w" }),
    ),
    ...following({ workflowId: "w" }),
    ...following({ executionId: "e" }),
    ...following({ agentId: "a", conversationId: "c" }),
    ...following({ executionId: "e" }),
  ]);
  // No id that the filter does not name is there, not even as undefined.
  expect(asked.map(({ resource }) => Object.keys(resource))).toEqual([
    [],
    ...Array.from({ length: 4 }, () => ["entityType", "entityId", "workflowId"]),
    ...[["workflowId"], ["executionId"], ["agentId", "conversationId"], ["executionId"]].flatMap((ids) => [
      ids,
      ids,
    ]),
  ]);
  client.send({ type: "updateFilter", filter: { workflowId: "secret" } });
  const refused = { type: "error", success: false };
  expect(await client.next()).toEqual({ ...refused, error: "Not allowed: logs.follow" });
  client.send({ type: "updateFilter", filter: { workflowId: "broken" } });
  expect(await client.next()).toEqual({ ...refused, error: "the filter could not be judged" });
  // The filter is the one before.
  server.andante.logger.warn({ workflowId: "secret" }, "hidden");
  server.andante.logger.warn({ executionId: "e" }, "shown");
  expect(await client.next()).toMatchObject({ type: "update", logs: [{ msg: "shown" }] });
  expect((await refusal(server, "/ws/logs?workflowId=secret", headers)).status).toBe(403);
});

test("of filters that come faster than the host decides, the last one counts", async () => {
  const held: ((decision: boolean) => void)[] = [];
  const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = await serveForTest({
    auth: provider(),
    authorize: ({ action, resource }) => {
      if (resource.workflowId === undefined || action === "logs.read" || held.length === 2) return true;
      return new Promise((resolve) => {
        held.push(resolve);
        arrived[held.length - 1]?.resolve();
      });
    },
  });
  const client = await SocketClient.connect(server, "/ws/logs", headersOf("alice"));
  await client.next();
  for (let n = 1; n <= 500; n++) client.send({ type: "updateFilter", filter: { workflowId: `w${n}` } });
  await arrived[0]?.promise;
  await settled(client);
  expect(held).toHaveLength(1);
  held[0]?.(true);
  expect(await client.next()).toMatchObject({ type: "initial" });
  await arrived[1]?.promise;
  held[1]?.(true);
  expect(await client.next()).toMatchObject({ type: "initial" });
  expect(held).toHaveLength(2);
  for (let n = 1; n <= 500; n++) server.andante.logger.info({ workflowId: `w${n}` }, `line ${n}`);
  expect(await client.next()).toMatchObject({ type: "update", logs: [{ msg: "line 500" }] });
});

test("a bad token on an open socket is ignored; on a protected one it is refused", async () => {
  const open = await serveOwnedData("no authorize");
  await speak(open);
  for (const path of ["/ws/logs?token=bad", "/ws/logs"]) {
    const client = await SocketClient.connect(
      open,
      path,
      path === "/ws/logs" ? { authorization: "Bearer bad" } : {},
    );
    const kept = JSON.stringify(await client.next());
    expect(ownersIn(kept)).toEqual([]);
    expect(kept).toContain("the step speaks");
  }
  const closed = await serveOwnedData("no authorize", { webSocket: "protect" });
  await speak(closed);
  for (const path of ["/ws/logs?token=bad", "/ws/logs", "/ws/observability", "/ws"]) {
    expect((await refusal(closed, path)).status).toBe(401);
  }
  const alice = await SocketClient.connect(closed, `/ws/logs?token=${tokens.alice}`);
  expect(ownersIn(JSON.stringify(await alice.next()))).toEqual(["alice"]);
});

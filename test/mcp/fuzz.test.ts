// Random messages to /mcp: none is a failure of the server. ANDANTE_MCP_FUZZ sets how many, 100 000 for a long run.
import { expect, test } from "vitest";
import { echo } from "../support/agents.ts";
import { brokenText, type Random, randomOf } from "../support/random-values.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { mcpClient } from "./client.ts";

const count = Number(process.env.ANDANTE_MCP_FUZZ ?? 1500);

const methods = [
  ...["tools/list", "tools/call", "tasks/get", "tasks/update", "tasks/cancel", "resources/list"],
  ...["resources/read", "resources/templates/list", "initialize", "ping", "server/discover", "prompts/list"],
  ...["completion/complete", "logging/setLevel", "notifications/cancelled", "tasks/list", "__proto__", ""],
];
const versions = ["2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05", "2099-01-01", "x"];
const names = [
  "sum",
  "approval",
  "echo",
  "failing",
  "inbox_list",
  "execution_list",
  "schedule_list",
  "toString",
];
const texts = [
  "",
  "a",
  "__proto__",
  "constructor",
  "\u0000",
  "\ud800",
  "💥".repeat(50),
  "../..",
  "andante://executions/x",
];
const fields = [
  "toString",
  ...[
    "name",
    "arguments",
    "taskId",
    "uri",
    "cursor",
    "inputResponses",
    "requestState",
    "_meta",
    "a",
    "topic",
  ],
  ...[
    "input",
    "action",
    "content",
    "progressToken",
    "limit",
    "executionId",
    "io.modelcontextprotocol/protocolVersion",
  ],
];

function randomValue(random: Random, depth = 0): unknown {
  switch (random.below(depth > 3 ? 6 : 9)) {
    case 0:
      return null;
    case 1:
      return random.next() < 0.5;
    case 2:
      return random.pick([0, -1, 1.5, 1e308, 2 ** 53, -0]);
    case 3:
      return random.pick(texts);
    case 4:
      return random.pick(names);
    case 5:
      return random.pick(versions);
    case 6:
      return Array.from({ length: random.below(4) }, () => randomValue(random, depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(5) }, () => [random.pick(fields), randomValue(random, depth + 1)]),
      );
  }
}

/** A message that is right in most of its parts. */
function messageOf(random: Random): unknown {
  if (random.next() < 0.05) return randomValue(random);
  const isModern = random.next() < 0.7;
  const meta = isModern && {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": random.next() < 0.9 ? "2026-07-28" : randomValue(random),
      "io.modelcontextprotocol/clientCapabilities":
        random.next() < 0.8
          ? { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } }
          : randomValue(random),
      ...(random.next() < 0.2 && { progressToken: randomValue(random) }),
    },
  };
  const given = random.next() < 0.7 ? { a: 1, topic: "x", input: "x" } : randomValue(random);
  const params =
    random.next() < 0.8 ? { name: random.pick(names), arguments: given, taskId: "x" } : randomValue(random);
  const body = {
    jsonrpc: random.next() < 0.97 ? "2.0" : randomValue(random),
    id: random.next() < 0.9 ? random.below(1000) : randomValue(random),
    method: random.next() < 0.95 ? random.pick(methods) : randomValue(random),
    params:
      typeof params === "object" && params !== null && !Array.isArray(params)
        ? { ...params, ...meta }
        : params,
  };
  return random.next() < 0.03 ? [body, body] : body;
}

test(
  `${count} random messages get no status of 500 or more, and the server still works`,
  async () => {
    const expose = ["sum", "approval", "echo", "failing"];
    const { url } = await serveForTest({ agents: { echo }, mcp: { expose, operator: true, wait: 0 } });
    const seed = Number(process.env.ANDANTE_MCP_FUZZ_SEED ?? Date.now() % 1_000_000);
    let left = count;
    const lane = async (place: number) => {
      const random = randomOf(seed + place);
      while (left-- > 0) {
        const message = messageOf(random);
        const text = brokenText(random, message);
        const method = Object(message).method;
        const isHeader = typeof method === "string" && /^[!-~]+$/.test(method);
        const response = await fetch(`${url}/mcp`, {
          method: "POST",
          headers: {
            "content-type": random.next() < 0.98 ? "application/json" : "text/plain",
            accept: "application/json, text/event-stream",
            ...(random.next() < 0.8 && { "mcp-protocol-version": random.pick(versions) ?? "" }),
            ...(random.next() < 0.9 && isHeader && { "mcp-method": method }),
            ...(random.next() < 0.9 && { "mcp-name": random.pick([...names, "x"]) ?? "" }),
          },
          body: text,
        });
        const body = await response.text();
        expect(response.status, `seed ${seed + place}: ${text} → ${body}`).toBeLessThan(500);
        expect(body, `seed ${seed + place}: ${text}`).not.toContain("Internal error");
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, place) => lane(place)));
    expect((await mcpClient(url).call("sum", { a: 1 })).status).toBe(200);
  },
  60_000 + count * 20,
);

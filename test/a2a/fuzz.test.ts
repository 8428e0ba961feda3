// Random messages to /a2a: none is a failure of the server. ANDANTE_A2A_FUZZ sets how many, 100 000 for a long run.
import { expect, test } from "vitest";
import { brokenText, type Random, randomOf } from "../support/random-values.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { a2aClient } from "./client.ts";

const count = Number(process.env.ANDANTE_A2A_FUZZ ?? 1500);
const expose = ["echo", "approval", "sum", "careful", "failing-later"];

const methods = [
  ...["SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CancelTask", "SubscribeToTask"],
  ...["CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig", "ListTaskPushNotificationConfigs"],
  ...[
    "DeleteTaskPushNotificationConfig",
    "GetExtendedAgentCard",
    "message/send",
    "__proto__",
    "toString",
    "",
  ],
];
const texts = ["", "a", "hi", "delete x", "__proto__", "\u0000", "\ud800", "💥".repeat(50), "../..", "aGk="];
const fields = [
  ...[
    "message",
    "configuration",
    "id",
    "taskId",
    "contextId",
    "messageId",
    "role",
    "parts",
    "metadata",
    "text",
  ],
  ...[
    "data",
    "raw",
    "url",
    "mediaType",
    "historyLength",
    "pageSize",
    "pageToken",
    "status",
    "token",
    "toString",
  ],
  ...["questionId", "approved", "topic", "a", "tenant", "authentication", "statusTimestampAfter"],
];
const urls = ["https://hooks.example/", "http://127.0.0.1:1/", "file:///etc/passwd", "x"];

function randomValue(random: Random, depth = 0): unknown {
  switch (random.below(depth > 3 ? 6 : 9)) {
    case 0:
      return null;
    case 1:
      return random.next() < 0.5;
    case 2:
      return random.pick([0, -1, 1.5, 1e308, 2 ** 53, 2 ** 31, -0]);
    case 3:
      return random.pick(texts);
    case 4:
      return random.pick(["TASK_STATE_WORKING", "ROLE_USER", "2026-01-01T00:00:00Z"]);
    case 5:
      return random.pick(urls);
    case 6:
      return Array.from({ length: random.below(4) }, () => randomValue(random, depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(5) }, () => [random.pick(fields), randomValue(random, depth + 1)]),
      );
  }
}

/** Mostly the right value. */
const or = (random: Random, value: unknown) => (random.next() < 0.93 ? value : randomValue(random));

function partOf(random: Random): unknown {
  return random.pick([
    { text: random.pick(texts) },
    { data: random.pick([{ topic: "x" }, { a: 1 }, { approved: true }, {}, 1, null]) },
    { raw: "aGk=", mediaType: random.pick(["text/plain", "image/png", "x"]) },
    { url: random.pick(urls), mediaType: "text/plain" },
    randomValue(random),
  ]);
}

/** A request that is right in most of its parts. `known`: ids of tasks. */
function requestOf(random: Random, known: readonly string[]): unknown {
  if (random.next() < 0.05) return randomValue(random);
  const taskId = random.next() < 0.5 ? random.pick(known) : random.pick(["x", "a/b", "%", ...texts]);
  const message = {
    messageId: or(random, `m-${random.below(1000)}`),
    role: or(random, "ROLE_USER"),
    parts: or(random, [partOf(random)]),
    ...(random.next() < 0.3 && { taskId }),
    ...(random.next() < 0.2 && { contextId: random.pick(["c-1", "c-2", ...texts]) }),
    ...(random.next() < 0.2 && { metadata: randomValue(random) }),
  };
  const params = {
    message: or(random, message),
    ...{ id: or(random, taskId), taskId: or(random, taskId), url: or(random, random.pick(urls)) },
    configuration: or(random, { returnImmediately: random.next() < 0.7, historyLength: or(random, 1) }),
    ...(random.next() < 0.1 && { [random.pick(fields) ?? ""]: randomValue(random) }),
  };
  return {
    jsonrpc: or(random, "2.0"),
    id: or(random, random.below(1000)),
    method: or(random, random.pick(methods)),
    params: or(random, params),
  };
}

test(
  `${count} random messages get no status of 500 or more, and the server still works`,
  async () => {
    const { url } = await serveForTest({ a2a: { expose, wait: 200 } });
    const seed = Number(process.env.ANDANTE_A2A_FUZZ_SEED ?? Date.now() % 1_000_000);
    const known: string[] = [];
    let left = count;
    const lane = async (place: number) => {
      const random = randomOf(seed + place);
      while (left-- > 0) {
        const request = requestOf(random, known);
        const text = brokenText(random, request);
        const response = await fetch(`${url}/a2a/${random.pick(expose)}`, {
          method: "POST",
          headers: {
            "content-type": random.next() < 0.98 ? "application/json" : "text/plain",
            ...(random.next() < 0.97 && { "a2a-version": random.next() < 0.97 ? "1.0" : "0.3" }),
          },
          body: text,
        });
        // A stream of a task that waits stays open: its beginning is enough.
        const reader = response.body?.getReader();
        const body = Buffer.from((await reader?.read())?.value ?? []).toString();
        await reader?.cancel();
        const [, id] = /"task":\{"id":"([^"]+)"/.exec(body) ?? [];
        if (id !== undefined) known[random.below(50)] = id;
        expect(response.status, `seed ${seed + place}: ${text} → ${body}`).toBeLessThan(500);
        expect(body, `seed ${seed + place}: ${text}`).not.toContain("-32603");
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, place) => lane(place)));
    expect((await a2aClient(url, "sum").say([{ data: { a: 1 } }])).result.task.status.state).toBe(
      "TASK_STATE_COMPLETED",
    );
  },
  60_000 + count * 30,
);

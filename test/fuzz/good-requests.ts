// Requests from a seed that have nothing wrong with them, so that the handlers behind the checks are reached too.
import type { Random } from "../../packages/core/test/support/random.ts";
import { routes } from "../../packages/server/src/routes/index.ts";
import type { RequestPlan, Vocabulary } from "./requests.ts";

/** Executions are named after their workflow and one of so many numbers: they meet again. */
const numbers = 60;

const conversations = ["known", "a", "b"];
const message = { id: "m1", role: "user", parts: [{ type: "text", text: "delete a.txt" }] };
const json: readonly [string, string] = ["content-type", "application/json"];

/** Makes requests as a careful client would, one after the other. */
export function goodPlanMaker(random: Random, words: Vocabulary): () => RequestPlan {
  const pick = (list: readonly string[]) => random.pick(list) ?? "";
  const bodies: Readonly<Record<string, (executionId: string) => unknown>> = {
    "/execute": (executionId) => ({
      input: { a: 1, topic: "t", text: "abc" },
      options: { executionId, userId: "ada", tags: ["one"], context: { tenant: "north" } },
    }),
    "/suspend": () => ({ reason: "hold on" }),
    "/resume": () => ({ resumeData: random.pick([{ approved: true }, { go: true }, { answer: 1 }]) }),
    "/cancel": () => ({}),
    "/replay": () => ({ stepId: pick(["add", "draft", "first", "look", "one", "then", "only"]) }),
    "/text": () => ({
      input: pick(["hello", "delete a.txt", "500"]),
      options: { conversationId: pick(conversations) },
    }),
    "/object": () => ({
      input: '{"a":1}',
      schema: { type: "object", properties: { a: { type: "number" } } },
    }),
    "/chat": () => ({
      id: pick(conversations),
      messages: [{ ...message, id: `m${random.integer(0, 1e9)}` }],
    }),
  };
  return () => {
    const row = random.pick(routes);
    const { method = "GET", path = "/" } = row ?? {};
    const workflow = pick(words.workflows);
    const executionId = `${workflow}-${random.integer(1, numbers)}`;
    const traceId = random.integer(1, numbers).toString(16).padStart(32, "0");
    const values: Readonly<Record<string, string>> = {
      id: path.startsWith("/agents") ? pick(words.agents) : workflow,
      executionId,
      conversationId: pick(conversations),
      file: "swagger-ui.css",
      traceId,
    };
    const target = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? "x"));
    const [ending = ""] = /\/[a-z]+(?=(-object)?$)/.exec(path) ?? [];
    const kind = path.endsWith("object") ? "/object" : ending === "/stream" ? streamKind(path) : ending;
    const body = method === "PATCH" ? { title: "t" } : bodies[kind]?.(executionId);
    const hasBody = method === "POST" || method === "PUT" || method === "PATCH";
    const usual: readonly (readonly [string, string])[] = [
      ["authorization", `Bearer ${words.tokens[0]}`],
      ["traceparent", `00-${traceId}-00000000000000a1-01`],
    ];
    return {
      near: `${method} ${path}`,
      method,
      target,
      headers: hasBody ? [...usual, json] : usual,
      body: hasBody ? JSON.stringify(body ?? {}) : undefined,
    };
  };
}

function streamKind(path: string): string {
  return path.startsWith("/agents") ? "/text" : "/execute";
}

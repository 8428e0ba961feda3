// Random requests from a seed: mostly near a real route, often broken somewhere.
import type { Random } from "../../packages/core/test/support/random.ts";
import { routes } from "../../packages/server/src/routes/index.ts";

export interface Vocabulary {
  readonly workflows: readonly string[];
  readonly agents: readonly string[];
  readonly executions: readonly string[];
  readonly tokens: readonly string[];
}

/** A request as it is on the wire: nothing has normalized its address yet. */
export interface RequestPlan {
  /** The row of the route table that it is near to, such as `POST /workflows/:id/execute`. */
  readonly near: string;
  readonly method: string;
  /** Path and query, as they are sent. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "PROPFIND"];
const oddParts = [
  "",
  ".",
  "..",
  "%2e%2e",
  "%2f",
  "%00",
  "%",
  "%zz",
  "%ff",
  "é",
  "a b",
  "__proto__",
  "x".repeat(300),
  "*",
  ":id",
  "[#]",
  "constructor",
  "%25",
  "ui",
  "doc",
  "'\"<script>",
];
const oddNumbers = ["0", "-1", "1", "1e9", "9007199254740993", "NaN", "", " ", "1.5", "0x10", "500", "10001"];
const oddTexts = [
  "",
  "a",
  "null",
  "2020-01-01",
  "2020-13-45T00:00:00Z",
  "\u{1f600}",
  "running",
  "sum",
  "%",
  "x".repeat(3000),
];
const queryNames = [
  "after",
  "limit",
  "cursor",
  "status",
  "userId",
  "tag",
  "id",
  "from",
  "to",
  "workflowId",
  "x",
  "__proto__",
];
const contentTypes = [
  "application/json",
  "application/json; charset=utf-8",
  "text/plain",
  "multipart/form-data; boundary=a",
  "",
  "application/x-www-form-urlencoded",
  "application/problem+json",
  "*/*",
];
const oddValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  "",
  "a",
  "\u0000",
  "\ud800",
  [],
  [[]],
  {},
  { a: 1 },
  { input: {} },
  "x".repeat(5000),
];
const oddBodies = [
  "",
  " ",
  "{",
  "nonsense",
  "[1,",
  '{"a":1}}',
  '{"__proto__":{}}',
  "\u0000",
  '"\\ud800"',
  "[".repeat(20_000),
  `${"[".repeat(5000)}${"]".repeat(5000)}`,
];

/** Makes the requests of one seed, one after the other. */
export function requestMaker(random: Random, words: Vocabulary): () => Request {
  const next = planMaker(random, words);
  return () => {
    const { method, target, headers, body } = next();
    const url = `http://fuzz.example/${target.replace(/^\//, "")}`;
    return new Request(url, {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      ...(body !== undefined && { body }),
    });
  };
}

/** Makes the plans of one seed, one after the other. */
export function planMaker(random: Random, words: Vocabulary): () => RequestPlan {
  const pick = <Item>(list: readonly Item[], fallback: Item): Item => random.pick(list) ?? fallback;
  const { chance } = random;

  const value = (): unknown => pick(oddValues, null);
  const options = () => {
    const names = [
      "userId",
      "conversationId",
      "executionId",
      "context",
      "stepId",
      "suspensionId",
      "tags",
      "temperature",
      "maxSteps",
      "stopSequences",
      "providerOptions",
      "resumable",
      "unknown",
    ];
    const given = names.filter(() => chance(0.2)).map((name) => [name, chance(0.5) ? value() : "known"]);
    return Object.fromEntries(given);
  };
  const body = (): string => {
    if (chance(0.15)) return pick(oddBodies, "");
    const message = { id: pick(["m1", "m2", ""], ""), role: "user", parts: [{ type: "text", text: "t" }] };
    const inputs = [
      { a: 1, topic: "t", text: "t", door: "open" },
      "add",
      [message],
      [{ ...message, parts: [value()] }],
    ];
    const input = chance(0.8) ? pick<unknown>(inputs, null) : value();
    const fields = {
      input,
      id: chance(0.5) ? "known" : value(),
      messages: chance(0.5) ? [message] : value(),
      trigger: pick(["submit-message", "regenerate-message", ""], ""),
      schema: chance(0.5)
        ? pick<object>([{}, { type: "object" }, { $ref: "#" }, { pattern: "(" }], {})
        : value(),
      title: value(),
      options: chance(0.7) ? options() : value(),
      reason: value(),
      resumeData: value(),
      stepId: chance(0.5) ? pick(["add", "wrap", "draft", "first", "look"], "") : value(),
    };
    return JSON.stringify(Object.fromEntries(Object.entries(fields).filter(() => chance(0.7))));
  };
  const part = (name: string, template: string): string => {
    if (chance(0.15)) return pick(oddParts, "");
    if (name === "id" && template.startsWith("/agents")) return encodeURIComponent(pick(words.agents, ""));
    if (name === "conversationId") return pick(["known", "a", "unknown"], "");
    if (name === "id") return encodeURIComponent(pick(words.workflows, ""));
    if (name === "executionId") return encodeURIComponent(pick(words.executions, ""));
    return pick(["start.js", "swagger-ui.css", "../app.ts", "index.html"], "");
  };
  const path = (template: string): string => {
    const filled = template.replaceAll(/:(\w+)/g, (_, name: string) => part(name, template));
    if (chance(0.9)) return filled;
    const at = random.integer(0, filled.length - 1);
    return filled.slice(0, at) + pick(["/", "//", ...oddParts], "") + filled.slice(at);
  };
  const query = (): string => {
    if (chance(0.6)) return "";
    const pairs = queryNames
      .filter(() => chance(0.25))
      .map((name) => {
        const text = chance(0.5) ? pick(oddNumbers, "") : pick(oddTexts, "");
        return `${name}=${chance(0.8) ? encodeURIComponent(text) : text}`;
      });
    return `?${pairs.join("&")}`;
  };
  const headers = (): [string, string][] => {
    const all: [string, string][] = [];
    const add = (probability: number, name: string, make: () => string) => {
      if (chance(probability)) all.push([name, make()]);
    };
    add(
      0.6,
      "authorization",
      () => `${pick(["Bearer", "bearer", "Basic", ""], "")} ${pick(words.tokens, "")}`,
    );
    add(0.1, "last-event-id", () => pick(oddNumbers, "0"));
    add(0.2, "prefer", () => pick(["respond-async", "wait=0", "wait=x", "wait=-1", ",;="], ""));
    add(0.2, "origin", () => pick(["http://a.example", "null", "", "%%%"], ""));
    add(0.1, "access-control-request-method", () => pick(methods, "GET"));
    add(0.1, "x-http-method-override", () => pick(methods, "GET"));
    add(0.1, "cookie", () => "a=b; c=%zz");
    add(0.1, "accept", () => pick(["*/*", "text/html", "application/xml"], ""));
    return all;
  };

  return () => {
    const row = pick(routes, undefined);
    const method = row === undefined || chance(0.15) ? pick(methods, "GET") : row.method;
    const all = headers();
    const withBody = method !== "GET" && method !== "HEAD" && chance(0.9);
    if (withBody) all.push(["content-type", chance(0.85) ? "application/json" : pick(contentTypes, "")]);
    return {
      near: `${row?.method} ${row?.path}`,
      method,
      target: path(row?.path ?? "/") + query(),
      headers: all,
      body: withBody ? body() : undefined,
    };
  };
}

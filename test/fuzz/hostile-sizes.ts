// Requests whose sizes are hostile: each alone may cost the service no more than the limits here.
import { routes } from "../../packages/server/src/routes/index.ts";
import type { Ledger } from "./ledger.ts";
import type { RequestPlan, Vocabulary } from "./requests.ts";
import type { Service } from "./service.ts";

/** Milliseconds of the processor, on all threads, for one request. A validation alone may take 500 before it is given up. */
export const maxProcessor = 3000;
/**
 * Bytes that the resident memory may rise by during one request, before any garbage is collected. On a busy machine a value
 * is validated up to three times, with up to 180 MiB of garbage each on arm64 and 230 MiB on x64.
 */
export const maxResident = 832 * 1024 * 1024;

/** Of a body: below the limit of 4 MiB, so that everything behind it sees it. */
const bodySize = 2_600_000;
/** For a body within the limits on sizes: all of its elements are validated. */
const mediumSize = 40_000;
/** Of a line and the headers: Node takes 16 KiB. */
const headSize = 14_000;

type Fields = Readonly<Record<string, unknown>>;

const fill = (text: string, size = bodySize) => text.repeat(Math.floor(size / text.length));
/** As many values as fit. */
const many = <Value>(value: Value, size = bodySize): Value[] => {
  const length = JSON.stringify(value).length + 1;
  return Array.from({ length: Math.floor(size / length) }, () => value);
};
const keys = (value: unknown, size = bodySize): Fields => {
  const length = JSON.stringify(value).length + 12;
  return Object.fromEntries(Array.from({ length: Math.floor(size / length) }, (_, n) => [`k${n}`, value]));
};
/** Written out: no recursion makes it, and none may be needed to read it. */
const nested = (open: string, close: string, levels: number) =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;

const textPart = { type: "text", text: "t" };
const message = (parts: readonly unknown[]) => ({ id: "m1", role: "user", parts });

/** The body for each kind of hostile size, by the route that it is sent to; text is sent as it is. */
const bodies: Readonly<Record<string, Readonly<Record<string, () => Fields | string>>>> = {
  "/workflows/sizes/execute": {
    "wrong elements of a union": () => ({ input: { unions: many(1) } }),
    "empty objects for a union": () => ({ input: { unions: many({}) } }),
    "texts that are too short": () => ({ input: { texts: many("a") } }),
    "numbers that are too large": () => ({ input: { numbers: many(1) } }),
    "elements that fit": () => ({ input: { texts: many("abc") } }),
    "wrong values of a record": () => ({ input: { record: keys("a") } }),
    "unknown keys": () => ({ input: { strict: keys(1) } }),
    "one long key": () => ({ input: { record: { [fill("k")]: "a" } } }),
    "one long text": () => ({ input: { texts: [fill("a")] } }),
    "a text for a pattern": () => ({ input: { email: `${fill("a.")}@` } }),
    "a deep tree": () => `{"input":{"tree":${nested("[", "]", 400)}}}`,
    "a tree that is too deep": () => `{"input":{"tree":${nested("[", "]", 500_000)}}}`,
    "deep objects": () => `{"input":{"tree":${nested('{"a":', "}", 200_000)}}}`,
    "objects below deep lists": () =>
      `{"input":{"any":${nested("[", "]", 490).replace("1", `[${fill("{},").slice(0, -1)}]`)}}}`,
    "wrong tags": () => ({ input: {}, options: { tags: many(1) } }),
    "many tags": () => ({ input: {}, options: { tags: many("a") } }),
    "a wide context": () => ({ input: {}, options: { context: keys(1) } }),
    "unknown options": () => ({ input: {}, options: keys(1) }),
    "long ids": () => ({
      input: {},
      options: { executionId: fill("a", 800_000), userId: fill("b", 800_000) },
    }),
    "keys named __proto__": () => `{"input":[${fill('{"__proto__":1},').slice(0, -1)}]}`,
    "thousands of wrong elements of a union": () => ({ input: { unions: many(1, mediumSize) } }),
    "thousands of empty objects for a union": () => ({ input: { unions: many({}, mediumSize) } }),
    "thousands of texts that are too short": () => ({ input: { texts: many("a", mediumSize) } }),
    "thousands of wrong values of a record": () => ({ input: { record: keys("a", mediumSize) } }),
    "thousands of unknown keys": () => ({ input: { strict: keys(1, mediumSize) } }),
    "thousands of wrong tags": () => ({ input: {}, options: { tags: many(1, mediumSize) } }),
    "thousands of unknown options": () => ({ input: {}, options: keys(1, mediumSize) }),
    "a tree of thousands of levels": () => `{"input":{"tree":${nested("[", "]", mediumSize / 2)}}}`,
  },
  "/workflows/approval/executions/:executionId/resume": {
    "wide resume data": () => ({ resumeData: many({}) }),
    "thousands of elements in resume data": () => ({ resumeData: many({}, mediumSize) }),
    "deep resume data": () => `{"resumeData":${nested("[", "]", 500_000)}}`,
    "a long step": () => ({ resumeData: {}, options: { stepId: fill("a") } }),
  },
  "/workflows/approval/executions/:executionId/suspend": { "a long reason": () => ({ reason: fill("a") }) },
  "/agents/echo/text": {
    "a long prompt": () => ({ input: fill("a b ") }),
    "wrong stop sequences": () => ({ input: "t", options: { stopSequences: many(1) } }),
    "wrong provider options": () => ({ input: "t", options: { providerOptions: keys(1) } }),
    "thousands of wrong stop sequences": () => ({
      input: "t",
      options: { stopSequences: many(1, mediumSize) },
    }),
    "thousands of wrong provider options": () => ({
      input: "t",
      options: { providerOptions: keys(1, mediumSize) },
    }),
    "a message of thousands of parts": () => ({
      input: [{ role: "user", content: many({ type: "x" }, mediumSize) }],
    }),
    "messages of many parts": () => ({ input: [{ role: "user", content: many({ type: "x" }) }] }),
  },
  "/agents/echo/object": {
    "a wide schema": () => ({ input: "t", schema: { anyOf: many({}) } }),
    "a wide schema that is small enough": () => ({
      input: "t",
      schema: { properties: keys({ type: "string", pattern: "^(a+)+$" }, 60_000) },
    }),
    "a schema of thousands of alternatives": () => ({ input: "t", schema: { anyOf: many({}, mediumSize) } }),
    "a schema of thousands of levels": () =>
      `{"input":"t","schema":${nested('{"not":', "}", mediumSize / 8).replace("1", "{}")}}`,
    "a deep schema": () => `{"input":"t","schema":${nested('{"not":', "}", 200_000).replace("1", "{}")}}`,
  },
  "/agents/echo/chat": {
    "unknown parts": () => ({ messages: [message(Array(1000).fill({ type: "unknown" }))] }),
    "thousands of unknown parts": () => ({ messages: [message(many({ type: "unknown" }, mediumSize))] }),
    "thousands of text parts": () => ({ messages: [message(many(textPart, mediumSize))] }),
    "hundreds of messages": () => ({ messages: many(message([textPart]), mediumSize) }),
    "thousands of messages that are none": () => ({ messages: many(1, mediumSize) }),
    "very many unknown parts": () => ({ messages: [message(many({ type: "unknown" }))] }),
    "many text parts": () => ({ messages: [message(many(textPart))] }),
    "many messages": () => ({ messages: many(message([textPart])) }),
    "messages that are none": () => ({ messages: many(1) }),
  },
  "/custom": { "a long body": () => fill("a") },
};

/** Sizes of the request line and the headers. */
const heads: Readonly<Record<string, (words: Vocabulary) => Partial<RequestPlan>>> = {
  "many query parameters": () => ({ target: `/api/executions?${fill("a=&", headSize)}` }),
  "repeated query parameters": () => ({ target: `/api/executions?${fill("tag=a&", headSize)}` }),
  "a long query value": () => ({ target: `/api/executions?cursor=${fill("%41", headSize)}` }),
  "a path of many parts": () => ({ target: fill("/a", headSize) }),
  "a path of many dots": () => ({ target: fill("/..", headSize) }),
  "a long id": ({ executions: [id = ""] }) => ({
    target: `/workflows/sum/executions/${fill(id || "a", headSize)}`,
  }),
  "a path of codes": () => ({ target: `/workflows/${fill("%F0%9F%98%80", headSize)}` }),
  "many headers": () => ({ headers: Array.from({ length: 900 }, (_, n) => [`x-${n}`, "a"] as const) }),
  "a long token": () => ({ headers: [["authorization", `Bearer ${fill("a.", headSize)}`]] }),
  "a list of encodings": () => ({ headers: [["accept-encoding", fill("br;q=0.1,", headSize)]] }),
  "a list of origins": () => ({ headers: [["origin", fill("http://a,", headSize)]] }),
  "a list of preferences": () => ({ headers: [["prefer", fill("wait=1,", headSize)]] }),
};

export interface HostileRequest extends RequestPlan {
  readonly name: string;
}

/** Every kind of hostile size once. */
export function hostileRequests(words: Vocabulary): (() => HostileRequest)[] {
  const usual = [["authorization", `Bearer ${words.tokens[0]}`]] as const;
  const json = [...usual, ["content-type", "application/json"]] as const;
  const withBody = Object.entries(bodies).flatMap(([path, kinds]) =>
    Object.entries(kinds).map(([name, make]) => () => {
      const body = make();
      const target = path.replace(":executionId", words.executions[3] ?? "");
      const text = typeof body === "string" ? body : JSON.stringify(body);
      return { name, near: nearTo(path), method: "POST", target, headers: json, body: text };
    }),
  );
  const withHead = Object.entries(heads).map(([name, make]) => () => {
    const usually = { near: "", method: "GET", target: "/workflows", headers: usual, body: undefined };
    return { name, ...usually, ...make(words) };
  });
  return [...withBody, ...withHead];
}

function nearTo(path: string): string {
  const row = routes.find((each) => new RegExp(`^${each.path.replaceAll(/:\w+/g, "[^/]+")}$`).test(path));
  return row === undefined ? "" : `${row.method} ${row.path}`;
}

/** Sends it while nothing else is under way; returns the response, and the fault in its cost. */
export async function sendAlone(
  service: Service,
  { name, method, target, headers, body }: HostileRequest,
  ledger: Ledger,
): Promise<{
  readonly response: Response | undefined;
  readonly text: string;
  readonly problem: string | undefined;
}> {
  // The garbage of earlier ones is collected first.
  await service.memory();
  const before = await service.usage();
  const given = headers.map(([key, value]): [string, string] => [key, value]);
  const init = { method, headers: given, ...(body !== undefined && { body }) };
  let response: Response | undefined;
  let text = "";
  try {
    response = await fetch(service.url + target, { ...init, signal: AbortSignal.timeout(30_000) });
    text = await response.text();
  } catch (error) {
    if (service.ended !== undefined)
      return { response, text, problem: `the process ended: ${service.ended}` };
    // A connection that was closed in the middle of a body is a TypeError; a service that hangs has no usage to report.
    if (!(error instanceof TypeError)) return { response, text, problem: `no response: ${error}` };
  }
  const after = await service.usage();
  const processor = after.processor - before.processor;
  const resident = Math.max(after.rss - before.rss, after.maxRss - before.maxRss);
  ledger.cost(name, processor, resident);
  const cost = `${Math.round(processor)} ms of the processor and ${Math.round(resident / 1024 / 1024)} MiB`;
  const dear = processor > maxProcessor || resident > maxResident;
  return { response, text, problem: dear ? `it took ${cost}` : undefined };
}

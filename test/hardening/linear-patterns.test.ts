// No pattern takes longer than linearly on a caller's text: four times the text, about four times the time.
import { expect, test } from "vitest";
import { OpenSentences } from "../../packages/core/src/agent/call/output-guard.ts";
import { readObject } from "../../packages/core/src/agent/reply/ask-for-object.ts";
import { redactFields } from "../../packages/core/src/observe/log/redact.ts";
import { parseTraceparent } from "../../packages/core/src/observe/trace/trace-ids.ts";
import { parseDuration } from "../../packages/core/src/values/duration.ts";
import { redactText } from "../../packages/core/src/values/redact-text.ts";
import { findStep } from "../../packages/core/src/workflow/find-step.ts";
import { bearerToken } from "../../packages/server/src/auth/provider.ts";
import { publicRoutesTest } from "../../packages/server/src/auth/public-routes.ts";
import { preferredWait } from "../../packages/server/src/routes/delivery.ts";
import { meanTime } from "../support/processor-time.ts";
import { sum } from "../support/workflows.ts";

const isPublic = publicRoutesTest(["GET /a/:b/c/*", "POST /*"]);
const asHeader = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, " ");
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  redactText,
  "redactFields, the value": (text) => redactFields({ text }),
  "redactFields, the key": (text) => redactFields({ [text]: 1 }),
  bearerToken: (text) =>
    bearerToken(new Request("http://a", { headers: { authorization: `Bearer ${asHeader(text)}` } })),
  preferredWait,
  parseTraceparent: (text) => parseTraceparent(`00-${"a".repeat(32)}-${"b".repeat(16)}-01-${text}`),
  publicRoutes: (text) => isPublic("GET", `/a/${text}`),
  "a step's path": (text) => findStep(sum, text),
  "the sentences of a text in deltas": (text) => {
    const open = new OpenSentences();
    for (const delta of text.match(/.{1,4}/gs) ?? []) open.add({ type: "text-delta", id: "t", delta });
  },
  "an object in a reply": (text) => readObject(`\`\`\`json${text}`),
  "a duration": (text) => {
    try {
      return parseDuration(text, "here");
    } catch {
      return undefined;
    }
  },
};

// Texts that are hard for patterns: runs of one class, near misses of every keyword, and openings without an end.
const pieces = [
  " ",
  "\n",
  "a",
  "a.",
  "a-",
  "a_",
  "0",
  "/",
  "//",
  "://",
  "a://",
  "a://:",
  ":",
  "@",
  "=",
  "?",
  "&token",
  '"',
  "'",
  "`",
  "```",
  "[",
  "#",
  ",",
  "bearer ",
  "authorization: ",
  "cookie:",
  "password",
  "password=",
  'password="',
  "token='",
  "token: ",
  "token:",
  "eyJ",
  "eyJ-",
  "eyJ.",
  "sk-",
  "AKIA",
  "SG.",
  "-----BEGIN PRIVATE KEY-----",
];

/** How much longer the reader takes for four times the text. A growth that is too large is measured again. */
function growthOf(reader: (text: string) => unknown, text: (length: number) => string): number {
  let growth = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 && growth >= maxGrowth; round += 1)
    growth = meanTime(() => reader(text(4 * short)), 10) / meanTime(() => reader(text(short)), 100);
  return growth;
}

const beginnings = ["", " ", "a", ":", "@", "=", '"', "?", "bearer "];
const endings = ["", "\n!"];
const short = 1_000;
// A quadratic pattern takes 16 times as long; a shorter time than this is too short to measure, and no harm.
const maxGrowth = 8;
const negligible = 4;

test.each(Object.entries(readers))("%s", (_, reader) => {
  for (const first of beginnings) {
    for (const last of endings) {
      for (const piece of pieces) {
        const text = (length: number) => first + piece.repeat(length / piece.length) + last;
        if (meanTime(() => reader(text(4 * short)), 2) < negligible) continue;
        expect(growthOf(reader, text), JSON.stringify([first, piece, last])).toBeLessThan(maxGrowth);
      }
    }
  }
});

test("texts, keys and messages in a line are bounded", () => {
  const long = "x".repeat(1_000_000);
  expect(redactText(long).length).toBeLessThan(10_000);
  expect(JSON.stringify(redactFields({ [long]: long })).length).toBeLessThan(10_000);
});

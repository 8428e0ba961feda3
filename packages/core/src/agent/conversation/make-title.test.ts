// The title that a host makes: when it is asked for one, and which of its titles is kept.
import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import { Operation } from "../call/operation.ts";
import { makeTitle } from "./make-title.ts";

const message = (role: "user" | "assistant", text: string): UIMessage => ({
  ...{ id: text, role, parts: [{ type: "text", text }] },
});
const messages = [message("user", "hi"), message("assistant", "hello")] as const;

interface Given {
  /** How many messages are kept; undefined when the conversation is gone. */
  readonly kept?: number | undefined;
  readonly current?: object | undefined;
  readonly title?: (...given: unknown[]) => string | undefined;
}

async function titled({ kept = 2, current = { title: "hi" }, title = () => "A greeting" }: Given) {
  const calls: unknown[] = [];
  const logger = new RecordingLogger();
  const operation = new Operation({ ...Operation.from(undefined, undefined), logger });
  const conversations = Object({
    recent: async (asked: unknown) => {
      calls.push(["recent", asked]);
      return kept < 0 ? undefined : Array.from({ length: kept });
    },
    read: async (asked: unknown) => {
      calls.push(["read", asked]);
      return "gone" in current ? undefined : current;
    },
    change: async (asked: unknown) => void calls.push(["change", asked]),
  });
  const agent = {
    title: (...given: unknown[]) => {
      calls.push(["title", ...given]);
      return title(...given);
    },
  };
  const where = { conversationId: "c", userId: "ada", now: () => 7 };
  await makeTitle({ conversations, agent, operation, ...where }, messages);
  return { calls, names: calls.map((call) => Object(call)[0]), lines: logger.lines, operation };
}

const which = { conversationId: "c", userId: "ada" };

test("it is asked for after the first reply, and kept in the place of the first words", async () => {
  const { calls, operation, lines } = await titled({ title: () => `  ${"x".repeat(250)} ` });
  expect(calls).toEqual([
    ["recent", { ...which, limit: 3 }],
    ["title", messages, operation],
    ["read", which],
    ["change", { key: expect.stringMatching(/^[0-9a-f-]{36}$/), ...which, title: "x".repeat(200), at: 7 }],
  ]);
  expect(lines).toEqual([]);
});

test.each<[string, Given, string[]]>([
  ["in a longer conversation", { kept: 3 }, ["recent"]],
  ["in a shorter one", { kept: 1 }, ["recent"]],
  ["in one that is gone", { kept: -1 }, ["recent"]],
  ["without a title", { title: () => undefined }, ["recent", "title"]],
  ["with an empty one", { title: () => "  " }, ["recent", "title"]],
  ["in one that was renamed meanwhile", { current: { title: "Mine" } }, ["recent", "title", "read"]],
  ["in one that was removed meanwhile", { current: { gone: true } }, ["recent", "title", "read"]],
])("nothing is changed %s", async (_, given, names) => {
  const titles = await titled(given);
  expect([titles.names, titles.lines]).toEqual([names, []]);
});

test("a failure is logged", async () => {
  const err = new Error("no title today");
  const { lines, names } = await titled({
    title: () => {
      throw err;
    },
  });
  expect(names).toEqual(["recent", "title"]);
  expect(lines).toEqual([{ level: "warn", msg: "the title of a conversation could not be made", err }]);
});

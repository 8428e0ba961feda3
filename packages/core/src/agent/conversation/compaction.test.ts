// Which messages a summary replaces, and the part of a conversation that the model sees then.
import type { UIMessage } from "ai";
import { describe, expect, test } from "vitest";
import { dueSummary, type KeptMessage, seenMessages, summaryRequest } from "./compaction.ts";

/** A message of about so many tokens. */
const said = (id: string, tokens = 10): KeptMessage => ({
  id,
  role: id.startsWith("u") ? "user" : "assistant",
  parts: [{ type: "text", text: "x".repeat(tokens * 4 - 28) }],
});
const summary = (from: string, upTo: string, messages: number): KeptMessage => ({
  id: `until-${upTo}`,
  role: "system",
  parts: [{ type: "text", text: "Earlier." }],
  summary: { from, upTo, messages },
});
const talk = (turns: number, tokens = 10) =>
  Array.from({ length: turns }, (_, turn) => [said(`u${turn}`, tokens), said(`a${turn}`, tokens)]).flat();
const agent = (above: number, changes: { keep?: number; window?: number } = {}) => {
  const { keep = 2, window = 200 } = changes;
  return { window, memory: { compact: { above, keep } } };
};
const ids = (messages: readonly UIMessage[]) => messages.map(({ id }) => id);

describe("a summary", () => {
  test("is due above so many tokens, and not at them", () => {
    expect(dueSummary(agent(100), talk(5))).toBeUndefined();
    expect(dueSummary(agent(99), talk(5))).toMatchObject({
      before: "u4",
      range: { from: "u0", upTo: "a3", messages: 8 },
    });
    expect(dueSummary({ window: 200, memory: {} }, talk(50))).toBeUndefined();
  });

  test("leaves the newest messages whole, from a user's message on", () => {
    const messages = [...talk(5), said("u5")];
    expect(dueSummary(agent(50, { keep: 1 }), messages)?.before).toBe("u5");
    expect(dueSummary(agent(50, { keep: 2 }), messages)?.before).toBe("u4");
    expect(dueSummary(agent(50, { keep: 3 }), messages)?.before).toBe("u4");
    expect(dueSummary(agent(50, { keep: 11 }), messages)).toBeUndefined();
  });

  test("continues the last one, which is no message of the user", () => {
    const due = dueSummary(agent(50), [...talk(1), summary("u0", "a0", 2), ...talk(6).slice(2)]);
    expect(due).toMatchObject({ before: "u5", range: { from: "u0", upTo: "a4", messages: 10 } });
    expect(due?.messages.slice(0, 3)).toEqual([
      { id: "until-a0-request", role: "user", parts: [{ type: "text", text: summaryRequest }] },
      { id: "until-a0", role: "assistant", parts: [{ type: "text", text: "Earlier." }] },
      said("u1"),
    ]);
  });

  test("is made of about twice as many tokens at most, and of one reply at least", () => {
    expect(dueSummary(agent(50), talk(20))?.range).toEqual({ from: "u0", upTo: "a4", messages: 10 });
    expect(dueSummary(agent(50), talk(20, 100))?.range).toEqual({ from: "u0", upTo: "a0", messages: 2 });
  });

  test("is not made for each message where the messages that stay are long", () => {
    const long = [said("u8", 500), said("a8", 500)];
    expect(dueSummary(agent(100), [...talk(1), ...long])).toBeUndefined();
    expect(dueSummary(agent(100), [...talk(2), ...long])?.before).toBe("u8");
  });

  test("is due before the oldest message leaves the window", () => {
    expect(dueSummary(agent(10_000, { window: 20 }), talk(5))).toBeUndefined();
    expect(dueSummary(agent(10_000, { window: 20 }), [...talk(5), said("u5")])?.before).toBe("u4");
  });

  test.each(["approval-requested", "approval-responded", "input-available"] as const)(
    "never replaces a call in the state %s, also when messages follow it",
    (state) => {
      const part = {
        type: "tool-pay",
        toolCallId: "t",
        input: {},
        state,
        approval: { id: "i", approved: true },
      };
      const waiting: KeptMessage = { id: "a9", role: "assistant", parts: [Object(part)] };
      const messages = [...talk(5), said("u9"), waiting, said("u10"), said("u11")];
      expect(dueSummary(agent(99, { keep: 1 }), messages)?.before).toBe("u9");
      const ended = { ...waiting, parts: [Object({ ...part, state: "output-available", output: 1 })] };
      expect(
        dueSummary(agent(99, { keep: 1 }), [...messages.slice(0, -3), ended, said("u10"), said("u11")]),
      ).toMatchObject({
        before: "u11",
      });
    },
  );
});

describe("the model sees", () => {
  const messages = [
    ...talk(1),
    summary("u0", "a0", 2),
    said("u1"),
    said("a1"),
    summary("u0", "a1", 4),
    said("u2"),
  ];

  test("the last summary in its own words, and the messages after it", () => {
    expect(ids(seenMessages(agent(50), messages))).toEqual(["until-a1-request", "until-a1", "u2"]);
  });

  test("the messages again, where the agent compacts none", () => {
    expect(ids(seenMessages({ window: 200, memory: {} }, messages))).toEqual(["u0", "a0", "u1", "a1", "u2"]);
  });

  test("the window of the messages after the summary", () => {
    const { window, memory } = agent(50, { window: 4 });
    const seen = seenMessages({ window, memory: { ...memory, tokens: 25 } }, [
      ...messages,
      ...talk(9).slice(10),
    ]);
    expect(ids(seen)).toEqual(["until-a1-request", "until-a1", "u8", "a8"]);
  });
});

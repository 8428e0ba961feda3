// Messages while a reply runs: they wait, stop that reply, or are refused, in one process and between two.
import { expect, test } from "vitest";
import type { AgentOptions } from "../../src/agent/call/agent-options.ts";
import type { WhenBusy } from "../../src/agent/call/when-busy.ts";
import type { Andante } from "../../src/andante/andante.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { inTime } from "../support/in-time.ts";
import { sharedStore } from "../support/shared-store.ts";
import { all, ask, kept, openStore, said, startProcess, userMessage } from "./processes.ts";

/** Its first reply is held after its first word, until it is released or stopped; others are whole at once. */
function holdingModel() {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let calls = 0;
  const model = controlledModel(() => {
    const isFirst = ++calls === 1;
    return {
      text: [isFirst ? "first" : "next", " reply"],
      hold: async (piece, signal) => {
        if (!isFirst || piece !== 1) return;
        asked.resolve();
        const aborted = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
        await Promise.race([gate.promise, aborted]);
      },
    };
  });
  return { model, asked: asked.promise, go: () => gate.resolve() };
}

function send(andante: Andante, messageId: string, whenBusy?: WhenBusy) {
  const talk = { conversationId: "talk", userId: "ada", ...(whenBusy && { whenBusy }) };
  return andante.agents.chat("clerk", [userMessage(messageId)], talk);
}

/** A reply that is held, and the process that the next message is sent to. */
async function busy(count: number, agent: Partial<AgentOptions> = {}) {
  const store = await openStore();
  const held = holdingModel();
  const join = count === 1 ? () => store : sharedStore(store);
  const first = startProcess(join(), { model: held.model, agent }).andante;
  const second = count === 1 ? first : startProcess(join(), { model: held.model, agent }).andante;
  await second.ready();
  const reply = all(await ask(first, "u1"));
  await inTime(held.asked, "the first call");
  return { ...held, first, second, reply };
}

test.each([1, 2])("a message waits for the reply, without a choice (%i processes)", async (count) => {
  const { second, reply, go } = await busy(count);
  const waiting = send(second, "u2");
  await expect.poll(() => kept(second)).toContainEqual(["user", "u2"]);
  go();
  expect(said(await reply)).toBe("first reply");
  expect(said(await all(await waiting))).toBe("next reply");
  expect(await kept(second)).toEqual([
    ["user", "u1"],
    ["assistant", "first reply"],
    ["user", "u2"],
    ["assistant", "next reply"],
  ]);
});

test.each([1, 2])(
  "a message that must not wait is refused, and nothing of it is kept (%i processes)",
  async (count) => {
    const { second, reply, go } = await busy(count);
    await expect(send(second, "u2", "reject")).rejects.toMatchObject({
      ...{ code: "conversation-busy", status: 409 },
      message: "Another reply is under way in the conversation talk",
    });
    go();
    expect(said(await reply)).toBe("first reply");
    expect(await kept(second)).toEqual([
      ["user", "u1"],
      ["assistant", "first reply"],
    ]);
    expect(said(await all(await send(second, "u2", "reject"))), "no reply runs any more").toBe("next reply");
  },
);

test.each([1, 2])(
  "a message that interrupts stops the reply, which is kept as far as it came (%i processes)",
  async (count) => {
    const { second, reply } = await busy(count);
    const next = send(second, "u2", "interrupt");
    expect(said(await reply)).toBe("first");
    expect(said(await all(await next))).toBe("next reply");
    expect(await kept(second)).toEqual([
      ["user", "u1"],
      ["assistant", "first", true],
      ["user", "u2"],
      ["assistant", "next reply"],
    ]);
  },
);

test("the agent has a policy, and a message another one", async () => {
  const { second, reply, go } = await busy(1, { whenBusy: "reject" });
  await expect(send(second, "u2")).rejects.toMatchObject({ code: "conversation-busy" });
  const again = await send(second, "u1");
  const waiting = send(second, "u3", "queue");
  await expect.poll(() => kept(second)).toContainEqual(["user", "u3"]);
  go();
  expect(said(await reply)).toBe("first reply");
  expect(said(await all(again)), "the same message reads the reply that runs").toBe("first reply");
  expect(said(await all(await waiting))).toBe("next reply");
});

test("messages that wait stay when another one interrupts, in their order", async () => {
  const { second, reply } = await busy(1);
  const waiting = send(second, "u2");
  await expect.poll(() => kept(second)).toContainEqual(["user", "u2"]);
  const next = send(second, "u3", "interrupt");
  await reply;
  await all(await waiting);
  await all(await next);
  expect((await kept(second)).map(([, text]) => text)).toEqual([
    ...["u1", "first", "u2", "next reply", "u3", "next reply"],
  ]);
});

test("an unknown policy is refused", async () => {
  const { first, reply, go } = await busy(1);
  const wrong = { conversationId: "talk", userId: "ada", whenBusy: Object("later") };
  await expect(first.agents.chat("clerk", [userMessage("u2")], wrong)).rejects.toMatchObject({
    ...{ code: "invalid-option", status: 400 },
    message: expect.stringContaining("expected one of queue, steer, interrupt, reject"),
  });
  go();
  await reply;
  expect(() => startProcess(Object({}), { model: holdingModel().model, agent: Object(wrong) })).toThrow(
    "whenBusy",
  );
});

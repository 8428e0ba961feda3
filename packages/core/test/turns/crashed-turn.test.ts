// A turn whose process crashes at each of its writes: no recorded tool runs again, and the reply is the same.
import type { UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { crashPoints } from "../support/crash-points.ts";
import { fiveTools, fiveToolsModel, toolNames, wholeReply, wholeUsage } from "./five-tools.ts";
import { all, ask, kept, openStore, type Process, said, startProcess } from "./processes.ts";

/** The calls of the tools, over all processes of one conversation. */
class Effects {
  readonly #runs = new Map<string, number>();
  readonly #keys = new Map<string, Set<string>>();

  readonly ran = (name: string, key: string) => {
    this.#runs.set(name, (this.#runs.get(name) ?? 0) + 1);
    this.#keys.set(name, (this.#keys.get(name) ?? new Set()).add(key));
  };

  of(name: string): number {
    return this.#runs.get(name) ?? 0;
  }

  /** How many different keys a tool was called with: another process has to use the same. */
  keysOf(name: string): number {
    return this.#keys.get(name)?.size ?? 0;
  }
}

function start(store: Store, effects: Effects, options: Partial<Parameters<typeof startProcess>[1]> = {}) {
  const model = fiveToolsModel();
  return { model, ...startProcess(store, { model, tools: fiveTools(effects.ran), ...options }) };
}

/** The chunks as every reader gets them: deltas of one text are joined. */
function shape(chunks: readonly UIMessageChunk[]): string[] {
  const shown: string[] = [];
  let text: string | undefined;
  for (const chunk of chunks) {
    if (chunk.type === "text-delta") {
      text = `${text ?? ""}${chunk.delta}`;
      continue;
    }
    if (text !== undefined) shown.push(text);
    text = undefined;
    const { type } = chunk;
    shown.push("toolCallId" in chunk ? `${type} ${chunk.toolCallId}` : type);
  }
  return shown;
}

/** The tools whose outcome the journal of the live turn holds, and the number of recorded calls of the model. */
async function recordedCalls(store: Store, conversationId: string) {
  const { executionId } = (await store.liveTurn(conversationId)) ?? {};
  if (executionId === undefined) return undefined;
  const events = await store.events({ executionId, after: 0, limit: 1_000 });
  const tools = toolNames.filter((name) =>
    events.some(({ path, detail }) => path?.includes(".tool[") && detail?.includes(`"${name}"`)),
  );
  return {
    tools,
    calls: events.filter(({ path }) => path?.endsWith("]") && !path.includes(".tool[")).length,
  };
}

/** The client comes back: it attaches to the reply that runs, or asks again when its message is not there. */
async function comeBack({ andante }: Process, conversationId: string): Promise<UIMessageChunk[] | undefined> {
  await andante.ready();
  const attached = await andante.agents.attach("clerk", conversationId, { userId: "ada" });
  if (attached !== undefined) return all(attached);
  const messages = await kept(andante, conversationId).catch(() => []);
  return messages.length >= 2 ? undefined : all(await ask(andante, "u1", conversationId));
}

async function undisturbed(store: Store, options: { readonly isPlain: boolean }) {
  const effects = new Effects();
  const whole = start(store, effects, options);
  await whole.andante.ready();
  const chunks = await all(await ask(whole.andante, "u1"));
  expect(said(chunks)).toBe(wholeReply);
  const { writes } = whole.life;
  const messages = await kept(whole.andante);
  await whole.end();
  return { writes, chunks: shape(chunks), kept: messages };
}

test.each([
  ["an Agent", { isPlain: false }],
  ["a plain ToolLoopAgent", { isPlain: true }],
] as const)(
  "after a crash at any write of a turn of %s the next process continues behind it",
  {
    timeout: 60_000,
  },
  async (_, agent) => {
    const store = await openStore();
    const expected = await undisturbed(store, agent);
    // Message and turn, four calls of the model, five tools (two may share a write), the last call with the end.
    expect(expected.writes).toBeGreaterThanOrEqual(10);
    for (const { write, variant } of crashPoints({ last: expected.writes })) {
      const where = `write ${write} ${variant}`;
      const effects = new Effects();
      const first = start(store, effects, { ...agent, crash: { write, variant } });
      await first.andante.ready();
      const read = ask(first.andante, "u1", where)
        .then(all)
        .catch(() => undefined);
      await first.life.crash;
      await first.end();
      await read;
      const recorded = await recordedCalls(store, where);
      // Without a live turn nothing was written, or all of it.
      const recordedOfModel = recorded?.calls ?? (write === 1 ? 0 : wholeUsage.calls);
      const before = new Map(toolNames.map((name) => [name, effects.of(name)]));

      const second = start(store, effects, agent);
      const chunks = await comeBack(second, where);
      if (chunks !== undefined) expect(shape(chunks), where).toEqual(expected.chunks);
      expect(await kept(second.andante, where), where).toEqual(expected.kept);
      expect((await second.andante.conversations.read(where)).usage, where).toEqual(wholeUsage);
      for (const name of toolNames) {
        if (recorded?.tools.includes(name))
          expect(effects.of(name), `${where}, ${name}`).toBe(before.get(name));
        expect(effects.of(name), `${where}, ${name}`).toBeGreaterThanOrEqual(1);
        expect(effects.of(name), `${where}, ${name}`).toBeLessThanOrEqual(2);
        if (variant === "unacknowledged") expect(effects.keysOf(name), `${where}, ${name}`).toBe(1);
      }
      expect(second.model.asked.length, where).toBe(wholeUsage.calls - recordedOfModel);
      expect(second.logger.messages, where).toEqual([]);
      await second.end();
    }
  },
);

test("a turn that began too long ago ends with the results of its tools, and calls no model", async () => {
  const store = await openStore();
  const effects = new Effects();
  const clock = new TestClock();
  const first = start(store, effects, { clock, crash: { write: 5, variant: "unacknowledged" } });
  await first.andante.ready();
  const read = ask(first.andante, "u1")
    .then(all)
    .catch(() => undefined);
  await first.life.crash;
  await first.end();
  await read;
  const done = toolNames.filter((name) => effects.of(name) > 0);
  clock.advance("16m");
  const second = start(store, effects, { clock });
  await second.andante.ready();
  await expect.poll(async () => (await kept(second.andante)).length).toBe(2);
  expect(second.model.asked).toHaveLength(0);
  expect(toolNames.filter((name) => effects.of(name) > 0)).toEqual(done);
  const { messages } = await second.andante.conversations.messages("talk");
  expect(messages[1]).toMatchObject({ role: "assistant", partial: true });
  expect(JSON.stringify(messages[1])).toContain('"output":{"find":7}');
  expect((await second.andante.conversations.read("talk")).usage.calls).toBeGreaterThanOrEqual(1);
  await second.end();
});

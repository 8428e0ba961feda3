// Plays a row of the table on each route, and collects the client's view and the kept message.
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { expect, vi } from "vitest";
import { patience } from "../../../packages/core/test/support/in-time.ts";
import { gates } from "../../support/gates.ts";
import { dataOf, type Fields, fieldsOf, listOf } from "../../support/responses.ts";
import type { TestServer } from "../../support/serve-for-test.ts";
import type { Row } from "./rows.ts";
import { question, type Telling } from "./table-agent.ts";

export class Teller {
  readonly #server: TestServer;
  readonly #name: string;
  readonly #row: Row;

  constructor(server: TestServer, name: string, row: Row) {
    this.#server = server;
    this.#name = name;
    this.#row = row;
  }

  /** The chunks of `/chat`, those after a decision too, and the message that a client makes of them. */
  async chat() {
    const id = this.#id("chat");
    const chunks = await this.#chat(id, [this.#user("plain", id)]);
    const waiting = await this.#decided(id);
    const built = await build(chunks);
    if (waiting === undefined) return { chunks, built, kept: await this.kept(id) };
    const more = await this.#chat(id, [waiting]);
    return { chunks: [...chunks, ...more], built: await build(more, waiting), kept: await this.kept(id) };
  }

  async stream() {
    const conversationId = this.#id("stream");
    const open = (input: unknown) =>
      this.#server.stream("/agents/table/stream", { input, options: { conversationId } });
    const reader = await open([this.#user("plain", conversationId)]);
    const parts: Fields[] = [];
    if (this.#row.ends === "stopped") {
      parts.push(await reader.until(this.#lastPart));
      await reader.drop();
    } else parts.push(...(await reader.rest()));
    const waiting = await this.#decided(conversationId);
    if (waiting !== undefined) parts.push(...(await (await open([waiting])).rest()));
    return { parts, kept: await this.kept(conversationId) };
  }

  async text() {
    const conversationId = this.#id("text");
    const post = async (input: unknown, signal: AbortSignal | null = null) => {
      const body = JSON.stringify({ input, options: { conversationId } });
      const headers = { "content-type": "application/json" };
      await fetch(`${this.#server.url}/agents/table/text`, { method: "POST", headers, body, signal });
    };
    if (this.#row.ends === "stopped") {
      const caller = new AbortController();
      const door = `${question(this.#name, "plain", conversationId)} stopped`;
      const posted = post([this.#user("plain", conversationId)], caller.signal);
      await gates.arrival(door);
      caller.abort();
      await expect(posted).rejects.toThrow();
    } else await post([this.#user("plain", conversationId)]);
    const waiting = await this.#decided(conversationId);
    if (waiting !== undefined) await post([waiting]);
    return this.kept(conversationId);
  }

  /** The message of a client that comes back while the reply runs, and the one that is kept then. */
  async attached() {
    const id = this.#id("held");
    if (this.#row.approved === undefined) return this.#attach(id, [this.#user("held", id)]);
    await this.#chat(id, [this.#user("held", id)]);
    return this.#attach(id, [await this.#decided(id)]);
  }

  /** The same when the reply continues a message that waited: its parts come first. */
  async continued() {
    const id = this.#id("continued");
    await this.#chat(id, [this.#user("continued", id)]);
    return this.#attach(id, [decided(await this.kept(id), true)]);
  }

  /** Begins a reply that is under way when the process ends. */
  async beginCrash(): Promise<void> {
    const id = this.#id("crashed");
    const reader = await this.#server.stream("/agents/table/chat", {
      id,
      messages: [this.#user("crashed", id)],
    });
    await gates.arrival(question(this.#name, "crashed", id));
    await reader.drop();
  }

  /** The message that a client sees of it in the next process, and the one that is kept then. */
  async afterCrash() {
    const id = this.#id("crashed");
    const reader = await this.#server.stream(streamOf(id));
    gates.open(question(this.#name, "crashed", id));
    const built = await build(await reader.rest());
    return { built, kept: await this.kept(id) };
  }

  async kept(id: string): Promise<Fields> {
    const path = `/api/conversations/${encodeURIComponent(id)}/messages`;
    const last = async () => listOf(dataOf(await this.#server.get(path)), "messages")[1];
    // A reply that its caller left is kept a moment later.
    const found =
      this.#row.ends === undefined
        ? await last()
        : await vi.waitUntil(last, { interval: 5, timeout: patience }).catch(() => undefined);
    return plain(found ?? {});
  }

  async #attach(id: string, messages: unknown[]) {
    const reader = await this.#server.stream("/agents/table/chat", { id, messages });
    await gates.arrival(id);
    const back = await this.#server.stream(streamOf(id));
    gates.open(id);
    await reader.rest();
    return { built: await build(await back.rest()), kept: await this.kept(id) };
  }

  async #chat(id: string, messages: unknown[]): Promise<Fields[]> {
    const reader = await this.#server.stream("/agents/table/chat", { id, messages });
    if (this.#row.ends !== "stopped") return reader.rest();
    const before: Fields[] = [];
    for (;;) {
      const chunk = await reader.next();
      if (chunk === undefined) throw new Error("the reply ended before it was stopped");
      before.push(chunk);
      if (chunk.type === this.#lastPart) break;
    }
    await this.#server.send("DELETE", streamOf(id));
    return [...before, ...(await reader.rest())];
  }

  /** The message that waits, with the decision of the row; undefined when the row has none. */
  async #decided(id: string): Promise<Fields | undefined> {
    const { approved } = this.#row;
    return approved === undefined ? undefined : decided(await this.kept(id), approved);
  }

  /** After this part a reply that is to be stopped sends no more. */
  get #lastPart(): string {
    return this.#row.kept[0]?.type === "text" ? "text-delta" : "tool-input-delta";
  }

  #id(way: string): string {
    return `${way} ${this.#name}`;
  }

  #user(telling: Telling, door: string): Fields {
    const text = question(this.#name, telling, door);
    return { id: `user of ${door}`, role: "user", parts: [{ type: "text", text }] };
  }
}

function streamOf(id: string): string {
  return `/agents/table/chat/${encodeURIComponent(id)}/stream`;
}

/** The message with a person's word on every tool that waits for one. */
function decided(message: Fields, approved: boolean): Fields {
  const parts = listOf(message, "parts").map((part) =>
    part.state === "approval-requested"
      ? { ...part, state: "approval-responded", approval: { ...fieldsOf(part, "approval"), approved } }
      : part,
  );
  return { ...message, parts };
}

/** The message that a client builds from chunks; with `earlier`, from the chunks that follow it. */
async function build(chunks: readonly Fields[], earlier?: Fields): Promise<Fields> {
  // The AI SDK makes parts of them, and changes those.
  const given = structuredClone(
    chunks.filter(({ type }) => type !== "[DONE]"),
  ) as unknown as UIMessageChunk[];
  const message = earlier && { message: structuredClone(earlier) as unknown as UIMessage };
  let last: unknown = earlier ?? {};
  const stream = ReadableStream.from(given);
  for await (const each of readUIMessageStream({ stream, ...message, onError: () => undefined })) last = each;
  return plain(last as Fields);
}

/** The message through JSON, without the fields that only the server knows. */
function plain({ createdAt: _, partial: __, ...message }: Fields): Fields {
  return JSON.parse(JSON.stringify(message));
}

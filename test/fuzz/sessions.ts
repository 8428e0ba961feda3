// Socket sessions from a seed: a handshake, frames of every kind, and some way to leave.
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { Random } from "../../packages/core/test/support/random.ts";
import { frame } from "../hardening/raw-socket.ts";
import { Connection } from "./connection.ts";
import type { Vocabulary } from "./requests.ts";

const nested = (depth: number, open = "[", close = "]") => open.repeat(depth) + close.repeat(depth);

const texts = [
  "",
  "PING",
  '{"type":"PING"}',
  '{"type":"updateFilter","filter":{}}',
  '{"type":"updateFilter","filter":{"level":"warn","limit":3}}',
  '{"type":"updateFilter","filter":{"level":1}}',
  '{"__proto__":{"type":"PING"}}',
  '{"type":["updateFilter"]}',
  '"\\ud800"',
  "{",
  "null",
  nested(50),
  nested(6000),
  nested(3000, '{"a":', "}"),
  "9".repeat(3000),
];
const paths = ["/ws", "/ws/logs", "/ws/observability"];
const queries = [
  "",
  "",
  "",
  "level=warn",
  "limit=5",
  "limit=-1",
  "level=%ff%zz",
  "since=yesterday",
  "executionId=known&workflowId=sum",
  "entityType=workflow&entityId=sum",
  "entityType=nothing",
  "__proto__=1",
];
const oddPaths = [
  "/ws/",
  "/ws/none",
  "/ws/__proto__",
  "//ws",
  "/workflows",
  "/ws%2flogs",
  "/",
  "/agents/echo",
];

export interface Handshake {
  readonly method: string;
  readonly target: string;
  readonly lines: readonly string[];
}

/** Mostly a good one. */
export function handshakeOf(random: Random, { tokens }: Vocabulary): Handshake {
  const path = random.chance(0.9) ? random.pick(paths) : random.pick(oddPaths);
  const token = encodeURIComponent(random.pick(tokens) ?? "");
  const query = [random.pick(queries), random.chance(0.2) ? `token=${token}` : ""].filter(
    (text) => text !== "",
  );
  const version = random.chance(0.97) ? "13" : "99";
  const key = random.chance(0.97) ? ["sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA=="] : [];
  const lines = ["connection: upgrade", "upgrade: websocket", `sec-websocket-version: ${version}`, ...key];
  if (random.chance(0.4)) lines.push(`authorization: Bearer ${random.pick(tokens)}`);
  if (random.chance(0.2)) lines.push(`origin: ${random.pick(["http://a.example", "null", "%%%"])}`);
  if (random.chance(0.2))
    lines.push("sec-websocket-extensions: permessage-deflate; client_max_window_bits=99");
  if (random.chance(0.1)) lines.push("sec-websocket-protocol: a, b, a");
  const method = random.chance(0.97) ? "GET" : "POST";
  return { method, target: `${path}${query.length > 0 ? "?" : ""}${query.join("&")}`, lines };
}

/** Some frames, as a client would send them that has read half of RFC 6455. */
export function framesOf(random: Random): Buffer {
  const one = () => {
    if (random.chance(0.002)) return frame("x".repeat(random.integer(60_000, 1_200_000)));
    if (random.chance(0.01))
      return Buffer.concat(Array.from({ length: 200 }, () => frame("", { opcode: 9 })));
    const payload = random.chance(0.8) ? (random.pick(texts) ?? "") : randomBytes(random.integer(0, 300));
    return frame(payload, {
      opcode: random.chance(0.75) ? 1 : random.integer(0, 15),
      final: random.chance(0.9),
      reserved: random.chance(0.96) ? 0 : random.integer(0, 7),
      masked: random.chance(0.96),
      ...(random.chance(0.02) && { length: random.integer(0, 2 ** 40) }),
    });
  };
  const bytes = Buffer.concat(Array.from({ length: random.integer(0, 8) }, one));
  return random.chance(0.2) ? bytes.subarray(0, random.integer(0, bytes.length)) : bytes;
}

/** Sessions of one lane; those that stay open are bounded in number. */
export class Sessions {
  readonly #port: number;
  readonly #random: Random;
  readonly #words: Vocabulary;
  readonly #open: Socket[] = [];

  constructor(port: number, random: Random, words: Vocabulary) {
    this.#port = port;
    this.#random = random;
    this.#words = words;
  }

  /** Runs one, and returns the response to its handshake. */
  async run() {
    const { method, target, lines } = handshakeOf(this.#random, this.#words);
    const head = [`${method} ${target} HTTP/1.1`, `host: 127.0.0.1:${this.#port}`, ...lines, "", ""].join(
      "\r\n",
    );
    const bytes = framesOf(this.#random);
    // Frames that come with the handshake have to wait for it.
    const early = this.#random.chance(0.2);
    const connection = new Connection(this.#port);
    const first = early ? Buffer.concat([Buffer.from(head), bytes]) : Buffer.from(head);
    const exchange = await connection.send(
      { name: "handshake", deeds: [{ kind: "write", bytes: first }] },
      method,
    );
    const socket = connection.release();
    if (socket !== undefined) await this.#continue(socket, early ? Buffer.alloc(0) : bytes);
    return { method, target, exchange };
  }

  close(): void {
    for (const socket of this.#open.splice(0)) socket.destroy();
  }

  async #continue(socket: Socket, bytes: Buffer): Promise<void> {
    if (socket.destroyed) return;
    const written = new Promise<void>((resolve) => {
      socket.once("close", resolve);
      socket.write(bytes, () => resolve());
    });
    // A deaf client takes nothing from here on.
    if (this.#random.chance(0.1)) socket.pause();
    await written;
    const manner = this.#random.pick(["end", "reset", "destroy", "stay"]);
    if (manner === "end") socket.end(() => socket.destroySoon());
    else if (manner === "destroy") socket.destroy();
    else if (manner === "reset") socket.resetAndDestroy();
    else this.#open.push(socket);
    if (this.#open.length > 20) this.#open.shift()?.destroy();
  }
}

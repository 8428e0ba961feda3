// How a request goes over the wire: in good order, or as clients do that are broken, slow, gone, or made to hurt.
import { gzipSync } from "node:zlib";
import type { Random } from "../../packages/core/test/support/random.ts";
import type { RequestPlan } from "./requests.ts";

/** The actions on a connection, one after the other. */
export type Deed =
  | { readonly kind: "write"; readonly bytes: Buffer }
  /** Lets the other side work for so many milliseconds. */
  | { readonly kind: "wait"; readonly milliseconds: number }
  /** Nothing more is sent from here; the other side is still read. */
  | { readonly kind: "end" }
  /** Closes in the middle of everything. */
  | { readonly kind: "leave" };

export interface Manner {
  readonly name: string;
  readonly deeds: readonly Deed[];
}

/** Node does not respond to a client that has closed its half, unless the response is already on its way. */
export function mayStaySilent({ deeds }: Manner): boolean {
  return deeds.some(({ kind }) => kind === "end" || kind === "leave");
}

const oddLines = [
  "x: \u0001",
  "no colon here",
  ": no name",
  " folded: line",
  "x\u00e9: y",
  "content-length: -1",
  "content-length: 1e3",
  "content-length: 99999999999999999999",
  "transfer-encoding: gzip, identity",
  "expect: 100-continue",
  "expect: everything",
  "connection: close",
  "connection: upgrade",
  "upgrade: h2c",
  "te: trailers",
  `x-long: ${"y".repeat(9000)}`,
  `cookie: ${"a=b; ".repeat(5000)}`,
  "host: second.example",
  "host:",
  "forwarded: for=1.2.3.4",
  "x-forwarded-host: a b",
];
const garbage = [
  "GET / HTTP/9.9\r\n\r\n",
  "\u0000\u0001\u0002\r\n\r\n",
  "\u0016\u0003\u0001\u0002\u0000",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "GET\r\n\r\n",
  " / HTTP/1.1\r\n\r\n",
  "GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
  `GET /${"a".repeat(70_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
  `GET / HTTP/1.1\r\n${"a: b\r\n".repeat(3000)}\r\n`,
  "CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n",
];

const write = (bytes: string | Buffer): Deed => ({ kind: "write", bytes: Buffer.from(bytes) });
const wait = (milliseconds: number): Deed => ({ kind: "wait", milliseconds });
const end: Deed = { kind: "end" };
const leave: Deed = { kind: "leave" };

/** Chooses how a request is sent: seven of ten in good order. */
export function chooseManner(random: Random, plan: RequestPlan, host: string): Manner {
  const body = Buffer.from(plan.body ?? "");
  const head = (...more: string[]) => {
    const lines = plan.headers.map(([name, value]) => `${name}: ${value}`);
    const first = `${plan.method} ${encodeTarget(plan.target)} HTTP/1.1`;
    return `${[first, `host: ${host}`, ...lines, ...more].join("\r\n")}\r\n\r\n`;
  };
  const sized = plan.body === undefined ? [] : [`content-length: ${body.length}`];
  const whole = Buffer.concat([Buffer.from(head(...sized)), body]);
  const chunked = head("transfer-encoding: chunked");
  const cut = (bytes: Buffer) => bytes.subarray(0, random.integer(0, bytes.length));
  const make: Record<string, () => readonly Deed[]> = {
    "odd header": () => [write(head(random.pick(oddLines) ?? "", ...sized)), write(body), wait(2), end],
    "raw target": () => [write(`${plan.method} ${plan.target} HTTP/1.1\r\nhost: ${host}\r\n\r\n`)],
    "old version": () => [
      write(Buffer.from(whole.toString("latin1").replace("HTTP/1.1", "HTTP/1.0"), "latin1")),
    ],
    "in pieces": () => {
      const at = random.integer(1, whole.length - 1);
      return [write(whole.subarray(0, at)), wait(random.integer(0, 20)), write(whole.subarray(at))];
    },
    chunked: () => [write(chunked), write(chunksOf(body, random)), write("0\r\n\r\n")],
    "cut chunks": () => [write(chunked), write(cut(chunksOf(body, random))), random.pick([end, leave])],
    "wrong chunks": () => [write(chunked), write("zz\r\nabc\r\n0\r\n\r\n"), end],
    "short body": () => [write(head(`content-length: ${body.length + 10}`)), write(body), wait(1), end],
    "two lengths": () => [
      write(head(`content-length: ${body.length}`, "transfer-encoding: chunked")),
      write(body),
      end,
    ],
    compressed: () => {
      const small = gzipSync(body);
      return [write(head("content-encoding: gzip", `content-length: ${small.length}`)), write(small)];
    },
    "another encoding": () => {
      const wide = Buffer.from(plan.body ?? "", "utf16le");
      return [write(head(`content-length: ${wide.length}`)), write(wide)];
    },
    "broken letters": () => {
      const bytes = Buffer.concat([cut(body), Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0]), cut(body)]);
      return [write(head(`content-length: ${bytes.length}`)), write(bytes)];
    },
    "a large body": () => {
      const bytes = Buffer.from(
        JSON.stringify({ input: { a: 1, text: "x".repeat(random.integer(1e5, 6e6)) } }),
      );
      return [write(head(`content-length: ${bytes.length}`)), write(bytes)];
    },
    "leaves in the body": () => [write(cut(whole)), wait(random.integer(0, 3)), leave],
    "leaves at once": () => [write(whole), wait(random.integer(0, 10)), leave],
    "half closed": () => [write(whole), end],
    garbage: () => [write(random.pick(garbage) ?? ""), wait(1), end],
  };
  // A large body costs as much as a hundred others.
  const names = Object.keys(make).filter((name) => name !== "a large body" || random.chance(0.05));
  const name = random.chance(0.7) ? "whole" : (random.pick(names) ?? "whole");
  return { name, deeds: make[name]?.() ?? [write(whole)] };
}

/** Targets that a request line can hold; `raw target` sends it as it is. */
function encodeTarget(target: string): string {
  return `/${target.replace(/^\//, "").replaceAll(/[^!-~]/gu, (letter) => encodeURIComponent(letter.toWellFormed()))}`;
}

function chunksOf(body: Buffer, random: Random): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const part = body.subarray(at, at + random.integer(1, Math.max(1, body.length)));
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"));
    at += part.length;
  }
  return Buffer.concat(parts);
}

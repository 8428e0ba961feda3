// Reads a JSON body: checks its size and content type, and refuses `__proto__` keys.
import { AndanteError } from "@andante/core";
import { inTurn, ownTurn } from "@andante/core/internal";
import type { HonoRequest } from "hono";
import {
  BadRequestError,
  BodiesLimitError,
  BodyTooLargeError,
  ClientGoneError,
  TooManyFieldsError,
  UnsupportedMediaTypeError,
} from "../errors/request-errors.ts";
import type { BodyMemory } from "./body-memory.ts";
import type { BodyQueue } from "./body-queue.ts";
import type { Held, HeldBytes } from "./held-bytes.ts";
import { maxSequences, shapeOf } from "./json-shape.ts";
import { bodyAtHand, headerOf } from "./node-request.ts";

/** Characters up to which a body is parsed in any turn. */
const tiny = 1024;
/** Bytes up to which a body is read and parsed at once: 16 KiB × connections stays small. A longer one waits for a turn. */
const short = 16 * 1024;
/** Bytes up to which a body may arrive together with its headers: Node reads 64 KiB at once. */
const oneRead = 64 * 1024;
/** Bytes from which on the handler has another turn than the parser: 4 MB take up to 200 ms to parse. */
const veryLong = 256 * 1024;

export interface BodyBounds {
  /** Bytes of one body. */
  readonly maxBody: number;
  /** Counts the bytes of all long bodies until they are parsed. */
  readonly bodies: HeldBytes;
  /** Those that wait to be parsed. */
  readonly complete: BodyQueue;
  /** Counts the values of long bodies from then on. */
  readonly parsed: BodyMemory;
}

/** The size of one body, and the option that sets it. */
export interface BodyBound {
  readonly limit: number;
  readonly option?: string;
}

/**
 * The parsed body; undefined when there is none. That of a long one counts in `parsed` until `parsed.end`, and its bytes
 * as those of `clientOf()`.
 */
export async function readJsonBody(
  request: HonoRequest,
  bounds: BodyBounds,
  clientOf: () => string,
): Promise<unknown> {
  const length = announcedLength(request);
  if (length > bounds.maxBody) throw new BodyTooLargeError({ limit: bounds.maxBody });
  // Node's parser reads no more than the content length.
  if (length <= oneRead) {
    const text = await bodyAtHand(request.raw, length);
    if (text !== undefined && length > short) await waitAtHand(request, text, bounds, clientOf());
    if (text !== undefined) return parseInTurn(request, text);
    if (length <= short) return parseInTurn(request, await request.text().catch(refuse));
  }
  return request.raw.body === null
    ? undefined
    : readLong(request, request.raw.body, length, bounds, clientOf());
}

/** The bytes of a body of any type, empty without one. */
export async function readRawBody(
  request: HonoRequest,
  { bodies }: Pick<BodyBounds, "bodies">,
  clientOf: () => string,
  limit: number,
): Promise<Uint8Array> {
  const length = announcedLength(request);
  if (length > limit) throw new BodyTooLargeError({ limit });
  if (length <= short) return new Uint8Array(await request.arrayBuffer().catch(refuse));
  if (request.raw.body === null) return new Uint8Array();
  const { reader, held, refusal } = holdBody(request.raw.body, bodies, clientOf());
  try {
    return await readChunks(reader, held, { limit }, length).catch(refusal);
  } finally {
    held.end();
  }
}

async function waitAtHand(
  request: HonoRequest,
  text: string,
  bounds: BodyBounds,
  client: string,
): Promise<void> {
  let cut: AndanteError | undefined;
  const held = bounds.bodies.hold(client, (isSlow) => {
    cut = cutBody(isSlow);
  });
  try {
    held.now(text.length);
    if (cut !== undefined) throw cut;
    held.complete();
    await waitForTurn(request, Buffer.from(text), bounds, client);
  } finally {
    held.end();
  }
}

/** Waits with a complete body for the turn in which it is parsed. */
async function waitForTurn(
  request: HonoRequest,
  bytes: Uint8Array,
  { maxBody, complete, parsed }: BodyBounds,
  client: string,
): Promise<void> {
  await complete.turn(client, bytes.byteLength);
  if (request.raw.signal.aborted) throw new ClientGoneError();
  const limit = maxSequences(maxBody);
  const { size, problem } = shapeOf(bytes, limit);
  if (problem === "sequences") throw new TooManyFieldsError({ limit });
  if (problem === "depth") throw new BadRequestError({ problem: "The request body is nested too deeply" });
  parsed.begin(request, client, size);
}

/** NaN where the request does not announce it. */
export function announcedLength(request: HonoRequest): number {
  return Number(headerOf(request, "content-length") ?? Number.NaN);
}

async function readLong(
  request: HonoRequest,
  body: ReadableStream<Uint8Array>,
  length: number,
  bounds: BodyBounds,
  client: string,
): Promise<unknown> {
  const { reader, held, refusal } = holdBody(body, bounds.bodies, client);
  try {
    const bytes = await readChunks(reader, held, { limit: bounds.maxBody }, length).catch(refusal);
    held.complete();
    if (bytes.byteLength > short) await waitForTurn(request, bytes, bounds, client);
    const value = await parseInTurn(request, new TextDecoder().decode(bytes));
    held.end();
    if (bytes.byteLength > veryLong) await ownTurn("continue");
    return value;
  } finally {
    held.end();
  }
}

/** Reads of a body that is cut fail, also one under way. A race of each read with the cut took twice the time. */
function holdBody(body: ReadableStream<Uint8Array>, bodies: HeldBytes, client: string) {
  const reader = body.getReader();
  let cut: AndanteError | undefined;
  const held = bodies.hold(client, (isSlow) => {
    cut = cutBody(isSlow);
    reader.releaseLock();
  });
  const problemOf = (error: unknown) => cut ?? error;
  const discard = () => void discardRest(body.locked ? reader : body.getReader());
  const refusal = (error: unknown): never => {
    discard();
    throw problemOfBody(problemOf(error));
  };
  return { reader, held, problemOf, discard, refusal };
}

/**
 * Reads the rest of a body that nothing else reads. Otherwise it would stay in the connection, which then carries no
 * further request, and which the listener closes 500 ms after the response, with a request that the client has sent since.
 */
async function discardRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The client has gone.
  }
}

/** Discards a body that no route has begun to read. */
export function discardUnread({ body }: Request): void {
  if (body !== null && !body.locked) void discardRest(body.getReader());
}

/**
 * The bytes in one buffer: a client may send each in a chunk of its own, and a list of these would be hundreds of times
 * as large.
 */
async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  held: Held,
  bound: BodyBound,
  length: number,
): Promise<Uint8Array> {
  let bytes = new Uint8Array(0);
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bytes.subarray(0, size);
    const start = size;
    size += value.byteLength;
    if (size > bound.limit) throw new BodyTooLargeError(bound);
    if (size > bytes.byteLength) {
      const larger = new Uint8Array(Math.max(size, Math.min(2 * bytes.byteLength, length || bound.limit)));
      larger.set(bytes);
      bytes = larger;
    }
    bytes.set(value, start);
    held.now(bytes.byteLength, size);
  }
}

/** Many bodies at a time are parsed in several turns: one of 16 KB takes up to 4 ms. */
function parseInTurn(request: HonoRequest, text: string): unknown {
  return text.length > tiny ? inTurn(() => parseBody(request, text)) : parseBody(request, text);
}

function parseBody(request: HonoRequest, text: string): unknown {
  if (text.trim() === "") return undefined;
  if (!isJson(headerOf(request, "content-type"))) throw new UnsupportedMediaTypeError();
  return parseJson(text);
}

/** Whether a body is absent, or short and within the limit by its content length, which Node's parser enforces. */
export function isShort(limit: number, request: HonoRequest): boolean {
  if (request.method === "GET" || request.method === "HEAD") return true;
  return announcedLength(request) <= Math.min(limit, short);
}

/** A request with a body whose bytes count as held until `end`: the route may keep them. */
export interface CountedBody {
  readonly request: Request;
  end(): void;
  /** The response was sent: discards the rest, unless the route is waiting for it. */
  responded(): void;
}

const nothing = () => undefined;

/** Counts the bytes that the route reads. When the body is cut, the route's read fails. */
export function countBody(request: Request, bodies: HeldBytes, client: string): CountedBody {
  if (request.body === null) return { request, end: nothing, responded: nothing };
  const { reader, held, problemOf, discard } = holdBody(request.body, bodies, client);
  let size = 0;
  let isReading = false;
  let isDiscarded = false;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (isDiscarded)
      throw new BadRequestError({ problem: "The request body was discarded with the response" });
    isReading = true;
    const { done, value } = await reader.read().catch((error) => {
      isReading = false;
      throw problemOf(error);
    });
    isReading = false;
    if (done) {
      held.complete();
      return controller.close();
    }
    size += value.byteLength;
    controller.enqueue(value);
    held.now(size);
  };
  const responded = () => {
    if (isReading || isDiscarded) return;
    isDiscarded = true;
    discard();
  };
  const body = new ReadableStream({ pull, cancel: discard }, { highWaterMark: 0 });
  return { request: new Request(request, { body, duplex: "half" }), end: held.end, responded };
}

/** Counts a body of unknown length, which is received first. Throws where that fails. */
export async function collectBody(
  request: Request,
  bodies: HeldBytes,
  bound: BodyBound,
  client: string,
): Promise<CountedBody> {
  if (request.body === null) return { request, end: nothing, responded: nothing };
  const { reader, held, refusal } = holdBody(request.body, bodies, client);
  const bytes = await readChunks(reader, held, bound, Number.NaN).catch((error) => {
    held.end();
    return refusal(error);
  });
  held.complete();
  // A `Request` copies bytes, but not a stream.
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (bytes.byteLength > 0) controller.enqueue(bytes);
      controller.close();
    },
  });
  return { request: new Request(request, { body, duplex: "half" }), end: held.end, responded: nothing };
}

function refuse(error: unknown): never {
  throw problemOfBody(error);
}

/** The error of a body that could not be read. A truncated body is the client's error. */
function problemOfBody(error: unknown): AndanteError {
  return error instanceof AndanteError ? error : brokenBody();
}

function brokenBody(): BadRequestError {
  return new BadRequestError({ problem: "The request body ended before it was complete" });
}

function cutBody(isSlow: boolean): AndanteError {
  return isSlow
    ? new BadRequestError({ problem: "The request body was not sent in time" })
    : new BodiesLimitError();
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return type === "application/json" || (type.startsWith("application/") && type.endsWith("+json"));
}

/** The value of a JSON text; one with `__proto__` keys is refused. */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadRequestError({ problem: "The request body is not valid JSON" });
  }
  // JSON.parse makes "__proto__" an ordinary property, but code that merges such an object later changes a prototype.
  // The search is cheap; only a body that could hold the key is walked.
  if (text.includes("__proto__") || text.includes("\\u00")) refuseProto(value);
  return value;
}

// Uses a work list, not recursion: a body may be nested deeper than the stack allows.
function refuseProto(body: unknown): void {
  const left = [body];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value !== "object" || value === null) continue;
    if (Object.hasOwn(value, "__proto__")) {
      throw new BadRequestError({ problem: "The request body must not contain the key __proto__" });
    }
    for (const item of Object.values(value)) left.push(item);
  }
}

// Reads a JSON body: checks its size and content type, and refuses `__proto__` keys.
import { AndanteError } from "@andante/core";
import type { HonoRequest } from "hono";
import { BadRequestError, BodyTooLargeError, UnsupportedMediaTypeError } from "../errors/request-errors.ts";
import type { HeldBytes } from "./held-bytes.ts";
import { bodyAtHand, headerOf } from "./node-request.ts";
import type { OwnTurns } from "./own-turn.ts";

/** Bytes up to which a body is read at once: 64 KiB × max connections stays small. */
const short = 64 * 1024;

/** Characters from which on a body is parsed in a reserved turn of the event loop. */
const turnFrom = 16 * 1024;

export interface BodyBounds {
  /** Bytes of one body. */
  readonly maxBody: number;
  /** Counts the bytes of all bodies being read. */
  readonly bodies: HeldBytes;
  readonly turns: OwnTurns;
}

/** The parsed body; undefined when there is none. */
export async function readJsonBody(
  request: HonoRequest,
  { maxBody, bodies, turns }: BodyBounds,
): Promise<unknown> {
  const text = await readText(request, maxBody, bodies).catch(refuse);
  if (text.length > turnFrom) await turns.next();
  if (text.trim() === "") return undefined;
  if (!isJson(headerOf(request, "content-type"))) throw new UnsupportedMediaTypeError();
  return parse(text);
}

async function readText(request: HonoRequest, limit: number, bodies: HeldBytes): Promise<string> {
  const announced = headerOf(request, "content-length");
  if (announced !== undefined) {
    const length = Number(announced);
    if (length > limit) throw new BodyTooLargeError({ limit });
    // Node's parser reads no more than the content length.
    if (length <= short) return (await bodyAtHand(request.raw, length)) ?? request.text();
  }
  if (request.raw.body === null) return "";
  return readChunks(request.raw.body, limit, bodies);
}

/** Whether a body is absent, or short and within the limit by its content length, which Node's parser enforces. */
export function isShort(limit: number, request: HonoRequest): boolean {
  if (request.method === "GET" || request.method === "HEAD") return true;
  return Number(headerOf(request, "content-length") ?? Number.NaN) <= Math.min(limit, short);
}

/**
 * The request with a body whose bytes count as held while a route reads it, until `end`. When the body is cut, the
 * route's read fails.
 */
export function countBody(request: Request, bodies: HeldBytes): { request: Request; end(): void } {
  if (request.body === null) return { request, end: () => undefined };
  const reader = request.body.getReader();
  const failed = Promise.withResolvers<never>();
  // The route may not be reading when the body is cut.
  failed.promise.catch(() => undefined);
  const held = bodies.hold(() => {
    failed.reject(lateBody());
    void reader.cancel().catch(() => undefined);
  });
  let size = 0;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await Promise.race([failed.promise, reader.read()]);
    if (done) {
      held.end();
      return controller.close();
    }
    size += value.byteLength;
    controller.enqueue(value);
    held.now(size);
  };
  const cancel = (reason: unknown) => reader.cancel(reason);
  const body = new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  return { request: new Request(request, { body, duplex: "half" }), end: held.end };
}

function refuse(error: unknown): never {
  throw problemOfBody(error);
}

/** The error of a body that could not be read. A truncated body is the client's error. */
export function problemOfBody(error: unknown): AndanteError {
  return error instanceof AndanteError ? error : brokenBody();
}

function brokenBody(): BadRequestError {
  return new BadRequestError({ problem: "The request body ended before it was complete" });
}

function lateBody(): BadRequestError {
  return new BadRequestError({ problem: "The request body was not sent in time" });
}

async function readChunks(
  body: ReadableStream<Uint8Array>,
  limit: number,
  bodies: HeldBytes,
): Promise<string> {
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => undefined);
  let isCut = false;
  const held = bodies.hold(() => {
    isCut = true;
    leave();
  });
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isCut) throw lateBody();
      if (done) {
        return text + decoder.decode();
      }
      size += value.byteLength;
      if (size > limit) throw new BodyTooLargeError({ limit });
      text += decoder.decode(value, { stream: true });
      held.now(size);
    }
  } catch (error) {
    leave();
    throw error;
  } finally {
    held.end();
  }
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return type === "application/json" || (type.startsWith("application/") && type.endsWith("+json"));
}

function parse(text: string): unknown {
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

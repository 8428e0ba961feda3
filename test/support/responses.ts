// Calls of a server, and the contract's rules for every response: its envelope, and the fields inside.
import { expect } from "vitest";
import { z } from "zod";
import { inTime } from "../../packages/core/test/support/in-time.ts";

export type Fields = Record<string, unknown>;

const fields = z.record(z.string(), z.unknown());

/** A response that was read to its end. */
export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Milliseconds for a response or a part of it. A stream may be silent for fifteen seconds. */
export const responseTime = Number(process.env.ANDANTE_TEST_PATIENCE ?? 25_000);

export async function call(url: string, init: RequestInit = {}): Promise<TestResponse> {
  const reading = async () => {
    const response = await fetch(url, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return inTime(reading(), `the response of ${url}`, responseTime);
}

/** A POST with a JSON body; without any when it is undefined. */
export function postOf(body: unknown, headers: Record<string, string>): RequestInit {
  if (body === undefined) return { method: "POST", headers };
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

/** The payload of a success, of any type; the envelope has exactly the contract's fields. */
export function payloadOf(response: TestResponse, status = 200): unknown {
  const envelope = envelopeOf(response, status);
  expect(Object.keys(envelope).sort()).toEqual(["data", "success"]);
  expect(envelope.success).toBe(true);
  return envelope.data;
}

/** The payload of a success that is an object. */
export function dataOf(response: TestResponse, status = 200): Fields {
  return fields.parse(payloadOf(response, status));
}

/** The message of an error; the envelope has exactly the contract's fields. */
export function errorOf(response: TestResponse, status: number): string {
  const envelope = envelopeOf(response, status);
  expect(Object.keys(envelope).sort()).toEqual(["error", "success"]);
  expect(envelope.success).toBe(false);
  return z.string().min(1).parse(envelope.error);
}

function envelopeOf(response: TestResponse, status: number): Fields {
  expect(response.status, response.text).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/json");
  return fields.parse(JSON.parse(response.text));
}

/** A field that must be a string. */
export function textOf(data: Fields, field: string): string {
  return z.string().parse(data[field]);
}

/** A field that must be an object. */
export function fieldsOf(data: Fields, field: string): Fields {
  return fields.parse(data[field]);
}

/** A field that must be a list of objects. */
export function listOf(data: Fields, field: string): Fields[] {
  return z.array(fields).parse(data[field]);
}

/** ISO 8601 in UTC with milliseconds. */
export const timestamp: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

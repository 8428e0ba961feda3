// The server under attack as the attackers know it: its address, its users, and the rows made for the attacks.
import { createJWT } from "@andante/server";
import { audience, secret } from "../support/tokens.ts";

/** The name under which the served process reaches files on loopback. */
export const filesHost = "files.example";

export interface Target {
  readonly url: string;
  /** A conversation of about 15 MB, of `mallory`. */
  readonly conversationId: string;
  /** An execution whose journal is about 15 MB long, of `mallory`. */
  readonly executionId: string;
  /** A small conversation of `ada`. */
  readonly otherConversationId: string;
  /** An execution of `ada` that waits to be resumed. */
  readonly waitingId: string;
}

/** The headers of a user. */
export async function userHeaders(sub: string): Promise<Record<string, string>> {
  const token = await createJWT({ sub, roles: [] }, secret, { audience, expiresIn: "1h" });
  return { authorization: `Bearer ${token}` };
}

export async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Makes the conversations, the executions and two hundred small ones. */
export async function prepare(url: string): Promise<Target> {
  const mallory = await userHeaders("mallory");
  const conversationId = "long-conversation";
  const input = "x".repeat(3_700_000);
  for (let n = 0; n < 2; n++) {
    const { status, text } = await post(
      `${url}/agents/echo/text`,
      { input, options: { conversationId } },
      mallory,
    );
    if (status !== 200)
      throw new Error(`the conversation could not be made: ${status} ${text.slice(0, 200)}`);
  }
  const { status, headers } = await post(`${url}/workflows/large/execute`, { input: null }, mallory);
  if (status !== 200) throw new Error(`the execution could not be made: ${status}`);
  for (let n = 0; n < 200; n++) await post(`${url}/workflows/sum/execute`, { input: { a: n } }, mallory);
  const ada = await userHeaders("ada");
  const otherConversationId = "ada's own";
  const options = { conversationId: otherConversationId };
  await post(`${url}/agents/echo/text`, { input: "Hello", options }, ada);
  const waiting = await post(`${url}/workflows/twice/execute`, { input: {} }, ada);
  // Built once, by the first request.
  for (const path of ["/doc", "/"]) await (await fetch(url + path)).text();
  const idOf = (from: Headers) => from.get("x-execution-id") ?? "";
  return {
    ...{ url, conversationId, executionId: idOf(headers) },
    ...{ otherConversationId, waitingId: idOf(waiting.headers) },
  };
}

// Makes the rows that the attacks need, and the tokens of their users.
import { createJWT } from "@andante/server";
import { audience, secret } from "../support/tokens.ts";
import { post, type Target } from "./target.ts";

/** Makes the conversations, the executions and two hundred small ones. */
export async function prepare(url: string): Promise<Target> {
  const [mallory, trudy, ada] = await Promise.all([
    userHeaders("mallory"),
    userHeaders("trudy"),
    userHeaders("ada"),
  ]);
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
  const otherConversationId = "ada's own";
  const options = { conversationId: otherConversationId };
  await post(`${url}/agents/echo/text`, { input: "Hello", options }, ada);
  const waiting = await post(`${url}/workflows/twice/execute`, { input: {} }, ada);
  // Built once, by the first request.
  for (const path of ["/doc", "/"]) await (await fetch(url + path)).text();
  const idOf = (from: Headers) => from.get("x-execution-id") ?? "";
  return {
    ...{ url, conversationId, executionId: idOf(headers) },
    ...{ otherConversationId, waitingId: idOf(waiting.headers), users: { mallory, trudy, ada } },
  };
}

/** The headers of a user. */
async function userHeaders(sub: string): Promise<Record<string, string>> {
  const token = await createJWT({ sub, roles: [] }, secret, { audience, expiresIn: "1h" });
  return { authorization: `Bearer ${token}` };
}

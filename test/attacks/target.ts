// The server under attack as the attackers know it: its address, its users, and the rows made for the attacks.
// Imports nothing of the server: the attackers must be ready at once.

/** The name under which the served process reaches files on loopback. */
export const filesHost = "files.example";

/** The workflow whose executions `mallory` must not read, though it started them. */
export const deniedWorkflow = "large";

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
  /** The headers with which the users send their requests. */
  readonly users: Readonly<Record<"mallory" | "trudy" | "ada", Record<string, string>>>;
}

export async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

// The client of the server that serves this console, and its addresses.
import { createClient } from "@andante/client";
import { currentToken } from "./token.ts";

/** The server's root: one level above the console's root, under any path prefix. */
export const serverRoot = new URL("..", document.baseURI).href;

/** The path prefix of the console's pages. Read once: a relative base changes with the address. */
export const consoleRoot = new URL(document.baseURI).pathname;

/** Without retries: the query cache retries reads, and the user repeats commands. */
export const andante = createClient({
  baseUrl: serverRoot,
  token: () => currentToken() ?? undefined,
  retryFor: 0,
});

export function headers(): Record<string, string> {
  const token = currentToken();
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

/** The address of a path such as `/ws/logs`, with the fields of a query that are defined. */
export function address(path: string, query: Readonly<Record<string, unknown>> = {}): string {
  const url = new URL(path.replace(/^\//, ""), serverRoot);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  return url.href;
}

/** Encodes an id for a path. */
export const part = encodeURIComponent;

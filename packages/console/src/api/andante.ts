// The client of the server that serves this console, and its addresses.
import { createClient } from "@andante/client";
import { currentToken } from "./token.ts";

/** Where the server's routes are: one level above the console's root, under any prefix. */
export const serverRoot = new URL("..", document.baseURI).href;

/** The path that the console's own addresses begin with. Read once: a relative base moves with the address. */
export const consoleRoot = new URL(document.baseURI).pathname;

/** Without attempts of its own: queries are read again by the page, commands by the person. */
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

/** An id as a part of a path. */
export const part = encodeURIComponent;

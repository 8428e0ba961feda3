// Puts the caller where the contract says handlers find it: start options, request bodies, request-scoped values.
import type { StartOptions } from "@andante/core";
import type { Context } from "hono";
import type { Caller } from "./gate.ts";

/**
 * The options of a start as the caller may set them. With authentication configured nobody can pretend to be somebody:
 * a token's user wins over the body's, and without a token what the body says about users is dropped.
 */
export function startOptionsOf(options: StartOptions, caller: Caller, guards: boolean): StartOptions {
  if (!guards) return options;
  const { userId: _, context = {}, ...rest } = options;
  const { user: _user, userId: _userId, ...others } = context;
  if (caller.user === undefined) return { ...rest, context: others };
  return { ...rest, userId: caller.userId, context: { ...others, user: caller.user } };
}

/** Makes the caller known to custom routes: as request-scoped values, and inside JSON bodies. */
export function announceCaller(http: Context, caller: Caller): void {
  if (caller.user === undefined) return;
  http.set("authenticatedUser", caller.user);
  http.set("userId", caller.userId);
  if (!/\bjson\b/i.test(http.req.header("content-type") ?? "")) return;
  // Read only when a handler asks: one that takes the raw stream for itself finds it untouched.
  let text: Promise<string> | undefined;
  Object.defineProperty(http.req.bodyCache, "text", {
    enumerable: true,
    get: () => {
      text ??= http.req.raw.text().then((body) => withUser(body, caller));
      return text;
    },
  });
}

function withUser(text: string, { user, userId }: Caller): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) return text;
  const context = "context" in body && typeof body.context === "object" ? body.context : {};
  return JSON.stringify({ ...body, context: { ...context, user }, ...(userId !== undefined && { userId }) });
}

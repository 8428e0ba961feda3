// Adds the caller to start options, request bodies and request-scoped values, as the contract requires.
import type { Context } from "hono";
import { isObject } from "../is-object.ts";
import type { Caller } from "./gate.ts";

/**
 * True for a token whose user has no id. Two such users cannot be distinguished, so they share nothing: an execution
 * without an owner id would belong to all of them.
 */
export function isWithoutId({ user, userId }: Caller): boolean {
  return user !== undefined && userId === undefined;
}

/** The options of a start that name its user. */
export interface StarterOptions {
  readonly userId?: string | undefined;
  readonly context?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The permitted start options. With authentication no caller can impersonate a user: the user of the token replaces the
 * user of the body, and without a token the user fields of the body are dropped.
 */
export function startOptionsOf<Options extends StarterOptions>(
  options: Options,
  caller: Caller,
  authEnabled: boolean,
): Omit<Options, keyof StarterOptions> & StarterOptions & { readonly exclusive?: boolean } {
  if (!authEnabled) return options;
  const { userId: _, context = {}, ...rest } = options;
  // Not in a copy: one of 390 000 fields takes 0.7 s. The context was parsed for this request alone.
  for (const field of ["user", "userId"])
    if (Object.hasOwn(context, field)) Reflect.deleteProperty(context, field);
  if (caller.user === undefined) return { ...rest, context };
  // Through JSON: provider-internal properties of a user, such as methods, do not belong in the journal.
  const user: unknown = JSON.parse(JSON.stringify(caller.user));
  const starter = { userId: caller.userId, context: Object.assign(context, { user }) };
  // A start with the id and input of an existing execution must not make it the caller's.
  return isWithoutId(caller) ? { ...rest, ...starter, exclusive: true } : { ...rest, ...starter };
}

/** Passes the caller to custom routes, as request-scoped values and inside the objects that `c.req.json()` returns. */
export function announceCaller(http: Context, caller: Caller): void {
  if (caller.user !== undefined) http.set("authenticatedUser", caller.user);
  if (caller.userId !== undefined) http.set("userId", caller.userId);
  const { req } = http;
  // Only the value of json(): text() and the raw body stay unchanged, for handlers that check a signature.
  const json = req.json.bind(req);
  Object.defineProperty(req, "json", { value: async () => withCaller(await json<unknown>(), caller) });
}

/** The body with the verified caller in place of any user fields that the client sent. */
function withCaller(body: unknown, { user, userId }: Caller): unknown {
  if (!isObject(body)) return body;
  const { userId: _, context: given, ...rest } = body;
  const { user: _user, userId: _userId, ...others } = isObject(given) ? given : {};
  const known = { ...(user !== undefined && { user }), ...(userId !== undefined && { userId }) };
  // A context that is not an object is passed on unchanged, unless the user must be added to it.
  const context = isObject(given) || user !== undefined ? { ...others, ...known } : given;
  return {
    ...rest,
    ...(context !== undefined && { context }),
    ...(userId !== undefined && { userId }),
  };
}

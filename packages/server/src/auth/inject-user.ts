// Puts the caller where the contract says handlers find it: start options, request bodies, request-scoped values.
import type { Context } from "hono";
import type { Caller } from "./gate.ts";

/**
 * True for a token whose user has no id. Two of them cannot be told apart, so they share nothing: an execution of
 * "the user without an id" would belong to all of them.
 */
export function isWithoutId({ user, userId }: Caller): boolean {
  return user !== undefined && userId === undefined;
}

/** The options of a start that name its user. */
interface StarterOptions {
  readonly userId?: string | undefined;
  readonly context?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The options of a start as the caller may set them. With authentication configured no caller can impersonate a user: the
 * user of the token replaces the body's, and without a token the user fields of the body are dropped.
 */
export function startOptionsOf<Options extends StarterOptions>(
  options: Options,
  caller: Caller,
  authEnabled: boolean,
): Omit<Options, keyof StarterOptions> & StarterOptions & { readonly exclusive?: boolean } {
  if (!authEnabled) return options;
  const { userId: _, context = {}, ...rest } = options;
  const { user: _user, userId: _userId, ...others } = context;
  if (caller.user === undefined) return { ...rest, context: others };
  // After JSON: properties that a provider adds to a user for its own use, such as methods, do not belong in the journal.
  const user: unknown = JSON.parse(JSON.stringify(caller.user));
  const starter = { userId: caller.userId, context: { ...others, user } };
  // A start with the same id and input does not make the execution the caller's.
  return isWithoutId(caller) ? { ...rest, ...starter, exclusive: true } : { ...rest, ...starter };
}

/** Makes the caller known to custom routes: as request-scoped values, and inside the objects that `c.req.json()` returns. */
export function announceCaller(http: Context, caller: Caller): void {
  if (caller.user !== undefined) http.set("authenticatedUser", caller.user);
  if (caller.userId !== undefined) http.set("userId", caller.userId);
  const { req } = http;
  // Only the value of json(): text() and the raw body stay as they were sent, for handlers that check a signature.
  const json = req.json.bind(req);
  Object.defineProperty(req, "json", { value: async () => withCaller(await json<unknown>(), caller) });
}

/** The body with the caller in it, and with nothing in it that only claims to be the caller. */
function withCaller(body: unknown, { user, userId }: Caller): unknown {
  if (!isRecord(body)) return body;
  const { userId: _, context: given, ...rest } = body;
  const { user: _user, userId: _userId, ...others } = isRecord(given) ? given : {};
  const known = { ...(user !== undefined && { user }), ...(userId !== undefined && { userId }) };
  // A context that is not an object is the host's own affair, unless the user has to be in it.
  const context = isRecord(given) || user !== undefined ? { ...others, ...known } : given;
  return {
    ...rest,
    ...(context !== undefined && { context }),
    ...(userId !== undefined && { userId }),
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// What happens to a message while a reply runs in its conversation.

/**
 * - `queue`: it waits for the reply.
 * - `steer`: the reply reads it with its next call of the model; one that no call reads any more waits as with `queue`.
 * - `interrupt`: the reply is stopped and kept as far as it came; then the message gets its own.
 * - `reject`: it is refused, and nothing is kept.
 */
export type WhenBusy = (typeof busyPolicies)[number];

export const busyPolicies = ["queue", "steer", "interrupt", "reject"] as const;

/** Undefined for a value that is a policy, or absent. */
export function problemOfPolicy(given: unknown): string | undefined {
  if (given === undefined || busyPolicies.some((policy) => policy === given)) return undefined;
  return `expected one of ${busyPolicies.join(", ")}`;
}

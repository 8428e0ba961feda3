// Log lines for unauthenticated callers: where an error happened inside the process is not for them.

/** A record, or an array of them, without the stacks of its errors. */
export function withoutStacks(json: string): string {
  if (!json.includes('"stack":')) return json;
  return JSON.stringify(JSON.parse(json, (key, value: unknown) => (key === "stack" ? undefined : value)));
}

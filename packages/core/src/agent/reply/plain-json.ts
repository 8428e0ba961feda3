// Inputs and outputs of tools as JSON: a value that JSON cannot hold is replaced, so that it does not break the reply.

export function plainJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? "null");
  } catch {
    return "[not representable as JSON]";
  }
}

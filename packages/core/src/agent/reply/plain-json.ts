// Values of tools on their way into JSON: what JSON cannot hold is said so instead of breaking the answer.

export function plain(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? "null");
  } catch {
    return "[a value that JSON cannot hold]";
  }
}

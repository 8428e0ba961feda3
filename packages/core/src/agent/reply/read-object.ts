// Reads the object out of a model's text.

/** The JSON value that the text holds; undefined when it holds none. */
export function readObject(text: string): { readonly value: unknown } | undefined {
  // Models like to wrap JSON in a fenced block.
  const inner = /^\s*```(?:json)?\s*([\s\S]*?)\s*```\s*$/.exec(text)?.[1] ?? text;
  try {
    return { value: JSON.parse(inner) };
  } catch {
    return undefined;
  }
}

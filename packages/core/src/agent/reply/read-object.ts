// Reads the JSON out of a model's text.

/** The JSON value in the text; undefined when the text is not JSON. */
export function readObject(text: string): { readonly value: unknown } | undefined {
  // Models often wrap JSON in a fenced block.
  const inner = /^\s*```(?:json)?\s*([\s\S]*?)\s*```\s*$/.exec(text)?.[1] ?? text;
  try {
    return { value: JSON.parse(inner) };
  } catch {
    return undefined;
  }
}

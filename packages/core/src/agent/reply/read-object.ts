// Reads the JSON out of a model's text.

/** The JSON value in the text; undefined when the text is not JSON. */
export function readObject(text: string): { readonly value: unknown } | undefined {
  const inner = withoutFence(text.trim());
  try {
    return { value: JSON.parse(inner) };
  } catch {
    return undefined;
  }
}

/** Models often wrap JSON in a fenced block. Not a regular expression: on a reply of blanks one took cubic time. */
function withoutFence(text: string): string {
  const fence = "```";
  if (!text.startsWith(fence) || !text.endsWith(fence)) return text;
  const inner = text.slice(fence.length, -fence.length);
  return inner.startsWith("json") ? inner.slice("json".length) : inner;
}

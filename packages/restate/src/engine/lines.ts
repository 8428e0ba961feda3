// The fields before a value by which lists are searched: Restate's SQL splits them at the separator.

/** JSON does not hold it. */
export const separator = "\u001f";

/** Fields hold no character that separates them, and no NUL, which SQL has no text for. */
export function field(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace.
  return value.replace(/[\u0000\u0001\u001e\u001f]/g, (character) => `\u0001${character.charCodeAt(0)};`);
}

/** The text of a field, as it was before `field`. */
export function unfield(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: `field` wrote them.
  return value.replace(/\u0001(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

/** Null and a text are different fields. */
export function optional(value: string | null): string {
  return value === null ? "" : `+${field(value)}`;
}

/** A tag with separators on both sides. */
export function tagField(tag: string): string {
  return `\u001e${field(tag)}\u001e`;
}

type NamesIn<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? First | NamesIn<Rest>
  : Text;

/** SQL expressions for the fields of values, which have this order. The last one is the value itself, as JSON. */
export function columnsOf<Names extends string>(names: Names): Readonly<Record<NamesIn<Names>, string>>;
export function columnsOf(names: string): Readonly<Record<string, string>> {
  const split = (place: number) => `split_part(value_utf8, '${separator}', ${place})`;
  return Object.fromEntries(names.split(" ").map((name, index) => [name, split(index + 1)]));
}

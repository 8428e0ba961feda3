// A value as one line, for rows and previews.

/** A value as one line without JSON syntax: the primitive values of an object and of the objects in it. */
export function inlineWords(value: unknown, most = 200): string {
  if (!isPlain(value)) return inlineJson(value, most);
  const words = Object.values(value)
    .flatMap((each) => (isPlain(each) ? Object.values(each) : [each]))
    .filter((each) => typeof each === "string" || typeof each === "number")
    .join(" · ");
  if (words === "") return inlineJson(value, most);
  return words.length > most ? `${words.slice(0, most)}…` : words;
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function inlineJson(value: unknown, most = 200): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value.length > most ? `${value.slice(0, most)}…` : value;
  const text = JSON.stringify(value) ?? "";
  const isLong = text.length > most;
  const spaced = spellTurns(isLong ? text.slice(0, most) : text);
  // Adds spaces outside strings.
  const airy = spaced.replace(/("(?:[^"\\]|\\.)*")|([{}[\],:])/g, (_, quoted, mark) => {
    if (quoted !== undefined) return quoted;
    if (mark === "{" || mark === "[") return `${mark} `;
    if (mark === "}" || mark === "]") return ` ${mark}`;
    return `${mark} `;
  });
  const tidy = airy.replaceAll("{  }", "{}").replaceAll("[  ]", "[]");
  return isLong || tidy.length > most ? `${tidy.slice(0, most)}…` : tidy;
}

/** Escapes bidirectional control characters in JSON: a value must not look like another one. */
export function spellTurns(json: string): string {
  return json.replace(
    /[\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16)}`,
  );
}

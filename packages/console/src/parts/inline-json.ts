// A value as one line, for rows and previews.

/** The same for people who do not read JSON: the plain values of an object, one after the other. */
export function inlineWords(value: unknown, most = 200): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return inlineJson(value, most);
  const plain = Object.values(value).filter((each) => typeof each === "string" || typeof each === "number");
  const words = plain.join(" · ");
  if (words === "") return inlineJson(value, most);
  return words.length > most ? `${words.slice(0, most)}…` : words;
}

export function inlineJson(value: unknown, most = 200): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value.length > most ? `${value.slice(0, most)}…` : value;
  const text = JSON.stringify(value) ?? "";
  const spaced = text.length > 2000 ? text.slice(0, 2000) : text;
  // Room to breathe, outside strings.
  const airy = spaced.replace(/("(?:[^"\\]|\\.)*")|([{}[\],:])/g, (_, quoted, mark) => {
    if (quoted !== undefined) return quoted;
    if (mark === "{" || mark === "[") return `${mark} `;
    if (mark === "}" || mark === "]") return ` ${mark}`;
    return `${mark} `;
  });
  const tidy = airy.replaceAll("{  }", "{}").replaceAll("[  ]", "[]");
  return tidy.length > most ? `${tidy.slice(0, most)}…` : tidy;
}

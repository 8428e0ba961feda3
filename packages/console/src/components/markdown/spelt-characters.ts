// Decodes character references, such as `&amp;` and `&#8212;`, with the browser's list of names.

const spelt = /&(?:#x[0-9a-f]{1,6}|#\d{1,7}|[a-z][a-z0-9]{1,31});/gi;

export function readCharacters(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(spelt, (name) => {
    // A single reference, so the parser can create no element from it.
    const { documentElement } = new DOMParser().parseFromString(name, "text/html");
    return documentElement.textContent;
  });
}

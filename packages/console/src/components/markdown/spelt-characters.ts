// Characters that are spelt by name or number, as in `&amp;` and `&#8212;`. The browser knows all of their names.

const spelt = /&(?:#x[0-9a-f]{1,6}|#\d{1,7}|[a-z][a-z0-9]{1,31});/gi;

export function readCharacters(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(spelt, (name) => {
    // One name and nothing else, so no element can come of it.
    const { documentElement } = new DOMParser().parseFromString(name, "text/html");
    return documentElement.textContent;
  });
}

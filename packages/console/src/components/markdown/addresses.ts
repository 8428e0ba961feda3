// The addresses in a text that may become links, and the images that may be rendered.

const followed = new Set(["http:", "https:", "mailto:"]);

/** The absolute address of a link; undefined for other schemes, such as javascript:, and for relative addresses. */
export function linkAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return followed.has(protocol) ? href : undefined;
}

/** Whether the text is an image as a data URL, which needs no request. SVG is a document and is not rendered. */
export function isPicture(text: string): boolean {
  return /^data:image\/(png|jpeg|gif|webp);base64,/.test(text);
}

// Which addresses in a text may be followed, and which pictures may be drawn.

const followed = new Set(["http:", "https:", "mailto:"]);

/** The address as the browser would follow it; undefined for one that runs something, or means a page of the console. */
export function linkAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return followed.has(protocol) ? href : undefined;
}

/** Whether it holds a picture itself: nothing is loaded to draw it. An SVG is a document, and is not drawn. */
export function isPicture(text: string): boolean {
  return /^data:image\/(png|jpeg|gif|webp);base64,/.test(text);
}

// Requests that a page of another site can make a browser send without a preflight.
//
// A browser sends a preflight first unless method, headers and content type are all on the safelists of the Fetch
// standard. Of these only the content type proves a preflight to a server: proxies add headers, and browsers attach
// remembered credentials (`Authorization: Basic …`) automatically. The length of the body proves nothing.

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);
const safelistedTypes = new Set(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]);
const mediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;

/** Whether a request changes something and may have been sent without a preflight. */
export function isPlainCommand(method: string, contentType: string | undefined): boolean {
  return !safeMethods.has(method) && !needsPreflight(contentType ?? "");
}

/** True where every type of a header is a media type that is not on the safelist: a header may hold several. */
function needsPreflight(contentType: string): boolean {
  return contentType.split(",").every((each) => {
    const type = each.split(";", 1)[0]?.trim().toLowerCase() ?? "";
    return mediaType.test(type) && !safelistedTypes.has(type);
  });
}

/** Whether a page is this server's own: its origin is the address that the request was sent to. */
export function isSameOrigin(origin: string, host: string | null): boolean {
  const page = URL.parse(origin);
  // With the page's scheme, which a proxy in front may have changed, so that a default port is left out of both.
  const server = page === null || host === null ? null : URL.parse(`${page.protocol}//${host}`);
  return page !== null && server !== null && server.host !== "" && page.host === server.host;
}

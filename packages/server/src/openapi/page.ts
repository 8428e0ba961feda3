// HTML pages: response headers and escaping.
import { RouteResponse } from "../response/route-response.ts";

/** Escapes a string for HTML text and attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

export interface PageOptions {
  /** Default: 200. */
  readonly status?: number;
  /** The page has a form that it sends to its own address. Default: it has none. */
  readonly hasForm?: boolean;
}

/** Responds with a page under a content security policy. */
export function page(html: string, policy: string, options: PageOptions = {}): RouteResponse {
  const { status = 200, hasForm = false } = options;
  const form = hasForm ? "'self'" : "'none'";
  return new RouteResponse(html, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `default-src 'none'; base-uri 'none'; form-action ${form}; frame-ancestors 'none'; ${policy}`,
      // A form under `no-referrer` names no origin, which looks like a page of another site.
      "referrer-policy": hasForm ? "same-origin" : "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    },
  });
}

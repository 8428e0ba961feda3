// Sends one webhook: to a public address, without redirects, with a bound on the time, and without reading the response.
import { lookup as lookUp } from "node:dns";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { isPublicAddress } from "./public-address.ts";

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Also addresses that are not public, and http. */
  readonly allowPrivate: boolean;
  readonly signal: AbortSignal;
}

/** `status`: of the response; null without one. `retryAfter`: its header. */
export interface WebhookResponse {
  readonly status: number | null;
  readonly error: string | null;
  readonly retryAfter: string | undefined;
}

/** Finds the addresses of a name. */
export type LookUp = typeof lookUp;

/** Milliseconds from the connection to the head of the response. */
const patience = 15_000;

export class AddressNotAllowedError extends Error {
  constructor() {
    super("the address is not public");
  }
}

/** Never rejects: every failure is a response. `names`: for tests. */
export function postWebhook(webhook: WebhookRequest, names: LookUp = lookUp): Promise<WebhookResponse> {
  return send(webhook, names).catch((error: unknown) => ({
    status: null,
    error: reasonOf(error),
    retryAfter: undefined,
  }));
}

function send(
  { url, headers, body, allowPrivate, signal }: WebhookRequest,
  names: LookUp,
): Promise<WebhookResponse> {
  return new Promise((resolve, reject) => {
    const target = new URL(url);
    const host = target.hostname.replace(/^\[|\]$/g, "");
    // Names are checked when they are looked up; an address is not looked up.
    if (!allowPrivate && (target.protocol !== "https:" || (isIP(host) !== 0 && !isPublicAddress(host))))
      throw new AddressNotAllowedError();
    const request = target.protocol === "https:" ? requestHttps : requestHttp;
    const sent = request(target, {
      method: "POST",
      headers: { ...headers, "content-length": String(Buffer.byteLength(body)) },
      // One connection for each: it was made to an address that was checked.
      agent: false,
      timeout: patience,
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
      lookup: allowPrivate ? lookUp : publicLookUp(names),
    });
    sent.on("response", (response) => {
      const { statusCode = 0, headers: received } = response;
      resolve({ status: statusCode, error: null, retryAfter: received["retry-after"] });
      // The body may be a secret of a network that this machine reaches.
      response.destroy();
    });
    sent.on("error", reject);
    sent.on("timeout", () => sent.destroy(new Error("no response in time")));
    sent.end(body);
  });
}

/** Looks a name up once, and refuses it where one of its addresses is not public: the socket connects to those alone. */
function publicLookUp(names: LookUp): LookupFunction {
  return (hostname, options, done) => {
    names(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, []);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
        return done(new AddressNotAllowedError(), []);
      return options.all ? done(null, addresses) : done(null, first.address, first.family);
    });
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof AddressNotAllowedError) return error.message;
  if (!(error instanceof Error)) return "the request failed";
  if (error.name === "AbortError" || error.name === "TimeoutError") return "no response in time";
  // The code, not the message: that names addresses of the network.
  return "code" in error && typeof error.code === "string" ? error.code : "the request failed";
}

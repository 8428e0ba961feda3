// The options of links: where their pages are, and the secrets that sign them.
import { OptionError } from "../errors/index.ts";
import { checkOptionGroup, type KnownOptions } from "../values/check-options.ts";
import type { LinkOptions } from "../workflow/step-context.ts";

/** The option `links` of createAndante. */
export interface LinksOptions {
  /** The address at which people reach the service, with its base path: "https://app.example.com/ai". */
  readonly url: string;
  /**
   * Signs the links, at least 32 characters. In a list the first one signs and all of them verify: put a new one in front,
   * and remove the old one when its links have expired.
   */
  readonly secret: string | readonly string[];
}

const known: KnownOptions<LinksOptions> = { url: true, secret: true };
export const knownLinkOptions: KnownOptions<LinkOptions> = {
  to: true,
  expires: true,
  resume: true,
  label: true,
};

const minSecret = 32;

export function checkLinksOptions(options: LinksOptions | undefined): void {
  checkOptionGroup("links", options, known);
  if (options === undefined) return;
  const { protocol, search, hash } = URL.parse(String(options.url)) ?? {};
  if ((protocol !== "http:" && protocol !== "https:") || search !== "" || hash !== "")
    throw new OptionError({
      option: "links.url",
      problem: "expected an http or https address without a query",
    });
  const secrets = secretsOf(options);
  const isLong = (secret: unknown) => typeof secret === "string" && secret.length >= minSecret;
  if (secrets.length === 0 || secrets.length > 10 || !secrets.every(isLong)) {
    const problem = `expected a text of at least ${minSecret} characters, or a list of 1 to 10 of them`;
    throw new OptionError({ option: "links.secret", problem });
  }
}

export function secretsOf({ secret }: LinksOptions): readonly string[] {
  return typeof secret === "string" || !Array.isArray(secret) ? [secret].flat() : secret;
}

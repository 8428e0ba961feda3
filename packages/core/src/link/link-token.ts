// The tokens of links: the wait that a link decides, signed. A token that was not signed here is not read at all, so that
// every refusal takes the same time and needs nothing of the store.
import { createHmac, timingSafeEqual } from "node:crypto";
import { Fields } from "../values/fields.ts";
import type { JsonText } from "../values/json.ts";

/** The contents of a token. */
export interface LinkClaims {
  readonly executionId: string;
  /** The path of the step. */
  readonly path: string;
  /** Identifies one wait of the step: see `visitOf` of the journal. */
  readonly visit: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly to?: string | undefined;
  readonly label?: string | undefined;
  /** JSON text; undefined for a form. */
  readonly resume?: JsonText;
}

/** Longer ones are not verified: a body makes them shorter than 4 000 characters. */
const maxToken = 8_000;

export class LinkTokens {
  readonly #secrets: readonly string[];

  /** The first one signs, all of them verify. */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  sign(claims: LinkClaims): string {
    const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
    return `${payload}.${this.#signature(payload, this.#secrets[0] ?? "", "link").toString("base64url")}`;
  }

  /** The contents of a token that was signed here; undefined for any other text. */
  read(token: string): LinkClaims | undefined {
    const [payload = "", signature = "", ...rest] = token.length > maxToken ? [] : token.split(".");
    const isSigned = this.#verifies(payload, signature, "link");
    if (!isSigned || rest.length > 0) return undefined;
    const fields = Fields.parse(
      Buffer.from(payload, "base64url").toString(),
      (problem) => new TypeError(problem),
    );
    return {
      executionId: fields.text("executionId"),
      path: fields.text("path"),
      visit: fields.text("visit"),
      expiresAt: fields.number("expiresAt"),
      to: fields.optionalText("to"),
      label: fields.optionalText("label"),
      resume: fields.optionalText("resume"),
    };
  }

  /** A field of the form on the page of a link: a request without it was not made by that form. */
  formOf(token: string): string {
    return this.#signature(token, this.#secrets[0] ?? "", "form").toString("base64url");
  }

  isFormOf(token: string, form: string): boolean {
    return this.#verifies(token, form, "form");
  }

  /** Compares with the signature of each secret, so that the time does not depend on which one fits. */
  #verifies(text: string, given: string, purpose: "link" | "form"): boolean {
    // As text: the decoder of base64url accepts several texts for the same bytes.
    const bytes = Buffer.from(given);
    let isValid = false;
    for (const secret of this.#secrets) {
      const expected = Buffer.from(this.#signature(text, secret, purpose).toString("base64url"));
      const isSame = timingSafeEqual(
        expected,
        bytes.length === expected.length ? bytes : Buffer.alloc(expected.length),
      );
      if (isSame && bytes.length === expected.length) isValid = true;
    }
    return isValid;
  }

  #signature(text: string, secret: string, purpose: string): Buffer {
    return createHmac("sha256", secret).update(`andante.${purpose}.1:${text}`).digest();
  }
}

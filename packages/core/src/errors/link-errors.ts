// Errors of links to decisions.
import { AndanteError } from "./andante-error.ts";

/** A body makes a link, and the host has not configured where its page is. */
export class LinksNotConfiguredError extends AndanteError {
  constructor({ path }: { path: string }) {
    super(`Step ${path} makes a link: set links: { url, secret } in the options of serve or createAndante`, {
      code: "links-not-configured",
      status: 500,
    });
  }
}

/** The token was not signed by this service. */
export class LinkNotFoundError extends AndanteError {
  constructor() {
    super("This link is not valid", { code: "link-not-found", status: 404 });
  }
}

/** The link has expired, or its execution is deleted. */
export class LinkExpiredError extends AndanteError {
  constructor() {
    super("This link has expired", { code: "link-expired", status: 410 });
  }
}

/** The page of a link has not sent the request, or a page of another site has. */
export class LinkFormError extends AndanteError {
  constructor() {
    super("Open the link and use the form on its page", { code: "link-form", status: 403 });
  }
}

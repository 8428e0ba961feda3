// Errors of authentication and authorization. The contract defines the messages.
import { AndanteError } from "@andante/core";

/** A required token is missing. */
export class AuthenticationRequiredError extends AndanteError {
  constructor() {
    super("Authentication required", { code: "authentication-required", status: 401 });
  }
}

/** The provider does not accept the token. */
export class InvalidTokenError extends AndanteError {
  readonly reason: string;
  constructor({ reason, cause }: { reason: string; cause?: unknown }) {
    super(`Invalid token: ${reason}`, { code: "invalid-token", status: 401, cause });
    this.reason = reason;
  }
}

/** The token has expired. A custom provider may throw it too. */
export class TokenExpiredError extends AndanteError {
  constructor() {
    super("Token expired", { code: "token-expired", status: 401 });
  }
}

/** The token cannot be verified now: its issuer does not respond. A custom provider may throw it too. */
export class VerificationUnavailableError extends AndanteError {
  constructor({ cause }: { cause?: unknown } = {}) {
    super("The token cannot be verified right now, try again later", {
      code: "verification-unavailable",
      status: 503,
      retryAfter: 5,
      cause,
    });
  }
}

/** The host's `authorize` refused the action. */
export class ForbiddenError extends AndanteError {
  constructor({ action }: { action: string }) {
    super(`Not allowed: ${action}`, { code: "forbidden", status: 403 });
  }
}

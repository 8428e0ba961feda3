// Why a caller is not let in. The messages are the contract's.
import { AndanteError } from "@andante/core";

/** No token was sent where one is needed. */
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

/** The token was good once. A custom provider may throw it too. */
export class TokenExpiredError extends AndanteError {
  constructor() {
    super("Token expired", { code: "token-expired", status: 401 });
  }
}

/** Nobody can tell now whether the token is good: its issuer does not respond. A custom provider may throw it too. */
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

/** The host's `authorize` said no. */
export class ForbiddenError extends AndanteError {
  constructor({ action }: { action: string }) {
    super(`Not allowed: ${action}`, { code: "forbidden", status: 403 });
  }
}

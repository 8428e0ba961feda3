// The authentication column of the route table.

/**
 * Who may call an endpoint once authentication is configured, in opt-in mode: `public` anyone, `protected` only
 * authenticated callers. In opt-out mode every endpoint is protected.
 */
export type Access = "public" | "protected";

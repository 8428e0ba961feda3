// The authentication column of the route table.

/**
 * The callers that an endpoint admits with authentication, in opt-in mode: `public` all callers, `protected` only
 * authenticated callers. In opt-out mode every endpoint is protected.
 */
export type Access = "public" | "protected";

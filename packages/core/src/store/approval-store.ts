// The part of the store contract that knows which tool approvals were used. Every store passes the cases of
// approval-cases.ts.
//
// An approval request that only the client keeps is signed, bound to its user and limited in time; that it was used is
// kept here until it would have expired anyway.

export interface UseApproval {
  /** A random id of this use: repeating one whose result was lost returns the first result. */
  readonly key: string;
  /** Identifies the request. */
  readonly approval: string;
  /** When the request expires, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** The time now: approvals that expired before it are deleted. */
  readonly at: number;
}

export interface ApprovalStore {
  /** True for the first use of an approval, in any process, also after a restart. */
  use(approval: UseApproval): Promise<boolean>;
  /** The secret that requests are signed with: the candidate when the store has none yet. Kept for good. */
  secret(candidate: string): Promise<string>;
}

// Classifies errors of the database: a fault of one statement, a conflict to retry at once, or a failure to wait out.

export type ErrorKind = "refused" | "clash" | "trouble";

/** The five characters by which PostgreSQL names an error, or the system's name of a network error; "" for neither. */
export function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

// Classes of faults of one statement: cardinality, data, constraint, too big or too long, not supported, syntax.
const ownFaults = new Set(["21", "22", "23", "54", "0A", "42"]);
// The tables are not there, or not for this user: no write succeeds until an operator has repaired it. 42P05 is a
// pooler's: the connection has a prepared statement of another client.
const missing = new Set(["42501", "42P01", "42703", "42P05"]);

/** A transaction has found that another one was first: it is tried again at once, as after a failure of serialization. */
export class WriteClashError extends Error {
  readonly code = "40001";

  constructor() {
    super("another transaction was first");
  }
}

export const lockTimedOut = "55P03";
const deadlocked = "40P01";

/** The statement was ended by a timeout that the role or the database has, or by an administrator. */
const cancelled = "57014";

/** Whether it took too long: a smaller one, or the same one later, may not. */
export function tookTooLong(error: unknown): boolean {
  const code = codeOf(error);
  return code === lockTimedOut || code === cancelled;
}

/** Whether a lock was not to be had: another transaction has held it for long, or waited for one of ours. */
export function wasLockedOut(error: unknown): boolean {
  const code = codeOf(error);
  return code === lockTimedOut || code === deadlocked;
}

export function kindOf(error: unknown): ErrorKind {
  const code = codeOf(error);
  // Without a lock, a serialization failure, or a statement that took long.
  if (code === "40001" || wasLockedOut(error) || tookTooLong(error)) return "clash";
  // A value that cannot be written as text, or is too long for that.
  const isOwn = error instanceof TypeError || error instanceof RangeError;
  if (!isSqlState(code)) return isOwn ? "refused" : "trouble";
  return ownFaults.has(code.slice(0, 2)) && !missing.has(code) ? "refused" : "trouble";
}

/**
 * Statements that are prepared once do not work here: a pooler shares the connection, or (0A000) a table has changed under
 * one of them.
 */
export function isPreparedFault(error: unknown): boolean {
  const code = codeOf(error);
  return code === "26000" || code === "42P05" || code === "08P01" || code === "0A000";
}

/** An error that PostgreSQL itself reported: the connection is usable, and the transaction is rolled back. */
export function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]+$/.test(code);
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the database does not accept connections",
  ENOTFOUND: "the host of the database is not known",
  EAI_AGAIN: "the host of the database is not known",
  "57P01": "the database is shutting down",
  "57P02": "the database has crashed",
  "57P03": "the database is starting up or shutting down",
  "55P03": "another client of the database keeps a row or a table locked",
  "57014": "a statement took longer than the database allows",
  "53300": "the database has no connection left",
  "53100": "the disk of the database is full",
  "25006": "the database is read-only",
  "28P01": "the database refuses the password",
  "28000": "the database refuses the user",
  "3D000": "the database does not exist",
  "42501": "the user of the database lacks a privilege",
  "42P01": "a table is missing from the schema",
  "42703": "a column is missing from the schema",
};

/** The trouble in words that hold no names and no paths. */
export function problemOf(error: unknown): string {
  const code = codeOf(error);
  const known = words[code];
  if (known !== undefined) return known;
  if (code !== "") return `the database failed (${code})`;
  const message = error instanceof Error ? error.message : "";
  return /time ?out/i.test(message)
    ? "the database does not respond"
    : "the connection to the database was lost";
}

// An error: its message, its subject, and a remedy.
import { AndanteApiError } from "@andante/client";

const cures: Readonly<Record<number, string>> = {
  0: "Is it still running? This page tries again by itself.",
  401: "Sign in with a token.",
  403: "Your token does not allow this.",
  404: "It may have been removed, or it is another user's.",
  503: "It is busy or shutting down; try again in a moment.",
};

/** Renders nothing without an error. */
export function Problem({
  error,
  what,
  padded = false,
}: {
  readonly error: unknown;
  readonly what: string;
  /** Keeps a distance from the edges of the page. */
  readonly padded?: boolean;
}) {
  if (error === null || error === undefined) return null;
  const message = error instanceof Error ? error.message : String(error);
  const cure = error instanceof AndanteApiError ? cures[error.status] : undefined;
  const problem = (
    <div className="problem" role="alert">
      <b>{what}</b>
      <div>{message}</div>
      {cure !== undefined && <div className="muted">{cure}</div>}
    </div>
  );
  return padded ? <div className="padded">{problem}</div> : problem;
}

// Variants of the client's types of responses for the pages.
import type * as client from "@andante/client";

export interface ExecutionSummary extends client.ExecutionSummary {
  /** The latest step from the feed of changes; not part of the list. */
  readonly stepPath?: string | undefined;
  /** Where a search has found its text. */
  readonly matches?: client.FoundExecution["matches"] | undefined;
}

export interface ExecutionPage {
  readonly executions: readonly ExecutionSummary[];
  readonly nextCursor: string | null;
  /** False for a search that has not read every match. */
  readonly complete?: boolean;
}

type JournalEvent = client.JournalEvent<unknown, Readonly<Record<string, unknown>>>;
type CommonField = "type" | "executionId" | "timestamp";

/** An event of a journal with the optional fields of all event types. */
export type ExecutionEvent = Pick<JournalEvent, CommonField> &
  Partial<Omit<AllFields<JournalEvent>, CommonField>>;

type AllFields<Union> = {
  readonly [Name in Union extends unknown ? keyof Union : never]:
    | (Union extends { readonly [Key in Name]?: infer Value } ? Value : never)
    | undefined;
};

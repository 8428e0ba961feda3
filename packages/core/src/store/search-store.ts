// The index of values by which executions are found: an optional part of the store contract.
//
// An entry of the index is a *scalar* of an execution, a string or a number somewhere in its values, with its path. The
// index follows the executions: `index` reads those that were started, suspended or ended since, a batch at a time, and
// no other write waits for it or does its work. A crash between two batches loses nothing.

/** The values of the executions of one workflow that are not searched. */
export interface SearchRules {
  readonly workflowId: string;
  /** Paths without the numbers of array elements, each with all that is below it. True: everything. */
  readonly exclude: readonly string[] | true;
}

export interface IndexBatch {
  /** At most this many executions for each reason: started, suspended, ended. */
  readonly limit: number;
  /** The types of events whose values are searched: the data of a suspension, an object of changed keys of the state. */
  readonly events: { readonly suspension: string; readonly state: string };
}

export interface SearchQuery {
  /** A whole scalar or, from three characters on, its beginning. Upper and lower case are the same. */
  readonly text: string;
  readonly workflowId?: string | undefined;
  readonly status?: string | undefined;
  readonly userId?: string | undefined;
  /** Started at this time or later. */
  readonly from?: number | undefined;
  /** Started before this time. */
  readonly to?: number | undefined;
  /** The last execution of the page before. */
  readonly before?: { readonly startAt: number; readonly executionId: string } | undefined;
  readonly limit: number;
}

/** A place where the text was found. */
export interface SearchMatch {
  /** Such as `input.items[0].sku`; `tags` for a tag. */
  readonly path: string;
  /** The scalar as the index has it: in lower case, at most 128 characters. */
  readonly value: string;
}

export interface FoundExecution<Execution> {
  readonly execution: Execution;
  /** The first of its matches, at most 5. */
  readonly matches: readonly SearchMatch[];
}

export interface SearchResult<Execution> {
  /** Newest first. */
  readonly found: readonly FoundExecution<Execution>[];
  /** Executions may follow these. */
  readonly more: boolean;
  /** False when so many values match that not all were read: further executions may match, newer ones too. */
  readonly complete: boolean;
}

/** `Execution`: an execution in a list. */
export interface SearchStore<Execution> {
  /** Keeps the rules of workflows. Executions whose rules have changed are indexed again, in later batches. */
  define(rules: readonly SearchRules[]): Promise<void>;
  /** Indexes a batch of executions that have changed, at most about a million characters of values. */
  index(batch: IndexBatch): Promise<{
    /** There may be more to index. */
    readonly more: boolean;
  }>;
  find(query: SearchQuery): Promise<SearchResult<Execution>>;
}

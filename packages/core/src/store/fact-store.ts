// The part of the store contract that keeps the facts of agents: a list of changes for each user or conversation. Every store
// passes the cases of fact-cases.ts.
//
// A change is a JSON merge patch. The facts are all changes in order, one merged into the other, so that changes of two
// chats never overwrite each other.

/** Whose facts they are. */
export interface FactSubject {
  /** The agent that keeps them. */
  readonly agentId: string;
  readonly scope: "user" | "conversation";
  /** The id of the user or of the conversation. */
  readonly subject: string;
}

export interface FactChange extends FactSubject {
  /** A change with the same id and time is kept once. */
  readonly changeId: string;
  /** A JSON object. */
  readonly patch: string;
  /** The user who changed them; null for the agent. */
  readonly by: string | null;
  /** Milliseconds since 1970. Changes are in the order of their times, then of their ids. */
  readonly at: number;
}

export interface KeptFact extends Omit<FactChange, keyof FactSubject> {
  /** How many changes it stands for. Above 1 it is the facts as they were, and earlier changes do not count. */
  readonly changes: number;
}

export interface FactStore {
  /** Keeps a change. One that belongs to a call of a tool is part of its commit instead. */
  append(change: FactChange): Promise<void>;
  /** At most 1000 changes, the newest ones, oldest first. */
  read(of: FactSubject): Promise<readonly KeptFact[]>;
  /** Keeps the facts in place of a change and all before it. */
  fold(base: FactChange & Pick<KeptFact, "changes">): Promise<void>;
  /** Removes the facts of a user or a conversation, those of all agents. */
  remove(which: Omit<FactSubject, "agentId">): Promise<void>;
}

/** The most changes that are read. */
export const maxFacts = 1_000;

// The option `a2a`: which agents and workflows are served to A2A clients, and how long a message is waited for.
import type { Andante } from "@andante/core";
import { checkOptionGroup, type KnownOptions } from "@andante/core/internal";
import { checkExposed, checkUrl, checkWait, type Exposed } from "../exposed/exposed.ts";

export interface A2aOptions {
  /** The ids of the agents and workflows, each with a card; the first one is that of `/.well-known/agent-card.json`. */
  readonly expose: readonly string[];
  /** Milliseconds that `SendMessage` waits for a reply at most; then the task is returned as it is. Default: 300 000. */
  readonly wait?: number;
  /** The public URL of the server, such as "https://example.com/ai". Default: the address of the request. */
  readonly url?: string;
}

const known: KnownOptions<A2aOptions> = { expose: true, wait: true, url: true };

export interface CheckedA2aOptions {
  /** By their ids. */
  readonly agents: ReadonlyMap<string, Exposed>;
  readonly wait: number;
  readonly url: string | undefined;
}

const defaultWait = 300_000;

/** Throws an OptionError for options that could never work. */
export function checkA2aOptions(options: A2aOptions, andante: Andante): CheckedA2aOptions {
  checkOptionGroup("a2a", options, known);
  const { expose, wait = defaultWait, url } = options;
  const agents = new Map(checkExposed("a2a", expose, andante).map((each) => [each.id, each]));
  checkWait("a2a", wait);
  return { agents, wait, url: checkUrl("a2a", url) };
}

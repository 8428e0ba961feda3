// The option `a2a`: which agents and workflows are served to A2A clients, and how long a message is waited for.
import type { Andante } from "@andante/core";
import { OptionError } from "@andante/core/errors";
import { checkOptionGroup, type KnownOptions } from "@andante/core/internal";
import { checkExposed, checkUrl, checkWait, type Exposed } from "../exposed/exposed.ts";

export interface A2aOptions {
  /** The ids of the agents and workflows, each with a card; the first one is that of `/.well-known/agent-card.json`. */
  readonly expose: readonly string[];
  /** Milliseconds that `SendMessage` waits for a reply at most; then the task is returned as it is. Default: 300 000. */
  readonly wait?: number;
  /**
   * Lets clients have the states of their tasks posted to an address of theirs; `allowPrivate` permits http and addresses that
   * are not public. Default: true, for public addresses.
   */
  readonly push?: boolean | { readonly allowPrivate?: boolean };
  /** The public URL of the server, such as "https://example.com/ai". Default: the address of the request. */
  readonly url?: string;
}

const known: KnownOptions<A2aOptions> = { expose: true, wait: true, push: true, url: true };

export interface CheckedA2aOptions {
  /** By their ids. */
  readonly agents: ReadonlyMap<string, Exposed>;
  readonly wait: number;
  /** Undefined where pushes are off. */
  readonly push: { readonly allowPrivate: boolean } | undefined;
  readonly url: string | undefined;
}

const defaultWait = 300_000;

/** Throws an OptionError for options that could never work. */
export function checkA2aOptions(options: A2aOptions, andante: Andante): CheckedA2aOptions {
  checkOptionGroup("a2a", options, known);
  const { expose, wait = defaultWait, push = true, url } = options;
  const agents = new Map(checkExposed("a2a", expose, andante).map((each) => [each.id, each]));
  checkWait("a2a", wait);
  if (typeof push !== "boolean") checkOptionGroup("a2a.push", push, { allowPrivate: true });
  const { allowPrivate = false } = typeof push === "boolean" ? {} : push;
  if (typeof allowPrivate !== "boolean")
    throw new OptionError({ option: "a2a.push.allowPrivate", problem: "expected true or false" });
  const pushes = push === false ? undefined : { allowPrivate };
  return { agents, wait, push: pushes, url: checkUrl("a2a", url) };
}

// The workflows and agents that are served over another protocol, and the address of the server for its clients.
import type { Andante } from "@andante/core";
import { OptionError } from "@andante/core/errors";
import type { Context } from "hono";

export interface Exposed {
  readonly kind: "workflow" | "agent";
  readonly id: string;
}

/** The definitions behind the option `<name>.expose`, each once. Throws an OptionError. */
export function checkExposed(name: string, expose: unknown, andante: Andante): readonly Exposed[] {
  const option = `${name}.expose`;
  if (!Array.isArray(expose) || !expose.every((id) => typeof id === "string"))
    throw new OptionError({ option, problem: "expected an array of ids" });
  return [...new Set<string>(expose)].map((id) => {
    const isWorkflow = succeeds(() => andante.checkWorkflow(id));
    const isAgent = succeeds(() => andante.agents.check(id));
    if (isWorkflow !== isAgent) return { id, kind: isWorkflow ? "workflow" : "agent" };
    const problem = isWorkflow ? "is a workflow and an agent" : "is neither a workflow nor an agent";
    throw new OptionError({ option, problem: `"${id}" ${problem}` });
  });
}

/** The option `<name>.wait`: milliseconds. Throws an OptionError. */
export function checkWait(name: string, wait: unknown): void {
  if (typeof wait !== "number" || !(wait >= 0 && wait <= maxWait))
    throw new OptionError({ option: `${name}.wait`, problem: `expected 0 to ${maxWait} milliseconds` });
}

const maxWait = 600_000;

/** The option `<name>.url`, without a slash at its end. Throws an OptionError. */
export function checkUrl(name: string, url: string | undefined): string | undefined {
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new OptionError({ option: `${name}.url`, problem: "expected an http(s) URL" });
  return url?.replace(/\/$/, "");
}

/** The address of the server for clients, with the base path. */
export function publicUrl(
  { url }: { readonly url: string | undefined },
  basePath: string,
  { req }: Pick<Context, "req">,
): string {
  return url ?? new URL(req.url).origin + basePath;
}

function succeeds(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

// Patterns of routes that need no token: `<METHOD> <path>`, with `:param`, and a trailing `*` for any remainder.
import { OptionError } from "@andante/core/errors";

/** Whether a request is public; tests exactly the path that the router uses. */
export type PublicTest = (method: string, path: string) => boolean;

export function publicRoutesTest(patterns: readonly string[]): PublicTest {
  if (!Array.isArray(patterns)) throw refusal(patterns, "expected an array of strings");
  const tests = patterns.map(toTest);
  return (method, path) => {
    // HEAD is served by the route of GET, so the rules of GET apply.
    const judged = method === "HEAD" ? "GET" : method;
    return tests.some((test) => test(judged, path));
  };
}

function toTest(pattern: string): PublicTest {
  const match = typeof pattern === "string" ? /^([A-Z]+|\*) (\/.*)$/.exec(pattern.trim()) : null;
  const [, method = "", path = ""] = match ?? [];
  if (match === null) throw refusal(pattern, 'it is not of the form "METHOD /path"');
  const matchesPath = pathTest(pattern, path);
  return (asked, askedPath) => (method === "*" || method === asked) && matchesPath(askedPath);
}

/**
 * Refuses an ambiguous pattern: a route that is public by mistake would go unnoticed.
 */
function pathTest(pattern: string, path: string): (path: string) => boolean {
  const open = path.endsWith("*");
  const fixed = open ? path.slice(0, -1) : path;
  if (fixed.includes("*")) throw refusal(pattern, "a * is understood only at its end");
  const other = /[\s?#{}()[\]^|\\]/.exec(fixed)?.[0];
  if (other !== undefined) throw refusal(pattern, `"${other}" is not understood in a path`);
  const parts = fixed.split("/");
  for (const part of parts) {
    if (!part.includes(":") || /^:[A-Za-z_]\w*$/.test(part)) continue;
    throw refusal(
      pattern,
      `"${part}" is not understood; a parameter is a whole part of the path, such as :id`,
    );
  }
  if (!fixed.includes(":")) return open ? (asked) => asked.startsWith(fixed) : (asked) => asked === fixed;
  if (open && parts.at(-1)?.startsWith(":")) {
    throw refusal(pattern, "after a parameter write /* for the remainder of the path");
  }
  const source = parts
    .map((part) => (part.startsWith(":") ? "[^/]+" : part.replace(/[.+$]/g, "\\$&")))
    .join("/");
  const expression = new RegExp(`^${source}${open ? "" : "$"}`);
  return (asked) => expression.test(asked);
}

function refusal(pattern: unknown, problem: string): OptionError {
  return new OptionError({
    option: "publicRoutes",
    problem: `${JSON.stringify(String(pattern))}: ${problem}`,
  });
}

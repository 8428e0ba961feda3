// Patterns of routes that need no token: `<METHOD> <path>`, with `:param`, and a trailing `*` for any remainder.
import { OptionError } from "@andante/core/errors";

/** Whether a request is public; judged on exactly the path that is routed. */
export type PublicTest = (method: string, path: string) => boolean;

export function publicRoutesTest(patterns: readonly string[]): PublicTest {
  const tests = patterns.map(toTest);
  return (method, path) => {
    // HEAD is served by the route of GET, so it is judged as GET.
    const judged = method === "HEAD" ? "GET" : method;
    return tests.some((test) => test(judged, path));
  };
}

function toTest(pattern: string): PublicTest {
  const match = /^([A-Z]+|\*) (\/.*)$/.exec(pattern.trim());
  const [, method = "", path = ""] = match ?? [];
  if (match === null) {
    throw new OptionError({
      option: "publicRoutes",
      problem: `"${pattern}" is not of the form "METHOD /path"`,
    });
  }
  const matchesPath = pathTest(path);
  return (asked, askedPath) => (method === "*" || method === asked) && matchesPath(askedPath);
}

function pathTest(pattern: string): (path: string) => boolean {
  const open = pattern.endsWith("*");
  const fixed = open ? pattern.slice(0, -1) : pattern;
  if (!fixed.includes(":")) return open ? (path) => path.startsWith(fixed) : (path) => path === fixed;
  const source = fixed
    .split("/")
    .map((part) => (part.startsWith(":") ? "[^/]+" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")))
    .join("/");
  const expression = new RegExp(`^${source}${open ? "" : "$"}`);
  return (path) => expression.test(path);
}

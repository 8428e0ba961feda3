import { expect, test } from "vitest";
import { publicRoutesTest } from "./public-routes.ts";

test.each([
  ["GET /health", "GET /health", true],
  ["GET /health", "HEAD /health", true],
  ["HEAD /health", "GET /health", false],
  ["GET /health", "POST /health", false],
  ["GET /health", "GET /health/", false],
  ["GET /health", "GET /healthy", false],
  ["GET /health", "GET /Health", false],
  ["GET /health", "GET /a/health", false],
  ["GET /workflows/:id", "GET /workflows/sum", true],
  ["GET /workflows/:id", "GET /workflows/", false],
  ["GET /workflows/:id", "GET /workflows/sum/executions", false],
  ["GET /workflows/:id", "GET /workflows/a%2Fb", true],
  ["GET /workflows/:id/executions/:executionId/state", "GET /workflows/a/executions/b/state", true],
  ["POST /hooks/*", "POST /hooks/", true],
  ["POST /hooks/*", "POST /hooks/a/b", true],
  ["POST /hooks/*", "POST /hooks", false],
  ["POST /hooks/*", "GET /hooks/a", false],
  ["POST /hooks*", "POST /hooks", true],
  ["POST /hooks*", "POST /hooksandmore", true],
  ["GET /a/:b/*", "GET /a/x/", true],
  ["GET /a/:b/*", "GET /a/x/y/z", true],
  ["GET /a/:b/*", "GET /a/x", false],
  ["GET /a.b", "GET /axb", false],
  ["GET /a.b/:c", "GET /axb/c", false],
  ["GET /a+/:b", "GET /aa/b", false],
  ["GET /a+/:b", "GET /a+/b", true],
  ["GET /$a/:b", "GET /$a/b", true],
  ["GET /café", "GET /café", true],
  ["GET /*", "GET /", true],
  ["GET /*", "POST /", false],
  ["* /open/*", "DELETE /open/x", true],
])("%s, asked %s: %s", (pattern, request, expected) => {
  const [method = "", path = ""] = request.split(" ");
  expect(publicRoutesTest([pattern])(method, path)).toBe(expected);
});

test("one pattern of many is enough, and without patterns no route is public", () => {
  expect(publicRoutesTest(["GET /a", "GET /b"])("GET", "/b")).toBe(true);
  expect(publicRoutesTest([])("GET", "/")).toBe(false);
});

test.each(["/health", "get /health", "GET health", "GET", "", "GET  "])(
  "%j is refused at start",
  (pattern) => {
    expect(() => publicRoutesTest([pattern])).toThrow(/"METHOD \/path"/);
  },
);

test.each([
  ["GET /files/:name.txt", '":name.txt" is not understood'],
  ["GET /files/a:name", '"a:name" is not understood'],
  ["GET /files/:a:b", '":a:b" is not understood'],
  ["GET /files/:a-:b", '":a-:b" is not understood'],
  ["GET /files/:", '":" is not understood'],
  ["GET /files/:name?", '"?" is not understood'],
  ["GET /files/:name{[a-z]+}", '"{" is not understood'],
  ["GET /files/(.*)", "a * is understood only at its end"],
  ["GET /(a|b)/:c", '"(" is not understood'],
  ["GET /files/[a-z]", '"[" is not understood'],
  ["GET /a/*/b", "a * is understood only at its end"],
  ["GET /a/**", "a * is understood only at its end"],
  ["GET /a/:b*", "after a parameter write /*"],
  ["GET /search?q=1", '"?" is not understood'],
  ["GET /a, POST /b", '" " is not understood'],
])("%j is refused at start: its meaning is not certain", (pattern, problem) => {
  expect(() => publicRoutesTest(["GET /good", pattern])).toThrow(`Option publicRoutes: "${pattern}": `);
  expect(() => publicRoutesTest([pattern])).toThrow(problem);
});

test.each([JSON.parse('"GET /health"'), JSON.parse("[1]"), JSON.parse("[null]")])(
  "%j is refused at start",
  (patterns) => {
    expect(() => publicRoutesTest(patterns)).toThrow("Option publicRoutes: ");
  },
);

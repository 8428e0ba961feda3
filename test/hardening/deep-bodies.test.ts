// JSON nested deeper than a stack, in every field of every body: refused or served, never an unexpected failure.
import { expect, test } from "vitest";
import { routes } from "../../packages/server/src/routes/index.ts";
import { call } from "../support/responses.ts";
import { serveInProcess } from "./served-process.ts";

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const fields = ["input", "options", "options.context", "schema", "messages", "resumeData", "reason", "title"];
const start = '"input":{"a":1,"topic":"t"}';

function bodyWith(field: string, value: string): string {
  const [outer = "", inner] = field.split(".");
  const own = `"${outer}":${inner === undefined ? value : `{"${inner}":{"a":${value}}}`}`;
  return outer === "input" ? `{${own}}` : `{${start},${own}}`;
}

const rows = routes.filter((row) => row.body !== undefined);
const server = await serveInProcess();

test.each(rows.map((row) => [`${row.method} ${row.path}`, row] as const))("%s", async (_, row) => {
  const begun = await call(`${server.url}/workflows/mirror/execute`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: `{"input":{}}`,
  });
  const values: Record<string, string> = {
    id: row.path.startsWith("/agents") ? "echo" : "mirror",
    executionId: begun.headers.get("x-execution-id") ?? "",
    conversationId: "c",
  };
  const address = row.path.replaceAll(/:(\w+)/g, (__, name: string) => values[name] ?? "");
  for (const depth of [5_000, 100_000]) {
    for (const field of fields) {
      const response = await call(server.url + address, {
        method: row.method,
        headers: { "content-type": "application/json" },
        body: bodyWith(field, nested(depth)),
      });
      const what = `${field}, ${depth} deep: ${response.text.slice(0, 200)}`;
      if (response.status >= 500) expect(response.text, what).toContain("Failed to execute workflow");
      expect(server.errors(), what).not.toMatch(/unexpectedly|Uncaught|Unhandled/);
      expect(server.ended(), what).toBeUndefined();
    }
  }
});

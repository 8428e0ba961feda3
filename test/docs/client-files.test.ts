// The configuration files of MCP clients in docs/mcp.md: each is JSON, and names the address of the server.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { root } from "./pages.ts";

const url = "http://127.0.0.1:3141/mcp";
const page = readFileSync(path.join(root, "docs/mcp.md"), "utf8");
const entry = (more: object = {}) =>
  z.strictObject({
    ...more,
    url: z.literal(url),
    headers: z.strictObject({ Authorization: z.string().regex(/^Bearer \$\{\S+\}$/) }),
  });
const http = { type: z.literal("http") };
const servers = (of: z.ZodType) => z.strictObject({ andante: of });
const input = z.strictObject({
  type: z.literal("promptString"),
  id: z.string(),
  description: z.string(),
  password: z.literal(true),
});

test.each([
  ["Claude Code: `.mcp.json`", z.strictObject({ mcpServers: servers(entry(http)) })],
  ["Cursor: `.cursor/mcp.json`", z.strictObject({ mcpServers: servers(entry()) })],
  ["VS Code: `.vscode/mcp.json`", z.strictObject({ inputs: z.array(input), servers: servers(entry(http)) })],
])("the file after %j is JSON with the address and a token", (lead, shape) => {
  const [, after = ""] = page.split(`\n${lead}`);
  const [, file = ""] = /```json\n(.*?)\n```/s.exec(after) ?? [];
  expect(shape.safeParse(JSON.parse(file)).error).toBeUndefined();
});

test("the command of Claude Code names the address, and the token of VS Code is asked for", () => {
  expect(page).toContain(`claude mcp add --transport http andante ${url}`);
  const [, id] = /\$\{input:([^}]+)\}/.exec(page) ?? [];
  expect(page).toContain(`"id": "${id}"`);
});

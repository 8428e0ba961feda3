// Measures a call of a tool over MCP against the same execution over HTTP, at one server in one run: processor time, all
// threads of the server.
import path from "node:path";
import { type Contender, startContender } from "../http/contender.ts";
import { requestText, runRequests } from "../http/load.ts";
import { ours, requireBuiltPackages } from "../http/servers.ts";
import { inTemporaryFolder, median } from "../measure.ts";
import { isRecorded, paced } from "../pace.ts";
import { type Budget, printBudgets, recordBudgets } from "../results.ts";

const rounds = paced({ quick: 3, short: 5, full: 7 });
const seconds = paced({ quick: 2, short: 3, full: 5 });
const connections = 16;

const message = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name: "one",
    arguments: { n: 1 },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
    },
  },
});
const headers = [
  "Accept: application/json, text/event-stream",
  "MCP-Protocol-Version: 2026-07-28",
  "Mcp-Method: tools/call",
  "Mcp-Name: one",
].join("\r\n");
const overMcp = requestText({ path: "/mcp", body: message }).replace("\r\n\r\n", `\r\n${headers}\r\n\r\n`);
/** The same execution: over MCP it has the name of the client as a tag. */
const body = JSON.stringify({ input: { n: 1 }, options: { tags: ["mcp:bench"] } });
const overHttp = requestText({ path: "/workflows/one/execute", body });

/** Milliseconds of processor time for each request. */
async function costOf(server: Contender, request: string): Promise<number> {
  const before = server.cpu();
  const { requests } = await runRequests(server.port, () => () => request, connections, 1_000_000, seconds);
  return (server.cpu() - before) / requests;
}

requireBuiltPackages();
await inTemporaryFolder(async (folder) => {
  const database = path.join(folder, "andante.db");
  const here = import.meta.dirname;
  const server = await startContender({
    ...ours,
    name: "Andante",
    script: "andante.ts",
    folder: here,
    database,
  });
  const costs: { mcp: number; http: number }[] = [];
  await costOf(server, overHttp);
  await costOf(server, overMcp);
  // In turns: a machine that slows down slows both.
  for (let round = 0; round < rounds; round++)
    costs.push({ http: await costOf(server, overHttp), mcp: await costOf(server, overMcp) });
  await server.stop();
  const [http, mcp] = [median(costs.map((cost) => cost.http)), median(costs.map((cost) => cost.mcp))];
  const budgets: Budget[] = [
    {
      name: "A call over MCP against the same over HTTP, processor time",
      value: `${(mcp / http).toFixed(2)} ×`,
      budget: "at most 2 ×",
      held: mcp <= 2 * http,
      note: `${(mcp * 1000).toFixed(0)} against ${(http * 1000).toFixed(0)} µs`,
    },
  ];
  printBudgets("MCP", budgets);
  if (isRecorded) recordBudgets("MCP", "npm run bench:mcp", budgets);
  if (budgets.some(({ held }) => !held)) process.exitCode = 1;
});

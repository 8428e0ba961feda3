// One Restate server for a whole run of tests, started before the first file and removed after the last.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { startRestate } from "../../packages/restate/test/restate-server.ts";
import { shareRestate } from "./shared-database.ts";

export default async function setup(): Promise<() => Promise<void>> {
  const server = await startRestate();
  const { ingressUrl, adminUrl, endpointPort: port } = server;
  // The process of a file ends before others have finished: Restate calls one that stays.
  const file = path.join(import.meta.dirname, "restate-endpoint.ts");
  const args = ["--conditions=andante-source", file, ingressUrl, adminUrl, String(port)];
  const endpoint = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  await once(endpoint.stdout, "data");
  shareRestate({ ingressUrl, adminUrl, endpointUrl: `http://127.0.0.1:${port}` });
  return async () => {
    endpoint.stdin.end();
    await once(endpoint, "exit");
    await server.remove();
  };
}

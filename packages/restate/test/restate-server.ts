// A real Restate server of its own for the tests of one file, on free ports of this machine.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { freePorts } from "../../../examples/cluster/src/free-ports.ts";

export interface RestateServer {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  /** A free port for the endpoint of a store. */
  readonly endpointPort: number;
  /** Further free ports, for the endpoints of other processes. */
  readonly otherPorts: readonly [number, number];
  /** Ends it with SIGKILL, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same ports and files. */
  start(): Promise<void>;
  /** Ends it and removes its files. */
  remove(): Promise<void>;
}

export async function startRestate(): Promise<RestateServer> {
  const directory = mkdtempSync(path.join(tmpdir(), "restate-"));
  const [ingress = 0, admin = 0, node = 0, endpointPort = 0, left = 0, right = 0] = await freePorts(6);
  const config = path.join(directory, "restate.toml");
  writeFileSync(
    config,
    `roles = ["http-ingress", "admin", "worker", "log-server", "metadata-server"]
node-name = "one"
cluster-name = "andante-${node}"
base-dir = "${path.join(directory, "data")}"
bind-address = "127.0.0.1:${node}"
advertised-address = "http://127.0.0.1:${node}"
auto-provision = true
default-num-partitions = 2
log-filter = "error"
log-disable-ansi-codes = true
disable-telemetry = true
rocksdb-total-memory-size = "256 MiB"

[ingress]
bind-address = "127.0.0.1:${ingress}"

[admin]
bind-address = "127.0.0.1:${admin}"
`,
  );
  const adminUrl = `http://127.0.0.1:${admin}`;
  const ingressUrl = `http://127.0.0.1:${ingress}`;
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(program, ["--config-file", config], { stdio: "ignore" });
    await isReady(`${adminUrl}/health`, child);
    await isReady(`${ingressUrl}/restate/health`, child);
  };
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  };
  await start();
  return {
    ingressUrl,
    adminUrl,
    endpointPort,
    otherPorts: [left, right],
    kill,
    start,
    remove: async () => {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The server comes as a package for each platform; there is none for Windows. */
const program = path.join(
  import.meta.dirname,
  `../../../node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
);

export const hasRestate = existsSync(program);

async function isReady(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the Restate server ended with ${child.exitCode}`);
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    await setTimeout(20);
  }
}

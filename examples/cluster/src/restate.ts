// Three Restate servers for the example, each write on two of them, and a balancer through which they call the nodes; or one
// server. Their files are in a temporary folder, their settings are those of deploy/restate.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePorts } from "./free-ports.ts";
import type { Database } from "./postgres.ts";

const template = path.join(import.meta.dirname, "../../../deploy/restate/restate.toml");

interface Ports {
  readonly ingress: number;
  readonly admin: number;
  /** Where the other servers reach it. */
  readonly node: number;
}

/** One server of the cluster; its process changes. */
class RestateServer {
  readonly ports: Ports;
  readonly #file: string;
  #process: ChildProcess | undefined;

  constructor(ports: Ports, file: string) {
    this.ports = ports;
    this.#file = file;
  }

  get status() {
    return this.#process === undefined ? "down" : "up";
  }

  /** Resolves when it accepts calls. */
  async start(): Promise<void> {
    if (this.#process !== undefined) return;
    const child = spawn(program(), ["--config-file", this.#file], { stdio: "ignore" });
    this.#process = child;
    const { admin, ingress } = this.ports;
    for (const url of [`http://127.0.0.1:${admin}/health`, `http://127.0.0.1:${ingress}/restate/health`])
      while (!(await isReady(url)) && this.#process === child) {
        const end = child.exitCode ?? child.signalCode;
        if (end !== null) {
          this.#process = undefined;
          throw new Error(`A Restate server ended with ${end} when it started`);
        }
        await pause(50);
      }
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#process?.kill(name);
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  }
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(url).catch(() => undefined);
  return response?.ok ?? false;
}

export async function startRestate(nodePorts: readonly number[]): Promise<Database> {
  const { servers, ingressUrls, adminUrl, endpointUrl, remove } = await startServers(nodePorts);
  const settings = {
    RESTATE_INGRESS: ingressUrls.join(","),
    RESTATE_ADMIN: adminUrl,
    RESTATE_ENDPOINT: endpointUrl,
  };
  return {
    settings: (place) => ({ ...settings, RESTATE_PORT: String(nodePorts[place]) }),
    // Nodes that start register at the first one.
    servers: servers.slice(1),
    remove,
  };
}

export interface RestateServers {
  readonly servers: readonly RestateServer[];
  readonly ingressUrls: readonly string[];
  /** Of the first server. */
  readonly adminUrl: string;
  /** The balancer before the nodes. */
  readonly endpointUrl: string;
  remove(): Promise<void>;
}

/** The ports of the nodes are for Restate's calls. */
export async function startServers(nodePorts: readonly number[], count = 3): Promise<RestateServers> {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-restate-"));
  const ports = await freePorts(3 * count, nodePorts);
  const all = Array.from({ length: count }, (_, place): Ports => {
    const [ingress = 0, admin = 0, node = 0] = ports.slice(3 * place);
    return { ingress, admin, node };
  });
  const servers = all.map((ports, place) => {
    const file = path.join(folder, `restate-${place}.toml`);
    writeFileSync(file, configOf(place, all, folder));
    return new RestateServer(ports, file);
  });
  const balancer = await startBalancer(nodePorts);
  const remove = async () => {
    balancer.close();
    await Promise.all(servers.map((server) => server.kill()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await Promise.all(servers.map((server) => server.start()));
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    servers,
    ingressUrls: all.map(({ ingress }) => `http://127.0.0.1:${ingress}`),
    adminUrl: `http://127.0.0.1:${all[0]?.admin}`,
    endpointUrl: balancer.url,
    remove,
  };
}

/** The file for production, with ports of this machine and without a bucket. */
function configOf(place: number, all: readonly Ports[], folder: string): string {
  const own = all[place];
  const addresses = all.map(({ node }) => `http://127.0.0.1:${node}`);
  const text = readFileSync(template, "utf8")
    .replace(/^# Without a bucket[\s\S]*/m, "")
    .replace("default-replication = 2", `default-replication = ${Math.min(2, all.length)}`)
    .replace("default-num-partitions = 4", "default-num-partitions = 2")
    .replace(/^addresses = .*$/m, `addresses = ${JSON.stringify(addresses)}`)
    .replace('node-name = "restate-0"', `node-name = "restate-${place}"`)
    .replace('"/var/lib/restate"', JSON.stringify(folder))
    .replace(/^advertised-address = .*$/m, `advertised-address = "http://127.0.0.1:${own?.node}"`)
    .replace("auto-provision = true", `auto-provision = ${place === 0}`)
    .replace("0.0.0.0:5122", `127.0.0.1:${own?.node}`)
    .replace("0.0.0.0:8080", `127.0.0.1:${own?.ingress}`)
    .replace("0.0.0.0:9070", `127.0.0.1:${own?.admin}`);
  return `log-filter = "error"\nrocksdb-total-memory-size = "256 MiB"\n${text}`;
}

/** The server comes as a package for each platform; there is none for Windows. */
function program(): string {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return path.join(path.dirname(manifest), "bin/restate-server");
}

/** Passes each connection on to the next port that accepts it. */
export async function startBalancer(ports: readonly number[]): Promise<{ url: string; close(): void }> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const pass = (from: Socket, left: number): void => {
    const port = ports[turn++ % ports.length] ?? 0;
    const to = connect({ port, host: "127.0.0.1", noDelay: true });
    const next = () => (left > 0 ? pass(from, left - 1) : from.destroy());
    to.once("error", next);
    to.once("connect", () => {
      to.off("error", next);
      to.on("error", () => undefined);
      from.once("close", () => to.destroy());
      to.once("close", () => from.destroy());
      from.pipe(to).pipe(from);
    });
  };
  const server = createServer({ noDelay: true }, (from) => {
    sockets.add(from);
    from.on("error", () => undefined);
    from.once("close", () => sockets.delete(from));
    pass(from, ports.length - 1);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no free port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

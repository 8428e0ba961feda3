// A highly available PostgreSQL with the files of deploy/patroni: three machines, each with etcd, Patroni and PostgreSQL at
// a loopback address of its own, and HAProxy in front of them.
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, tmpdir, userInfo } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { parse } from "yaml";
import { z } from "zod";
import { freePort } from "../../examples/cluster/src/free-ports.ts";
import { type SwitchingProxy, startProxy } from "../../packages/postgres/test/switching-proxy.ts";
import { installedProgram, unpackedLibraries } from "../support/installed-program.ts";
import { type Loss, lossBetween } from "./loss.ts";
import { type Remains, readRemains } from "./remains.ts";

const deploy = path.resolve(import.meta.dirname, "../../deploy/patroni");
const run = promisify(execFile);
const user = "andante";
const password = "password";
/** PostgreSQL refuses to run as root; the tests of CI do. */
const owner = userInfo().uid === 0 ? (idsOf("postgres") ?? idsOf("nobody")) : undefined;

const configSchema = z.looseObject({
  bootstrap: z.looseObject({ dcs: z.looseObject({}), initdb: z.array(z.unknown()) }),
  postgresql: z.looseObject({
    parameters: z.record(z.string(), z.unknown()),
    authentication: z.looseObject({ superuser: z.object({ username: z.string(), password: z.string() }) }),
  }),
});
/** The part of Patroni's description of a server that is used here. */
const stateSchema = z.object({ timeline: z.int() });
type Config = z.infer<typeof configSchema>;

export interface PatroniOptions {
  /** Whether each commit waits for a replica, as in the file. */
  readonly synchronous: boolean;
}

/** The ports, the same at each machine's address. */
interface Ports {
  readonly postgres: number;
  readonly rest: number;
  readonly etcd: number;
  readonly peers: number;
}

interface Machine {
  readonly name: string;
  readonly address: string;
  readonly folder: string;
  /** The way of its replicas to it. */
  readonly link: SwitchingProxy;
  processes: ChildProcess[];
}

export class PatroniDatabase {
  /** The commits that each fail-over lost, with asynchronous replication. */
  readonly losses: Loss[] = [];
  readonly #folder: string;
  readonly #ports: Ports;
  readonly #options: PatroniOptions;
  #machines: Machine[] = [];
  #proxy: ChildProcess | undefined;

  private constructor(folder: string, ports: Ports, options: PatroniOptions) {
    this.#folder = folder;
    this.#ports = ports;
    this.#options = options;
  }

  /** Resolves once there is a primary with its replicas, and the database of the nodes in it. */
  static async start(options: PatroniOptions): Promise<PatroniDatabase> {
    const folder = mkdtempSync(path.join(tmpdir(), "andante-patroni-"));
    own(folder);
    const [postgres, rest, etcd, peers] = [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    const database = new PatroniDatabase(folder, { postgres, rest, etcd, peers }, options);
    process.once("exit", database.#killAll);
    try {
      await database.#start();
    } catch (error) {
      await database.remove();
      throw error;
    }
    return database;
  }

  /** For the nodes: through HAProxy, or with the addresses of all three. */
  url(way: "haproxy" | "addresses"): string {
    return this.#urlOf(way === "haproxy" ? ["127.0.0.1"] : this.#machines.map(({ address }) => address));
  }

  #urlOf(addresses: readonly string[]): string {
    const hosts = addresses.map((address) => `${address}:${this.#ports.postgres}`);
    return `postgres://${user}:${password}@${hosts.join(",")}/${user}`;
  }

  /** Of the primary, as HAProxy finds it. */
  remains(): Promise<Map<string, Remains>> {
    return readRemains(this.url("haproxy"));
  }

  /** Kills etcd and Patroni of the primary's machine. Its PostgreSQL remains and accepts writes. Resolves as `killPrimary`. */
  async orphanPrimary(): Promise<Machine> {
    const machine = await this.#primary();
    for (const child of machine.processes) child.kill("SIGKILL");
    await Promise.all(machine.processes.map(ended));
    await this.#primary();
    return machine;
  }

  /**
   * The machine of the primary is gone at once: etcd, Patroni and PostgreSQL are killed. `lag`: milliseconds for which its
   * replicas have received nothing by then. Resolves with the machine once another one is the primary.
   */
  async killPrimary(lag = 0): Promise<Machine> {
    const machine = await this.#primary();
    if (lag > 0) machine.link.silence();
    await wait(lag);
    for (const child of machine.processes) child.kill("SIGKILL");
    killPostgres(path.join(machine.folder, "data"));
    await Promise.all(machine.processes.map(ended));
    machine.link.switchTo(this.#ports.postgres);
    const copy = this.#options.synchronous ? undefined : await this.#copyOf(machine);
    const { address } = await this.#primary();
    if (copy !== undefined) await this.#recordLoss(copy, address);
    return machine;
  }

  /** Starts a machine that was killed, and resolves when it follows the primary. */
  async restart(machine: Machine): Promise<void> {
    await this.#launch(machine);
    await this.#replicas(2);
  }

  async remove(): Promise<void> {
    this.#killAll();
    process.off("exit", this.#killAll);
    await Promise.all(this.#processes.map(ended));
    for (const { link } of this.#machines) await link.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Also when the process ends before `remove`: nothing that was started here stays. */
  readonly #killAll = (): void => {
    for (const child of this.#processes) child.kill("SIGKILL");
    for (const { folder } of this.#machines) killPostgres(path.join(folder, "data"));
  };

  get #processes(): ChildProcess[] {
    const all = this.#machines.flatMap((machine) => machine.processes);
    return this.#proxy === undefined ? all : [...all, this.#proxy];
  }

  async #start(): Promise<void> {
    for (const n of [1, 2, 3]) {
      const [name, address] = [`pg${n}`, `127.0.0.1${n}`];
      const folder = path.join(this.#folder, name);
      mkdirSync(folder);
      own(folder);
      const link = await startProxy(this.#ports.postgres, 0, address);
      this.#machines.push({ name, address, folder, link, processes: [] });
    }
    await Promise.all(this.#machines.map((machine) => this.#launch(machine)));
    const file = path.join(this.#folder, "haproxy.cfg");
    const site = this.#adapted("haproxy.cfg");
    writeFileSync(file, site.slice(site.indexOf("defaults")).replace("log global", "no log"));
    this.#proxy = launch("haproxy", ["-db", "-f", file]);
    await this.#primary();
    await this.#replicas(2);
    await this.#asSuperuser(async (client) => {
      await client.query(`create role ${user} login password '${password}'`);
      await client.query(`create database ${user} owner ${user}`);
    });
  }

  /** A file of deploy/patroni with the addresses and ports of this database. */
  #adapted(file: string, machine?: Machine): string {
    const { postgres, rest, etcd, peers } = this.#ports;
    // Its own lines name the first machine, the list of all of them every one.
    const text = readFileSync(path.join(deploy, file), "utf8");
    const named =
      machine === undefined
        ? text
        : text
            .split("\n")
            .map((line) =>
              line.includes("10.0.0.12")
                ? line
                : line.replaceAll("pg1", machine.name).replaceAll("10.0.0.11", machine.address),
            )
            .join("\n");
    return named
      .replaceAll("10.0.0.0/24", "127.0.0.0/8")
      .replaceAll("10.0.0.1", "127.0.0.1")
      .replaceAll("5432", String(postgres))
      .replaceAll("8008", String(rest))
      .replaceAll("2379", String(etcd))
      .replaceAll("2380", String(peers));
  }

  /** The file of Patroni, in the machine's folder, without flushes: the disk is not tested. */
  #config(machine: Machine): Config {
    const config = configSchema.parse(parse(this.#adapted("patroni.yml", machine)));
    const { synchronous } = this.#options;
    // On a busy machine a short time ends before the primary has renewed its key. With synchronous replication such a
    // fail-over is one more disturbance; otherwise it loses commits that no check knows of.
    const times = synchronous ? { ttl: 6, loop_wait: 1, retry_timeout: 2 } : { loop_wait: 2 };
    Object.assign(config.bootstrap.dcs, { ...times, synchronous_mode: synchronous });
    config.bootstrap.initdb.push("no-sync");
    Object.assign(config.postgresql, {
      connect_address: `127.0.0.1:${machine.link.port}`,
      bin_dir: path.dirname(program("pg_rewind")),
      data_dir: path.join(machine.folder, "data"),
      pgpass: path.join(machine.folder, "pgpass"),
      basebackup: ["no-sync", { checkpoint: "fast" }],
    });
    Object.assign(config.postgresql.parameters, { unix_socket_directories: machine.folder, fsync: "off" });
    return config;
  }

  async #launch(machine: Machine): Promise<void> {
    const lines = this.#adapted("etcd.env", machine).split("\n");
    const variables = Object.fromEntries(
      lines.filter((line) => line.startsWith("ETCD_")).map((line) => line.split(/=(.*)/s).slice(0, 2)),
    );
    const etcd = launch("etcd", ["--unsafe-no-fsync"], {
      ...variables,
      ETCD_DATA_DIR: path.join(machine.folder, "etcd"),
      ...(arch() === "arm64" && { ETCD_UNSUPPORTED_ARCH: "arm64" }),
    });
    const file = path.join(machine.folder, "patroni.yml");
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(this.#config(machine)));
    own(file);
    machine.processes = [etcd, launch("patroni", [file])];
  }

  /** The machine that holds the key of the primary and accepts writes. */
  async #primary(): Promise<Machine> {
    for (;;) {
      for (const machine of this.#machines) if (await this.#isPrimary(machine)) return machine;
      if (!this.#machines.some(isUp)) throw new Error("etcd or Patroni has ended on every machine");
      await wait(50);
    }
  }

  async #isPrimary(machine: Machine): Promise<boolean> {
    if (!isUp(machine)) return false;
    const url = `http://${machine.address}:${this.#ports.rest}/primary`;
    const status = await fetch(url, { signal: AbortSignal.timeout(1000) }).then(
      (response) => response.status,
      () => 0,
    );
    return status === 200;
  }

  /** Resolves when so many replicas follow the primary, one of them synchronously where that is asked for. */
  async #replicas(count: number): Promise<void> {
    const question = `select count(*) = ${count} and bool_or(sync_state = 'sync') = ${this.#options.synchronous} as complete
      from pg_stat_replication where state = 'streaming'`;
    for (;;) {
      const isComplete = await this.#asSuperuser(async (client) => {
        const { rows } = await client.query(question);
        return rows[0]?.complete === true;
      }).catch(() => false);
      if (isComplete) return;
      await wait(50);
    }
  }

  async #asSuperuser<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
    const [machine] = this.#machines;
    if (machine === undefined) throw new Error("there is no machine");
    const { username, password: secret } = this.#config(machine).postgresql.authentication.superuser;
    const url = `postgres://${username}:${secret}@127.0.0.1:${this.#ports.postgres}/postgres`;
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on("error", () => {});
    try {
      await client.connect();
      return await work(client);
    } finally {
      client.end().catch(() => {});
    }
  }

  async #recordLoss(before: ReadonlyMap<string, Remains>, address: string): Promise<void> {
    this.losses.push(lossBetween(before, await readRemains(this.#urlOf([address]))));
    const state = await fetch(`http://${address}:${this.#ports.rest}/patroni`);
    const { timeline } = stateSchema.parse(await state.json());
    // Each promotion begins a timeline. Where there are more than kills, one has lost commits that were not read.
    if (timeline > this.losses.length + 1)
      throw new Error("Patroni has replaced a primary that was not killed");
  }

  /** The executions in the files of a primary that was killed: a copy of them is started on its own. */
  async #copyOf(machine: Machine): Promise<Map<string, Remains>> {
    const directory = path.join(machine.folder, "copy");
    await run("cp", ["-a", path.join(machine.folder, "data"), directory]);
    rmSync(path.join(directory, "postmaster.pid"), { force: true });
    const port = await freePort();
    const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "synchronous_standby_names="];
    const args = ["-D", directory, ...settings.flatMap((setting) => ["-c", setting])];
    const child = launch("postgres", args);
    try {
      const url = `postgres://${user}:${password}@127.0.0.1:${port}/${user}`;
      for (;;) {
        const found = await readRemains(url).catch(() => undefined);
        if (found !== undefined) return found;
        if (hasEnded(child)) throw new Error("a copy of a killed primary does not start");
        await wait(50);
      }
    } finally {
      child.kill("SIGQUIT");
      await ended(child);
      rmSync(directory, { recursive: true, force: true });
    }
  }
}

function launch(
  name: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): ChildProcess {
  const env = { ...process.env, ...unpackedLibraries(), ...variables };
  return spawn(program(name), args, { ...owner, stdio: "ignore", env });
}

function program(name: string): string {
  const file = installedProgram(name);
  if (file !== undefined) return file;
  throw new Error(`no ${name} here: apt-get install patroni etcd-server haproxy postgresql-15`);
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;
const isUp = ({ processes }: Machine) => !processes.some(hasEnded);

async function ended(child: ChildProcess): Promise<void> {
  if (!hasEnded(child)) await once(child, "exit");
}

/** SIGKILL for the server and every process that it has started: none of them completes a commit after it. */
function killPostgres(directory: string): void {
  const pid = Number.parseInt(readIfThere(path.join(directory, "postmaster.pid")), 10);
  // The file outlives a server that was killed, and another process may have its number by now.
  if (!readIfThere(`/proc/${pid}/cmdline`).includes(directory)) return;
  const children = readIfThere(`/proc/${pid}/task/${pid}/children`).match(/\d+/g) ?? [];
  for (const each of [pid, ...children.map(Number)]) {
    try {
      process.kill(each, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function idsOf(name: string): { readonly uid: number; readonly gid: number } | undefined {
  const id = (flag: string) => Number(execFileSync("id", [flag, name], { stdio: "pipe" }).toString());
  try {
    return { uid: id("-u"), gid: id("-g") };
  } catch {
    return undefined;
  }
}

function own(file: string): void {
  if (owner !== undefined) chownSync(file, owner.uid, owner.gid);
}

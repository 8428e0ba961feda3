// Some nodes on a PostgreSQL server or on Restate servers, with a folder for the side log; all of it is gone after `remove`.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type PostgresServer, startPostgres } from "../../packages/postgres/test/postgres-server.ts";
import type { NodeSettings, RestateSettings } from "./node/settings.ts";
import { NodeProcess } from "./node-process.ts";

export const schema = "cluster";

const usual = { unfenced: false, release: "new", auth: false, postgres: "@andante/postgres" } as const;

export interface ClusterOptions {
  /** The database, which the caller removes. Default: one of its own. */
  readonly url?: string;
  /** On Restate: the settings of the node at a place. `url` has the addresses of the ingress, with commas between them. */
  readonly restate?: (place: number) => RestateSettings;
  readonly nodes: number;
  readonly lease: number;
  /** For every node that is not given others. */
  readonly settings?: Partial<NodeSettings>;
}

export class Cluster {
  readonly #postgres: PostgresServer | undefined;
  readonly log: string;
  /** Those that serve now; a place keeps its number when its node is replaced. */
  readonly nodes: NodeProcess[] = [];
  readonly #folder: string;
  readonly #options: ClusterOptions;
  readonly #started: NodeProcess[] = [];

  private constructor(postgres: PostgresServer | undefined, options: ClusterOptions) {
    this.#postgres = postgres;
    this.#options = options;
    this.#folder = mkdtempSync(path.join(tmpdir(), "andante-cluster-"));
    this.log = path.join(this.#folder, "bodies.jsonl");
  }

  static async start(options: ClusterOptions): Promise<Cluster> {
    const cluster = new Cluster(
      options.url === undefined ? await startPostgres({ max_connections: 100 }) : undefined,
      options,
    );
    try {
      const places = Array.from({ length: options.nodes }, (_, place) => place);
      await Promise.all(places.map((place) => cluster.replace(place)));
    } catch (error) {
      await cluster.remove();
      throw error;
    }
    return cluster;
  }

  /** Its own database. */
  get postgres(): PostgresServer {
    if (this.#postgres === undefined) throw new Error("the database is the caller's");
    return this.#postgres;
  }

  /** Starts a node at this place, with the settings of the one that was there, which the caller has to end. */
  async replace(place: number, settings: Partial<NodeSettings> = {}): Promise<NodeProcess> {
    const { lease, url = this.postgres.url, settings: common, restate } = this.#options;
    const at = restate && { restate: restate(place) };
    const own = { url, schema, lease, log: this.log, grace: 500, ...usual, ...at };
    const node = await NodeProcess.start({ ...own, ...common, ...this.nodes[place]?.settings, ...settings });
    this.#started.push(node);
    this.nodes[place] = node;
    return node;
  }

  node(place: number): NodeProcess {
    const node = this.nodes[place];
    if (node === undefined) throw new Error(`there is no node ${place}`);
    return node;
  }

  async remove(): Promise<void> {
    await Promise.all(this.#started.map((node) => node.kill()));
    await this.#postgres?.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

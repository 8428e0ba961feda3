// The store of a campaign on Restate: three servers with two copies of each write, which are killed and frozen, and the
// rows and journals in their state once all is over.
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { freePorts } from "../../examples/cluster/src/free-ports.ts";
import { type RestateServers, startServers } from "../../examples/cluster/src/restate.ts";
import type { Random } from "../../packages/core/test/support/random.ts";
import { valueIn } from "../../packages/restate/src/engine/cells.ts";
import { bucketSize, type Kept, type KeptEvent } from "../../packages/restate/src/engine/layout.ts";
import { shardName } from "../../packages/restate/src/engine/objects.ts";
import { type ClusterOptions, schema } from "./cluster.ts";
import type { CheckedStore } from "./database.ts";
import { type Disturbances, downTime, frozenTime } from "./disturbances.ts";
import type { Loss } from "./loss.ts";
import type { Remains, Write } from "./remains.ts";

const rowsSchema = z.object({ rows: z.array(z.object({ key: z.string(), value_utf8: z.string() })) });

export class CampaignServers implements CheckedStore {
  /** Each write is on two servers, and one at a time is disturbed: none may be lost. */
  readonly losses: readonly Loss[] = [];
  readonly #servers: RestateServers;
  readonly #nodePorts: readonly number[];

  private constructor(servers: RestateServers, nodePorts: readonly number[]) {
    this.#servers = servers;
    this.#nodePorts = nodePorts;
  }

  static async start(): Promise<CampaignServers> {
    const nodePorts = await freePorts(3);
    return new CampaignServers(await startServers(nodePorts), nodePorts);
  }

  /** For the nodes. */
  get place(): Pick<ClusterOptions, "url" | "restate"> {
    const { ingressUrls, adminUrl, endpointUrl } = this.#servers;
    return {
      url: ingressUrls.join(","),
      restate: (place) => ({ adminUrl, endpoint: { port: this.#nodePorts[place] ?? 0, url: endpointUrl } }),
    };
  }

  disturbances(random: Random, lease: number): Disturbances {
    const { servers } = this.#servers;
    const any = () => servers[random.integer(0, servers.length - 1)];
    return {
      killServer: async () => {
        const server = any();
        await server?.kill();
        await wait(downTime(random, lease));
        await server?.start();
      },
      freezeServer: async () => {
        const server = any();
        server?.signal("SIGSTOP");
        await wait(frozenTime(random, lease));
        server?.signal("SIGCONT");
      },
    };
  }

  async remains(): Promise<Map<string, Remains>> {
    const state = await this.#readState();
    const buckets = Map.groupBy(
      [...state].filter(([key]) => /^b\d+\//.test(key)),
      ([key]) => key.slice(key.indexOf("/") + 1),
    );
    const rows = [...state].filter(([key]) => key.startsWith("r/"));
    return new Map(
      rows.map(([key, text]) => {
        const executionId = key.slice(2);
        const kept = valueIn<Kept>(text);
        return [executionId, remainsOf(kept, buckets.get(executionId) ?? [])];
      }),
    );
  }

  /** The state of all shards; a server that has just been disturbed may refuse at first. */
  async #readState(): Promise<Map<string, string>> {
    const query = `select key, value_utf8 from state
      where service_name = '${shardName}' and starts_with(service_key, '${schema}.')
      and (starts_with(key, 'r/') or starts_with(key, 'b'))`;
    for (let attempt = 1; ; attempt++)
      try {
        const response = await fetch(`${this.#servers.adminUrl}/query`, {
          method: "POST",
          headers: { "content-type": "application/json", accept: "application/json" },
          body: JSON.stringify({ query }),
        });
        const { rows } = rowsSchema.parse(JSON.parse(await response.text()));
        return new Map(rows.map(({ key, value_utf8 }) => [key, value_utf8]));
      } catch (error) {
        if (attempt === 30) throw error;
        await wait(1000);
      }
  }

  remove(): Promise<void> {
    return this.#servers.remove();
  }
}

/** `buckets`: the earlier events, by their keys. */
function remainsOf(kept: Kept, buckets: readonly (readonly [key: string, text: string])[]): Remains {
  const { record, suspensions, timers, tail } = kept;
  const { executionId, status, sequence, owner, token, parked } = record;
  const numbered = (first: number, events: readonly KeptEvent[]) =>
    events.map(([type, at, path, index, stepType, value, detail], place): Write["events"][number] => ({
      sequence: first + place,
      // The load has no long values.
      fields: [
        type,
        at,
        path,
        index,
        stepType,
        value === true ? null : value,
        detail === true ? null : detail,
      ],
    }));
  const earlier = buckets.flatMap(([key, text]) => {
    const events: KeptEvent[] = JSON.parse(text);
    return numbered(Number.parseInt(key.slice(1), 10) * bucketSize + 1, events);
  });
  const events = [...earlier, ...numbered(sequence - tail.length + 1, tail)];
  const groups = Map.groupBy(
    events.sort((a, b) => a.sequence - b.sequence),
    ({ sequence: number }) => kept.writes.find(([, first, last]) => number >= first && number <= last),
  );
  return {
    execution: {
      execution_id: executionId,
      status,
      sequence,
      owner,
      token,
      parked,
      suspensions: suspensions.length,
      timers: timers.length,
    },
    writes: [...groups].map(([write, its]): Write => ({ key: write?.[0] ?? null, events: its })),
  };
}

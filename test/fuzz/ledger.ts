// Keeps the books of a campaign: how each request and session ended, which routes were visited, and the faults.
import type { Exchange } from "./connection.ts";
import type { Memory } from "./service.ts";

export class Ledger {
  readonly problems: string[] = [];
  /** By kind of request: how often it ended with each status, `stream` or `silence`. */
  readonly counts = { request: new Map<string, number>(), session: new Map<string, number>() };
  readonly memories: string[] = [];
  /** The most that a request of each hostile size has cost. */
  readonly #costs = new Map<string, { processor: number; resident: number }>();
  /** Requests near each row of the route table, and those of them that succeeded. */
  readonly #visits: Map<string, { sent: number; fine: number }>;

  constructor(rows: readonly string[]) {
    this.#visits = new Map(rows.map((row) => [row, { sent: 0, fine: 0 }]));
  }

  get requests(): number {
    return total(this.counts.request);
  }

  get sessions(): number {
    return total(this.counts.session);
  }

  count(what: "request" | "session", exchange: Exchange, near = ""): void {
    const status = exchange.kind === "response" ? exchange.response.status : undefined;
    const label = String(status ?? exchange.kind);
    const counts = this.counts[what];
    counts.set(label, (counts.get(label) ?? 0) + 1);
    const visit = this.#visits.get(near);
    if (visit === undefined) return;
    visit.sent++;
    if (exchange.kind === "stream" || (status !== undefined && status < 300)) visit.fine++;
  }

  remember(mode: string, before: Memory, after: Memory): void {
    const mebibytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`;
    const told = ({ heapUsed, external, rss }: Memory) =>
      `${mebibytes(heapUsed)} heap, ${mebibytes(external)} external, ${mebibytes(rss)} resident`;
    this.memories.push(`${mode}: ${told(before)} → ${told(after)}`);
  }

  /** Milliseconds of the processor, and bytes of resident memory, that one request took. */
  cost(name: string, processor: number, resident: number): void {
    const most = this.#costs.get(name) ?? { processor: 0, resident: 0 };
    this.#costs.set(name, {
      processor: Math.max(most.processor, processor),
      resident: Math.max(most.resident, resident),
    });
  }

  blame(problem: string): void {
    this.problems.push(problem);
  }

  /** Rows of the route table that no request was made for. */
  unvisited(): string[] {
    return [...this.#visits].filter(([, { sent }]) => sent === 0).map(([row]) => row);
  }

  #dearest(count: number): string[] {
    return [...this.#costs]
      .sort(([, left], [, right]) => right.processor - left.processor)
      .slice(0, count)
      .map(([name, { processor, resident }]) => {
        const mebibytes = Math.round(resident / 1024 / 1024);
        return `${name}: ${Math.round(processor)} ms of the processor, ${mebibytes} MiB resident`;
      });
  }

  lines(): string[] {
    const told = (counts: ReadonlyMap<string, number>) =>
      [...counts]
        .sort(([left], [right]) => left.localeCompare(right))
        .map(([label, count]) => `${label}: ${count}`)
        .join(", ");
    const never = [...this.#visits].filter(([, { fine }]) => fine === 0).map(([row]) => row);
    return [
      `${this.requests} requests (${told(this.counts.request)})`,
      `${this.sessions} socket sessions (${told(this.counts.session)})`,
      ...this.memories.map((memory) => `memory ${memory}`),
      ...this.#dearest(5).map((cost) => `cost of ${cost}`),
      ...(never.length > 0 ? [`routes that never succeeded: ${never.join(", ")}`] : []),
    ];
  }
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

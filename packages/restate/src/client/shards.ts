// The shards of a namespace: routes each operation to the one that holds its execution, in groups.
import { randomUUID } from "node:crypto";
import { StoreUnavailableError } from "@andante/core/errors";
import type { ExecutionHead, Store } from "@andante/core/store";
import { executionWrites } from "../engine/executions.ts";
import { shardOf } from "../engine/layout.ts";
import { type ItemResult, nodeName, type Reads, shardName, type Writes } from "../engine/objects.ts";
import type { Settings } from "../options.ts";
import { Ingress } from "./ingress.ts";
import { Lane } from "./lane.ts";

type ArgumentOf<Operation> = Operation extends (cells: never, argument: infer Argument, at: number) => unknown
  ? Argument
  : never;
type ResultOf<Operation> = Operation extends (...given: never) => Promise<infer Result> ? Result : never;

/** Groups of reads that may be under way at once for a shard. */
const readsAtOnce = 4;

/** Milliseconds that closing may take. */
const closingTime = 5_000;

/** Milliseconds without a response after which a shard may be blocked. */
const patience = 2_000;

/** Turns whose shards are remembered. */
const maxMoved = 10_000;

/** Milliseconds for which answers to looks count while there is no news: the delay of work whose hint is lost. */
const quietTime = 5_000;

/** Milliseconds that a lease lasts longer than asked for, at most: a heartbeat so soon after another is left out. */
const maxSpare = 1_250;

/** Milliseconds for which a head counts while there is no news of it, for each head that is kept: few are read each time. */
const headTime = 4;

/** The answers of all shards to a question. */
interface Answer {
  readonly ask: () => Promise<ItemResult>;
  readonly results: Promise<ItemResult>;
}

export class Shards {
  readonly ingress: Ingress;
  readonly count: number;
  /** The number of the object that keeps logs, spans and counts. */
  readonly log: number;
  readonly #namespace: string;
  readonly #writes: readonly Lane[];
  readonly #reads: readonly Lane[];
  /** The shards of executions that are not where their ids lead. */
  readonly #moved = new Map<string, number>();
  readonly #onWrite: (executionId: string) => void;
  isOpen = false;
  #beats = 0;
  /** The last heartbeat that Restate has taken, and until when another one like it is left out. */
  #beat: { readonly owner: string; readonly lease: number; readonly until: number } | undefined;
  /** By question; without those that news has made old. */
  readonly #answers = new Map<string, Answer>();
  #quietUntil = 0;
  /** By execution, the oldest first; without those that news has made old. */
  readonly #heads = new Map<
    string,
    { readonly head: Promise<ExecutionHead | undefined>; readonly until: number }
  >();

  /** `onWrite` is called after each write to an execution. */
  constructor(settings: Settings, onWrite: (executionId: string) => void) {
    const { namespace, shards } = settings;
    this.#onWrite = onWrite;
    this.ingress = new Ingress(settings);
    this.count = shards;
    this.#namespace = namespace;
    this.log = shards;
    const lanes = (handler: string, width: number) =>
      [...this.all(), shards].map(
        (object) => new Lane(this.ingress, `/${shardName}/${this.#keyOf(object)}/${handler}`, width),
      );
    this.#writes = lanes("write", 1);
    this.#reads = lanes("read", readsAtOnce);
  }

  all(): number[] {
    return Array.from({ length: this.count }, (_, number) => number);
  }

  of(id: string): number {
    return this.#moved.get(id) ?? shardOf(id, this.count);
  }

  /** Remembers which shard holds a turn. */
  noteMoved(id: string, shard: number): void {
    if (shardOf(id, this.count) === shard) return;
    if (this.#moved.size >= maxMoved) this.#moved.clear();
    this.#moved.set(id, shard);
  }

  /** Lets the shard of a turn's own id know which shard holds it. */
  async point(id: string, shard: number): Promise<void> {
    const home = shardOf(id, this.count);
    if (home !== shard) await this.write(home, "point", { id, shard });
    this.noteMoved(id, shard);
  }

  /** A turn is deleted, or has not begun. */
  async forget(id: string, shard = this.#moved.get(id)): Promise<void> {
    const home = shardOf(id, this.count);
    this.#moved.delete(id);
    if (shard !== undefined && shard !== home) await this.write(home, "point", { id, shard: null });
  }

  /** `to`: the number of a shard, or the id of an execution or conversation. */
  async write<Name extends keyof Writes>(
    to: number | string,
    name: Name,
    argument: ArgumentOf<Writes[Name]>,
  ): Promise<ResultOf<Writes[Name]>> {
    const call = this.#call<ResultOf<Writes[Name]>>(this.#writes, to, name, argument);
    const written = typeof to === "string" ? [to] : [];
    const result = await call.finally(() => to === this.log || this.noteNews(written));
    if (typeof to === "string" && name in executionWrites && name !== "keepSnapshot") this.wrote(to);
    return result;
  }

  /** This node has written to an execution. */
  wrote(executionId: string): void {
    this.#heads.delete(executionId);
    this.#onWrite(executionId);
  }

  /** How far an execution has come. A node looks at all that concern it every two seconds, in case that a hint is lost. */
  head(executionId: string): Promise<ExecutionHead | undefined> {
    const now = performance.now();
    for (const [id, { until }] of this.#heads)
      if (until <= now) this.#heads.delete(id);
      else break;
    const known = this.#heads.get(executionId);
    if (known !== undefined) return known.head;
    const head = this.read(executionId, "head", executionId);
    this.#heads.set(executionId, { head, until: now + headTime * this.#heads.size });
    head.catch(() => this.#heads.delete(executionId));
    return head;
  }

  read<Name extends keyof Reads>(
    to: number | string,
    name: Name,
    argument: ArgumentOf<Reads[Name]>,
  ): Promise<ResultOf<Reads[Name]>> {
    return this.#call(this.#reads, to, name, argument);
  }

  /** Asks every shard. */
  readAll<Name extends keyof Reads>(
    name: Name,
    argument: ArgumentOf<Reads[Name]>,
  ): Promise<ResultOf<Reads[Name]>[]> {
    return Promise.all(this.all().map((shard) => this.read(shard, name, argument)));
  }

  /** This node or another one has written to the shards, or a lease has ended. Without `executionIds` they are not known. */
  noteNews(executionIds?: Iterable<string>): void {
    this.#answers.clear();
    if (executionIds === undefined) this.#heads.clear();
    else for (const executionId of executionIds) this.#heads.delete(executionId);
  }

  /** Asks every shard, unless the last answer is without news. `question`: the argument, as far as the answer depends on it. */
  async look<Name extends keyof Reads>(
    name: Name,
    argument: ArgumentOf<Reads[Name]>,
    question = JSON.stringify(argument),
  ): Promise<ResultOf<Reads[Name]>[]> {
    if (performance.now() > this.#quietUntil) {
      this.#quietUntil = performance.now() + quietTime;
      // All are asked again at the same time, so that they are one call.
      for (const [key, { ask }] of this.#answers) this.#ask(key, ask);
    }
    const key = `${name} ${question}`;
    const ask = async () => ({ value: await this.readAll(name, argument) });
    return resultIn(await (this.#answers.get(key) ?? this.#ask(key, ask)).results);
  }

  #ask(key: string, ask: Answer["ask"]): Answer {
    const answer = { ask, results: ask() };
    this.#answers.set(key, answer);
    answer.results.catch(() => this.#answers.delete(key));
    return answer;
  }

  async #call<Result>(lanes: readonly Lane[], to: number | string, name: string, argument: unknown) {
    for (let shard = typeof to === "number" ? to : this.of(to); ; ) {
      this.#requireOpen();
      const result = await lanes[shard]?.call(name, argument);
      if (result?.moved === undefined || typeof to === "number") return resultIn<Result>(result);
      shard = result.moved;
      this.noteMoved(to, shard);
    }
  }

  #requireOpen(): void {
    if (!this.isOpen) throw new StoreUnavailableError({ cause: new Error("the store is not open") });
  }

  /** Keeps the owner's lease for so many milliseconds of Restate's clock, and a few more. */
  async heartbeat({ owner, lease, about }: Parameters<Store["heartbeat"]>[0]): Promise<void> {
    this.#requireOpen();
    const last = this.#beat?.owner === owner && this.#beat.lease === lease ? this.#beat : undefined;
    if (performance.now() < (last?.until ?? 0)) return;
    const spare = Math.min(lease / 8, maxSpare);
    const until = performance.now() + spare;
    const of = { namespace: this.#namespace, shards: this.count, owner };
    const path = `/${nodeName}/${encodeURIComponent(`${this.#namespace}.${owner}`)}`;
    const beat = { ...of, beat: ++this.#beats, isLast: lease <= 0 };
    const end = `${path}/expire/send?delay=${Math.ceil(lease + spare)}ms`;
    // First the message that ends the lease: a process that dies in between leaves none that lasts.
    if (lease > 0) await this.ingress.call(end, JSON.stringify(beat), randomUUID());
    await this.ingress.call(`${path}/beat`, JSON.stringify({ ...beat, about }), randomUUID());
    this.#beat = { owner, lease, until };
    if (last === undefined) this.noteNews([]);
  }

  /** The descriptions of live processes, by owner. */
  async descriptions(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.ingress.query(
      `select service_key as owner, value_utf8 as about from state where service_name = '${nodeName}'
       and starts_with(service_key, '${this.#namespace}.') and key = 'about'`,
    );
    const ownerOf = (key: unknown) => String(key).slice(this.#namespace.length + 1);
    return new Map(rows.map(({ owner, about }) => [ownerOf(owner), JSON.parse(String(about))]));
  }

  /** Rows of lines that SQL finds in the state of all shards. */
  async search(select: string, prefix: string, rest: string, of: readonly number[] = this.all()) {
    this.#requireOpen();
    const objects = of.map((object) => `'${this.#keyOf(object)}'`).join(", ");
    return await this.ingress.query(
      `select ${select} from state where service_name = '${shardName}' and service_key in (${objects})
       and starts_with(key, '${prefix}') ${rest}`,
    );
  }

  searchLog(select: string, prefix: string, rest: string) {
    return this.search(select, prefix, rest, [this.log]);
  }

  #keyOf(object: number): string {
    return `${this.#namespace}.${object === this.log ? "log" : object}`;
  }

  /** The keys of at most so many lines of an object, those with the lowest place first. */
  async oldest(object: number, prefix: string, condition: string, place: string, limit: number) {
    const rest = `${condition} order by place limit ${limit}`;
    const rows = await this.search(`key, ${place} as place`, prefix, rest, [object]);
    return rows.map(({ key }) => String(key));
  }

  /** Removes them; returns how many there were. */
  async trim(...lines: Parameters<Shards["oldest"]>): Promise<number> {
    const [object] = lines;
    const removed = await this.oldest(...lines);
    if (removed.length > 0) await this.write(object, "clearKeys", removed);
    return removed.length;
  }

  /** Why a shard does not respond: a call that fails at every attempt blocks it, until Restate gives up the call. */
  async problem(): Promise<string | null> {
    const shard = this.#writes.findIndex(({ waitingTime }) => waitingTime > patience);
    if (!this.isOpen || shard < 0) return null;
    const object = this.#keyOf(shard);
    const sql = `select last_failure from sys_invocation where target_service_name = '${shardName}'
                 and target_service_key = '${object}' and status = 'backing-off'`;
    const [call] = await this.ingress.query(sql).catch(() => []);
    return call ? `the shard ${object} is blocked by a call that fails: ${call.last_failure}` : null;
  }

  /** Finishes the calls that were made, as far as Restate responds; later ones are refused. */
  async close(): Promise<void> {
    this.isOpen = false;
    await Promise.all([...this.#writes, ...this.#reads].map((lane) => lane.close(closingTime)));
  }
}

function resultIn<Result>(result: ItemResult | undefined): Result;
function resultIn(result: ItemResult | undefined): unknown {
  return result?.value;
}

/** Calls `read` for each, and returns the values that are there. */
export async function each<Item, Value>(
  items: readonly Item[],
  read: (item: Item) => Promise<Value | undefined>,
): Promise<Value[]> {
  return (await Promise.all(items.map(read))).filter((value) => value !== undefined);
}

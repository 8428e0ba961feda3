// Endpoints: those of the code and of callers, which receive events now, and how their deliveries fare.
import { isDeepStrictEqual } from "node:util";
import {
  checkGivenSettings,
  checkSettings,
  type EndpointRecord as DeclaredEndpoints,
  type EndpointSettings,
  type EndpointType,
  endpointIdProblem,
  endpointTypes,
  isEndpointId,
  secretsOf,
} from "../../delivery/endpoint-options.ts";
import {
  type EndpointRecord,
  type EndpointState,
  endpointPrefix,
  endpointRow,
  newState,
  readEndpoint,
} from "../../delivery/endpoint-record.ts";
import type { ActiveEndpoint } from "../../delivery/outbox.ts";
import { newSecret, readSecret } from "../../delivery/webhook-signature.ts";
import {
  EndpointConflictError,
  EndpointNotFoundError,
  EndpointsOffError,
  InvalidOptionError,
} from "../../errors/index.ts";
import type { ScheduleRow } from "../../store/schedule-store.ts";
import { isoTime } from "../../values/iso-time.ts";
import type { Engine } from "../engine/engine.ts";

/** An endpoint as callers see it: without its secrets. */
export interface Endpoint {
  readonly endpointId: string;
  readonly url: string;
  /** Where it is declared. */
  readonly origin: "code" | "api";
  readonly on: readonly EndpointType[];
  /** Null: all. */
  readonly workflows: readonly string[] | null;
  readonly content: "thin" | "full";
  readonly state: EndpointState["state"];
  readonly note: string | null;
  readonly failingSince: string | null;
  /** How many secrets sign now. */
  readonly secrets: number;
}

export interface SetEndpointOptions extends EndpointSettings {
  /** Default: one is made and returned, or the one that it has stays. */
  readonly secret?: string | undefined;
}

/** The address of an endpoint and the secrets that sign its deliveries. */
export interface Target {
  readonly url: string;
  readonly secrets: readonly string[];
  readonly allowPrivate: boolean;
  readonly state: EndpointState["state"];
}

type Parts = Pick<Engine, "store" | "clock" | "logger">;

const maxTries = 10;
const maxEndpoints = 200;
/** Milliseconds for which the secret before signs too. */
const rotation = 24 * 60 * 60 * 1000;
/** Milliseconds of failures after which an endpoint is disabled. */
const maxFailing = 5 * 24 * 60 * 60 * 1000;
/** Milliseconds between two looks at the endpoints that other processes have changed. */
const period = 2_000;

export class Endpoints {
  readonly #engine: () => Parts;
  readonly #declared: DeclaredEndpoints | undefined;
  readonly #ready: () => Promise<void>;
  #rows = new Map<string, EndpointRecord>();
  #active: readonly ActiveEndpoint[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `declared`: undefined turns endpoints off. */
  constructor(engine: () => Parts, declared: DeclaredEndpoints | undefined, ready: () => Promise<void>) {
    this.#engine = engine;
    this.#declared = declared;
    this.#ready = ready;
    this.#collect();
  }

  /** Those that receive events now. */
  get active(): readonly ActiveEndpoint[] {
    return this.#active;
  }

  /** Reads the endpoints that are kept, and again as other processes change them. */
  async start(): Promise<void> {
    if (this.#declared === undefined) return;
    await this.refresh();
    const { store } = this.#engine();
    if (store.clusterChannel === undefined) return;
    this.#timer = setInterval(() => void this.refresh().catch(() => undefined), period).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async refresh(): Promise<void> {
    const found = new Map<string, EndpointRecord>();
    for (let after: string | undefined = ""; after !== undefined; ) {
      const query = { kind: "endpoint", after, limit: maxEndpoints } as const;
      const rows: readonly ScheduleRow[] = await this.#engine().store.schedules.list(query);
      for (const { scheduleId, body } of rows)
        found.set(scheduleId.slice(endpointPrefix.length), readEndpoint(body));
      after = rows.at(-1)?.scheduleId;
    }
    this.#rows = found;
    this.#collect();
  }

  /** Empty where endpoints are off. */
  async list(): Promise<readonly Endpoint[]> {
    if (this.#declared === undefined) return [];
    await this.#on();
    await this.refresh();
    const ids = new Set([...Object.keys(this.#declared ?? {}), ...this.#rows.keys()]);
    return [...ids].sort().flatMap((endpointId) => this.#view(endpointId, this.#rows.get(endpointId)) ?? []);
  }

  async get(endpointId: string): Promise<Endpoint> {
    await this.#on();
    const view = this.#view(endpointId, await this.#read(endpointId));
    if (view === undefined) throw new EndpointNotFoundError({ endpointId });
    return view;
  }

  /** Creates or replaces an endpoint. A secret is returned only where it was made now. */
  async set(
    endpointId: string,
    options: SetEndpointOptions,
  ): Promise<Endpoint & { readonly secret?: string }> {
    await this.#on();
    const refuse = (option: string, problem: string) => new InvalidOptionError({ option, problem });
    if (!isEndpointId(endpointId)) throw refuse("endpointId", endpointIdProblem);
    this.#notOfCode(endpointId);
    checkGivenSettings(options, refuse);
    checkSettings(options, refuse, false);
    const { secret: given, url, on, workflows, content = "thin" } = options;
    if (given !== undefined && readSecret(given) === undefined)
      throw refuse("secret", 'expected "whsec_" with 24 to 64 bytes in base64');
    await this.refresh();
    if (!this.#rows.has(endpointId) && this.#rows.size >= maxEndpoints)
      throw refuse("endpointId", `there are ${maxEndpoints} endpoints already`);
    let made: string | undefined;
    const record = await this.#change(endpointId, (before) => {
      const kept = before?.settings?.secrets ?? [];
      made = given === undefined && kept.length === 0 ? newSecret() : undefined;
      const newest = given ?? made;
      const secrets = newest === undefined ? kept : [{ secret: newest, until: null }];
      return { ...(before ?? newState), settings: { url, on, workflows, content, secrets } };
    });
    return { ...this.#viewOf(endpointId, record), ...(made !== undefined && { secret: made }) };
  }

  /** A new secret; the one before signs too for a day. */
  async rotate(endpointId: string): Promise<{ readonly endpointId: string; readonly secret: string }> {
    await this.#on();
    this.#notOfCode(endpointId);
    const secret = newSecret();
    const now = this.#engine().clock.now();
    await this.#change(endpointId, (before) => {
      const settings = before?.settings;
      if (before === undefined || !settings) throw new EndpointNotFoundError({ endpointId });
      const [newest] = settings.secrets;
      const old = newest === undefined ? [] : [{ secret: newest.secret, until: now + rotation }];
      return { ...before, settings: { ...settings, secrets: [{ secret, until: null }, ...old] } };
    });
    return { endpointId, secret };
  }

  /** Lets one that was disabled receive events again; those of the time between are not made up. */
  async enable(endpointId: string): Promise<Endpoint> {
    const { origin } = await this.get(endpointId);
    const record = await this.#change(endpointId, (before) => {
      if (before === undefined && origin === "api") throw new EndpointNotFoundError({ endpointId });
      return { settings: before?.settings ?? null, ...newState };
    });
    return this.#viewOf(endpointId, record);
  }

  /** Its deliveries that were not sent fail. */
  async remove(endpointId: string): Promise<void> {
    await this.#on();
    this.#notOfCode(endpointId);
    const { store } = this.#engine();
    const scheduleId = endpointPrefix + endpointId;
    for (let tries = 0; tries < maxTries; tries++) {
      const stored = await store.schedules.read(scheduleId);
      if (stored === undefined) throw new EndpointNotFoundError({ endpointId });
      const change = { scheduleId, expected: stored.version, row: null };
      if ((await store.schedules.change(change)) === "changed") continue;
      return this.refresh();
    }
    throw new EndpointConflictError({ endpointId, problem: "changes too often" });
  }

  /** Where deliveries of an endpoint go; undefined where it is not known here. */
  async target(endpointId: string): Promise<Target | undefined> {
    const row = await this.#read(endpointId);
    const { state } = row ?? newState;
    const declared = this.#declaredOf(endpointId);
    if (declared !== undefined) {
      const { url, secret, allowPrivate = false } = declared;
      return { url, secrets: secretsOf(secret), allowPrivate, state };
    }
    if (!row?.settings) return undefined;
    const { url, secrets } = row.settings;
    const now = this.#engine().clock.now();
    const signing = secrets.filter(({ until }) => until === null || until > now).map(({ secret }) => secret);
    return { url, secrets: signing, allowPrivate: false, state };
  }

  /** Notes how an attempt went. `gone`: the receiver wants no more. */
  async attempted(endpointId: string, result: "ok" | "failed" | "gone"): Promise<void> {
    const now = this.#engine().clock.now();
    const before = this.#rows.get(endpointId) ?? newState;
    // Nothing to note, as this process knows it.
    if (result === "ok" && before.failingSince === null) return;
    if (result === "failed" && before.failingSince !== null && now - before.failingSince < maxFailing) return;
    let disabled: string | undefined;
    await this.#change(endpointId, (row) => {
      const state = row ?? { ...newState, settings: null };
      if (state.settings === null && this.#declaredOf(endpointId) === undefined) return undefined;
      if (result === "ok") return { ...state, failingSince: null };
      const failingSince = state.failingSince ?? now;
      if (result === "gone") disabled = "It responded with 410";
      else if (now - failingSince >= maxFailing) disabled = "It has failed for five days";
      const isOver = disabled !== undefined && state.state === "active";
      return { ...state, failingSince, ...(isOver && { state: "disabled", note: disabled ?? null }) };
    });
    if (disabled !== undefined)
      this.#engine().logger.error({ endpointId, reason: disabled }, "an endpoint is disabled");
  }

  #collect(): void {
    const ids = new Set([...Object.keys(this.#declared ?? {}), ...this.#rows.keys()]);
    this.#active = [...ids].flatMap((endpointId) => {
      const row = this.#rows.get(endpointId);
      const settings: EndpointSettings | null | undefined = this.#declaredOf(endpointId) ?? row?.settings;
      if (!settings || row?.state === "disabled") return [];
      const { url, on, workflows, content } = settings;
      return [{ endpointId, url, on, workflows, content }];
    });
  }

  #declaredOf(endpointId: string) {
    const declared = this.#declared;
    return declared !== undefined && Object.hasOwn(declared, endpointId) ? declared[endpointId] : undefined;
  }

  async #on(): Promise<void> {
    if (this.#declared === undefined) throw new EndpointsOffError();
    await this.#ready();
  }

  #notOfCode(endpointId: string): void {
    if (this.#declaredOf(endpointId) !== undefined)
      throw new EndpointConflictError({ endpointId, problem: "is declared in code: change it there" });
  }

  async #read(endpointId: string): Promise<EndpointRecord | undefined> {
    const stored = await this.#engine().store.schedules.read(endpointPrefix + endpointId);
    return stored?.kind === "endpoint" ? readEndpoint(stored.body) : undefined;
  }

  /** Writes the row that follows from the one that is kept; decided again when another writer was first. */
  async #change(
    endpointId: string,
    decide: (before: EndpointRecord | undefined) => EndpointRecord | undefined,
  ): Promise<EndpointRecord> {
    const { store } = this.#engine();
    const scheduleId = endpointPrefix + endpointId;
    for (let tries = 0; tries < maxTries; tries++) {
      const stored = await store.schedules.read(scheduleId);
      const before = stored && readEndpoint(stored.body);
      const after = decide(before);
      if (after === undefined || isDeepStrictEqual(before, after))
        return before ?? { ...newState, settings: null };
      const change = { scheduleId, expected: stored?.version ?? null, row: endpointRow(endpointId, after) };
      if ((await store.schedules.change(change)) !== "written") continue;
      this.#rows.set(endpointId, after);
      this.#collect();
      return after;
    }
    throw new EndpointConflictError({ endpointId, problem: "changes too often" });
  }

  #viewOf(endpointId: string, record: EndpointRecord): Endpoint {
    const view = this.#view(endpointId, record);
    if (view === undefined) throw new EndpointNotFoundError({ endpointId });
    return view;
  }

  #view(endpointId: string, row: EndpointRecord | undefined): Endpoint | undefined {
    const declared = this.#declaredOf(endpointId);
    const settings: EndpointSettings | null | undefined = declared ?? row?.settings;
    if (!settings) return undefined;
    const { url, on = endpointTypes, workflows = null, content = "thin" } = settings;
    const { state, note, failingSince } = row ?? newState;
    const now = this.#engine().clock.now();
    const kept = row?.settings?.secrets.filter(({ until }) => until === null || until > now) ?? [];
    return {
      ...{
        endpointId,
        url,
        origin: declared === undefined ? "api" : "code",
        on,
        workflows,
        content,
        state,
        note,
      },
      failingSince: failingSince === null ? null : isoTime(failingSince),
      secrets: declared === undefined ? kept.length : secretsOf(declared.secret).length,
    };
  }
}

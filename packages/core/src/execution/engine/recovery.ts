// Recovery: loads executions that have work to do and no live owner, at start and on a period.
import type { ClaimAbandoned } from "../../store/store.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import { type Claimed, claimAbandoned } from "./claim-abandoned.ts";
import type { Engine } from "./engine.ts";
import type { EngineKind } from "./engine-kind.ts";
import { Heartbeat } from "./heartbeat.ts";
import { logFields } from "./log-fields.ts";
import { OrphanedClaims } from "./orphaned-claims.ts";

export interface RecoveryOptions {
  /** Milliseconds between two polls. */
  readonly period: number;
  /** Milliseconds that a claim outlives its owner's last heartbeat. */
  readonly lease: number;
}

/** Which of those that are abandoned. */
type Which = Pick<ClaimAbandoned, "limit" | "suspects" | "except" | "only">;

interface LoadOptions {
  readonly suspect: boolean;
  /** It does not wait for a slot. */
  readonly atOnce: boolean;
}

/** Recoveries without any progress after which an execution is given up. */
const maxRecoveries = 5;
/** Recoveries without any progress after which an execution may be the one that crashes the process: it is run alone. */
const suspectAfter = 2;
const claimedAtOnce = 100;
/** Executions without a slot are no suspects: their kind ends those that were recovered too often. */
const neverSuspect = Number.MAX_SAFE_INTEGER;
/** Executions whose journals are read at the same time: each may be megabytes, and they come from one reader. */
const loadedAtOnce = 8;
/** During a rolling deploy a process of the release before may park executions that began with this one. */
const roundsPerUnpark = 10;

/** The parts of the engine that recovery uses. */
type RecoveryParts = Pick<
  Engine,
  | "store"
  | "workflows"
  | "definitions"
  | "observation"
  | "logger"
  | "storage"
  | "claims"
  | "admission"
  | "room"
  | "closing"
  | "load"
  | "holds"
  | "drivers"
  | "waiters"
  | "workflowKind"
  | "kinds"
  | "kind"
  | "cluster"
  | "describe"
>;

export class Recovery {
  readonly #engine: RecoveryParts;
  readonly #options: RecoveryOptions;
  readonly #heart: Heartbeat;
  readonly #orphans: OrphanedClaims;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  /** Another round follows the current one. */
  #again = false;
  /** Gives back the slots that are kept for the current round. */
  #giveBack: () => void = () => undefined;
  #polling = true;
  #rounds = 0;
  /** Whether one is being claimed and loaded, or runs here and has not yet ended, gone idle or outlived the lease. */
  #suspect: "none" | "claimed" | "runs" = "none";
  readonly #failed = new FailedLoads();
  /** Executions that failed in this round would be found again at once: the next round is soon enough. */
  #interrupted = false;

  constructor(engine: RecoveryParts, options: RecoveryOptions) {
    this.#engine = engine;
    this.#options = options;
    this.#heart = new Heartbeat(engine, options, () => leaseEnded(engine));
    this.#orphans = new OrphanedClaims(engine, options, () => this.look());
    engine.admission.claimAbandoned = () => this.roomFreed();
    for (const workflowId of engine.workflows.keys()) engine.observation.metrics.recovered(workflowId, 0);
  }

  /** Announces this process, so that others leave its executions alone. */
  async announce(): Promise<void> {
    await this.#heart.beat();
    // A close in the meantime has stopped it already.
    if (!this.#engine.closing) this.#heart.start();
  }

  /**
   * Loads one batch, then polls periodically until `stop`. The rest is loaded in the background: a process with a long
   * backlog takes new work meanwhile.
   */
  async start(): Promise<void> {
    const more = [await this.#loadSlotless(), await this.#loadSome(), await this.#loadSuspect()];
    if (!this.#polling) return;
    this.#engine.storage.start(() => this.#heart.beat());
    this.#timer = setInterval(() => this.#startRound(), this.#options.period).unref();
    this.#orphans.start();
    if (more.includes(true)) this.#startRound();
  }

  /** The poll that is under way. */
  get round(): Promise<void> | undefined {
    return this.#round;
  }

  /** Stops polling; heartbeats continue for executions that still run here. */
  async stopPolling(): Promise<void> {
    this.#polling = false;
    await this.#round;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#orphans.stop();
    this.#heart.stop();
    this.#engine.cluster?.stop();
    this.#engine.storage.stop();
    await this.#round;
  }

  /** A slot is free, and executions wait in the store for one. */
  roomFreed(): void {
    if (!this.#polling) return;
    this.#giveBack();
    this.#giveBack = this.#engine.admission.keepFor(claimedAtOnce);
    this.#startRound();
  }

  /** Others have left something behind. */
  look(): void {
    if (this.#polling) this.#startRound();
  }

  /** Loads executions that are abandoned or wait for a slot, as many as there are free slots. */
  async poll(): Promise<void> {
    if (!this.#engine.claims.isAnnounced) return;
    this.#interrupted = false;
    while (await this.#loadSlotless());
    while (await this.#loadSome());
    while (await this.#loadSuspect());
  }

  /** Loads a batch; true when there may be more. So do the next two. */
  async #loadSome(): Promise<boolean> {
    const { admission } = this.#engine;
    this.#giveBack();
    const limit = Math.min(claimedAtOnce, this.#engine.room);
    // Executions put back meanwhile set it again. Without room it is unknown: the next free slot triggers a poll.
    admission.hasUnclaimedBacklog = limit <= 0;
    const taken = await this.#claimAndLoad({ limit, suspects: false, except: this.#failed.lately() });
    // An execution that was put back waits for a slot: the next poll would find it again at once.
    return taken.length > 0 && taken.length === limit && !admission.hasUnclaimedBacklog && !this.#interrupted;
  }

  /** Executions without a slot go first: they are few, and a client waits for each. */
  async #loadSlotless(): Promise<boolean> {
    let more = false;
    for (const kind of this.#engine.kinds) {
      if (kind.takesSlot) continue;
      if (await this.#loadAllOf(kind)) more = true;
      else if (this.#polling) await kind.look?.();
    }
    return more;
  }

  async #loadAllOf({ claimable }: EngineKind): Promise<boolean> {
    if (claimable === undefined || !this.#polling) return false;
    const which = { ...claimable, limit: claimedAtOnce, except: this.#failed.lately() };
    const query = { ...which, suspects: false, suspectAfter: neverSuspect };
    const how = { suspect: false, atOnce: true };
    return claimAbandoned(this.#engine, query, async (claimed) => {
      await Promise.all(claimed.map((each) => this.#load(each, how)));
      return claimed.length === claimedAtOnce && !this.#interrupted;
    });
  }

  /**
   * Loads one ahead of the others, because something falls due in it. `refused` when it is not abandoned, or may crash the
   * process and another one that may is not known to be harmless yet. `failed` when it cannot be loaded, or could not lately.
   */
  async loadNow(executionId: string): Promise<"done" | "refused" | "failed"> {
    if (!this.#polling) return "refused";
    if (this.#failed.lately().includes(executionId)) return "failed";
    const which = { limit: 1, only: executionId };
    const [loaded] = await this.#claimAndLoad({ ...which, suspects: false });
    const [done] = loaded === undefined ? await this.#claimSuspect(which) : [loaded];
    if (done === undefined) return "refused";
    return done ? "done" : "failed";
  }

  async #loadSuspect(): Promise<boolean> {
    if (!this.#polling || this.#interrupted) return false;
    const limit = Math.min(1, this.#engine.room);
    const taken = await this.#claimSuspect({ limit, except: this.#failed.lately() });
    // One that runs now has to settle first; then a round follows.
    return taken.length > 0 && this.#suspect === "none";
  }

  /**
   * Suspects are loaded one at a time, so that an execution that crashes its process does not put the blame on those
   * that run beside it: they would be given up with it.
   */
  async #claimSuspect(which: Omit<Which, "suspects">): Promise<boolean[]> {
    if (this.#suspect !== "none") return [];
    this.#suspect = "claimed";
    try {
      return await this.#claimAndLoad({ ...which, suspects: true });
    } finally {
      if (this.#suspect === "claimed") this.#suspect = "none";
    }
  }

  /** Waits until the suspect has ended, gone idle or outlived the lease, then polls for the next. */
  #watch(executionId: string): { cancel(): void } {
    this.#suspect = "runs";
    const wait = this.#engine.waiters.wait(executionId);
    let cancelled = false;
    const stopWatching = () => {
      wait.cancel();
      this.#suspect = "none";
    };
    void withTimeout(wait.settled, this.#options.lease, { keepAlive: false }).then(() => {
      if (cancelled) return;
      stopWatching();
      if (this.#polling) this.#startRound();
    });
    return {
      // The next round looks again, not this one: it would find the same execution at once.
      cancel: () => {
        cancelled = true;
        stopWatching();
      },
    };
  }

  /** Claims and loads; returns for each whether that worked. */
  async #claimAndLoad(which: Which): Promise<boolean[]> {
    const { workflowKind, admission } = this.#engine;
    const { claimable } = workflowKind;
    if (which.limit <= 0 || claimable === undefined) return [];
    const places = Array.from({ length: which.limit }, () => admission.slots.reserve(1));
    // An execution with a due timer does not wait for a slot, and a suspect has found one.
    const atOnce = which.suspects || which.only !== undefined;
    try {
      return await claimAbandoned(this.#engine, { ...claimable, suspectAfter, ...which }, async (claimed) => {
        for (const giveBack of places.splice(claimed.length)) giveBack();
        const loaded: boolean[] = [];
        const rest = claimed.entries();
        const loadNext = async () => {
          for (const [index, each] of rest) {
            // It takes its slot before anything else can happen.
            places[index]?.();
            loaded.push(await this.#load(each, { suspect: which.suspects, atOnce }));
          }
        };
        await Promise.all(Array.from({ length: loadedAtOnce }, loadNext));
        return loaded;
      });
    } finally {
      for (const giveBack of places) giveBack();
    }
  }

  #startRound(): void {
    this.#again = this.#round !== undefined;
    this.#round ??= this.#pollInRound().finally(() => {
      this.#giveBack();
      this.#round = undefined;
      if (this.#again && this.#polling) this.#startRound();
    });
  }

  async #pollInRound(): Promise<void> {
    try {
      const { cluster, definitions } = this.#engine;
      if (cluster !== undefined && ++this.#rounds % roundsPerUnpark === 0) await definitions.unparkOwn();
      if (this.#polling) await this.poll();
    } catch (err) {
      const { storage, logger } = this.#engine;
      if (!storage.failed(err))
        logger.warn({ err }, "failed to poll for abandoned executions; trying again later");
    }
  }

  /** False when it could not be loaded, or was put back to wait. One that cannot be loaded does not hold up the others, or the process. */
  async #load({ row, claim }: Claimed, { suspect, atOnce }: LoadOptions): Promise<boolean> {
    const { executionId, recoveries } = row;
    const { token } = claim;
    const { logger, admission } = this.#engine;
    let watch: { cancel(): void } | undefined;
    try {
      const kind = this.#engine.kind(row.kind);
      if (recoveries > maxRecoveries && (await kind.endCrashLoop(row, token, maxRecoveries))) return true;
      if (suspect) watch = this.#watch(executionId);
      logger.info({ ...logFields(row), recoveries }, `recovering an abandoned ${kind.noun}`);
      const claimed = { executionId, kind, claim, user: row.userId };
      if (atOnce) await this.#engine.load(claimed);
      else if (!(await admission.runWhenFree(claimed))) return false;
      kind.recovered(row);
      return true;
    } catch (err) {
      // It does not run here, so the next suspect need not wait for it, and its claim goes back.
      watch?.cancel();
      await this.#engine.store.release({ executionId, token }).catch(() => undefined);
      if (this.#engine.storage.failed(err)) this.#interrupted = true;
      else {
        if (!this.#failed.add(executionId)) this.#interrupted = true;
        logger.error({ ...logFields(row), err }, "failed to recover an abandoned execution");
      }
      return false;
    }
  }
}

/** Milliseconds until an execution that could not be loaded is tried again, and how many are remembered. */
const retryAfter = 60_000;
const maxFailed = 1000;

/** Executions that could not be loaded lately: they are left out for a while, so that newer ones are loaded. */
class FailedLoads {
  /** With the time when they are tried again. */
  readonly #failed = new Map<string, number>();

  /** False when there is no room to remember it. */
  add(executionId: string): boolean {
    if (this.#failed.size >= maxFailed) return false;
    this.#failed.set(executionId, performance.now() + retryAfter);
    return true;
  }

  lately(): readonly string[] {
    const now = performance.now();
    for (const [executionId, until] of this.#failed) if (until <= now) this.#failed.delete(executionId);
    return [...this.#failed.keys()];
  }
}

/**
 * The lease has ended, because the process froze or did not reach the store: other processes may run its executions.
 * Stops all drivers and takes another name: their executions are recovered like those of any dead process.
 */
function leaseEnded(engine: Pick<Engine, "claims" | "drivers" | "logger">): void {
  engine.claims.rename();
  const drivers = engine.drivers.values();
  const reason = "The lease of this process has ended";
  engine.logger.warn(
    { running: drivers.length },
    "the lease of this process has ended: it stops what it ran",
  );
  for (const driver of drivers) driver.stop({ kind: "elsewhere" }, new Error(reason));
}

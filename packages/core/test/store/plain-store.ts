// A store of maps, without SQL: it shows that the decisions and the contract are all that a store needs. For tests alone.
import { StoreOpenError, StoreRefusedError, StoreUnavailableError } from "../../src/errors/index.ts";
import {
  beforeTurn,
  type Changes,
  type Decision,
  decisions,
  type ExecutionRecord,
  endOfWait,
  type Facts,
  isAbandoned,
  lookback,
  newRecord,
  takeOver,
} from "../../src/store/decide/index.ts";
import { rowText } from "../../src/store/sql/journal-row.ts";
import { readPage } from "../../src/store/sql/read-page.ts";
import type {
  BeginTurn,
  BeginTurnResult,
  ClaimAbandoned,
  ClaimedExecution,
  DueTimer,
  ExecutionHead,
  ExecutionRow,
  ListedExecution,
  NewExecution,
  NewTurn,
  SeenDefinition,
  Snapshot,
  Store,
  StoredExecution,
  StoreNodes,
} from "../../src/store/store.ts";
import { type StoredEvent, storedLength, type WrittenEvent } from "../../src/store/stored-event.ts";
import { isChildWait, type Suspension } from "../../src/store/suspension.ts";
import { nothingUsed, type StoredUsage, usageSince } from "../../src/store/usage.ts";
import { isBelow } from "../../src/values/step-path.ts";
import { plainBudgets } from "./plain-budgets.ts";
import { PlainConversations } from "./plain-conversations.ts";
import { PlainFacts } from "./plain-facts.ts";
import { plainObservations } from "./plain-observations.ts";
import { plainRollups } from "./plain-rollups.ts";
import { plainSchedules } from "./plain-schedules.ts";
import { plainSignals } from "./plain-signals.ts";
import { plainUsage } from "./plain-usage.ts";

/** The columns that no decision changes. */
type FixedColumns = Pick<
  ExecutionRow,
  | "workflowId"
  | "agentId"
  | "input"
  | "context"
  | "userId"
  | "conversationId"
  | "startAt"
  | "tags"
  | "replayOf"
  | "trace"
>;

interface Kept {
  record: ExecutionRecord;
  readonly fixed: FixedColumns;
  /** The usage of a turn that its conversation has counted. */
  counted: StoredUsage;
  timeoutAt: number | null;
  result: string | null;
  error: string | null;
  journal: { readonly key: string | null; readonly text: string; readonly events: readonly StoredEvent[] }[];
  suspensions: Map<string, { readonly suspension: Suspension; held: boolean }>;
  timers: Map<string, { readonly dueAt: number; held: boolean }>;
  snapshot?: Snapshot;
}

export function plainStore(): Store {
  const executions = new Map<string, Kept>();
  const definitions = new Map<string, string>();
  const seenDefinitions = new Map<string, SeenDefinition[]>();
  const leases = new Map<string, number>();
  const descriptions = new Map<string, string>();
  const keptFacts = new PlainFacts();
  const approvals = new Map<string, { readonly expiresAt: number; readonly key: string }>();
  let secret: string | undefined;
  const usage = plainUsage();
  const budgets = plainBudgets();

  const kept = (executionId: string): Kept => {
    const found = executions.get(executionId);
    if (found === undefined) throw new Error(`there is no execution ${executionId}`);
    return found;
  };
  const all = () => [...executions.values()];
  const workflows = () => all().filter(({ record }) => record.kind === "workflow");
  const isAlive = (owner: string | null) => owner !== null && (leases.get(owner) ?? 0) > Date.now();
  const eventsOf = ({ journal }: Kept) => journal.flatMap(({ events }) => events);

  /** The events with the values that they refer to. */
  const resolved = (of: Kept, last: number, events: readonly WrittenEvent[]): StoredEvent[] => {
    const before = eventsOf(of);
    const made: StoredEvent[] = [];
    for (const [index, event] of events.entries()) {
      const sequence = last + 1 + index;
      let { value } = event;
      if (value !== null && typeof value === "object") {
        const place = value.sameAs < 0 ? sequence + value.sameAs : value.sameAs;
        const source = [...before, ...made].find((each) => each.sequence === place);
        value = place === 0 ? of.fixed.input : (source?.value ?? null);
      }
      made.push({ ...event, value, sequence });
    }
    return made;
  };
  const write = (of: Kept, last: number, events: readonly WrittenEvent[], key: string | null) => {
    if (events.length === 0) return;
    const values = resolved(of, last, events);
    of.journal.push({ key, text: rowText(last, values), events: values });
  };

  const facts: Facts = {
    openSuspension: (suspensionId) => {
      const found = all().find(({ suspensions }) => suspensions.has(suspensionId));
      const open = found?.suspensions.get(suspensionId);
      return found && open && { executionId: found.record.executionId, path: open.suspension.path };
    },
    below: (executionId, paths) =>
      [...kept(executionId).suspensions.values()].flatMap(({ suspension: { suspensionId, path } }) =>
        path !== null && paths.some((step) => path === step || isBelow(path, step)) ? [suspensionId] : [],
      ),
    isAlive,
    dueAt: (executionId) => {
      const times = [...kept(executionId).timers.values()].map(({ dueAt }) => dueAt);
      return times.length === 0 ? undefined : Math.min(...times);
    },
    timeOf: (executionId, sequence) =>
      eventsOf(kept(executionId)).find((event) => event.sequence === sequence)?.timestamp,
    recorded: (executionId, keys) => {
      const { journal, record } = kept(executionId);
      const found = journal.findLast(({ key }) => key !== null && keys.includes(key));
      const sequence = found?.events.at(-1)?.sequence ?? 0;
      if (!found?.key || sequence <= record.sequence - lookback) return undefined;
      return { sequence, events: found.text, key: found.key };
    },
  };

  /** Collects changes, which are applied together once the decision is made. */
  const collect = (): Changes & { apply(): void } => {
    const steps: (() => void)[] = [];
    const later =
      <Arguments extends readonly unknown[]>(change: (...given: Arguments) => void) =>
      (...given: Arguments): void =>
        void steps.push(() => change(...given));
    return {
      apply: () => {
        for (const step of steps) step();
      },
      update: later((record) => {
        kept(record.executionId).record = record;
      }),
      end: later((executionId, { result, resultAt, error }) => {
        const of = kept(executionId);
        const long = eventsOf(of).find((event) => event.sequence === resultAt);
        of.result = long === undefined ? result : long.value;
        of.error = error;
      }),
      append: (executionId, last, events, key) => {
        // Refuses a reference to a later event before anything is changed.
        rowText(last, events);
        steps.push(() => write(kept(executionId), last, events, key));
      },
      open: later((executionId, suspension, held) => {
        kept(executionId).suspensions.set(suspension.suspensionId, { suspension, held });
        signals.opened(executionId, suspension);
      }),
      keepWork: later((works) => signals.keepWork(works)),
      remember: later((change) => keptFacts.append(change)),
      close: later((suspensionIds) => {
        for (const id of suspensionIds) for (const { suspensions } of all()) suspensions.delete(id);
      }),
      closeAll: later((executionId) => kept(executionId).suspensions.clear()),
      setTimer: later((executionId, { path, dueAt }) => {
        const { timers } = kept(executionId);
        timers.set(path, { dueAt, held: timers.get(path)?.held ?? false });
      }),
      clearTimer: later((executionId, path) => kept(executionId).timers.delete(path)),
      clearTimers: later((executionId) => kept(executionId).timers.clear()),
      hold: later((executionId, held) => {
        const { timers, suspensions } = kept(executionId);
        for (const each of [...timers.values(), ...suspensions.values()]) each.held = held;
      }),
      moveTimeout: later((executionId, by) => {
        const of = kept(executionId);
        if (of.timeoutAt !== null) of.timeoutAt += by;
      }),
      deliver: later((row) => schedules.deliver(row)),
      spend: later((_, entries) => usage.spend(entries)),
      charge: later((charges) => budgets.charge(charges)),
    };
  };
  const perform = <Argument extends { readonly executionId: string }, Result>(
    decision: Decision<Argument, Result>,
    argument: Argument,
  ): Result => {
    const record = executions.get(argument.executionId)?.record;
    const changes = collect();
    const result = decision.decide(argument, record && { ...record }, facts, changes);
    changes.apply();
    return result;
  };
  const decided =
    <Argument extends { readonly executionId: string }, Result>(decision: Decision<Argument, Result>) =>
    (argument: Argument): Result =>
      perform(decision, argument);

  const insert = (
    made: NewExecution | NewTurn,
    columns: Pick<ExecutionRecord, "kind" | "stepIndex" | "resumes" | "usage" | "definition" | "links">,
    fixed: Pick<FixedColumns, "workflowId" | "agentId" | "tags" | "replayOf" | "trace">,
    timeoutAt: number | null,
  ): void => {
    const { executionId, input, context, userId, conversationId, startAt, claim, events } = made;
    rowText(0, events);
    const of: Kept = {
      record: { ...newRecord, ...columns, ...claim, executionId, sequence: events.length },
      fixed: { ...fixed, input, context, userId, conversationId, startAt },
      counted: nothingUsed,
      timeoutAt,
      result: null,
      error: null,
      journal: [],
      suspensions: new Map(),
      timers: new Map(),
    };
    executions.set(executionId, of);
    write(of, 0, events, null);
  };
  const create = (made: NewExecution): { created: boolean } => {
    const before = executions.get(made.executionId);
    if (before !== undefined) return { created: before.record.token === made.claim.token };
    const {
      replay,
      usage = null,
      definition = null,
      tags = [],
      trace = null,
      links = null,
      workflowId,
    } = made;
    const { stepIndex = 0, resumes = 0 } = replay ?? {};
    insert(
      made,
      { kind: "workflow", stepIndex, resumes, usage, definition, links },
      { workflowId, agentId: null, tags, replayOf: replay?.of ?? null, trace },
      made.timeoutAt,
    );
    return { created: true };
  };

  const schedules = plainSchedules(create);
  const signals = plainSignals(() =>
    all().map(({ record, suspensions }) => ({
      executionId: record.executionId,
      links: record.endAt === null ? record.links : null,
      suspensions: [...suspensions.values()].map(({ suspension }) => suspension),
    })),
  );

  const listed = ({ record, fixed, timeoutAt, error }: Kept): ListedExecution => {
    const { kind: _, owner: _o, token: _t, commits: _c, idle: _i, usage: _u, ...rest } = record;
    const { openSuspensions: _s, parkedUnder: _p, ...columns } = rest;
    const { agentId: _a, input: _in, context: _x, ...shown } = fixed;
    return { ...columns, ...shown, timeoutAt, error };
  };
  const row = (of: Kept): ExecutionRow => ({
    ...listed(of),
    kind: of.record.kind,
    agentId: of.fixed.agentId,
    input: of.fixed.input,
    context: of.fixed.context,
    result: of.result,
  });
  const claimed = (of: Kept): ClaimedExecution => {
    const { input: _i, context: _c, result: _r, error: _e, ...rest } = row(of);
    return rest;
  };
  const head = ({ record, fixed }: Kept): ExecutionHead => ({
    executionId: record.executionId,
    kind: record.kind,
    workflowId: fixed.workflowId,
    agentId: fixed.agentId,
    userId: fixed.userId,
    conversationId: fixed.conversationId,
    status: record.status,
    sequence: record.sequence,
    paused: record.paused,
    parked: record.parked !== null,
    owner: record.owner,
  });
  const byStart = (a: Kept, b: Kept) =>
    a.fixed.startAt - b.fixed.startAt || (a.record.executionId < b.record.executionId ? -1 : 1);

  const claimAbandoned = (query: ClaimAbandoned) => {
    const { owner, key, suspects, suspectAfter, limit, only } = query;
    const hasWork = ({ record }: Kept) => isAbandoned({ ...record, token: null }, false);
    const before = all().filter(
      (of) => hasWork(of) && of.record.owner === owner && of.record.token?.startsWith(key),
    );
    if (before.length > 0) return before.map((of) => ({ row: claimed(of), token: of.record.token ?? "" }));
    const isWanted = ({ record, fixed }: Kept) =>
      only === undefined
        ? (record.kind === "turn"
            ? query.agentIds?.includes(fixed.agentId ?? "")
            : query.workflowIds.includes(fixed.workflowId)) && !query.except?.includes(record.executionId)
        : record.executionId === only;
    const found = all()
      .filter((of) => isWanted(of) && isAbandoned(of.record, isAlive(of.record.owner)))
      .filter(({ record }) => record.recoveries >= suspectAfter === suspects)
      .sort((a, b) => (suspects ? a.record.recoveries - b.record.recoveries : 0) || byStart(a, b));
    return found.slice(0, only === undefined ? limit : 1).map((of, index) => {
      const token = `${key}.${index}`;
      const record = { ...of.record };
      takeOver(record, { owner, token }, record.owner !== null && leases.has(record.owner));
      of.record = record;
      return { row: claimed(of), token };
    });
  };

  const due: (query: Parameters<Store["due"]>[0]) => DueTimer[] = (query) => {
    const { workflowIds, agentIds, limit } = query;
    const isWanted = ({ record, fixed }: Kept) =>
      record.kind === "turn"
        ? agentIds?.includes(fixed.agentId ?? "")
        : workflowIds.includes(fixed.workflowId);
    const wanted = all().filter((of) => isWanted(of) && !of.record.paused);
    const running = wanted.filter(({ record }) => record.endAt === null);
    const byTime = (a: DueTimer, b: DueTimer) => a.dueAt - b.dueAt;
    const common = ({ record: { executionId }, fixed: { workflowId } }: Kept) => ({
      executionId,
      workflowId,
    });
    const timerAt = ({ record }: Kept): number | null => {
      const isOwned = record.token !== null && isAlive(record.owner);
      if (!record.idle && (record.parked !== null || isOwned)) return null;
      return facts.dueAt(record.executionId) ?? null;
    };
    const timers = wanted
      .filter(({ record }) => record.idle)
      .flatMap((of) =>
        [...of.timers.values()].map(
          ({ dueAt }): DueTimer =>
            of.record.endAt === null
              ? { kind: "timer", ...common(of), dueAt, userId: of.fixed.userId }
              : { kind: "end", ...common(of), dueAt },
        ),
      );
    const limits = running.flatMap((of) => [
      ...[...of.suspensions.values()].flatMap(({ suspension }): DueTimer[] => {
        const { suspensionId, path, stepIndex, deadline } = suspension;
        if (deadline === null) return [];
        const place = { suspensionId, path, stepIndex };
        return [{ kind: "deadline", ...common(of), dueAt: deadline, timerAt: timerAt(of), ...place }];
      }),
      ...(of.timeoutAt === null
        ? []
        : [{ kind: "timeout" as const, ...common(of), dueAt: of.timeoutAt, timerAt: timerAt(of) }]),
    ]);
    const unlimited = { ...query, limit: Number.POSITIVE_INFINITY };
    const found = [limits, timers, schedules.due(unlimited), signals.due(unlimited)];
    const isBehind = ({ dueAt }: DueTimer) => dueAt > (query.after ?? -1);
    return found.flatMap((each) => each.filter(isBehind).sort(byTime).slice(0, limit)).sort(byTime);
  };

  const removeTurns = (conversationId: string) => {
    keptFacts.remove({ scope: "conversation", subject: conversationId });
    for (const [id, { record, fixed }] of executions)
      if (record.kind === "turn" && fixed.conversationId === conversationId) executions.delete(id);
  };
  const liveTurn = (conversationId: string) =>
    all().find(
      ({ record, fixed }) =>
        record.kind === "turn" && record.endAt === null && fixed.conversationId === conversationId,
    );
  const conversations = new PlainConversations(
    removeTurns,
    (id) => liveTurn(id)?.record.status === "running",
    (id) => liveTurn(id)?.record.idle === false,
  );

  const beginTurn = (argument: BeginTurn): BeginTurnResult => {
    const { turn, message, before } = argument;
    const { conversationId, userId, agentId } = turn;
    const began = (): BeginTurnResult => {
      if (before === undefined || message.kind !== "post") return { kind: "begun" };
      return { kind: "begun", before: conversations.before(conversationId, message.messageId, before) };
    };
    const live = liveTurn(conversationId)?.record;
    // One that only sleeps has no open suspension.
    const liveStatus = live?.idle ? "suspended" : "running";
    const early = beforeTurn(turn, message, {
      token: executions.get(turn.executionId)?.record.token,
      owner: conversations.ownerOf(conversationId),
      live: live && { executionId: live.executionId, status: liveStatus },
      isBehind: message.kind === "post" && conversations.isBehind(conversationId, message),
    });
    if (early === "repeated") return began();
    if (early !== undefined) return early;
    if (message.kind === "replace") {
      if (!conversations.replaceLast({ ...message, conversationId, userId })) return { kind: "changed" };
    } else {
      const { kind } = conversations.post({ ...message, conversationId, userId, agentId });
      if (kind !== "posted") return { kind };
    }
    if (live !== undefined) perform(decisions.cancel, endOfWait(turn, live.executionId));
    insert(
      turn,
      { kind: "turn", stepIndex: 0, resumes: 0, usage: null, definition: null, links: null },
      { workflowId: "", agentId, tags: [], replayOf: null, trace: null },
      null,
    );
    return began();
  };

  const operations = {
    create,
    commit: decided(decisions.commit),
    pause: decided(decisions.pause),
    resume: decided(decisions.resume),
    cancel: decided(decisions.cancel),
    wake: decided(decisions.wake),
    endHandled: decided(decisions.endHandled),
    release: decided(decisions.release),
    park: decided(decisions.park),
    adopt: decided(decisions.adopt),
    beginTurn,
    endTurn: ({ commit, reply }: Parameters<Store["endTurn"]>[0]) => {
      const before = executions.get(commit.executionId)?.record;
      // Otherwise this commit is repeated, or another writer was first.
      const isFirst =
        before?.token === commit.token && before.commits < commit.number && before.endAt === null;
      const result = perform(decisions.commit, commit);
      if (!isFirst || result.kind !== "ok") return result;
      const of = kept(commit.executionId);
      const total = of.record.usage ?? nothingUsed;
      conversations.keepReply({ ...reply, usage: usageSince(total, of.counted) });
      of.counted = total;
      return result;
    },
    heartbeat: ({ owner, lease, about }: Parameters<Store["heartbeat"]>[0]): void => {
      leases.set(owner, Date.now() + lease);
      if (about !== undefined) descriptions.set(owner, about);
    },
    nodes: (): StoreNodes => {
      const work = all().filter(({ record }) => isAbandoned({ ...record, token: null }, false));
      const executionsOf = (owner: string | null) =>
        work.filter(({ record }) => record.owner === owner).length;
      const nodes = [...leases.keys()]
        .map((owner) => ({
          ...{ owner, about: descriptions.get(owner) ?? null },
          ...{ isAlive: isAlive(owner), executions: executionsOf(owner) },
        }))
        .filter(({ isAlive, executions }) => isAlive || executions > 0);
      return { nodes, unowned: executionsOf(null) };
    },
    claimAbandoned,
    claims: ({ owner, after, limit }: Parameters<Store["claims"]>[0]) =>
      all()
        .filter(({ record }) => record.owner === owner && isAbandoned({ ...record, token: null }, false))
        .sort(byStart)
        .map(({ record: { executionId, token }, fixed: { startAt } }) => ({
          executionId,
          startAt,
          token: token ?? "",
        }))
        .filter(
          ({ startAt, executionId }) =>
            after === undefined ||
            startAt > after.startAt ||
            (startAt === after.startAt && executionId > after.executionId),
        )
        .slice(0, limit),
    due,
    state: (executionId: string): StoredExecution | undefined => {
      const of = executions.get(executionId);
      if (of === undefined) return undefined;
      const open = [...of.suspensions.values()].map(({ suspension }) => suspension);
      return {
        execution: row(of),
        suspensions: open.sort(
          (a, b) => a.suspendedAt - b.suspendedAt || (a.suspensionId < b.suspensionId ? -1 : 1),
        ),
        timers: [...of.timers].map(([path, { dueAt }]) => ({ path, dueAt })),
        usage: of.record.usage,
      };
    },
    heads: (executionIds: readonly string[]) =>
      all()
        .filter(({ record }) => executionIds.includes(record.executionId))
        .map(head),
    liveTurn: (conversationId: string) => {
      const of = liveTurn(conversationId);
      return of && head(of);
    },
    events: ({ executionId, after, limit, length }: Parameters<Store["events"]>[0]) => {
      const of = executions.get(executionId);
      const found = of === undefined ? [] : eventsOf(of).filter(({ sequence }) => sequence > after);
      return readPage(found.slice(0, limit), (event) => event, length, storedLength);
    },
    keepSnapshot: (snapshot: Snapshot): void => {
      const of = executions.get(snapshot.executionId);
      if (of === undefined || of.record.endAt !== null || of.record.sequence < snapshot.sequence) return;
      if ((of.snapshot?.sequence ?? 0) < snapshot.sequence) of.snapshot = snapshot;
    },
    snapshot: (executionId: string) => executions.get(executionId)?.snapshot,
    list: (query: Parameters<Store["list"]>[0]) => {
      const {
        before,
        tag,
        idPrefix = "",
        from = Number.NEGATIVE_INFINITY,
        to = Number.POSITIVE_INFINITY,
      } = query;
      const place = ({ startAt, executionId }: { startAt: number; executionId: string }) =>
        before === undefined ||
        startAt < before.startAt ||
        (startAt === before.startAt && executionId < before.executionId);
      const found = workflows()
        .filter(({ record, fixed }) => {
          const { executionId, status } = record;
          const fits: readonly (readonly [unknown, unknown])[] = [
            [query.workflowId, fixed.workflowId],
            [query.status, status],
            [query.userId, fixed.userId],
            [query.executionId, executionId],
            [query.traceId, fixed.trace || null],
            [query.replayOf, fixed.replayOf?.executionId],
          ];
          return (
            fits.every(([wanted, value]) => wanted === undefined || wanted === value) &&
            (tag === undefined || fixed.tags.includes(tag)) &&
            executionId.startsWith(idPrefix) &&
            (!query.traced || fixed.trace !== null) &&
            (!query.parked || record.parked !== null) &&
            fixed.startAt >= from &&
            fixed.startAt < to &&
            place({ startAt: fixed.startAt, executionId })
          );
        })
        .sort((a, b) => byStart(b, a));
      return readPage(found.slice(0, query.limit), listed, query.length);
    },
    waiting: (query: Parameters<Store["waiting"]>[0]) => {
      const { workflowId, agentId, userId, suspensionIds, after, limit, length } = query;
      const found = all()
        .filter(
          ({ fixed }) =>
            (workflowId === undefined || fixed.workflowId === workflowId) &&
            (agentId === undefined || fixed.agentId === agentId) &&
            (userId === undefined || fixed.userId === userId),
        )
        .flatMap(({ record: { executionId }, fixed, suspensions }) =>
          [...suspensions.values()].map(({ suspension: { resumeSchema, ...suspension } }) => ({
            executionId,
            workflowId: fixed.workflowId,
            agentId: fixed.agentId,
            userId: fixed.userId,
            conversationId: fixed.conversationId,
            startAt: fixed.startAt,
            suspension: query.brief
              ? { ...suspension, reason: "", data: null, onDeadline: null }
              : { ...suspension, ...(resumeSchema !== undefined && { resumeSchema }) },
          })),
        )
        .filter(
          ({ suspension: { path, suspensionId } }) =>
            path !== null &&
            !isChildWait({ path }) &&
            (suspensionIds === undefined || suspensionIds.includes(suspensionId)),
        )
        .sort(
          ({ suspension: a }, { suspension: b }) =>
            a.suspendedAt - b.suspendedAt || (a.suspensionId < b.suspensionId ? -1 : 1),
        )
        .filter(
          ({ suspension: { suspendedAt, suspensionId } }) =>
            after === undefined ||
            suspendedAt > after.suspendedAt ||
            (suspendedAt === after.suspendedAt && suspensionId > after.suspensionId),
        );
      return readPage(found.slice(0, limit), (each) => each, length);
    },
    define: ({ definition, outline, seen }: Parameters<Store["define"]>[0]): void => {
      if (!definitions.has(definition)) definitions.set(definition, outline);
      if (seen === undefined) return;
      const others = seenDefinitions.get(seen.workflowId) ?? [];
      const known = others.find((each) => each.definition === definition);
      const made = { definition, firstAt: known?.firstAt ?? seen.at, lastAt: seen.at };
      seenDefinitions.set(seen.workflowId, [made, ...others.filter((each) => each !== known)]);
    },
    definitions: (workflowId: string): SeenDefinition[] => seenDefinitions.get(workflowId) ?? [],
    outline: (definition: string) => definitions.get(definition),
    unpark: ({ workflowId, definition, own = false }: Parameters<Store["unpark"]>[0]): void => {
      for (const of of all()) {
        const { record } = of;
        if (record.parked === null || of.fixed.workflowId !== workflowId) continue;
        if (record.parkedUnder === definition || (own && record.definition !== definition)) continue;
        of.record = { ...record, parked: null, parkedUnder: null };
      }
    },
    countUnfinished: () => {
      const counts = new Map<string, number>();
      for (const { record, fixed } of workflows())
        if (record.endAt === null) counts.set(fixed.workflowId, (counts.get(fixed.workflowId) ?? 0) + 1);
      return [...counts].sort().map(([workflowId, count]) => ({ workflowId, count }));
    },
    endedBeyond: ({ keep }: { readonly keep: number }) => ended("workflow").at(-1 - keep),
    deleteFinished: ({ kind = "workflow", upTo, limit, events }: Parameters<Store["deleteFinished"]>[0]) => {
      const found = ended(kind).filter(
        ({ endAt, executionId }) =>
          endAt < upTo.endAt || (endAt === upTo.endAt && executionId <= upTo.executionId),
      );
      const executionIds: string[] = [];
      let left = events;
      for (const { executionId } of found.slice(0, limit)) {
        executionIds.push(executionId);
        const { journal } = kept(executionId);
        left -= journal.splice(-Math.min(left, journal.length)).length;
        if (left <= 0) return { executionIds, more: true };
        executions.delete(executionId);
      }
      return { executionIds, more: found.length >= limit };
    },
    compact: () => ({ more: false }),
  };
  const ended = (kind: "workflow" | "turn") =>
    all()
      .flatMap(({ record }) =>
        record.kind === kind && record.endAt !== null
          ? [{ endAt: record.endAt, executionId: record.executionId }]
          : [],
      )
      .sort((a, b) => a.endAt - b.endAt || (a.executionId < b.executionId ? -1 : 1));

  let isOpen = false;
  /** The same operations as promises, refused while the store is not open. */
  function guarded<Operations extends object>(given: Operations): Promised<Operations>;
  function guarded(given: Readonly<Record<string, (argument: never) => unknown>>): object {
    const entries = Object.entries(given).map(([operation, perform]) => [
      operation,
      async (argument: never) => {
        if (!isOpen) throw new StoreUnavailableError({ cause: new Error("the store is not open") });
        try {
          return perform(structuredClone(argument));
        } catch (cause) {
          throw new StoreRefusedError({ operation, cause });
        }
      },
    ]);
    return Object.fromEntries(entries);
  }

  return {
    location: "maps",
    open: async () => {
      if (isOpen) throw new StoreOpenError({ path: "maps", problem: "it is already open" });
      isOpen = true;
    },
    close: async () => {
      isOpen = false;
    },
    health: async () => ({
      problem: isOpen ? null : "the store is not open",
      bytes: null,
      restarts: { count: 0, reason: "" },
    }),
    ...guarded(operations),
    conversations: guarded(conversations.operations),
    observations: guarded({
      ...plainObservations(),
      countSuspended: () => workflows().filter(({ record }) => record.status === "suspended").length,
    }),
    rollups: guarded(plainRollups()),
    facts: guarded(keptFacts.operations),
    usage: guarded(usage.operations),
    budgets: guarded(budgets),
    schedules: guarded(schedules.operations),
    signals: guarded(signals.operations),
    approvals: guarded({
      use: ({ key, approval, expiresAt, at }: Parameters<Store["approvals"]["use"]>[0]): boolean => {
        for (const [id, used] of approvals) if (used.expiresAt < at) approvals.delete(id);
        if (!approvals.has(approval)) approvals.set(approval, { expiresAt, key });
        return approvals.get(approval)?.key === key;
      },
      secret: (candidate: string): string => {
        secret ??= candidate;
        return secret;
      },
    }),
  };
}

type Promised<Operations> = {
  [Name in keyof Operations]: Operations[Name] extends (...given: infer Given) => infer Result
    ? (...given: Given) => Promise<Result>
    : never;
};

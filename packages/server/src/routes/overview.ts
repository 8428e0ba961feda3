// All executions at once: the inbox, counts over time, the feed of changes, and the status of the server.
import path from "node:path";
import { entryIds } from "../auth/entry-ids.ts";
import { Permission } from "../auth/permission.ts";
import { ForbiddenError } from "../errors/auth-errors.ts";
import { readActivity, type WorkflowActivity } from "../overview/activity.ts";
import type { ActivityPart } from "../overview/activity-of-list.ts";
import { ChangeStream } from "../overview/change-stream.ts";
import { groupFailures, readFailures } from "../overview/failures.ts";
import { readInbox } from "../overview/inbox.ts";
import { readDefinitions, readNodes } from "../overview/nodes.ts";
import { readStepActivity } from "../overview/step-activity.ts";
import { type RouteContext, route } from "../route.ts";
import { budgetQuery, budgetReport } from "../schemas/budget-schemas.ts";
import {
  activity,
  activityQuery,
  changeEvent,
  definitionHistory,
  failureGroups,
  failuresQuery,
  inbox,
  inboxQuery,
  nodes,
  serverStatus,
  stepActivity,
  stepActivityQuery,
  workflowExample,
} from "../schemas/overview-schemas.ts";
import { usageQuery, usageReport } from "../schemas/usage-schemas.ts";
import { eventResponse } from "../sse/event-response.ts";
import { version } from "../version.ts";
import { knownWorkflow } from "./workflows.ts";

const tag = "Overview";
const hour = 3_600_000;
const day = 24 * hour;
const minute = 60_000;
/** The earliest time of a Date, in milliseconds since 1970. */
const firstTime = -8_640_000_000_000_000;
/** Milliseconds for which a result is cached. */
const inboxKept = 200;
const activityKept = 2000;
const nodesKept = 500;
const usageKept = 500;

/** Rows about executions that the caller may see. */
const ofVisible = { method: "GET", access: "protected", reveals: "own", tag } as const;

const isOfChat = ({ agentId }: { readonly agentId: string | null }) => agentId !== null;

const endOfMinute = (time: number) => new Date(Math.ceil(time / minute) * minute);

export const overviewRoutes = [
  route({
    ...ofVisible,
    path: "/api/server",
    action: "server.read",
    resource: [],
    costs: "read",
    operationId: "getServer",
    summary: "Show how the server is, and who the caller is",
    response: { kind: "json", description: "The server", data: serverStatus },
    errors: [],
    handle: async ({ andante, caller, gate, scope, hasMcp }) => {
      await andante.ready();
      const { bytes, nodes = null } = await andante.health();
      const { running, limit } = andante.live.slots;
      // The counts are of all users: a caller that sees only its own does not get them.
      const seesAll = scope === "all";
      return {
        version,
        // Only the file name: callers must not see the folder.
        store: { name: path.basename(andante.store.location), bytes, nodes },
        slots: { running: seesAll ? running : null, limit },
        suspended: seesAll ? await andante.store.observations.countSuspended() : null,
        search: andante.store.search !== undefined,
        mcp: hasMcp,
        authentication: gate.enabled,
        user:
          caller.user === undefined ? null : { ...caller.user, ...(caller.userId && { id: caller.userId }) },
      };
    },
  }),
  route({
    ...ofVisible,
    path: "/api/inbox",
    action: "executions.list",
    requires: ["executions.read"],
    resource: ["workflowId", "agentId", "userId", "conversationId"],
    costs: "read",
    operationId: "getInbox",
    summary: "List what waits for a person, of all workflows and chats, the oldest first",
    query: inboxQuery,
    response: { kind: "json", description: "The open suspensions", data: inbox },
    errors: [400, 503],
    handle: async (context) => {
      const { andante, http, cachedReads } = context;
      const { counts: isCounted, ...query } = context.query;
      const { signal } = http.req.raw;
      const owner = ownerIn(context);
      if (owner === null)
        return {
          ...{ items: [], more: false, nextCursor: null },
          ...(isCounted === "true" && { counts: await visibleCounts(context, noCounts) }),
        };
      const asked = { ...query, userId: owner, limit: query.limit ?? 200 };
      const counted = { userId: owner, events: query.events };
      const counting = { key: `inbox counts ${JSON.stringify(counted)}`, milliseconds: inboxKept, signal };
      const count = () => andante.live.countWaiting(counted);
      const counts = isCounted === "true" && (await cachedReads.get({ ...counting, read: count }));
      const key = `inbox ${JSON.stringify(asked)}`;
      const read = (until: AbortSignal) => readInbox(andante, asked, until);
      const page = await cachedReads.get({ key, milliseconds: inboxKept, signal, read });
      return {
        ...page,
        items: await visibleWaits(context, page.items),
        ...(counts && { counts: await visibleCounts(context, counts) }),
      };
    },
  }),
  route({
    ...ofVisible,
    path: "/api/activity",
    action: "executions.list",
    resource: ["workflowId", "userId"],
    costs: "read",
    operationId: "getActivity",
    summary: "Count what started, completed and failed over a time, with durations",
    query: activityQuery,
    response: { kind: "json", description: "The counts", data: activity },
    errors: [400, 503],
    handle: async (context) => {
      const { query, andante, http, permission, caller, cachedReads } = context;
      const to = query.to ?? endOfMinute(andante.live.now());
      const from = query.from ?? new Date(Math.max(to.getTime() - hour, firstTime));
      const owner = ownerIn(context);
      const { signal } = http.req.raw;
      const count = (parts: readonly ActivityPart[]) => {
        const asked = { parts, from, to, points: query.points ?? 60 };
        const key = `activity ${JSON.stringify(asked)}`;
        const read = (until: AbortSignal) => readActivity(andante, asked, until);
        return cachedReads.get({ key, milliseconds: activityKept, signal, read });
      };
      // A caller without an id owns no executions.
      if (owner === null) return count([]);
      const named = query.workflowId === undefined ? undefined : [query.workflowId];
      const all = await count([{ userId: owner, workflowIds: named }]);
      const permitted = await permittedWorkflows(permission, all.workflows, owner);
      // The counts of refused workflows cannot be subtracted: the permitted ones are counted again.
      if (permitted.whole.length === all.workflows.length) return all;
      const parts = [{ userId: owner, workflowIds: permitted.whole }];
      if (caller.userId !== undefined) parts.push({ userId: caller.userId, workflowIds: permitted.own });
      return count(parts.filter(({ workflowIds }) => workflowIds.length > 0));
    },
  }),
  route({
    ...ofVisible,
    path: "/api/workflows/:id/activity",
    action: "executions.list",
    resource: ["workflowId"],
    costs: "read",
    operationId: "getStepActivity",
    summary: "Count how often each step of a workflow completed and failed, with durations",
    query: stepActivityQuery,
    response: { kind: "json", description: "The counts of each step", data: stepActivity },
    errors: [400, 404, 503],
    check: knownWorkflow,
    handle: (context) => {
      const { query, andante, params, http, cachedReads } = context;
      const to = query.to ?? endOfMinute(andante.live.now());
      const from = query.from ?? new Date(Math.max(to.getTime() - day, firstTime));
      // A caller limited to its own executions and without an id sees none: no user has an empty id.
      const userId = ownerIn(context) === null ? "" : (ownerIn(context) ?? undefined);
      const asked = { workflowId: params.id ?? "", userId, from, to };
      const key = `steps ${JSON.stringify(asked)}`;
      const read = (signal: AbortSignal) => readStepActivity(andante, asked, signal);
      return cachedReads.get({ key, milliseconds: activityKept, signal: http.req.raw.signal, read });
    },
  }),
  route({
    ...ofVisible,
    path: "/api/workflows/:id/definitions",
    action: "executions.list",
    requires: ["workflows.read"],
    resource: ["workflowId"],
    costs: "read",
    operationId: "getDefinitions",
    summary: "List the definitions that processes have registered for a workflow",
    response: {
      kind: "json",
      description: "The definitions, the most recent first",
      data: definitionHistory,
    },
    errors: [404, 503],
    check: knownWorkflow,
    handle: (context) => {
      const { andante, params, http, cachedReads } = context;
      const asked = { workflowId: params.id ?? "", userId: ownerIn(context) };
      const key = `definitions ${JSON.stringify(Object.values(asked))}`;
      const read = () => readDefinitions(andante, asked);
      return cachedReads.get({ key, milliseconds: activityKept, signal: http.req.raw.signal, read });
    },
  }),
  route({
    ...ofVisible,
    path: "/api/nodes",
    action: "nodes.read",
    resource: [],
    costs: "read",
    operationId: "getNodes",
    summary: "List the processes that share the store, with their load",
    response: { kind: "json", description: "The processes", data: nodes },
    errors: [503],
    handle: ({ andante, http, cachedReads, scope }) => {
      // Names of hosts and the load of all users: not for a caller that sees only its own.
      if (scope !== "all") throw new ForbiddenError({ action: "nodes.read" });
      const { signal } = http.req.raw;
      const read = () => readNodes(andante);
      return cachedReads.get({ key: "nodes", milliseconds: nodesKept, signal, read });
    },
  }),
  route({
    ...ofVisible,
    path: "/api/failures",
    action: "executions.list",
    resource: ["workflowId", "userId"],
    costs: "read",
    operationId: "getFailures",
    summary: "Group the executions that failed by their error",
    query: failuresQuery,
    response: { kind: "json", description: "The groups, the largest first", data: failureGroups },
    errors: [400, 503],
    handle: async (context) => {
      const { query, andante, http, permission, cachedReads } = context;
      const to = query.to ?? endOfMinute(andante.live.now());
      const from = query.from ?? new Date(Math.max(to.getTime() - day, firstTime));
      const span = { from: from.toISOString(), to: to.toISOString() };
      const owner = ownerIn(context);
      // A caller without an id owns no executions.
      if (owner === null) return { ...span, groups: [], complete: true };
      const asked = { workflowId: query.workflowId, userId: owner, from, to };
      const key = `failures ${JSON.stringify(asked)}`;
      const read = (signal: AbortSignal) => readFailures(andante, asked, signal);
      const cached = { key, milliseconds: activityKept, signal: http.req.raw.signal, read };
      const { failed, complete } = await cachedReads.get(cached);
      const groups = groupFailures(await permission.visible(failed, entryIds), query.group);
      return { ...span, groups, complete };
    },
  }),
  route({
    ...ofVisible,
    path: "/api/usage",
    action: "usage.read",
    resource: ["workflowId", "agentId", "userId"],
    costs: "read",
    operationId: "getUsage",
    summary: "Sum up tokens and money of models by day, user, agent, workflow or model",
    query: usageQuery,
    response: { kind: "json", description: "The sums", data: usageReport },
    errors: [400, 503],
    handle: (context) => {
      const { andante, query, http, cachedReads } = context;
      const asked = { ...query, userId: userOfUsage(context, query.userId) };
      const key = `usage ${JSON.stringify(asked)}`;
      const read = () => andante.usage(asked);
      return cachedReads.get({ key, milliseconds: usageKept, signal: http.req.raw.signal, read });
    },
  }),
  route({
    ...ofVisible,
    path: "/api/budgets",
    action: "usage.read",
    resource: ["userId"],
    costs: "read",
    operationId: "getBudgets",
    summary: "Show how much of each budget is used in its current window",
    query: budgetQuery,
    response: { kind: "json", description: "The budgets", data: budgetReport },
    errors: [400, 503],
    handle: (context) => {
      const { andante, http, cachedReads } = context;
      const userId = userOfUsage(context, context.query.userId);
      const key = `budgets ${JSON.stringify(userId)}`;
      const read = async () => ({ budgets: await andante.budgets({ userId }) });
      return cachedReads.get({ key, milliseconds: usageKept, signal: http.req.raw.signal, read });
    },
  }),
  route({
    ...ofVisible,
    path: "/api/changes",
    action: "executions.follow",
    requires: ["executions.list"],
    resource: ["workflowId", "userId", "conversationId"],
    operationId: "followChanges",
    summary: "Follow what changes in all executions",
    response: { kind: "events", description: "What changes, a few times a second", event: changeEvent },
    errors: [503],
    handle: (context) => {
      const owner = ownerIn(context);
      const sees = (userId: string | null) => owner === undefined || (owner !== null && userId === owner);
      return eventResponse(new ChangeStream(context.andante, sees, context.permission), context);
    },
  }),
  route({
    method: "GET",
    path: "/api/workflows/:id/example",
    access: "public",
    action: "workflows.read",
    resource: ["workflowId"],
    operationId: "getWorkflowExample",
    summary: "Show an example of a workflow's input, and calls to try",
    tag,
    response: { kind: "json", description: "The example", data: workflowExample },
    errors: [404],
    check: knownWorkflow,
    handle: async ({ andante, params, http, basePath, cachedReads }) => {
      // Loaded on demand: a start needs no examples.
      const examples = await import("../openapi/example-call.ts");
      const workflow = andante.workflow(params.id ?? "");
      const { origin } = new URL(http.req.url);
      const placeholder = examples.placeholderFor(origin);
      // Anyone may ask, and the schema of a workflow decides how long an example takes: up to a second.
      const { input, calls } = await cachedReads.get({
        key: `example ${placeholder} ${workflow.id}`,
        milliseconds: hour,
        signal: http.req.raw.signal,
        read: async () => ({
          input: examples.exampleInput(workflow),
          calls: examples.exampleCalls(placeholder + basePath, workflow),
        }),
      });
      return { input, calls: calls.map((call) => examples.atOrigin(origin, call)) };
    },
  }),
];

type Counted = Awaited<ReturnType<RouteContext["andante"]["live"]["countWaiting"]>>;
const noCounts: Counted = { counts: [], complete: true };
/** The most groups of suspensions for which `authorize` is asked. */
const maxGroups = 1000;

/** The suspensions, or groups of them, that the caller may see. */
async function visibleWaits<Wait extends Parameters<typeof entryIds>[0] & Parameters<typeof isOfChat>[0]>(
  context: RouteContext,
  waits: readonly Wait[],
): Promise<readonly Wait[]> {
  const seen = await context.permission.visible(waits, entryIds);
  // The call of a tool is a part of a message: a caller who may not read the messages does not see it either.
  const reading = { action: "conversations.messages", reveals: "own" } as const;
  const messages = new Permission(context.authorize, context.gate.enabled, context.caller, reading);
  const chats = await messages.visible(seen.filter(isOfChat), entryIds);
  return seen.filter((item) => !isOfChat(item) || chats.includes(item));
}

/** The counts of the suspensions that the caller may see, by workflow and by agent, the largest first. */
async function visibleCounts(context: RouteContext, { counts, complete }: Counted) {
  const asked = context.permission.asks ? counts.slice(0, maxGroups) : counts;
  const seen = await visibleWaits(context, asked);
  const sum = (groups: typeof seen) => groups.reduce((total, { count }) => total + count, 0);
  const by = (groups: typeof seen, idOf: (group: (typeof seen)[number]) => string) =>
    [...Map.groupBy(groups, idOf)]
      .map(([id, each]) => ({ id, count: sum(each) }))
      .sort((one, other) => other.count - one.count);
  const [chats, executions] = [seen.filter(isOfChat), seen.filter((group) => !isOfChat(group))];
  return {
    total: sum(seen),
    chats: sum(chats),
    agents: by(chats, ({ agentId }) => agentId ?? "").map(({ id, count }) => ({ agentId: id, count })),
    workflows: by(executions, ({ workflowId }) => workflowId).map(({ id, count }) => ({
      workflowId: id,
      count,
    })),
    complete: complete && asked.length === counts.length,
  };
}

/** The user whose usage is read; undefined for all users. A caller that sees only its own gets no other. */
function userOfUsage(context: RouteContext, asked: string | undefined): string | undefined {
  const userId = asked ?? ownerIn(context);
  if (context.scope !== "all" && (userId === null || userId !== context.caller.userId))
    throw new ForbiddenError({ action: "usage.read" });
  return userId ?? undefined;
}

/** The user whose executions the caller sees: undefined for all users, null for none. */
function ownerIn({ scope, caller }: RouteContext): string | undefined | null {
  return scope === "all" ? undefined : (caller.userId ?? null);
}

/** The workflows of which the caller sees all of this owner's executions, and those of which it sees only its own. */
async function permittedWorkflows(
  permission: Permission,
  counted: readonly WorkflowActivity[],
  owner: string | undefined,
): Promise<{ readonly whole: readonly string[]; readonly own: readonly string[] }> {
  const idsOf = ({ workflowId }: WorkflowActivity) => ({ workflowId, ...(owner && { userId: owner }) });
  const seen = await permission.visible(counted, idsOf);
  // With `userId: null`, for executions of all users, the decision "own" does not make an entry visible.
  const whole = await permission.visible(seen, (each) => ({ userId: null, ...idsOf(each) }));
  const own = seen.filter((each) => !whole.includes(each));
  return { whole: whole.map(({ workflowId }) => workflowId), own: own.map(({ workflowId }) => workflowId) };
}

// Schedules: lists, their options and occurrences, and commands.
import { ScheduleNotFoundError } from "@andante/core/errors";
import { givenIds, type Ids } from "../auth/permission.ts";
import { ForbiddenError } from "../errors/auth-errors.ts";
import { BadRequestError } from "../errors/request-errors.ts";
import { headerOf } from "../request/node-request.ts";
import { type RouteContext, route } from "../route.ts";
import {
  backfillBody,
  backfilled,
  occurrenceList,
  previewBody,
  removedSchedule,
  schedule,
  scheduleBody,
  scheduleListQuery,
  schedulePage,
  schedulePreview,
  scheduleReason,
  triggered,
} from "../schemas/schedule-schemas.ts";
import { startOptions } from "./start-options.ts";

const tag = "Schedules";
const path = "/api/schedules/:scheduleId";

type PathOf = Pick<RouteContext, "andante" | "params">;

/** The workflow or the agent, and the user, of the schedule in the path. */
async function scheduleInPath({ andante, params }: PathOf): Promise<readonly Ids[]> {
  const { scheduleId = "" } = params;
  const found = await andante.schedules.idsOf(scheduleId);
  return found === undefined ? [] : [givenIds({ scheduleId, ...found })];
}

/** A schedule does the same as a caller who starts the workflow or asks the agent. */
const requiresWith = { workflowId: "workflows.execute", agentId: "agents.chat" } as const;

const ofSchedule = {
  path,
  access: "protected",
  resource: ["scheduleId", "workflowId", "agentId", "userId"],
  ids: scheduleInPath,
  reveals: "own",
  tag,
} as const;

const one = { kind: "json", description: "The schedule", data: schedule } as const;

/** The id in the path, of a schedule that the caller may see: another user's cannot be told from none. */
async function scheduleIn({ andante, params, scope, caller }: RouteContext): Promise<string> {
  const { scheduleId = "" } = params;
  if (scope === "all") return scheduleId;
  const found = await andante.schedules.idsOf(scheduleId);
  if (found === undefined || caller.userId === undefined || found.userId !== caller.userId)
    throw new ScheduleNotFoundError({ scheduleId });
  return scheduleId;
}

/** The revision in `If-Match`: `"3"`, or `*` for any. */
function revisionIn({ http }: RouteContext): number | undefined {
  const header = headerOf(http.req, "if-match")?.trim();
  if (header === undefined || header === "*") return undefined;
  const [, revision] = /^"?(\d{1,15})"?$/.exec(header) ?? [];
  if (revision === undefined)
    throw new BadRequestError({ problem: "Invalid request: If-Match: expected a revision" });
  return Number(revision);
}

export const scheduleRoutes = [
  route({
    method: "GET",
    path: "/api/schedules",
    access: "protected",
    action: "schedules.list",
    resource: ["workflowId", "agentId", "userId"],
    reveals: "own",
    costs: "read",
    tag,
    operationId: "listSchedules",
    summary: "List schedules, by their ids",
    query: scheduleListQuery,
    response: { kind: "json", description: "A page of schedules", data: schedulePage },
    errors: [400, 503],
    handle: async (context) => {
      const { andante, query, scope, caller, permission } = context;
      const { userId } = caller;
      const isOther = query.userId !== undefined && query.userId !== userId;
      if (scope === "own" && (userId === undefined || isOther)) return { schedules: [], nextCursor: null };
      const found = await andante.schedules.list(scope === "own" ? { ...query, userId } : query);
      return { ...found, schedules: await permission.visible(found.schedules, (each) => each) };
    },
  }),
  route({
    ...ofSchedule,
    method: "GET",
    action: "schedules.read",
    costs: "read",
    operationId: "getSchedule",
    summary: "Show a schedule",
    response: one,
    errors: [404],
    handle: async (context) => context.andante.schedules.get(await scheduleIn(context)),
  }),
  route({
    ...ofSchedule,
    method: "PUT",
    action: "schedules.set",
    requiresWith,
    resource: [...ofSchedule.resource, "conversationId"],
    // The workflow that it is to start or the agent that it is to ask, and those of the schedule with this id.
    ids: async ({ andante, params, body: { workflowId, agentId, conversationId } }) => [
      ...(await scheduleInPath({ andante, params })),
      givenIds({ workflowId, agentId, conversationId }),
    ],
    operationId: "setSchedule",
    summary: "Create or replace a schedule",
    headers: ["if-match"],
    body: scheduleBody,
    response: one,
    errors: [400, 404, 409, 412, 413, 415, 503],
    handle: (context) => {
      const { andante, params, body } = context;
      const { userId, context: values, ...options } = body;
      const {
        traceparent: _,
        exclusive: _e,
        ...starter
      } = startOptions(context, { userId, context: values });
      if (context.scope === "own" && starter.userId === undefined)
        throw new ForbiddenError({ action: "schedules.set" });
      return andante.schedules.set(params.scheduleId ?? "", {
        ...options,
        ...starter,
        ifRevision: revisionIn(context),
      });
    },
  }),
  route({
    ...ofSchedule,
    method: "DELETE",
    action: "schedules.remove",
    operationId: "removeSchedule",
    summary: "Remove a schedule; executions that it has started go on",
    response: { kind: "json", description: "It is removed", data: removedSchedule },
    errors: [404, 409, 503],
    handle: async (context) => {
      const scheduleId = await scheduleIn(context);
      await context.andante.schedules.remove(scheduleId);
      return { scheduleId };
    },
  }),
  route({
    ...ofSchedule,
    path: `${path}/pause`,
    method: "POST",
    action: "schedules.pause",
    operationId: "pauseSchedule",
    summary: "Pause a schedule; nothing is made up for the pause",
    body: scheduleReason,
    bodyOptional: true,
    response: one,
    errors: [400, 404, 409, 413, 415, 503],
    handle: async (context) => {
      const { reason } = context.body;
      const { userId: by } = context.caller;
      return context.andante.schedules.pause(await scheduleIn(context), { reason, by });
    },
  }),
  route({
    ...ofSchedule,
    path: `${path}/resume`,
    method: "POST",
    action: "schedules.resume",
    operationId: "resumeSchedule",
    summary: "Let a paused or broken schedule fire again, from its next time on",
    response: one,
    errors: [404, 409, 503],
    handle: async (context) => context.andante.schedules.resume(await scheduleIn(context)),
  }),
  route({
    ...ofSchedule,
    path: `${path}/trigger`,
    method: "POST",
    action: "schedules.trigger",
    requiresWith,
    operationId: "triggerSchedule",
    summary: "Start an execution of a schedule, or post its prompt, now",
    response: { kind: "json", description: "The execution or the message", data: triggered },
    errors: [400, 404, 409, 503],
    handle: async (context) => context.andante.schedules.trigger(await scheduleIn(context)),
  }),
  route({
    ...ofSchedule,
    path: `${path}/backfill`,
    method: "POST",
    action: "schedules.backfill",
    requiresWith,
    operationId: "backfillSchedule",
    summary: "Start the occurrences of a time that has passed, except those that ran",
    body: backfillBody,
    response: { kind: "json", description: "Their nominal times", data: backfilled },
    errors: [400, 404, 409, 413, 415, 503],
    handle: async (context) => context.andante.schedules.backfill(await scheduleIn(context), context.body),
  }),
  route({
    ...ofSchedule,
    path: `${path}/occurrences`,
    method: "GET",
    action: "schedules.read",
    costs: "read",
    operationId: "listOccurrences",
    summary: "List the last occurrences of a schedule with their outcomes",
    response: { kind: "json", description: "The occurrences", data: occurrenceList },
    errors: [404],
    handle: async (context) => ({
      occurrences: await context.andante.schedules.occurrences(await scheduleIn(context)),
    }),
  }),
  route({
    method: "POST",
    path: "/api/schedule-preview",
    access: "protected",
    action: "schedules.preview",
    resource: [],
    tag,
    operationId: "previewSchedule",
    summary: "Show when a schedule would fire, also on days when clocks change",
    body: previewBody,
    response: { kind: "json", description: "The times", data: schedulePreview },
    errors: [400, 413, 415],
    handle: ({ andante, body }) => andante.schedules.preview(body),
  }),
];

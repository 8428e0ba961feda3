// The workflow or the agent that a schedule is of, and the schedules that the code of this process declares.
import { createHash } from "node:crypto";
import type { CallableAgent } from "../../agent/call/callable-agent.ts";
import { DefinitionError } from "../../errors/index.ts";
import type { ScheduleSpec } from "../../schedule/schedule-options.ts";
import type { StoredSchedule } from "../../store/schedule-store.ts";
import { canonicalJson } from "../../values/json.ts";
import { scheduleIdOf } from "../../workflow/schedules.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";

/** The workflow, or the agent. */
export type ScheduleTarget = Pick<StoredSchedule, "workflowId" | "agentId">;

/** A schedule in code. */
export interface DeclaredSchedule {
  readonly spec: ScheduleSpec;
  /** The input or the prompt, or a function of the occurrence. */
  readonly input: unknown;
  /** For an agent: the conversation, or a function of the occurrence. */
  readonly conversationId?: unknown;
  /** For an agent: the user of the conversation. */
  readonly userId?: string | null;
}

/** A workflow or an agent of this process. */
export interface ScheduleOwner extends ScheduleTarget {
  /** By name. */
  readonly schedules: ReadonlyMap<string, DeclaredSchedule>;
  /** The hash of its schedules. */
  readonly hash: string;
}

/** The owners of this process, by the ids of their sets. */
export type ScheduleOwners = ReadonlyMap<string, ScheduleOwner>;

export function ownerId({ workflowId, agentId }: ScheduleTarget): string {
  return agentId ?? workflowId;
}

/** The row of the sets that processes declare. No schedule and no execution has this id. */
export function setIdOf({ workflowId, agentId }: ScheduleTarget): string {
  return agentId === null ? `${workflowId}!` : `${agentId}!agent`;
}

/** Throws where a workflow and an agent declare a schedule of the same id. */
export function scheduleOwners(
  workflows: ReadonlyMap<string, Pick<WorkflowDefinition, "id" | "schedules">>,
  agents: ReadonlyMap<string, Pick<CallableAgent, "id" | "schedules">>,
): ScheduleOwners {
  const nothing: ScheduleOwner["schedules"] = new Map();
  const owners = [
    ...[...workflows.values()].map(({ id, schedules = nothing }) => ({
      ...{ workflowId: id, agentId: null, schedules },
    })),
    ...[...agents.values()].map(({ id, schedules = nothing }) => ({
      ...{ workflowId: "", agentId: id, schedules },
    })),
  ].map((owner): ScheduleOwner => ({ ...owner, hash: hashOf(owner.schedules) }));
  for (const { id, schedules } of agents.values())
    for (const name of schedules?.keys() ?? []) {
      if (workflows.get(id)?.schedules?.has(name) !== true) continue;
      const problem = `a workflow of the same id has a schedule "${name}", too`;
      throw new DefinitionError({ where: `Agent "${id}", schedule "${name}"`, problem });
    }
  return new Map(owners.map((owner) => [setIdOf(owner), owner]));
}

/** The hash of the schedules in code, as far as they are data. */
function hashOf(schedules: ScheduleOwner["schedules"]): string {
  const declared = [...schedules].map(([name, { spec, conversationId, userId }]): [string, unknown] => {
    const ofAgent = userId !== undefined && {
      userId,
      ...(typeof conversationId === "string" && { conversationId }),
    };
    return [name, { ...spec, ...ofAgent }];
  });
  return createHash("sha256")
    .update(canonicalJson(JSON.stringify(Object.fromEntries(declared))))
    .digest("hex");
}

/** The schedules of an owner by their ids. */
export function declaredById(owner: ScheduleOwner): ReadonlyMap<string, DeclaredSchedule> {
  return new Map(
    [...owner.schedules].map(([name, declared]) => [scheduleIdOf(ownerId(owner), name), declared]),
  );
}

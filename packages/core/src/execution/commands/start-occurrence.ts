// Starts an occurrence: the execution of a workflow in the write that moves the schedule on, or the prompt of an agent before it.
import { randomUUID } from "node:crypto";
import { problemOfPrompt } from "../../agent/call/agent-schedules.ts";
import type { PostedPrompt, SchedulePrompt } from "../../agent/turn/post-prompt.ts";
import { AndanteError, InputValidationError, TooLargeError } from "../../errors/index.ts";
import { linkToSchedule } from "../../schedule/cause.ts";
import type { OccurrenceStart, ScheduleStep } from "../../schedule/decide-occurrences.ts";
import {
  awaitsEnd,
  dueAtOf,
  readRecord,
  type ScheduleRecord,
  withOccurrences,
} from "../../schedule/schedule-record.ts";
import type { ChangeScheduleResult, StoredSchedule } from "../../store/schedule-store.ts";
import { problemOfId } from "../../values/check-id.ts";
import { parseObject } from "../../values/fields.ts";
import { fromJson } from "../../values/json.ts";
import { type DeclaredSchedule, declaredById, type ScheduleOwners, setIdOf } from "./schedule-owners.ts";
import { prepareStart, type StartParts } from "./start.ts";

/** The prompt of an occurrence, for an agent that is registered here. */
export type PromptToPost = Omit<SchedulePrompt, "agent"> & { readonly agentId: string };

export interface OccurrenceParts {
  readonly engine: StartParts;
  readonly owners: ScheduleOwners;
  post(prompt: PromptToPost): Promise<PostedPrompt>;
}

/** The input of an occurrence does not fit, or the host's function for it has thrown. */
export class InvalidInput extends Error {}

function invalidInput(cause: unknown): never {
  const isInput = cause instanceof InputValidationError || cause instanceof TooLargeError;
  if (cause instanceof AndanteError && !isInput) throw cause;
  throw new InvalidInput(cause instanceof Error ? cause.message : String(cause), { cause });
}

/** The execution and the row are one write. Throws an InvalidInput. */
export async function startExecution(
  { engine, owners }: Pick<OccurrenceParts, "engine" | "owners">,
  stored: StoredSchedule,
  { record, occurrences }: ScheduleStep,
  { at, executionId }: OccurrenceStart,
): Promise<{ readonly result: ChangeScheduleResult; readonly row: StoredSchedule }> {
  const { scheduleId, workflowId, userId, version: expected } = stored;
  const row = decidedRow(stored, { record: { ...record, invalid: 0 }, occurrences }, engine.clock.now());
  const context = parseObject(record.context, "The context of a schedule");
  const options = {
    ...{ executionId, exclusive: true, tags: record.tags, context },
    ...(userId !== null && { userId }),
  };
  let result: ChangeScheduleResult | undefined;
  const input = await inputOf(owners, stored, record, at);
  const prepared = await prepareStart(engine, workflowId, input, options, {
    links: linkToSchedule({ scheduleId, at }, awaitsEnd(record)),
    write: async (execution) => {
      result = await engine.store.schedules.change({ scheduleId, expected, row, create: execution });
      return { created: result === "written" };
    },
  }).catch(invalidInput);
  try {
    await prepared.create();
  } catch (error) {
    if (result === undefined) throw error;
  }
  return { result: result ?? "changed", row };
}

/** Posts the prompt: once, however often it is tried. Throws an InvalidInput. */
export async function postOccurrence(
  { owners, post }: Pick<OccurrenceParts, "owners" | "post">,
  stored: StoredSchedule,
  { at, executionId: messageId }: OccurrenceStart,
): Promise<{ readonly posted: PostedPrompt; readonly conversationId: string }> {
  const { scheduleId, agentId, userId } = stored;
  const record = readRecord(stored.body);
  const text = await inputOf(owners, stored, record, at);
  const given = record.conversationId ?? declaredIn(owners, stored)?.conversationId ?? scheduleId;
  const conversationId = await resolved(given, at);
  const problem = problemOfPrompt(text) ?? problemOfId(conversationId);
  if (problem !== undefined || typeof text !== "string" || typeof conversationId !== "string")
    return invalidInput(new TypeError(`the prompt or its conversation: ${problem}`));
  const context = parseObject(record.context, "The context of a schedule");
  const schedule = { scheduleId, at };
  const posted = await post({
    ...{ agentId: agentId ?? "", conversationId, userId, context, messageId, text, schedule },
  });
  return { posted, conversationId };
}

function declaredIn(owners: ScheduleOwners, stored: StoredSchedule): DeclaredSchedule | undefined {
  const owner = owners.get(setIdOf(stored));
  return owner && declaredById(owner).get(stored.scheduleId);
}

/** Undefined input stays undefined. */
async function inputOf(
  owners: ScheduleOwners,
  stored: StoredSchedule,
  { origin, input }: ScheduleRecord,
  at: number,
): Promise<unknown> {
  return origin === "api" ? fromJson(input ?? undefined) : resolved(declaredIn(owners, stored)?.input, at);
}

/** A value, or the result of the host's function for the occurrence. */
async function resolved(given: unknown, at: number): Promise<unknown> {
  if (typeof given !== "function") return given;
  try {
    return await given({ at: new Date(at) });
  } catch (error) {
    return invalidInput(error);
  }
}

/** The row after a step, with its occurrences. */
export function decidedRow(
  stored: StoredSchedule,
  { record, occurrences }: Pick<ScheduleStep, "record" | "occurrences">,
  now: number,
): StoredSchedule {
  const newest = occurrences.at(-1);
  const last = newest && { at: newest.at, outcome: newest.outcome, late: newest.late };
  const decided = { ...record, ...(last && { last }) };
  return rowOf(stored, decided, withOccurrences(stored.occurrences, occurrences), now);
}

export function rowOf(
  {
    scheduleId,
    workflowId,
    agentId,
    userId,
  }: Pick<StoredSchedule, "scheduleId" | "workflowId" | "agentId" | "userId">,
  record: ScheduleRecord,
  occurrences: string,
  now: number,
): StoredSchedule {
  const dueAt = dueAtOf(scheduleId, record, now);
  const body = JSON.stringify(record);
  return {
    ...{ scheduleId, kind: "schedule", workflowId, agentId, userId },
    ...{ dueAt, version: randomUUID(), body, occurrences },
  };
}

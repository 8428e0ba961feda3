// Tools with which an agent keeps reminders for its user: schedules of its own prompts, which a person allows first.
import { createHash } from "node:crypto";
import type { Tool } from "ai";
import { InvalidOptionError, PublicError } from "../../errors/index.ts";
import { isRecord } from "../../values/fields.ts";
import { plainSchema } from "../../values/schema.ts";
import { uuid } from "../../values/uuid.ts";
import { Operation, type OperationContext, operationContext } from "./operation.ts";
import type { KeptReminder, KeptSchedules, ReminderTiming } from "./own-schedules.ts";

/** A reminder as the model sees it. */
interface Reminder {
  readonly id: string;
  readonly prompt: string;
  readonly nextAt: string | null;
  readonly cron?: string;
  readonly zone?: string;
}

interface NewReminder {
  readonly prompt: string;
  readonly at?: string;
  readonly cron?: string;
  readonly zone?: string;
}

export interface ScheduleToolsOptions {
  /** A person must allow each new and each removed reminder. Default: true. */
  readonly needsApproval?: boolean | undefined;
  /** The most reminders that a user has with one agent. Default: 20. */
  readonly max?: number | undefined;
}

export interface ScheduleTools {
  readonly createReminder: Tool<NewReminder, Reminder, OperationContext>;
  readonly listReminders: Tool<object, { readonly reminders: readonly Reminder[] }, OperationContext>;
  readonly removeReminder: Tool<{ readonly id: string }, { readonly removed: boolean }, OperationContext>;
}

const prefix = "reminder-";
/** Reminders that are read at once. */
const maxRead = 200;
const day = 86_400_000;

/**
 * Tools with which an agent keeps reminders for its user: once, or by a cron expression. A reminder is a schedule of the
 * agent: its text comes into the conversation at its time, and the agent replies. The user must be known.
 *
 * @example
 * ```ts
 * import { Agent, scheduleTools } from "@andante/core";
 *
 * export const assistant = new Agent({
 *   id: "assistant",
 *   model: "openai/gpt-5",
 *   instructions: () => `The time is ${new Date().toISOString()}.`,
 *   tools: { ...scheduleTools() },
 * });
 * ```
 */
export function scheduleTools({ needsApproval = true, max = 20 }: ScheduleToolsOptions = {}): ScheduleTools {
  const context = { contextSchema: operationContext };
  const create: ScheduleTools["createReminder"] = {
    ...context,
    needsApproval,
    description:
      "Keeps a reminder for the user: at its time your prompt comes into this conversation as a message, and you reply to it. Pass `at` for one time, or `cron` with the user's `zone` for several.",
    inputSchema: plainSchema<NewReminder>(
      {
        type: "object",
        properties: {
          prompt: { type: "string", description: "The message to yourself" },
          at: { type: "string", description: "The time, as ISO 8601 with an offset" },
          cron: { type: "string", description: "Minute, hour, day of month, month, day of week" },
          zone: { type: "string", description: "The time zone of cron, such as Europe/Berlin. Default: UTC" },
        },
        required: ["prompt"],
        additionalProperties: false,
      },
      problemOfReminder,
    ),
    execute: async ({ prompt, at, cron, zone }, { context }) => {
      const { operation, userId, kept, agentId, own } = remindersOf(context);
      const reminders = await own();
      const isOver = ({ nextAt, waiting }: KeptReminder) => nextAt === null && waiting === 0;
      for (const { scheduleId } of reminders.filter(isOver)) await kept.remove(scheduleId);
      const timing = at === undefined ? { cron, zone } : { every: day, from: at, to: at };
      const { idempotencyKey = uuid() }: OperationContext = operation;
      const scheduleId = prefix + createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 24);
      const others = reminders.filter((each) => !isOver(each) && each.scheduleId !== scheduleId);
      if (others.length >= max) throw new PublicError(`there are ${max} reminders already: remove one first`);
      const { times } = timesOf(kept, timing);
      if (times.length === 0) throw new PublicError("the time of the reminder is over");
      const { conversationId } = operation;
      return viewReminder(await kept.set(scheduleId, { ...timing, agentId, prompt, userId, conversationId }));
    },
  };
  const list: ScheduleTools["listReminders"] = {
    ...context,
    description: "Lists the reminders of the user, with their ids.",
    inputSchema: plainSchema<object>({ type: "object", properties: {}, additionalProperties: false }),
    execute: async (_, { context }) => {
      const reminders = await remindersOf(context).own();
      return { reminders: reminders.filter(({ nextAt }) => nextAt !== null).map(viewReminder) };
    },
  };
  const remove: ScheduleTools["removeReminder"] = {
    ...context,
    needsApproval,
    description: "Removes a reminder of the user, by its id.",
    inputSchema: plainSchema<{ readonly id: string }>(
      {
        type: "object",
        properties: { id: { type: "string" } },
        required: ["id"],
        additionalProperties: false,
      },
      (input) => (isRecord(input) && typeof input.id === "string" ? undefined : "expected an id"),
    ),
    execute: async ({ id }, { context }) => {
      const { kept, own } = remindersOf(context);
      const removed = (await own()).some(({ scheduleId }) => scheduleId === id);
      if (removed) await kept.remove(id);
      return { removed };
    },
  };
  return { createReminder: create, listReminders: list, removeReminder: remove };
}

function remindersOf(context: OperationContext) {
  const operation = Operation.from(context, undefined);
  const { userId, schedules } = operation;
  if (schedules === undefined) throw new PublicError("reminders are kept in replies of an agent alone");
  if (userId === undefined) throw new PublicError("no reminders are kept: the user is not known");
  const { kept, agentId } = schedules;
  const own = async () => {
    const found = await kept.list({ agentId, userId, cursor: prefix, limit: maxRead });
    return found.schedules.filter(({ scheduleId }) => scheduleId.startsWith(prefix));
  };
  return { operation, userId, kept, agentId, own };
}

/** The model learns of an expression, a zone or a time that is wrong. */
function timesOf(kept: KeptSchedules, timing: ReminderTiming): { readonly times: readonly string[] } {
  try {
    return kept.preview({ ...timing, count: 1 });
  } catch (cause) {
    if (!(cause instanceof InvalidOptionError)) throw cause;
    throw new PublicError(cause.message, { cause });
  }
}

function problemOfReminder(input: unknown): string | undefined {
  if (!isRecord(input)) return "expected an object";
  const { prompt, at, cron, zone } = input;
  if (typeof prompt !== "string" || prompt.trim() === "") return "prompt: expected a text";
  if (![at, cron, zone].every((each) => each === undefined || typeof each === "string"))
    return "at, cron and zone are texts";
  return (at === undefined) === (cron === undefined) ? "expected either at or cron" : undefined;
}

function viewReminder({ scheduleId, prompt, nextAt, cron, zone }: KeptReminder): Reminder {
  const timing = cron === undefined ? {} : { cron, ...(zone !== undefined && { zone }) };
  return { id: scheduleId, prompt: prompt ?? "", nextAt, ...timing };
}

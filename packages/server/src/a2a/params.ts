// The parameters of the methods. Fields that are null are left out, as in the JSON of Protocol Buffers, and unknown ones ignored.
import { z } from "zod";
import { taskStates } from "./task.ts";

/** The most messages of a history, and of files and texts in a message. */
export const maxParts = 100;

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);
const id = () => z.string().min(1).max(1000);
/** Empty for one that is not set. */
const optionalId = () => optional(z.string().max(1000)).transform((value) => value || undefined);
const struct = () => optional(z.record(z.string(), z.unknown()));
const historyLength = () => optional(z.int32().min(0));

const part = z
  .object({
    text: optional(z.string()),
    raw: optional(z.base64()),
    url: optional(z.string().max(10_000)),
    data: z.unknown().optional(),
    mediaType: optional(z.string().max(200)),
    filename: optional(z.string().max(1000)),
    metadata: struct(),
  })
  .refine(
    ({ text, raw, url, ...others }) =>
      [text, raw, url].filter((each) => each !== undefined).length + ("data" in others ? 1 : 0) === 1,
    "expected one of text, raw, url and data",
  );

const message = z.object({
  messageId: id(),
  contextId: optionalId(),
  taskId: optionalId(),
  role: z.literal("ROLE_USER"),
  parts: z.array(part).min(1).max(maxParts),
  metadata: struct(),
});

export type MessageIn = z.output<typeof message>;
export type PartIn = z.output<typeof part>;

const push = z.object({
  id: optional(z.string().regex(/^[\w.~-]{1,100}$/, "expected 1 to 100 letters, digits and - _ . ~")),
  url: z.string().min(1).max(2000),
  token: optional(
    z
      .string()
      .max(2000)
      .regex(/^[\x20-\x7e]*$/),
  ),
  authentication: optional(
    z.object({
      scheme: z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,50}$/),
      credentials: optional(
        z
          .string()
          .max(4000)
          .regex(/^[\x20-\x7e]*$/),
      ),
    }),
  ),
});
export type PushIn = z.output<typeof push>;

export const sendParams = z.object({
  message,
  configuration: optional(
    z.object({
      acceptedOutputModes: optional(z.array(z.string()).max(maxParts)),
      taskPushNotificationConfig: optional(push),
      historyLength: historyLength(),
      returnImmediately: optional(z.boolean()),
    }),
  ),
});

export const taskParams = z.object({ id: id(), historyLength: historyLength() });

export const listParams = z.object({
  contextId: optionalId(),
  status: optional(z.enum(["TASK_STATE_UNSPECIFIED", ...taskStates])),
  pageSize: optional(z.int().min(1).max(100)),
  pageToken: optionalId(),
  historyLength: historyLength(),
  statusTimestampAfter: optional(z.iso.datetime({ offset: true })),
  includeArtifacts: optional(z.boolean()),
});

export const pushParams = push.extend({ taskId: id() });
/** A task has so few that there is one page. */
export const pushListParams = z.object({ taskId: id() });
export const onePushParams = z.object({ taskId: id(), id: id() });

// The schemas of log lines and their filters, over HTTP and on sockets alike.
import { logLevels } from "@andante/core/internal";
import { z } from "zod";
import { component, shape, timestamp } from "./component.ts";
import { time } from "./execution-schemas.ts";

export const level = component("LogLevel", () => z.enum(logLevels));
export const logRecord = component("LogRecord", () =>
  z.looseObject({ timestamp: timestamp(), level: level(), msg: z.string() }),
);
export const logRecords = component("LogRecords", () => z.array(logRecord()));

/** Every filter is optional. */
export const logQuery = shape(() =>
  z.object({
    level: level().describe("The lowest level").optional(),
    workflowId: z.string().optional(),
    executionId: z.string().optional(),
    agentId: z.string().optional(),
    conversationId: z.string().optional(),
    since: time("Lines of this time or later"),
    until: time("Lines of this time or earlier"),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(1000)
      .describe("How many of the newest lines; 100 by default")
      .optional(),
  }),
);

// Messages between the campaign of chats and its children.
import { z } from "zod";
import { killSchema } from "../instructions.ts";

export const chatLifeSchema = z.object({
  database: z.string(),
  /** The tools record their side effects here. */
  log: z.string(),
  kill: killSchema,
});

export type ChatLife = z.infer<typeof chatLifeSchema>;

/** The report of a life that came to its end. */
export const chatEndSchema = z.object({
  /** The chunks that the client read, deltas of one text as one; null when the reply was there already. */
  seen: z.array(z.string()).nullable(),
  /** Roles and parts of the kept messages. */
  kept: z.array(z.unknown()),
  usage: z.unknown(),
  writes: z.int(),
  moments: z.int(),
});

export type ChatEnd = z.infer<typeof chatEndSchema>;

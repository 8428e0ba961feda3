// An agent that reads the news each morning and reports, in one conversation where its user can ask further.
import { Agent } from "@andante/core";
import { type LanguageModel, tool } from "ai";
import { z } from "zod";

/** The headlines about a topic, the newest first. */
export type FindNews = (topic: string) => Promise<readonly string[]>;

export function researcherWith(model: LanguageModel, findNews: FindNews) {
  return new Agent({
    id: "researcher",
    name: "Researcher",
    purpose: "Reports the news about rivers each morning",
    model,
    instructions:
      "Read the news before you report. Write five lines at most, and name what is new since yesterday.",
    tools: {
      findNews: tool({
        description: "Finds the news about a topic",
        inputSchema: z.object({ topic: z.string().default("rivers") }),
        execute: async ({ topic }) => ({ headlines: await findNews(topic) }),
      }),
    },
    schedules: {
      mornings: {
        cron: "0 7 * * mon-fri",
        zone: "Europe/Berlin",
        prompt: ({ at }) =>
          `Find the news about rivers and report what is new on ${at.toISOString().slice(0, 10)}.`,
        conversationId: "river-reports",
        userId: "ada",
      },
    },
  });
}

// Fetches a document and summarises it repeatedly until a second agent is content, at most three times.
import { Agent, createWorkflow } from "@andante/core";
import type { LanguageModel } from "ai";
import { z } from "zod";

export interface Documents {
  read(address: string, signal: AbortSignal): Promise<string>;
  /** Stores a summary under its key. */
  keep(key: string, summary: string): Promise<void>;
}

const verdict = z.object({ score: z.number().min(0).max(10), advice: z.string() });
/** The state that the steps of one execution share. */
const work = z.object({
  text: z.string(),
  summary: z.string().default(""),
  advice: z.string().default("none yet"),
  rounds: z.number().default(0),
});

export function pipelineWith(model: LanguageModel, { read, keep }: Documents) {
  const writer = new Agent({
    id: "summarizer",
    model,
    instructions: "You summarise documents in two sentences.",
  });
  const judge = new Agent({
    id: "judge",
    model,
    instructions: "You rate summaries from 0 to 10 and advise.",
  });
  return createWorkflow({
    id: "digest",
    name: "Digest a document",
    input: z.object({ address: z.string() }),
    result: z.object({ summary: z.string(), score: z.number(), rounds: z.number() }),
  })
    .andThen({
      id: "fetch",
      retry: { attempts: 4, delay: "1s" },
      timeout: "20s",
      execute: async ({ data, setState, signal }) => {
        setState({ text: await read(data.address, signal) });
        return { score: 0, advice: "" };
      },
    })
    .andDoUntil({
      id: "improve",
      condition: ({ data, state }) => data.score >= 8 || work.parse(state).rounds >= 3,
      step: (round) =>
        round
          .andAgent({
            id: "write",
            agent: writer,
            prompt: ({ state }) => {
              const { text, advice } = work.parse(state);
              return `Summarise this. Advice on the last attempt: ${advice}\n\n${text}`;
            },
          })
          .andThen({
            id: "note",
            execute: ({ data, state, setState }) => {
              setState({ summary: data.text, rounds: work.parse(state).rounds + 1 });
              return data;
            },
          })
          .andAgent({
            id: "rate",
            agent: judge,
            schema: verdict,
            prompt: ({ data, state }) =>
              `Rate the summary.\n\n${data.text}\n\nOf:\n\n${work.parse(state).text}`,
          })
          .andTap({ id: "advise", execute: ({ data, emit }) => emit("rated", data) })
          .andThen({
            id: "take",
            execute: ({ data, setState }) => {
              setState({ advice: data.advice });
              return data;
            },
          }),
    })
    .andThen({
      id: "keep",
      retry: { attempts: 4 },
      execute: async ({ data, state, idempotencyKey }) => {
        const { summary, rounds } = work.parse(state);
        await keep(idempotencyKey, summary);
        return { summary, score: data.score, rounds };
      },
    });
}

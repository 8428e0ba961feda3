// The workflow: the agent drafts a post, a person approves it, and it is published once.
import { type Agent, createWorkflow } from "@andante/core";
import { z } from "zod";
import { writer } from "./writer.ts";

/** Publishes a text. It may be called again with the same key after a crash, and then must do nothing. */
export type Send = (text: string, key: string) => void | Promise<void>;

/** Tests pass their own agent and `send`. */
export function createPublish(agent: Agent, send: Send) {
  return createWorkflow({
    id: "publish",
    name: "Publish a post",
    purpose: "Drafts a post, asks a person, publishes what was approved",
    input: z.object({ topic: z.string().min(1) }),
    result: z.object({ published: z.boolean(), text: z.string() }),
  })
    .andAgent({ id: "draft", agent, prompt: ({ data }) => `Write about ${data.topic}` })
    .andThen({
      id: "approve",
      resumeSchema: z.object({ approved: z.boolean() }),
      execute: ({ data, resumeData, suspend }) =>
        resumeData
          ? { text: data.text, approved: resumeData.approved }
          : suspend("Waiting for approval", { draft: data.text }),
    })
    .andThen({
      id: "publish",
      execute: async ({ data, idempotencyKey }) => {
        if (data.approved) await send(data.text, idempotencyKey);
        return { published: data.approved, text: data.text };
      },
    });
}

export const publish = createPublish(writer, (text) => console.log(`Published: ${text}`));

// A text is published after its editor has agreed, by a link in a mail.
import { createWorkflow } from "@andante/core";
import { z } from "zod";

export interface Press {
  /** Sends one mail per key, however often it is called. */
  mail(mail: { readonly key: string; readonly to: string; readonly text: string }): Promise<void>;
  publish(text: string): Promise<void>;
}

const decision = z.object({ approved: z.boolean(), note: z.string().optional() });

export function publishWith({ mail, publish }: Press) {
  return createWorkflow({
    id: "publish",
    name: "Publish a text",
    input: z.object({ text: z.string(), editor: z.email() }),
    result: z.object({ published: z.boolean(), note: z.string() }),
  })
    .andThen({
      id: "ask",
      retry: { attempts: 5, delay: "1m" },
      execute: async ({ data: { text, editor }, link, idempotencyKey }) => {
        const page = link("review", { to: editor, expires: "3d" });
        await mail({ key: idempotencyKey, to: editor, text: `Publish this?\n\n${text}\n\n${page}` });
      },
    })
    .andThen({
      id: "review",
      resumeSchema: decision,
      execute: ({ input, suspend, resumeData }) => {
        if (resumeData !== undefined) return resumeData;
        const refusal = { approved: false, note: "no answer in three days" };
        return suspend(
          "Publish this?",
          { text: input.text },
          { deadline: "3d", onDeadline: { resume: refusal } },
        );
      },
    })
    .andThen({
      id: "publish",
      execute: async ({ data: { approved, note = "" }, input }) => {
        if (approved) await publish(input.text);
        return { published: approved, note };
      },
    });
}

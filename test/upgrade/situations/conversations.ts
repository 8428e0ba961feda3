// Conversations: whole ones, a tool call that waits for approval, a reply that broke off, a message without a reply.
import type { Situation } from "../situation.ts";
import type { Stage } from "../stage.ts";

export const conversations: Situation = {
  clock: null,
  observed: true,
  lives: [
    {
      end: "kill",
      async act(stage) {
        const { andante } = stage;
        await say(stage, "echo", "kept", "m1", "Good morning");
        await say(stage, "echo", "kept", "m2", "How are you?");
        await andante.conversations.rename("kept", "Greetings", { userId: "ada" });
        await say(stage, "careful", "approval", "m1", "old.txt");
        await say(stage, "echo", "broken", "m1", "break off");
        // What observes is written behind: reading it makes sure of it before the end.
        await andante.logs.list();
        await andante.traces.list();
        const held = stage.holdModel("Are you there?");
        say(stage, "echo", "without-reply", "m1", "Are you there?").catch(() => undefined);
        await held.reached;
      },
    },
  ],
  finish: [],
  runs: {},
};

/** Says something in a conversation and reads the whole reply. */
async function say(stage: Stage, agentId: string, conversationId: string, id: string, text: string) {
  const message = { id, role: "user", parts: [{ type: "text", text }] };
  const chunks = await stage.andante.agents.chat(agentId, [message], { conversationId, userId: "ada" });
  for await (const _ of chunks);
}

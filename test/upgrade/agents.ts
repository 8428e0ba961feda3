// The agents which the fixtures were made with. Their models reply by what they are asked, so a restart changes nothing.
import { Agent } from "@andante/core";
import { type ScriptedReply, type ScriptedTurn, scriptedModel } from "@andante/core/test";
import { tool } from "ai";
import { z } from "zod";
import type { World } from "./world.ts";

type Call = Parameters<Extract<ScriptedReply, (call: never) => unknown>>[0];

/** More calls than any life of a process makes. */
const maxCalls = 100;

export function defineAgents(world: World) {
  const modelOf = (reply: (question: string, call: Call) => ScriptedTurn) =>
    scriptedModel(
      Array.from({ length: maxCalls }, () => async (call: Call) => {
        const question = questionOf(call);
        await world.asked(question);
        return reply(question, call);
      }),
    );
  return {
    /** Says what it was told; asked to break off, it fails half way. */
    echo: new Agent({
      id: "echo",
      purpose: "Repeats",
      instructions: "Repeat what you are told.",
      model: modelOf((question) =>
        question === "break off"
          ? { text: ["This is "], error: new Error("the provider broke off") }
          : `You said: ${question}`,
      ),
    }),
    /** Gives an object. */
    title: new Agent({
      id: "title",
      purpose: "Finds a title",
      model: modelOf((question) => ({ object: { title: `On ${question}` } })),
    }),
    /** Asks for leave before it removes a file. */
    careful: new Agent({
      id: "careful",
      purpose: "Removes files",
      model: modelOf((question, call) =>
        call.prompt.at(-1)?.role === "tool"
          ? "It is gone."
          : {
              text: "May I?",
              toolCalls: [{ toolName: "remove", toolCallId: "call-1", input: { file: question } }],
            },
      ),
      tools: {
        remove: tool({
          description: "Removes a file",
          inputSchema: z.object({ file: z.string() }),
          execute: async ({ file }) => {
            await world.asked(`tool: remove ${file}`);
            return `${file} was removed`;
          },
        }),
      },
      toolApproval: { remove: "user-approval" },
    }),
  };
}

/** The last thing that a person said. */
function questionOf({ prompt }: Call): string {
  const last = prompt.findLast(({ role }) => role === "user");
  if (last?.role !== "user") return "";
  return last.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

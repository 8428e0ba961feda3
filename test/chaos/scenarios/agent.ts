// andAgent: an AI SDK agent on the demo model, with a prompt of its own and with a schema.
import { createWorkflow } from "@andante/core";
import { demoModel } from "@andante/demo-model";
import { ToolLoopAgent } from "ai";
import { z } from "zod";
import type { MakeScenario } from "../child/scenario.ts";

export const scenario: MakeScenario = (bodies) => {
  const agent = bodies.agent(new ToolLoopAgent({ id: "writer", model: demoModel({ delay: 1 }) }));
  return {
    input: { topic: "rivers" },
    workflow: createWorkflow({ id: "agent", input: z.object({ topic: z.string() }) })
      .andAgent({
        id: "draft",
        agent,
        prompt: bodies.slow(4, ({ data, executionId }) => `Write about ${data.topic} (${executionId} draft)`),
      })
      .andThen({ id: "count", execute: bodies.quick(({ data }) => ({ length: data.text.length })) })
      .andAgent({
        id: "judge",
        agent,
        prompt: bodies.quick(
          ({ data, executionId }) =>
            `Say exactly '{"grade":3,"remark":"${data.length} letters"}' (${executionId} judge)`,
        ),
        schema: z.object({ grade: z.int().min(1).max(5), remark: z.string() }),
      })
      .andThen({ id: "last", execute: bodies.quick(({ data }) => ({ judged: data })) }),
  };
};

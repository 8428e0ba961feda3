// A resume that goes back to an earlier step: the steps after it run again, with the new resume data.
import { andThen, createWorkflow } from "@andante/core";
import { z } from "zod";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

interface Draft {
  version: number;
}

export const scenario: MakeScenario = (bodies) => ({
  input: { topic: "rivers" },
  answer: ({ data }) =>
    Object(data).version === 1
      ? { resumeData: { version: 2 }, stepId: "draft" }
      : { resumeData: { approved: true } },
  workflow: createWorkflow({ id: "rewind", input: z.object({ topic: z.string() }) })
    .andThen({ id: "start", execute: bodies.slow(4, ({ data }) => data) })
    .andThen({
      id: "draft",
      resumeSchema: z.object({ version: z.number() }),
      execute: bodies.slow(4, ({ resumeData }): Draft => ({ version: resumeData?.version ?? 1 })),
    })
    .andAll({
      id: "check",
      steps: [
        andThen({ id: "spelling", execute: bodies.quick(({ data }: Given<Draft>) => data) }),
        andThen({ id: "facts", execute: bodies.slow(4, ({ data }: Given<Draft>) => data) }),
      ],
    })
    .andThen({
      id: "approve",
      suspendSchema: z.object({ version: z.number() }),
      execute: bodies.quick(({ data: [draft], resumeData, suspend }) =>
        resumeData === undefined ? suspend("approve?", draft) : { draft, resumeData },
      ),
    })
    .andThen({ id: "last", execute: bodies.slow(4, ({ data }) => ({ published: data })) }),
});

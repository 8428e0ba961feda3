// A journal of several megabytes: large input, outputs, items, suspension and answer, none of which compresses well.
import { andThen, createWorkflow } from "@andante/core";
import type { FunctionContext } from "@andante/core/internal";
import { z } from "zod";
import { createRandom } from "../../../packages/core/test/support/random.ts";
import type { Given } from "../child/bodies.ts";
import type { MakeScenario } from "../child/scenario.ts";

interface Report {
  readonly number: number;
  readonly text: string;
}

/** So many bytes of letters and digits that are the same in every life. */
function textOf(seed: number, bytes: number): string {
  const random = createRandom(seed);
  const words = Array.from({ length: Math.ceil(bytes / 10) }, () => random.next().toString(36).slice(2, 12));
  return words.join("").slice(0, bytes);
}

const kilobytes = 1000;

export const scenario: MakeScenario = (bodies) => ({
  input: { text: textOf(1, 500 * kilobytes) },
  answer: () => ({ resumeData: { text: textOf(2, 300 * kilobytes) } }),
  workflow: createWorkflow({ id: "large", input: z.object({ text: z.string() }) })
    .andThen({
      id: "grow",
      execute: bodies.slow(6, ({ data }) => ({ text: data.text.slice(0, 10) + textOf(3, 800 * kilobytes) })),
    })
    .andForEach({
      id: "each",
      concurrency: 2,
      items: bodies.quick(({ data }: FunctionContext<{ text: string }>) =>
        [4, 5, 6].map((number) => ({ number, text: data.text.slice(number, number + 5) })),
      ),
      step: andThen({
        id: "write",
        execute: bodies.slow(8, ({ data }: Given<Report>) => ({
          ...data,
          text: data.text + textOf(data.number, 400 * kilobytes),
        })),
      }),
    })
    .andThen({
      id: "gate",
      suspendSchema: z.object({ text: z.string() }),
      resumeSchema: z.object({ text: z.string() }),
      execute: bodies.quick(({ data, resumeData, suspend }) =>
        resumeData === undefined
          ? suspend("large enough?", { text: textOf(7, 300 * kilobytes) })
          : { lengths: data.map(({ text }: Report) => text.length), answer: resumeData.text.slice(-10) },
      ),
    })
    .andThen({
      id: "last",
      execute: bodies.slow(4, ({ data }) => ({ data, text: textOf(8, 200 * kilobytes) })),
    }),
});

// A workflow of most step kinds: containers, loops, a child that bails, a side effect that fails, an agent.
import { createWorkflow, type Workflow } from "@andante/core";
import type { FunctionContext } from "@andante/core/internal";
import { z } from "zod";
import type { defineAgents } from "./agents.ts";
import type { Body } from "./world.ts";

const amount = z.object({ amount: z.number() });

export function defineTour(body: Body, { echo }: ReturnType<typeof defineAgents>) {
  const child = createWorkflow({ id: "tour-child", input: amount })
    .andThen({
      id: "early",
      execute: body(({ data, bail }) => (data.amount > 0 ? bail({ amount: data.amount + 100 }) : data)),
    })
    .andThen({ id: "late", execute: body(({ data }) => data) });
  return createWorkflow({ id: "tour", input: amount, tags: ["tour"] })
    .andThen({
      id: "begin",
      execute: body(({ data, userId, conversationId, context, logger, emit, setState }) => {
        logger.info({ amount: data.amount }, "the tour begins");
        emit("departure", { userId, conversationId, context: Object.fromEntries(context) });
        setState({ stops: 1 });
        return data;
      }),
    })
    .andTap({
      id: "look",
      execute: body(() => {
        throw new Error("there is fog");
      }),
    })
    .andWhen({
      id: "when",
      condition: body(({ data }) => data.amount > 0),
      step: (chain) =>
        chain.andThen({ id: "add", execute: body(({ data }) => ({ amount: data.amount + 1 })) }),
    })
    .andWhen({
      id: "never",
      condition: body(({ data }) => data.amount < 0),
      step: (chain) => chain.andThen({ id: "subtract", execute: body(({ data }) => data) }),
    })
    .andBranch({
      id: "branch",
      branches: [
        {
          condition: body(({ data }) => data.amount > 1000),
          step: (chain) => chain.andThen({ id: "high", execute: body(({ data }) => data) }),
        },
        {
          condition: body(({ data }) => data.amount > 1),
          step: (chain) =>
            chain.andThen({ id: "low", execute: body(({ data }) => ({ amount: data.amount * 2 })) }),
        },
      ],
    })
    .andDoWhile({
      id: "while",
      step: (chain) =>
        chain.andThen({ id: "grow", execute: body(({ data }) => ({ amount: data.amount + 10 })) }),
      condition: body(({ data }) => data.amount < 20),
    })
    .andRace({
      id: "race",
      steps: [
        (chain) => chain.andThen({ id: "quick", execute: body(({ data }) => data) }),
        (chain) =>
          chain.andThen({
            id: "endless",
            execute: body(
              ({ signal }) =>
                new Promise<never>((_, reject) => {
                  if (signal.aborted) reject(signal.reason);
                  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
                }),
            ),
          }),
      ],
    })
    .andSleepUntil({ id: "past", date: body(() => "2020-01-01T00:00:00.000Z") })
    .andWorkflow({ id: "child", workflow: child })
    .andForEach({
      id: "each",
      items: body(({ data }: FunctionContext<{ amount: number }>) => [data.amount, 2, 3]),
      concurrency: 2,
      step: (chain: Workflow<{ amount: number }, number>) =>
        chain.andThen({ id: "square", execute: body(({ data }) => data * data) }),
    })
    .andAgent({ id: "agent", agent: echo, prompt: body(({ data }) => data.join(" ")) })
    .andThen({
      id: "end",
      execute: body(({ data, getStepData, state, setState }) => {
        setState((before) => ({ stops: Number(before.stops) + 1 }));
        return { said: data.text, stops: state.stops, grown: getStepData("while")?.output ?? null };
      }),
    });
}

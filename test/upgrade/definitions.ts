// The workflows which the fixtures were made with. A fixture fits these ids, kinds and nesting of steps: never change one
// that a released fixture holds, add another. All thirteen step kinds are used.
import { type AndanteOptions, createWorkflow, PublicError, type Workflow } from "@andante/core";
import type { FunctionContext } from "@andante/core/internal";
import { z } from "zod";
import { defineAgents } from "./agents.ts";
import { defineTour } from "./tour.ts";
import { type Body, bodiesOf, type World } from "./world.ts";

const farAway = new Date("2100-01-01T00:00:00.000Z");
const hour = 3_600_000;
const decision = z.object({ approved: z.boolean() });
const amount = z.object({ amount: z.number() });

/** Fixtures name workflows by strings, so their types are not kept. */
type Definitions = Pick<AndanteOptions, "agents" | "workflows">;

export function define(world: World): Definitions {
  const body = bodiesOf(world);
  const agents = defineAgents(world);
  return {
    agents,
    workflows: {
      gate: gate(body),
      reviews: reviews(body),
      nested: nested(body),
      pages: pages(body),
      polish: polish(body),
      steps: steps(body),
      fan: fan(body),
      nap: nap(body),
      hibernate: hibernate(body),
      flaky: flaky(body),
      deadline: deadline(body),
      timed: timed(body),
      ending: ending(body),
      changing: changing(body),
      ask: ask(body, agents),
      tour: defineTour(body, agents),
    },
  };
}

/** The same with the one workflow changed that some fixtures are parked for. */
export function defineChanged(world: World): Definitions {
  const same = define(world);
  const body = bodiesOf(world);
  const changed = createWorkflow({ id: "changing", input: amount })
    .andThen({ id: "uno", execute: body(({ data }) => data) })
    .andThen({ id: "due", execute: body(({ data }) => data) });
  return { ...same, workflows: { ...same.workflows, changing: changed } };
}

const gate = (body: Body) =>
  createWorkflow({
    id: "gate",
    input: z.object({ topic: z.string(), tone: z.string().default("plain") }),
    result: z.object({ text: z.string(), approved: z.boolean() }),
    tags: ["review"],
  })
    .andThen({
      id: "draft",
      execute: body(({ data, resumeData }) => ({
        text: `${data.topic}, ${resumeData === undefined ? data.tone : String(resumeData)}`,
      })),
    })
    .andThen({
      id: "approve",
      suspendSchema: z.object({ text: z.string() }),
      resumeSchema: decision,
      execute: body(({ data, resumeData, suspendData, suspend }) =>
        resumeData === undefined
          ? suspend("Waiting for approval", data, {
              deadline: farAway,
              onDeadline: { resume: { approved: false } },
            })
          : { text: suspendData?.text ?? "", approved: resumeData.approved },
      ),
    })
    .andThen({ id: "publish", execute: body(({ data }) => ({ ...data, text: `${data.text}!` })) });

const reviews = (body: Body) =>
  createWorkflow({ id: "reviews", input: amount, resumeSchema: decision })
    .andThen({ id: "prepare", execute: body(({ data }) => ({ price: data.amount * 2 })) })
    .andAll({
      id: "all",
      steps: [
        (chain) =>
          chain.andThen({
            id: "legal",
            suspendSchema: z.unknown(),
            execute: body(({ resumeData, suspend }) => resumeData ?? suspend("Legal?", { law: 1 })),
          }),
        (chain) =>
          chain.andThen({
            id: "finance",
            suspendSchema: z.unknown(),
            execute: body(({ data, resumeData, suspend }) => resumeData ?? suspend("Finance?", data)),
          }),
        (chain) =>
          chain
            .andThen({
              id: "press",
              execute: body(({ resumeData, suspend }) => resumeData ?? suspend("Press?")),
            })
            .andThen({ id: "print", execute: body(({ data }) => ({ printed: data })) }),
        (chain) => chain.andThen({ id: "count", execute: body(({ data }) => data.price + 1) }),
      ],
    })
    .andThen({ id: "merge", execute: body(({ data }) => ({ reviews: data })) });

const nested = (body: Body) => {
  const inner = createWorkflow({ id: "inner", input: amount })
    .andThen({ id: "measure", execute: body(({ data }) => ({ size: data.amount })) })
    .andThen({
      id: "ask",
      suspendSchema: z.object({ size: z.number() }),
      resumeSchema: z.object({ size: z.number() }),
      execute: body(({ data, resumeData, suspend }) => resumeData ?? suspend("Which size?", data)),
    })
    .andThen({ id: "stamp", execute: body(({ data }) => ({ stamped: data })) });
  return createWorkflow({ id: "nested", input: amount })
    .andThen({ id: "before", execute: body(({ data }) => ({ amount: data.amount + 1 })) })
    .andWorkflow({ id: "inside", workflow: inner })
    .andThen({ id: "after", execute: body(({ data }) => ({ after: data })) });
};

const pages = (body: Body) =>
  createWorkflow({ id: "pages", input: z.object({ names: z.array(z.string()) }) })
    .andForEach({
      id: "each",
      items: body(({ data }: FunctionContext<{ names: string[] }>) => data.names),
      step: (chain: Workflow<{ names: string[] }, string>) =>
        chain.andThen({ id: "scan", execute: body(({ data }) => `${data} scanned`) }).andThen({
          id: "check",
          suspendSchema: z.string(),
          execute: body(({ data, resumeData, suspend }) =>
            resumeData === undefined ? suspend("Legible?", data) : `${data}: ${String(resumeData)}`,
          ),
        }),
    })
    .andThen({ id: "bind", execute: body(({ data }) => data.join("; ")) });

const polish = (body: Body) =>
  createWorkflow({ id: "polish", input: amount })
    .andDoUntil({
      id: "until",
      step: (chain) =>
        chain.andThen({
          id: "round",
          suspendSchema: amount,
          resumeSchema: z.number(),
          execute: body(({ data, resumeData, suspend }) =>
            resumeData === undefined ? suspend("More?", data) : { amount: data.amount + resumeData },
          ),
        }),
      condition: body(({ data }) => data.amount >= 10),
    })
    .andThen({ id: "done", execute: body(({ data }) => ({ polished: data.amount })) });

const steps = (body: Body) =>
  createWorkflow({ id: "steps", input: amount })
    .andThen({
      id: "one",
      execute: body(({ data, setState }) => {
        setState({ one: data.amount });
        return { amount: data.amount + 1 };
      }),
    })
    .andThen({ id: "two", execute: body(({ data }) => ({ amount: data.amount * 2 })) })
    .andThen({ id: "three", execute: body(({ data, state }) => ({ amount: data.amount, one: state.one })) });

const fan = (body: Body) =>
  createWorkflow({ id: "fan", input: amount })
    .andAll({
      id: "out",
      steps: [
        (chain) => chain.andThen({ id: "left", execute: body(({ data }) => data.amount + 1) }),
        (chain) =>
          chain
            .andThen({ id: "middle", execute: body(({ data }) => data.amount + 2) })
            .andThen({ id: "more", execute: body(({ data }) => data * 10) }),
        (chain) => chain.andThen({ id: "right", execute: body(({ data }) => data.amount + 3) }),
      ],
    })
    .andThen({ id: "sum", execute: body(({ data }) => data.reduce((sum, each) => sum + each, 0)) });

const nap = (body: Body) =>
  createWorkflow({ id: "nap", input: amount })
    .andThen({ id: "before", execute: body(({ data }) => data) })
    .andSleep({ id: "sleep", duration: body(({ data }) => data.amount * hour) })
    .andThen({ id: "after", execute: body(({ data }) => ({ slept: data.amount })) });

const hibernate = (body: Body) =>
  createWorkflow({ id: "hibernate", input: amount })
    .andSleepUntil({ id: "winter", date: farAway })
    .andThen({ id: "spring", execute: body(({ data }) => ({ slept: data.amount })) });

const flaky = (body: Body) =>
  createWorkflow({ id: "flaky", input: amount })
    .andThen({ id: "before", execute: body(({ data }) => data) })
    .andThen({
      id: "try",
      retry: { attempts: 3, backoff: "fixed", delay: hour, jitter: false },
      execute: body(({ data, attempt }) => {
        if (attempt === 1) throw new Error("not yet");
        return { attempt, amount: data.amount };
      }),
    });

const deadline = (body: Body) =>
  createWorkflow({
    id: "deadline",
    input: z.object({ onDeadline: z.union([z.enum(["fail", "cancel"]), z.object({ resume: z.number() })]) }),
  })
    .andThen({
      id: "wait",
      suspendSchema: z.unknown(),
      resumeSchema: z.number(),
      execute: body(({ data, resumeData, suspend }) =>
        resumeData === undefined
          ? suspend("In time?", data, { deadline: hour, onDeadline: data.onDeadline })
          : { number: resumeData },
      ),
    })
    .andThen({ id: "after", execute: body(({ data }) => ({ after: data })) });

const timed = (body: Body) =>
  createWorkflow({ id: "timed", input: amount, timeout: 90 * 24 * hour })
    .andThen({
      id: "wait",
      suspendSchema: amount,
      execute: body(({ data, resumeData, suspend }) => resumeData ?? suspend("", data)),
    })
    .andThen({ id: "after", execute: body(({ data }) => ({ after: data })) });

const ending = (body: Body) =>
  createWorkflow({ id: "ending", input: z.object({ how: z.string() }) })
    .andThen({
      id: "begin",
      execute: body(({ data, setState, emit }) => {
        setState({ seen: [data.how] });
        emit("begun", { how: data.how });
        return data;
      }),
    })
    .andThen({
      id: "decide",
      execute: body(({ data, bail, suspend, resumeData }) => {
        if (data.how === "bail") return bail({ bailed: true });
        if (data.how === "fail") throw new TypeError("This is broken");
        if (data.how === "refuse") throw new PublicError("This is not possible");
        if (data.how === "wait" && resumeData === undefined) return suspend("Really?");
        return { decided: data.how };
      }),
    })
    .andThen({ id: "finish", execute: body(({ data, state }) => ({ ...data, state })) });

const changing = (body: Body) =>
  createWorkflow({ id: "changing", input: amount })
    .andThen({ id: "one", execute: body(({ data }) => ({ amount: data.amount + 1 })) })
    .andThen({
      id: "two",
      execute: body(({ data, resumeData, suspend }) =>
        data.amount > 5 && resumeData === undefined ? suspend("Too much?") : { amount: data.amount * 2 },
      ),
    });

const ask = (body: Body, { title, echo }: ReturnType<typeof defineAgents>) =>
  createWorkflow({ id: "ask", input: z.object({ topic: z.string() }) })
    .andAgent({
      id: "title",
      agent: title,
      prompt: body(({ data }) => data.topic),
      schema: z.object({ title: z.string() }),
    })
    .andAgent({ id: "echo", agent: echo, prompt: body(({ data }) => data.title) })
    .andThen({ id: "after", execute: body(({ data }) => ({ said: data.text })) });

// The workflows of the cluster's nodes. Every body notes its run in the side log and returns the run's name.
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { andThen, createWorkflow, type StepContext } from "@andante/core";
import { z } from "zod";
import { appendBody } from "../side-log.ts";
import type { NodeSettings } from "./settings.ts";

/** The logged part of a body's input. */
interface BodyContext {
  readonly executionId: string;
  readonly stepPath: string;
  readonly attempt: number;
  readonly data: unknown;
  readonly input: unknown;
  readonly logger: { info(fields: object, message: string): void };
}

type Body = (context: BodyContext) => Promise<{ n: number; run: string }>;

const inputSchema = z.object({ n: z.int(), work: z.int() });
const ranSchema = z.object({ run: z.string() });

/** The names of the workflows that the load uses: each ends by itself, `gate` after a resume. */
export const loadWorkflows = ["chain", "fan", "nap", "gate", "deadline"] as const;

export function workflowsFor({ log, release }: Pick<NodeSettings, "log" | "release">) {
  /** Notes the run, works for the time in the input, and returns its name with the number of the input. */
  const body = async (context: BodyContext) => {
    const { executionId, stepPath, attempt, data } = context;
    const { n, work } = inputSchema.parse(context.input);
    const run = randomUUID();
    const got = ranSchema.safeParse(data).data?.run ?? null;
    appendBody(log, { executionId, path: stepPath, attempt, run, got, pid: process.pid, at: Date.now() });
    await wait(work);
    return { n, run };
  };
  const step = (id: string, execute: Body = body) => ({ id, execute });
  const flow = (id: string) => createWorkflow({ id, input: inputSchema });
  const steps =
    (count: number, execute: Body = body) =>
    (chain: ReturnType<typeof flow>, first: string) => {
      let workflow = chain.andThen(step(first, execute));
      for (let index = 2; index <= count; index++) workflow = workflow.andThen(step(`s${index}`, execute));
      return workflow;
    };
  const gate = {
    id: "gate",
    execute: (context: BodyContext & Pick<StepContext, "resumeData" | "suspend">) =>
      context.resumeData === undefined ? context.suspend("a person") : body(context),
  };
  const first = release === "new" ? "first" : "first-of-old";
  const grown = flow("grown").andThen(step("a")).andThen(step("b"));
  return {
    single: steps(1)(flow("single"), "s1"),
    chain: steps(4)(flow("chain"), "s1"),
    /** Long enough to be taken over twice. */
    long: steps(30)(flow("long"), "s1"),
    /** The same, and each body writes a line to the log. */
    spoken: steps(30, (context) => {
      context.logger.info({ run: context.stepPath }, "a body runs");
      return body(context);
    })(flow("spoken"), "s1"),
    fan: flow("fan")
      .andThen(step("before"))
      .andAll({ id: "all", steps: [andThen(step("a")), andThen(step("b")), andThen(step("c"))] })
      .andThen(step("after")),
    nap: flow("nap")
      .andThen(step("before"))
      .andSleep({ id: "sleep", duration: 300 })
      .andThen({
        id: "flaky",
        retry: { attempts: 3, backoff: "fixed", delay: 200 },
        execute: async (context) => {
          const done = await body(context);
          if (context.attempt === 1) throw new Error("the first attempt fails");
          return done;
        },
      })
      .andThen(step("after")),
    gate: flow("gate").andThen(step("before")).andThen(gate).andThen(step("after")),
    deadline: flow("deadline")
      .andThen(step("before"))
      .andThen({
        id: "gate",
        execute: (context) =>
          context.resumeData === undefined
            ? context.suspend("a while", undefined, { deadline: 400, onDeadline: { resume: true } })
            : body(context),
      })
      .andThen(step("after")),
    /** The old release has another first step: executions begun with one do not fit the other. */
    release: flow("release").andThen(step(first)).andThen(step("second")).andThen(step("third")),
    /** The same, and it asks a person. */
    asked: flow("asked").andThen(step(first)).andThen(gate).andThen(step("after")),
    /** The new release has a further step: executions that have not reached it fit both. */
    grown: release === "new" ? grown.andThen(step("c")) : grown,
  };
}

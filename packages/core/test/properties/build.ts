// Makes a workflow of a tree: its bodies follow the tree and report to the world that they run.
import { createHash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import { PermanentError } from "../../src/errors/index.ts";
import { defineEvent } from "../../src/event/define-event.ts";
import type { Duration } from "../../src/values/duration.ts";
import { functionPath } from "../../src/values/step-path.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import type { Step, WorkflowDefinition } from "../../src/workflow/step.ts";
import type { CheckpointContext, FunctionContext, StepContext } from "../../src/workflow/step-context.ts";
import { agentStep } from "../../src/workflow/steps/and-agent.ts";
import { allStep, raceStep } from "../../src/workflow/steps/and-all.ts";
import { branchStep } from "../../src/workflow/steps/and-branch.ts";
import { forEachStep } from "../../src/workflow/steps/and-for-each.ts";
import { doUntilStep, doWhileStep } from "../../src/workflow/steps/and-loop.ts";
import { sleepStep, sleepUntilStep } from "../../src/workflow/steps/and-sleep.ts";
import { tapStep } from "../../src/workflow/steps/and-tap.ts";
import { thenStep } from "../../src/workflow/steps/and-then.ts";
import { whenStep } from "../../src/workflow/steps/and-when.ts";
import { workflowStep } from "../../src/workflow/steps/and-workflow.ts";
import type { Pace } from "./pace.ts";
import { itemsOf } from "./reference.ts";
import { type EnteredTool, talkAgent } from "./talk-agent.ts";
import {
  type Aside,
  type Body,
  type Chain,
  type Container,
  mix,
  named,
  namedBranches,
  type Tree,
} from "./tree.ts";

/** The reports of the bodies, and the events that they wait for. */
export interface Stage {
  /**
   * A body, a function, a tool or the work of a checkpoint runs; the result marks its end, and whether it must
   * not run again.
   */
  enters(context: Entered): (isDone?: boolean) => void;
  /** An agent is asked. */
  asked(): void;
  /** Resolves when the world lets a slow body go on. */
  slow(): Promise<void>;
  /** A body has made a link for its next gate. */
  linked(url: string): void;
  /** A body waits for its timeout. */
  hangs(signal: AbortSignal): Promise<void>;
  /** The last step: everything that a body can see of the others. */
  witness(context: StepContext): void;
  /** Moments to sleep until are counted from here, in every life. */
  readonly begin: number;
}

/** A function that runs; tools and checkpoints have no data. */
export interface Entered extends Pick<FunctionContext, "stepPath" | "signal"> {
  readonly data?: unknown;
  /** Of a tool whose output cannot be recorded: the attempts of its step. */
  readonly attempts?: number;
}

export const witnessId = "witness";

/** `timeout`: that of the workflow; undefined for none. */
export function buildWorkflow(
  id: string,
  chain: Chain,
  stage: Stage,
  timeout?: Duration,
): WorkflowDefinition {
  const witness = thenStep({
    id: witnessId,
    execute: (context: StepContext) => {
      stage.witness(context);
      return context.data;
    },
  });
  return {
    ...createWorkflow({ id, input: z.unknown(), ...(timeout !== undefined && { timeout }) }),
    steps: [...buildChain(chain, stage), witness],
  };
}

function buildChain(chain: Chain, stage: Stage): Step[] {
  return chain.map(([id, tree]) => build(id, tree, stage));
}

function build(id: string, tree: Tree, stage: Stage): Step {
  switch (tree.kind) {
    case "then":
      return thenStep({ id, ...bodyOf(tree.body, stage) });
    case "tap":
      return tapStep({ id, ...bodyOf(tree.body, stage) });
    case "agent":
      return buildAgent(id, tree, stage);
    case "sleep":
      return sleepStep({
        id,
        ...retryOf(tree.aside),
        duration: tree.isFunction ? asideOf(tree.aside, stage, () => tree.time) : tree.time,
      });
    case "sleepUntil":
      return sleepUntilStep({
        id,
        ...retryOf(tree.aside),
        date: tree.isFunction
          ? asideOf(tree.aside, stage, () => new Date(stage.begin + tree.time))
          : new Date(stage.begin + tree.time),
      });
    default:
      return buildContainer(id, tree, stage);
  }
}

function buildContainer(id: string, tree: Container, stage: Stage): Step {
  switch (tree.kind) {
    case "when": {
      const condition = asideOf(tree.aside, stage, () => tree.holds);
      const options = { id, ...retryOf(tree.aside), condition, step: undefined };
      return whenStep(options, () => buildChain(named(tree.steps), stage));
    }
    case "all":
    case "race": {
      const chains = namedBranches(tree.branches).map((chain) => buildChain(chain, stage));
      const options = { id, steps: chains.map((_, index) => index) };
      const make = tree.kind === "all" ? allStep : raceStep;
      return make(options, (index) => chains[Number(index)] ?? []);
    }
    case "workflow": {
      const workflow = { ...createWorkflow({ id: `child-${id}`, input: z.unknown() }) };
      return workflowStep({ id, workflow: { ...workflow, steps: buildChain(named(tree.steps), stage) } });
    }
    case "forEach": {
      const { count, concurrency } = tree;
      const items =
        count === undefined ? {} : { items: asideOf(tree.aside, stage, ({ data }) => itemsOf(count, data)) };
      const options = { id, ...retryOf(tree.aside), ...items, concurrency, step: undefined };
      return forEachStep(options, () => buildChain(named(tree.steps), stage));
    }
    case "while":
    case "until": {
      const goesOn = tree.kind === "while";
      const condition = asideOf(tree.aside, stage, ({ stepPath }) => {
        const round = Number(/\[(\d+)\]#condition$/.exec(stepPath)?.[1]);
        return round + 1 < tree.rounds ? goesOn : !goesOn;
      });
      const options = { id, ...retryOf(tree.aside), condition, step: undefined };
      const make = goesOn ? doWhileStep : doUntilStep;
      return make(options, () => buildChain(named(tree.steps), stage));
    }
    case "branch": {
      const chains = namedBranches(tree.cases).map((chain) => buildChain(chain, stage));
      const branches = tree.holds.map((holds, index) => ({
        condition: asideOf(tree.aside, stage, () => holds),
        step: index,
      }));
      return branchStep({ id, ...retryOf(tree.aside), branches }, (index) => chains[Number(index)] ?? []);
    }
  }
}

function buildAgent(id: string, tree: Extract<Tree, { kind: "agent" }>, stage: Stage): Step {
  const { talk, fails, budget } = tree;
  const foreign = {
    generate: async ({ prompt }: { prompt: string }) => {
      await wait(tree.aside.pace, stage);
      if (fails) throw new Error("the agent fails");
      return { text: prompt };
    },
  };
  const talkStage = {
    enters: ({ stepPath, signal, canBeRecorded }: EnteredTool) =>
      stage.enters({ stepPath, signal, ...(!canBeRecorded && { attempts: tree.aside.attempts }) }),
    asked: () => stage.asked(),
    wait: (pace: Pace) => wait(pace, stage),
  };
  const agent = talk === undefined ? foreign : talkAgent(`agent-${id}`, talk, talkStage, fails);
  // The path and the data reach the agent by the prompt alone; a fixed text knows neither.
  const text = ({ stepPath, data }: FunctionContext) =>
    String(mix(`${stepPath.replace("#prompt", "")} agent`, data));
  const prompt = tree.isFunction ? asideOf(tree.aside, stage, text) : "fixed";
  const limits =
    budget === undefined || talk === undefined
      ? {}
      : {
          budget: { calls: budget.calls, onReached: budget.onReached },
          allowIncomplete: budget.allowIncomplete,
        };
  return agentStep({ id, ...retryOf(tree.aside), agent, prompt, ...limits });
}

function retryOf({ attempts, delay }: { readonly attempts: number; readonly delay: number }) {
  return attempts === 1 ? {} : { retry: { attempts, delay, jitter: false, backoff: "fixed" as const } };
}

/** A function beside a body. Typed as any of them needs it. */
function asideOf<Value>(
  { failures, pace }: Aside,
  stage: Stage,
  answer: (context: FunctionContext) => Value,
) {
  const finish = (context: FunctionContext) => {
    if (context.attempt <= failures) throw new Error("the function fails");
    return answer(context);
  };
  return (context: FunctionContext): Value => {
    const leaves = stage.enters(context);
    if (pace !== "at-once") {
      const later = wait(pace, stage).then(() => finish(context));
      // The wait is the same for the engine; the types of the options distinguish both.
      return later.finally(() => leaves()) as Value;
    }
    try {
      return finish(context);
    } finally {
      leaves();
    }
  };
}

function bodyOf(body: Body, stage: Stage) {
  const { attempts, delay } = body;
  const options = retryOf({ attempts: attempts.length, delay });
  const timeout = attempts.includes("hang") ? { timeout: "10m" as const } : {};
  const execute = (context: StepContext): unknown => {
    const leaves = stage.enters(context);
    const gate = answered(context);
    // Before it waits: the world may decide early.
    if (body.gates[gate] === "link") stage.linked(context.link(context.stepPath, { resume: { gate } }));
    if (attempts[context.attempt - 1] === "hang" && isThrough(body, context)) {
      return stage.hangs(context.signal).finally(() => leaves());
    }
    if (body.pace !== "at-once" || body.checkpoints.length > 0) {
      return record(body, context, stage)
        .then(() => wait(body.pace, stage))
        .then(() => behave(body, context))
        .finally(() => leaves());
    }
    try {
      return behave(body, context);
    } finally {
      leaves();
    }
  };
  return { ...options, ...timeout, execute };
}

/** Does the recorded work of the body, one after the other. */
async function record({ checkpoints }: Body, context: StepContext, stage: Stage): Promise<void> {
  const { stepPath, data } = context;
  for (const [index, { failures, pace, delay }] of checkpoints.entries()) {
    const id = `c${index}`;
    const path = functionPath(stepPath, id);
    const work = async ({ attempt, signal }: CheckpointContext) => {
      const leaves = stage.enters({ stepPath: path, signal });
      await wait(pace, stage);
      leaves(attempt > failures);
      if (attempt <= failures) throw new Error("the checkpoint fails");
      return mix(path, data);
    };
    const value = await context.checkpoint(id, work, retryOf({ attempts: failures + 1, delay }));
    if (value !== mix(path, data)) throw new PermanentError(`the checkpoint ${path} gave ${value}`);
  }
}

/** How many suspensions of this body have been answered. */
function answered({ resumeData }: StepContext): number {
  return resumeData === undefined ? 0 : Number(Object(resumeData).gate) + 1;
}

/** The event that ends a gate; its data is the answer. */
export const opened = defineEvent({ name: "opened", data: z.object({ gate: z.number() }) });

/** For the links that end gates. */
export const links = {
  url: "https://app.example.com",
  secret: "a secret of more than thirty-two characters",
};

/** Where a gate and its event meet. */
export function gateKey(executionId: string, stepPath: string, gate: number): string {
  return createHash("sha256")
    .update(JSON.stringify([executionId, stepPath, gate]))
    .digest("hex");
}

function isThrough({ gates }: Body, context: StepContext): boolean {
  return answered(context) >= gates.length;
}

function behave(body: Body, context: StepContext): unknown {
  const { stepPath, attempt, data } = context;
  if (body.sets) {
    context.setState({ [stepPath]: attempt, last: stepPath });
    context.setState((state) => ({ count: Number(state.count ?? 0) + 1 }));
  }
  if (body.emits) context.emit("told", { attempt });
  const gate = answered(context);
  const kind = body.gates[gate];
  if (kind !== undefined) {
    if (kind === "answer" || kind === "link") return context.suspend("gate", { gate });
    if (kind === "event") {
      const key = gateKey(context.executionId, stepPath, gate);
      return context.suspend("gate", { gate }, { event: opened, key });
    }
    const onDeadline =
      kind === "deadline-resume" ? { resume: { gate } } : kind === "deadline-fail" ? "fail" : "cancel";
    return context.suspend("gate", { gate, deadline: true }, { deadline: "30m", onDeadline });
  }
  const value = mix(`${stepPath} ${attempt}`, data);
  switch (body.attempts[attempt - 1]) {
    case "value":
      return value;
    case "bail":
      return context.bail(value);
    case "permanent":
      throw new PermanentError("the body fails for good");
    default:
      throw new Error("the body fails");
  }
}

async function wait(pace: Pace, stage: Stage): Promise<void> {
  if (pace === "soon") await turn();
  if (pace === "slow") await stage.slow();
}

// Makes the bodies of the scenarios: each writes to the side log when it starts and ends, and can be killed in between.
import { setTimeout as delay } from "node:timers/promises";
import type { OperationContext, StepContext } from "@andante/core";
import type { WorkflowAgent } from "@andante/core/internal";
import { appendLine, type Line } from "../side-log.ts";
import { die, type Killer } from "./killer.ts";

/** The context of a body inside a container, where the data's type has to be said. */
export type Given<Data> = StepContext<{ data: Data; input: unknown; resume: unknown; suspend: unknown }>;

/** The logged part of a body's context; conditions and prompts have no resume data. */
interface RecordedContext {
  readonly executionId: string;
  readonly stepPath: string;
  readonly data: unknown;
  readonly context: ReadonlyMap<string, unknown>;
  readonly resumeData?: unknown;
  readonly suspendData?: unknown;
  readonly signal: AbortSignal;
}

interface Place {
  readonly executionId: string;
  readonly path: string;
}

export class Bodies {
  readonly #log: string;
  readonly #life: number;
  readonly #killer: Killer;

  constructor(options: { log: string; life: number; killer: Killer }) {
    this.#log = options.log;
    this.#life = options.life;
    this.#killer = options.killer;
  }

  /** A synchronous body. */
  quick<Context extends RecordedContext, Output>(
    run: (context: Context) => Output,
  ): (context: Context) => Output {
    return (context) => {
      const place = this.#start(context);
      return this.#finish(place, () => run(context));
    };
  }

  /** A body that takes this many milliseconds, then does its work. */
  slow<Context extends RecordedContext, Output>(
    milliseconds: number,
    run: (context: Context) => Output,
  ): (context: Context) => Promise<Output> {
    return async (context) => {
      const place = this.#start(context);
      await delay(milliseconds / 2);
      this.#killer.moment(place.executionId);
      await delay(milliseconds / 2);
      return this.#finish(place, () => run(context));
    };
  }

  /** A body that ends only when its signal is aborted: one that loses every race. */
  endless<Context extends RecordedContext>(): (context: Context) => Promise<never> {
    return async (context) => {
      const place = this.#start(context);
      const { signal } = context;
      const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      if (!signal.aborted) await aborted;
      return this.#finish(place, () => {
        throw signal.reason;
      });
    };
  }

  /** A body that always crashes its process, after this many milliseconds. */
  deadly<Context extends RecordedContext>(milliseconds: number): (context: Context) => Promise<never> {
    return async (context) => {
      this.#start(context);
      await delay(milliseconds);
      return die();
    };
  }

  /** An agent whose answers are recorded. Its prompt names the execution and the path: `… (executionId path)`. */
  agent(agent: WorkflowAgent): WorkflowAgent {
    return {
      id: agent.id,
      generate: async (options) => {
        const [, executionId = "", path = ""] = /\(([^ ()]+) ([^ ()]+)\)/.exec(options.prompt) ?? [];
        const place = { executionId, path };
        this.#append({ kind: "start", ...this.#at(place), data: null, resumeData: null, suspendData: null });
        this.#killer.moment(executionId);
        const { text } = await agent.generate(options);
        this.#finish(place, () => text);
        return { text };
      },
    };
  }

  /** A tool of an agent, which takes this many milliseconds. */
  tool<Output>(milliseconds: number, run: () => Output) {
    return async (_: unknown, { context }: { context: OperationContext }): Promise<Output> => {
      const place = { executionId: context.executionId ?? "", path: context.stepPath ?? "" };
      this.#append({ kind: "start", ...this.#at(place), data: null, resumeData: null, suspendData: null });
      this.#killer.moment(place.executionId);
      await delay(milliseconds);
      return this.#finish(place, run);
    };
  }

  /** The model's text at the end of its step. Its prompt names the execution and the path: `… (executionId path)`. */
  said(prompt: string, text: string): string {
    const [, executionId = "", path = ""] = /\(([^ ()]+) ([^ ()]+)\)/.exec(prompt) ?? [];
    return this.#finish({ executionId, path }, () => text);
  }

  #start(context: RecordedContext): Place {
    const { executionId, stepPath: path, data, resumeData, suspendData } = context;
    const place = { executionId, path };
    this.#append({
      kind: "start",
      ...this.#at(place),
      data,
      resumeData,
      suspendData,
      context: Object.fromEntries(context.context),
    });
    this.#killer.moment(place.executionId);
    return place;
  }

  #finish<Output>(place: Place, run: () => Output): Output {
    try {
      const output = run();
      this.#append({ kind: "end", ...this.#at(place), output });
      return output;
    } catch (thrown) {
      this.#append({ kind: "thrown", ...this.#at(place), message: String(thrown) });
      throw thrown;
    } finally {
      this.#killer.moment(place.executionId);
    }
  }

  #at(place: Place) {
    return { life: this.#life, ...place };
  }

  #append(line: Line): void {
    appendLine(this.#log, line);
  }
}

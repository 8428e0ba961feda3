// Records what a database shows through the public interface, without running anything in it.
import { type Andante, createAndante, createLogger, sqliteStore } from "@andante/core";
import { TestClock } from "@andante/core/test";
import { define, defineChanged } from "./definitions.ts";
import type { Fixture } from "./fixture.ts";
import { beginning, type Situation } from "./situation.ts";
import { frozenWorld } from "./world.ts";

/** A function that ran, as the side log of the lives has it. */
export interface Ran {
  readonly executionId: string;
  readonly path: string;
}

type Recorded = Pick<Fixture, "list" | "executions" | "observations">;

/** `database` is a copy: opening it claims what is abandoned. */
export async function record(situation: Situation, database: string, ran: readonly Ran[]): Promise<Recorded> {
  const changed = situation.lives.at(-1)?.changed === true;
  const andante = createAndante({
    ...(changed ? defineChanged(frozenWorld) : define(frozenWorld)),
    store: sqliteStore({ path: database }),
    clock: new TestClock({ start: beginning, skipSleeps: false }),
    logger: createLogger({ level: "silent" }),
    logs: { level: "silent" },
    tracing: false,
  });
  try {
    const { executions: list } = await andante.list({ limit: 500 });
    const wanted = list.filter(({ executionId }) => situation.recorded?.includes(executionId) ?? true);
    const executions = await Promise.all(
      wanted.map(({ workflowId, executionId }) => readExecution(andante, workflowId, executionId, ran)),
    );
    const observations = situation.observed === true ? await readObservations(andante) : null;
    // As it is written: without what is undefined.
    return JSON.parse(JSON.stringify({ list, executions, observations }));
  } finally {
    await andante.close({ grace: 0 });
  }
}

async function readExecution(andante: Andante, workflowId: string, executionId: string, ran: readonly Ran[]) {
  const events = await andante.events(workflowId, executionId);
  const state = await andante.state(workflowId, executionId);
  const committed = committedPaths(events);
  const paths = ran.filter((each) => each.executionId === executionId && committed.has(each.path));
  const done = [...new Set(paths.map(({ path }) => path))].sort();
  return { workflowId, executionId, done, state, events };
}

const outcomes = new Set(["step-complete", "step-evaluated", "step-error", "step-bailed"]);

/** The paths that have an outcome which a rewind has not left behind. */
function committedPaths(events: Awaited<ReturnType<Andante["events"]>>): Set<string> {
  const committed = new Map<string, number>();
  for (const { type, stepPath, stepIndex } of events) {
    if (type === "execution-rewound") {
      for (const [path, index] of committed) if (index >= Number(stepIndex)) committed.delete(path);
    }
    if (outcomes.has(type)) committed.set(String(stepPath), Number(stepIndex));
  }
  return new Set(committed.keys());
}

async function readObservations(andante: Andante) {
  const { conversations } = await andante.conversations.list({ limit: 500 });
  const { traces } = await andante.traces.list({ limit: 500 });
  return {
    conversations: await Promise.all(
      conversations.map(async (conversation) => {
        const { messages } = await andante.conversations.messages(conversation.conversationId, {
          limit: 500,
        });
        return { conversation, messages };
      }),
    ),
    logs: await andante.logs.list({ limit: 1000 }),
    traces: await Promise.all(
      traces.map(async (summary) => ({ summary, trace: await andante.traces.read(summary.traceId) })),
    ),
  };
}

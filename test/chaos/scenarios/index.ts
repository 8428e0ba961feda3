// The scenarios by name. A module is loaded only where it is needed: the AI SDK alone costs a life 0.1 s.
import type { Bodies } from "../child/bodies.ts";
import type { MakeScenario, Scenario } from "../child/scenario.ts";

const modules: Readonly<Record<string, () => Promise<{ readonly scenario: MakeScenario }>>> = {
  chain: () => import("./chain.ts"),
  when: () => import("./when.ts"),
  all: () => import("./all.ts"),
  race: () => import("./race.ts"),
  agent: () => import("./agent.ts"),
  tools: () => import("./tools.ts"),
  child: () => import("./child.ts"),
  nested: () => import("./nested.ts"),
  gate: () => import("./gate.ts"),
  "gates-at-once": () => import("./gates-at-once.ts"),
  "gate-in-race": () => import("./gate-in-race.ts"),
  "gate-in-child": () => import("./gate-in-child.ts"),
  "gate-in-tap": () => import("./gate-in-tap.ts"),
  rewind: () => import("./rewind.ts"),
  pause: () => import("./pause.ts"),
  "pause-over-gate": () => import("./pause-over-gate.ts"),
  failure: () => import("./failure.ts"),
  cancel: () => import("./cancel.ts"),
  "for-each": () => import("./for-each.ts"),
  loop: () => import("./loop.ts"),
  sleep: () => import("./sleep.ts"),
  retry: () => import("./retry.ts"),
  deadline: () => import("./deadline.ts"),
  bail: () => import("./bail.ts"),
  large: () => import("./large.ts"),
};

/** Scenarios that the crash-loop proof uses; they never end by themselves. */
const special: typeof modules = {
  "crash-loop": () => import("./crash-loop.ts"),
};

export const scenarioNames: readonly string[] = Object.keys(modules);

export async function loadScenarios(
  names: readonly string[],
  bodies: Bodies,
): Promise<Map<string, Scenario>> {
  const loaded = new Map<string, Scenario>();
  for (const name of names) {
    const load = modules[name] ?? special[name];
    if (load === undefined) throw new Error(`unknown scenario ${name}`);
    const { scenario } = await load();
    loaded.set(name, scenario(bodies));
  }
  return loaded;
}

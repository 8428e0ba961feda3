// The process of one attacker: none of them waits for the work of another one, or counts it as a delay of the server.
import { setTimeout as delay } from "node:timers/promises";
import { attacks } from "./attacks.ts";
import type { Target } from "./target.ts";

/** Milliseconds after the attacks for which a first response is awaited. */
const patience = 60_000;

/** The responses that one attack saw. */
export interface Outcome {
  readonly name: string;
  /** How often each status was seen, or another end of a request. */
  readonly seen: Readonly<Record<string, number>>;
  readonly broken: readonly string[];
}

export interface Orders {
  readonly target: Target;
  /** The name of the attack. */
  readonly name: string;
  readonly seconds: number;
}

process.once("message", async ({ target, name, seconds }: Orders) => {
  const attack = attacks.find((known) => known.name === name);
  if (attack === undefined) throw new Error(`there is no attack "${name}"`);
  const signal = AbortSignal.timeout(seconds * 1000);
  const seen: Record<string, number> = {};
  const broken = new Set<string>();
  const first = Promise.withResolvers<void>();
  const note = (outcome: string | number) => {
    seen[outcome] = (seen[outcome] ?? 0) + 1;
    first.resolve();
  };
  const over = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  const fight = { ...target, signal, note, broken: (problem: string) => broken.add(problem) };
  const failed = (error: unknown) => note(error instanceof Error ? error.message : "failed");
  await Promise.race([attack.run(fight).catch(failed), over]);
  // A server without any processor left responds late, but it does respond once the attacks are over.
  await Promise.race([first.promise, delay(patience)]);
  const outcome: Outcome = { name, seen, broken: [...broken] };
  process.send?.(outcome, () => process.exit(0));
});

// The process of the attackers: its own, so that their work is not taken for the server's delay.
import { attacks } from "./attacks.ts";
import type { Target } from "./target.ts";

/** What one attack came to. */
export interface Outcome {
  readonly name: string;
  /** How often each status, or what else became of a request, was seen. */
  readonly seen: Readonly<Record<string, number>>;
  readonly broken: readonly string[];
}

export interface Orders {
  readonly target: Target;
  readonly names: readonly string[];
  readonly seconds: number;
}

process.once("message", async ({ target, names, seconds }: Orders) => {
  const signal = AbortSignal.timeout(seconds * 1000);
  const outcomes = attacks
    .filter(({ name }) => names.includes(name))
    .map(async ({ name, run }): Promise<Outcome> => {
      const seen: Record<string, number> = {};
      const broken = new Set<string>();
      const note = (outcome: string | number) => {
        seen[outcome] = (seen[outcome] ?? 0) + 1;
      };
      const over = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      const fight = { ...target, signal, note, broken: (what: string) => broken.add(what) };
      const failed = (error: unknown) => note(error instanceof Error ? error.message : "failed");
      await Promise.race([run(fight).catch(failed), over]);
      return { name, seen, broken: [...broken] };
    });
  process.send?.(await Promise.all(outcomes), () => process.exit(0));
});

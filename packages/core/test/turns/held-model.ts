// Models for tests of turns: one that replies `hello`, and one that is held up while it does.
import { controlledModel } from "../support/controlled-model.ts";

/** Replies `hello`, and waits before the last piece until it is released. */
export function heldModel() {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const model = controlledModel(() => ({
    text: ["hel", "lo"],
    hold: async (piece, signal) => {
      if (piece !== 1) return;
      asked.resolve();
      const aborted = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
      await Promise.race([gate.promise, aborted]);
    },
  }));
  return { model, asked: asked.promise, go: () => gate.resolve() };
}

export const hello = controlledModel(() => ({ text: ["hel", "lo"] }));

// What a form that answers is filled in with: only what has to be there. What is optional a person must mean.
import type { Suspension } from "../api/types.ts";

export function startingPoint({ resumeSchema }: Pick<Suspension, "resumeSchema">, example: unknown): unknown {
  if (resumeSchema === undefined) return {};
  if (typeof example !== "object" || example === null || Array.isArray(example)) return example;
  const required: readonly unknown[] = Array.isArray(resumeSchema.required) ? resumeSchema.required : [];
  return Object.fromEntries(Object.entries(example).filter(([name]) => required.includes(name)));
}

// The field of a question that Yes or No answers, and the words for its two answers.
import type { InboxItem } from "@andante/client";
import { asSchema } from "../../form/as-schema.ts";
import { resolveRef } from "../../form/resolve-ref.ts";

/** The one required field of the answer, where it is a boolean; undefined for any other question. */
export function decisionField({ resumeSchema }: InboxItem["suspension"]): string | undefined {
  if (resumeSchema === undefined) return undefined;
  const { properties, required } = resolveRef(resumeSchema, resumeSchema);
  const [name, ...others] = Array.isArray(required) ? required : [];
  if (typeof name !== "string" || others.length > 0) return undefined;
  const { type, const: only } = resolveRef(asSchema(asSchema(properties)[name]), resumeSchema);
  return type === "boolean" && only === undefined ? name : undefined;
}

export function decisionWords({ agentId }: InboxItem, field: string): readonly [no: string, yes: string] {
  if (agentId !== null) return ["Deny…", "Allow…"];
  return field === "approved" ? ["Decline…", "Approve…"] : ["No…", "Yes…"];
}

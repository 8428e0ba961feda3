// Unsent answers, kept by the tab: they survive another item, a reload and a sign-in.
import type { Suspension } from "@andante/client";

export interface Draft {
  readonly mode: "form" | "json" | "text";
  readonly data?: unknown;
  readonly text: string;
}

const prefix = "andante-draft";

/** The key of the draft of one answer: the suspension identifies the visit of its step, and users do not share drafts. */
export function draftKey(
  userId: string | undefined,
  executionId: string,
  { stepPath = "", suspensionId }: Pick<Suspension, "stepPath" | "suspensionId">,
): string {
  return [prefix, userId ?? "", executionId, stepPath, suspensionId].join(" ");
}

export function readDraft(key: string | undefined): Draft | undefined {
  if (key === undefined) return undefined;
  try {
    const kept = sessionStorage.getItem(key);
    // `keepDraft` wrote it.
    return kept === null ? undefined : (JSON.parse(kept) as Draft);
  } catch {
    return undefined;
  }
}

/** Keeps the draft, or removes it. Without storage, or with one that is full, it lasts as long as its form. */
export function keepDraft(key: string | undefined, draft: Draft | undefined): void {
  if (key === undefined) return;
  try {
    if (draft === undefined) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // The answer can be given without a draft.
  }
}

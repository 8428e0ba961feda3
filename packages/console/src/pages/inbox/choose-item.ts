// Selects the open suspension that the inbox shows. The shown item is never replaced automatically: the user's answer
// would go to another one.
import type { InboxItem } from "@andante/client";

/** `wanted` and `workflowId` are in the address; `opened` was shown last, `answered` was answered here last. */
export function itemToShow(
  items: readonly InboxItem[],
  {
    item: wanted,
    workflowId,
  }: { readonly item?: string | undefined; readonly workflowId?: string | undefined },
  opened: InboxItem | undefined,
  answered: InboxItem | undefined,
): InboxItem | undefined {
  const find = (id: string | undefined) => items.find(({ suspension }) => suspension.suspensionId === id);
  const chosen = find(wanted);
  const known = [undefined, opened?.suspension.suspensionId, answered?.suspension.suspensionId];
  // An unknown item in the address must not open another one.
  if (chosen === undefined && !known.includes(wanted)) return undefined;
  if (chosen !== undefined || opened === undefined) return chosen ?? items[0];
  const { suspensionId } = opened.suspension;
  const isOver = answered?.suspension.suspensionId === suspensionId;
  const isLeftOut = workflowId !== undefined && workflowId !== opened.workflowId;
  return find(suspensionId) ?? (isOver || isLeftOut ? items[0] : opened);
}

/** The item to show after an answer: the next one, or the previous one after the last. */
export function nextAfter(items: readonly InboxItem[], { suspension }: InboxItem): InboxItem | undefined {
  const at = items.findIndex((item) => item.suspension.suspensionId === suspension.suspensionId);
  return items[at + 1] ?? items[at - 1];
}

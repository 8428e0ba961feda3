// Which open suspension the inbox shows. One that somebody reads never gives way to another by itself: the answer to it
// would go to the other.
import type { InboxItem } from "../../api/types.ts";

/** `wanted` and `workflowId` stand in the address; `opened` was shown last, `answered` was answered here last. */
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
  if (chosen !== undefined || opened === undefined) return chosen ?? items[0];
  const { suspensionId } = opened.suspension;
  const isOver = answered?.suspension.suspensionId === suspensionId;
  const isLeftOut = workflowId !== undefined && workflowId !== opened.workflowId;
  return find(suspensionId) ?? (isOver || isLeftOut ? items[0] : opened);
}

// Which open suspension the inbox shows: the one of the address, never another in its place.
import type { InboxItem } from "../../api/types.ts";

/** Where the item with this id stands; -1 when it is not in the list. */
export function placeOf(items: readonly InboxItem[], suspensionId: string | undefined): number {
  return items.findIndex(({ suspension }) => suspension.suspensionId === suspensionId);
}

/** What to show once an item is answered: the one after it, before it when it was the last. */
export function nextAfter(items: readonly InboxItem[], { suspension }: InboxItem): InboxItem | undefined {
  const at = placeOf(items, suspension.suspensionId);
  return items[at + 1] ?? items[at - 1];
}

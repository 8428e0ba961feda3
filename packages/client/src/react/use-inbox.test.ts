// useInbox with another argument: the old data is not shown, not even for one rendering.
import { act, createElement } from "react";
import { createRoot } from "react-dom/client";
import { expect, test, vi } from "vitest";
import type { InboxItem } from "../responses/wire.ts";
import { type InboxSource, useInbox } from "./use-inbox.ts";

/** The minimal element that React needs for an empty rendering. */
function emptyPage(): Element {
  const listens = { addEventListener() {}, removeEventListener() {} };
  const document = { nodeType: 9, activeElement: null, ...listens };
  const page = { nodeType: 1, nodeName: "DIV", tagName: "DIV", ownerDocument: document, ...listens };
  vi.stubGlobal("window", { HTMLIFrameElement: class {} });
  vi.stubGlobal("document", document);
  // React uses nothing else of an element with an empty rendering.
  return page as unknown as Element;
}

/** The inbox is one item of the requested workflow; the feed opens and stays silent. */
const source: InboxSource = {
  inbox: async ({ workflowId = "" } = {}) => ({
    items: [{ workflowId, executionId: `of ${workflowId}` } as InboxItem],
    more: false,
    nextCursor: null,
  }),
  async *changes({ signal } = {}) {
    yield { type: "open" };
    await new Promise((resolve) => signal?.addEventListener("abort", resolve));
  },
};

/** The items of each rendering. */
const seen: string[] = [];

function Shown({ workflowId }: { readonly workflowId: string }) {
  const { items, isRead } = useInbox(source, { workflowId });
  seen.push(`${workflowId}: ${isRead ? items.map((item) => item.workflowId).join() : "not read"}`);
  return null;
}

test("the items of another workflow are gone with the first rendering for the new one", async () => {
  const root = createRoot(emptyPage());
  for (const workflowId of ["refund", "invoice"]) {
    root.render(createElement(Shown, { workflowId }));
    await expect.poll(() => seen.at(-1)).toBe(`${workflowId}: ${workflowId}`);
  }
  // Finish React's pending work before the element is removed.
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  await act(async () => root.unmount());
  vi.unstubAllGlobals();
  expect([...new Set(seen)]).toEqual([
    "refund: not read",
    "refund: refund",
    "invoice: not read",
    "invoice: invoice",
  ]);
});

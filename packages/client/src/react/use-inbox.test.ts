// useInbox: its filters, and that the data of another filter is not shown, not even for one rendering.
import { act, createElement } from "react";
import { createRoot } from "react-dom/client";
import { expect, test, vi } from "vitest";
import type { ChangeEvent, InboxItem } from "../responses/wire.ts";
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

/** Every read of the inbox. */
const asked: unknown[] = [];

/** The inbox is one item of the requested workflow; the feed opens, and then has what the test puts into it. */
const feed: ((event: ChangeEvent) => void)[] = [];
const source: InboxSource = {
  inbox: async ({ signal: _, ...filter } = {}) => {
    asked.push(filter);
    const { workflowId = "", agentId = null, counts } = filter;
    const item = { workflowId, agentId, executionId: `of ${workflowId}` } as InboxItem;
    const none = { workflows: [], agents: [], chats: 0, complete: true };
    return { items: [item], more: false, nextCursor: null, ...(counts && { counts: { total: 1, ...none } }) };
  },
  async *changes({ signal } = {}) {
    yield { type: "open" };
    while (!signal?.aborted) {
      const left = new Promise<undefined>((resolve) =>
        signal?.addEventListener("abort", () => resolve(undefined)),
      );
      const event = await Promise.race([left, new Promise<ChangeEvent>((resolve) => feed.push(resolve))]);
      if (event !== undefined) yield event;
    }
  },
};

type Filter = Parameters<typeof useInbox>[1] & {};

function Shown({ filter, seen }: { readonly filter: Filter; readonly seen: string[] }) {
  const { items, counts, isRead } = useInbox(source, filter);
  const words = items.map(({ workflowId, agentId }) => agentId ?? workflowId).join();
  const total = counts === undefined ? "" : ` of ${counts.total}`;
  seen.push(`${filter.agentId ?? filter.workflowId}: ${isRead ? words + total : "not read"}`);
  return null;
}

/** Renders a component that uses the hook, with one filter after the other. */
async function shown(work: (show: (filter: Filter) => void, seen: string[]) => Promise<void>) {
  const seen: string[] = [];
  const root = createRoot(emptyPage());
  await work((filter) => root.render(createElement(Shown, { filter, seen })), seen);
  // Finish React's pending work before the element is removed.
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  await act(async () => root.unmount());
  vi.unstubAllGlobals();
}

test("the items of another workflow are gone with the first rendering for the new one", () =>
  shown(async (show, seen) => {
    for (const workflowId of ["refund", "invoice"]) {
      show({ workflowId });
      await expect.poll(() => seen.at(-1)).toBe(`${workflowId}: ${workflowId}`);
    }
    expect([...new Set(seen)]).toEqual([
      "refund: not read",
      "refund: refund",
      "invoice: not read",
      "invoice: invoice",
    ]);
  }));

test("it has the text, the order and the counts of the server, and the chats of one agent", () =>
  shown(async (show, seen) => {
    const filter = { agentId: "clerk", text: "ord_7", order: "deadline", counts: true } as const;
    show(filter);
    await expect.poll(() => seen.at(-1)).toBe("clerk: clerk of 1");
    expect(asked.at(-1)).toMatchObject(filter);
    show({ ...filter, text: "ord_8" });
    await expect.poll(() => asked.at(-1)).toMatchObject({ ...filter, text: "ord_8" });
  }));

test("a change of another workflow does not read the chats of an agent again, one of a chat does", () =>
  shown(async (show) => {
    feed.length = 0;
    const reads = () => asked.filter((each) => Object(each).agentId === "desk").length;
    show({ agentId: "desk" });
    // One when the feed opens, and one after the time that the server keeps an inbox.
    await expect.poll(reads).toBe(2);
    const change = async (workflowId: string) => {
      await expect.poll(() => feed.length).toBe(1);
      const at = new Date(0).toISOString();
      const execution = { executionId: "e", workflowId, userId: null, sequence: 1, timestamp: at };
      feed.pop()?.({ type: "changes", executions: [execution], missed: 0 });
    };
    await change("refund");
    await change("");
    await expect.poll(reads).toBe(3);
    // The change after it is read, so the one before it has been seen.
    await change("");
    await expect.poll(reads).toBe(4);
  }));

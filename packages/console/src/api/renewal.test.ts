// The queries that the live feed refreshes.
import { InfiniteQueryObserver, QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Renewal } from "./renewal.ts";
import { rowForTest as row } from "./row-for-test.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const change = (executionId: string) => ({
  executionId,
  workflowId: "sum",
  userId: null,
  sequence: 1,
  timestamp: "2026-01-01T00:00:00Z",
});

/** A visible query, and the number of its reads. */
async function shown(client: QueryClient, queryKey: readonly unknown[], data: unknown = null) {
  const queryFn = vi.fn(async () => data);
  new QueryObserver(client, { queryKey, queryFn, staleTime: Number.POSITIVE_INFINITY }).subscribe(
    () => undefined,
  );
  await vi.advanceTimersByTimeAsync(0);
  expect(queryFn).toHaveBeenCalledTimes(1);
  queryFn.mockClear();
  return queryFn;
}

const nothing = async () => ({ executions: [], nextCursor: null });

test("data that a page read before the feed was open is read once more, a moment later", async () => {
  const client = new QueryClient();
  const renewal = new Renewal(client, nothing);
  const inbox = await shown(client, ["inbox", "oldest"]);
  const execution = await shown(client, ["execution", "a"]);
  const counts = await shown(client, ["activity", {}]);
  renewal.opened();
  await vi.advanceTimersByTimeAsync(900);
  for (const read of [inbox, execution, counts]) expect(read).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(200);
  for (const read of [inbox, execution, counts]) expect(read).toHaveBeenCalledTimes(1);
});

test("a change soon after the counts were read reaches them", async () => {
  const client = new QueryClient();
  const renewal = new Renewal(client, nothing);
  const counts = await shown(client, ["activity", {}]);
  renewal.note({ executions: [change("a")], missed: 0 });
  await vi.advanceTimersByTimeAsync(100);
  expect(counts).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1000);
  renewal.note({ executions: [change("a")], missed: 0 });
  await vi.advanceTimersByTimeAsync(4000);
  expect(counts).toHaveBeenCalledTimes(2);
});

test("a change does not drop the next page of a list that is being read; the list is read again after it", async () => {
  const client = new QueryClient();
  const renewal = new Renewal(client, nothing);
  const readPage = vi.fn(async (page: number) => {
    await new Promise((resolve) => setTimeout(resolve, page === 0 ? 0 : 2500));
    return page;
  });
  const list = new InfiniteQueryObserver(client, {
    queryKey: ["inbox", "pages"],
    queryFn: ({ pageParam }) => readPage(pageParam),
    initialPageParam: 0,
    getNextPageParam: (last: number) => last + 1,
    staleTime: Number.POSITIVE_INFINITY,
  });
  list.subscribe(() => undefined);
  await vi.advanceTimersByTimeAsync(0);
  void list.fetchNextPage();
  await vi.advanceTimersByTimeAsync(10);
  renewal.note({ executions: [change("a")], missed: 0 });
  await vi.advanceTimersByTimeAsync(2490);
  expect(list.getCurrentResult().data?.pages).toEqual([0, 1]);
  expect(readPage).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(5000);
  expect(readPage.mock.calls.flat()).toEqual([0, 1, 0, 1]);
});

test("whichever of thousands of changes is shown is read again, and nothing else", async () => {
  const client = new QueryClient();
  const renewal = new Renewal(client, nothing);
  const own = await shown(client, ["execution", "id-1900"]);
  const other = await shown(client, ["execution", "other"]);
  const executions = Array.from({ length: 2000 }, (_, index) => change(`id-${index}`));
  renewal.note({ executions, missed: 0 });
  await vi.advanceTimersByTimeAsync(100);
  expect(own).toHaveBeenCalledTimes(1);
  expect(other).not.toHaveBeenCalled();
});

test("where too many have changed to name them, every one that is shown is read again", async () => {
  const client = new QueryClient();
  const renewal = new Renewal(client, nothing);
  const other = await shown(client, ["execution", "other"]);
  renewal.note({ executions: [change("a")], missed: 3 });
  await vi.advanceTimersByTimeAsync(100);
  expect(other).toHaveBeenCalledTimes(1);
});

test("traces and logs are read again, more slowly; traces that have ended are not", async () => {
  const client = new QueryClient();
  const renewal = new Renewal(client, nothing);
  const traces = await shown(client, ["traces", {}], { pages: [{}], pageParams: [""] });
  const ended = await shown(client, ["trace", "1"], { roots: [{ endTime: "2026-01-01" }] });
  const running = await shown(client, ["trace", "2"], { roots: [{ endTime: null }] });
  const logs = await shown(client, ["observed", "a", "logs"]);
  const talks = await shown(client, ["conversations", "assistant"]);
  for (let second = 0; second < 4; second += 1) {
    renewal.note({ executions: [change("a")], missed: 0 });
    await vi.advanceTimersByTimeAsync(900);
  }
  for (const read of [traces, running, logs, talks]) expect(read).toHaveBeenCalledTimes(1);
  expect(ended).not.toHaveBeenCalled();
});

test("a page further down is read again when one of its rows has changed", async () => {
  const client = new QueryClient();
  const readPage = vi.fn(async (_filters: unknown, _limit: number, cursor: string) => ({
    executions: cursor === "" ? [row("a")] : [row("b", { stepIndex: 2 })],
    nextCursor: "next",
  }));
  const renewal = new Renewal(client, readPage);
  const key = ["executions", {}, 1];
  const data = {
    pages: ["a", "b"].map((id) => ({ executions: [row(id)], nextCursor: "next" })),
    pageParams: ["", "c-1"],
  };
  await shown(client, key, data);
  renewal.note({ executions: [change("b")], missed: 0 });
  await vi.advanceTimersByTimeAsync(100);
  expect(readPage.mock.calls.map(([, , cursor]) => cursor)).toEqual(["", "c-1"]);
  expect(client.getQueryData(key)).toMatchObject({
    pages: [{ executions: [{ executionId: "a" }] }, { executions: [{ executionId: "b", stepIndex: 2 }] }],
  });
});

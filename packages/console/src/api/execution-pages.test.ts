// The shown rows of a list after changes and after its first page is read again.
import { expect, test } from "vitest";
import { mergeFirstPage, mostRows, patchRows, replaceRows } from "./execution-pages.ts";
import { rowForTest as row } from "./row-for-test.ts";

const page = (ids: string, nextCursor: string | null = "next") => ({
  executions: [...ids].map((id) => row(id)),
  nextCursor,
});
const pages = (...ids: readonly string[]) => ({
  pages: ids.map((each) => page(each)),
  pageParams: ids.map((_, index) => (index === 0 ? "" : `cursor-${index}`)),
});
const idsIn = (data: ReturnType<typeof mergeFirstPage>) =>
  data.pages.map(({ executions }) => executions.map(({ executionId }) => executionId).join(""));

test("rows that are known are replaced, also with several pages", () => {
  const failed = row("b", { status: "error", stepIndex: 2, error: { name: "Error", message: "no" } });
  const first = { executions: [row("x"), row("a"), failed], nextCursor: "next" };
  const merged = mergeFirstPage(pages("abc", "def"), first);
  expect(idsIn(merged)).toEqual(["xabc", "def"]);
  expect(merged.pages[0]?.executions[2]).toEqual(failed);
});

test("a row that is no longer in the list leaves it", () => {
  expect(idsIn(mergeFirstPage(pages("abc", "def"), page("acd")))).toEqual(["acd", "ef"]);
  const patched = patchRows(
    pages("abc", "def"),
    new Map([
      [
        "f",
        {
          executionId: "f",
          workflowId: "sum",
          userId: null,
          status: "completed",
          sequence: 9,
          timestamp: "2026-01-01",
        },
      ],
    ]),
  );
  expect(idsIn(mergeFirstPage(patched, page("abc"), "running"))).toEqual(["abc", "de"]);
  expect(idsIn(mergeFirstPage(patched, page("abc")))).toEqual(["abc", "def"]);
});

test("pages below a gap are left out, and so are those below everything there is", () => {
  expect(idsIn(mergeFirstPage(pages("abc", "def"), page("xyz")))).toEqual(["xyz"]);
  expect(idsIn(mergeFirstPage(pages("abc", "def"), page("ab", null)))).toEqual(["ab"]);
});

test("a list does not grow without end", () => {
  const many = Array.from({ length: mostRows - 2 }, (_, index) => row(`many-${index}`));
  const data = {
    pages: [{ executions: [row("a"), ...many], nextCursor: "next" }, page("def")],
    pageParams: ["", "cursor-1"],
  };
  const merged = mergeFirstPage(data, page("xya"));
  expect(merged.pages).toHaveLength(1);
  expect(merged.pageParams).toEqual([""]);
});

test("the step that the feed named stays while the status does", () => {
  const change = { executionId: "a", workflowId: "sum", userId: null, sequence: 3, timestamp: "2026-01-01" };
  const data = patchRows(pages("abc"), new Map([["a", { ...change, stepPath: "pay" }]]));
  expect(mergeFirstPage(data, page("abc")).pages[0]?.executions[0]?.stepPath).toBe("pay");
  const suspended = { executions: [row("a", { status: "suspended" })], nextCursor: "next" };
  expect(mergeFirstPage(data, suspended).pages[0]?.executions[0]?.stepPath).toBeUndefined();
});

test("a change of status removes the details of the status before", () => {
  const parked = {
    ...pages("a"),
    pages: [{ ...page(""), executions: [row("a", { parked: { reason: "?" } })] }],
  };
  const change = { executionId: "a", workflowId: "sum", userId: null, sequence: 3, timestamp: "2026-01-01" };
  const over = patchRows(parked, new Map([["a", { ...change, status: "error" }]])).pages[0]?.executions[0];
  expect(over).toMatchObject({ status: "error", endAt: "2026-01-01" });
  expect(over).not.toHaveProperty("parked");
});

test("rows further down are replaced in their places; unchanged pages stay the same objects", () => {
  const data = pages("abc", "def");
  const replaced = replaceRows(data, [row("e", { stepIndex: 4 }), row("z")]);
  expect(idsIn(replaced)).toEqual(["abc", "def"]);
  expect(replaced.pages[1]?.executions[1]?.stepIndex).toBe(4);
  expect(replaced.pages[0]).toBe(data.pages[0]);
  expect(patchRows(data, new Map())).toBe(data);
});

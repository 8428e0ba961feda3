// The permission of one caller: its scope, the entries that it may see, and the questions that the host is asked.
import { expect, test, vi } from "vitest";
import { ForbiddenError } from "../errors/auth-errors.ts";
import type { Authorize } from "./authorize.ts";
import type { Caller } from "./gate.ts";
import { type EntryIds, type Guarded, nameOfId, Permission } from "./permission.ts";

const nobody: Caller = { user: undefined, userId: undefined };
const ada: Caller = { user: { id: "ada" }, userId: "ada" };
const nameless: Caller = { user: { team: "red" }, userId: undefined };
const lists: Guarded = { action: "executions.list" };

test.each<[string, Guarded, boolean, Caller, string, object]>([
  ["no authentication", { ...lists, reveals: "own" }, false, nobody, "all", { kind: "all" }],
  ["a route that reveals no data", lists, true, nobody, "all", { kind: "outline" }],
  ["a caller's own data", { ...lists, reveals: "own" }, true, ada, "own", { kind: "own", userId: "ada" }],
  ["no token for own data", { ...lists, reveals: "own" }, true, nobody, "own", { kind: "nothing" }],
  ["no token for an outline", { ...lists, reveals: "outline" }, true, nobody, "all", { kind: "outline" }],
  [
    "a token for an outline",
    { ...lists, reveals: "outline" },
    true,
    ada,
    "own",
    { kind: "own", userId: "ada" },
  ],
  ["a user without an id", { ...lists, reveals: "outline" }, true, nameless, "own", { kind: "nothing" }],
  ["a token for all", lists, true, ada, "all", { kind: "all" }],
])("without an authorize: %s", async (_, guarded, authEnabled, caller, scope, view) => {
  const permission = new Permission(undefined, authEnabled, caller, guarded);
  expect(permission.asks).toBe(false);
  expect(permission.scopeOf({ id: "x" })).toBe(scope);
  expect(await permission.look({})).toEqual(view);
  const entries = ["a", "b"];
  expect(await permission.visible(entries, (agentId) => ({ agentId }))).toBe(entries);
});

const asking = (authorize: Authorize, caller = ada, guarded: Guarded = lists) =>
  new Permission(authorize, true, caller, guarded);

test("the host decides about every action of the route, with the definition's id under both names", async () => {
  const authorize = vi.fn<Authorize>(() => true);
  const guarded = { action: "executions.list", requires: ["agents.read", "logs.read"] };
  const permission = asking(authorize, ada, guarded);
  expect(permission.asks).toBe(true);
  expect(await permission.scopeOf({ workflowId: "w", tab: "1" })).toBe("all");
  expect(authorize.mock.calls).toEqual([
    [{ ...ada, action: "executions.list", resource: { workflowId: "w", id: "w", tab: "1" } }],
    [{ ...ada, action: "agents.read", resource: { workflowId: "w", tab: "1" } }],
    [{ ...ada, action: "logs.read", resource: { workflowId: "w", tab: "1" } }],
  ]);
  authorize.mockClear();
  await permission.scopeOf({ id: "x" });
  expect(authorize.mock.calls.map(([{ resource }]) => resource)).toEqual([
    { id: "x", workflowId: "x" },
    { id: "x", agentId: "x" },
    { id: "x" },
  ]);
});

test.each<[unknown[], unknown]>([
  [[true, true], "all"],
  [["own", true], "own"],
  [[true, "own"], "own"],
  [[false, true], new ForbiddenError({ action: "executions.list" })],
  [[true, false], new ForbiddenError({ action: "logs.read" })],
  [[undefined, true], new ForbiddenError({ action: "executions.list" })],
  [["all", true], new ForbiddenError({ action: "executions.list" })],
])("the decisions %j", async (decisions, expected) => {
  const left = [...decisions];
  // A host in plain JavaScript may return anything.
  const permission = asking(() => left.shift() as never, ada, { ...lists, requires: ["logs.read"] });
  const scope = await Promise.resolve(permission.scopeOf({})).catch((error: unknown) => error);
  expect(scope).toEqual(expected);
});

test.each<[string, Caller, EntryIds, boolean | "own", boolean]>([
  ["an allowed entry", ada, { workflowId: "w", userId: "bob" }, true, true],
  ["a refused entry", ada, { workflowId: "w", userId: "ada" }, false, false],
  ["an own entry", ada, { workflowId: "w", userId: "ada" }, "own", true],
  ["an entry of another user", ada, { workflowId: "w", userId: "bob" }, "own", false],
  ["an entry of no user", ada, { workflowId: "w", userId: null }, "own", false],
  [
    "an entry of no user, for a caller without an id",
    nameless,
    { workflowId: "w", userId: null },
    "own",
    false,
  ],
  ["an entry that has no owners", ada, { workflowId: "w" }, "own", true],
  ["an entry without ids", ada, { workflowId: null, userId: null }, false, true],
])("with an authorize: %s", async (_, caller, ids, decision, isVisible) => {
  const permission = asking(() => decision, caller);
  expect(await permission.visible([ids], (entry) => entry)).toEqual(isVisible ? [ids] : []);
});

test("entries keep their order, the same ids are asked about once, and a thousand decisions are kept", async () => {
  const authorize = vi.fn<Authorize>(({ resource }) => resource.agentId !== "no");
  const permission = asking(authorize);
  const visible = (...agents: string[]) => permission.visible(agents, (agentId) => ({ agentId }));
  expect(await visible("a", "no", "b", "a")).toEqual(["a", "b", "a"]);
  expect(authorize).toHaveBeenCalledTimes(3);
  const all = ["a", "b"];
  expect(await permission.visible(all, (agentId) => ({ agentId }))).toBe(all);
  expect(authorize).toHaveBeenCalledTimes(3);
  const others = Array.from({ length: 997 }, (_, index) => `other-${index}`);
  await visible(...others, "a");
  expect(authorize).toHaveBeenCalledTimes(1000);
  // The oldest decision makes room.
  await visible("one-more");
  await visible("no", "b");
  expect(authorize).toHaveBeenCalledTimes(1001);
  await visible("a");
  expect(authorize).toHaveBeenCalledTimes(1002);
});

test("a host that cannot decide is an error, and is asked again", async () => {
  const broken = new Error("no directory");
  const authorize = vi.fn<Authorize>().mockRejectedValueOnce(broken).mockResolvedValue(true);
  const permission = asking(authorize);
  const see = () => permission.visible(["a"], (agentId) => ({ agentId }));
  await expect(see()).rejects.toBe(broken);
  expect(await see()).toEqual(["a"]);
});

test.each([
  ["workflows.read", "workflowId"],
  ["executions.list", "workflowId"],
  ["agents.read", "agentId"],
  ["logs.workflows.read", undefined],
  ["my-agents.read", undefined],
])("the id of %s is a %s", (action, name) => {
  expect(nameOfId(action)).toBe(name);
});

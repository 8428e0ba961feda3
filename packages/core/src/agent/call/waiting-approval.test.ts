// Which calls wait for a person: by the host's decision, else by the tool's own.
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { Operation } from "./operation.ts";
import { waitingApproval } from "./waiting-approval.ts";

const inputSchema = z.object({});
const messages = [{ role: "user" as const, content: "pay" }];
const runtimeContext = { userId: "ada" };

async function decided(given: unknown, needsApproval?: unknown, toolName = "pay") {
  const noted: unknown[] = [];
  const operation = Operation.from(undefined, undefined);
  const toolCall = (...asked: unknown[]) => ({
    mustBeApproved: (reason: unknown) => void noted.push([...asked, reason]),
  });
  Object.assign(operation, { loop: { toolCall } });
  const tools = { pay: { ...tool({ inputSchema, execute: () => 1 }), ...Object({ needsApproval }) } };
  const approval: unknown = waitingApproval(given === undefined ? given : Object(given), tools, operation);
  const call = { toolCall: { toolName, toolCallId: "c", input: { n: 1 } }, messages, runtimeContext };
  if (typeof approval !== "function") throw new Error("no function");
  return { status: await approval(call), noted, operation, call };
}

const waits = [["c", "pay", undefined]];

test.each<[string, unknown, unknown, unknown, unknown[]]>([
  ["neither decides", undefined, undefined, "not-applicable", []],
  ["the tool needs it", undefined, true, "not-applicable", waits],
  ["the tool does not need it", undefined, false, "not-applicable", []],
  ["the tool's function says so", undefined, async () => true, "not-applicable", waits],
  ["the tool's function says no", undefined, () => false, "not-applicable", []],
  ["the host wants it", { pay: "user-approval" }, undefined, "not-applicable", waits],
  ["the host allows it, whatever the tool says", { pay: "approved" }, true, "approved", []],
  [
    "the host denies it with a reason",
    { pay: { type: "denied", reason: "no" } },
    true,
    { type: "denied", reason: "no" },
    [],
  ],
  [
    "the host has a reason",
    { pay: { type: "user-approval", reason: "a lot" } },
    undefined,
    "not-applicable",
    [["c", "pay", "a lot"]],
  ],
  [
    "the host's function for the tool wants it",
    { pay: () => "user-approval" },
    undefined,
    "not-applicable",
    waits,
  ],
  ["the host's function for all tools wants it", () => "user-approval", undefined, "not-applicable", waits],
  ["the host's function for all tools allows it", async () => "approved", true, "approved", []],
  ["another tool is meant", { other: "user-approval" }, undefined, "not-applicable", []],
])("%s", async (_, given, needs, status, noted) => {
  const result = await decided(given, needs);
  expect([result.status, result.noted]).toEqual([status, noted]);
});

test("the functions receive the input and the call, and the operation as their context", async () => {
  const seen: unknown[] = [];
  const note = (...given: unknown[]) => void seen.push(given);
  const ofTool = await decided(undefined, note);
  const ofHost = await decided({ pay: note });
  const ofAll = await decided(note);
  const options = { toolCallId: "c", messages, runtimeContext };
  expect(seen).toEqual([
    [{ n: 1 }, { ...options, context: ofTool.operation }],
    [{ n: 1 }, { ...options, toolContext: ofHost.operation }],
    [ofAll.call],
  ]);
});

test("a tool that is called like a property of every object has no decision", async () => {
  const { status, noted } = await decided({}, undefined, "constructor");
  expect([status, noted]).toEqual(["not-applicable", []]);
});

// The item that the inbox shows while its list changes.
import type { InboxItem } from "@andante/client";
import { expect, test } from "vitest";
import { itemToShow, nextAfter } from "./choose-item.ts";

const itemOf = (suspensionId: string, workflowId = "refund"): InboxItem => ({
  executionId: `of ${suspensionId}`,
  workflowId,
  ...{ agentId: null, conversationId: null, approvalId: null },
  userId: null,
  startAt: "2026-01-01T00:00:00.000Z",
  suspension: {
    suspensionId,
    stepId: "ask",
    stepIndex: 0,
    suspendedStepIndex: 0,
    reason: "",
    suspendedAt: "2026-01-01T00:00:00.000Z",
  },
});
const one = itemOf("one");
const two = itemOf("two");
const other = itemOf("other", "post");

test("the oldest at first, or the one in the address", () => {
  expect(itemToShow([one, two], {}, undefined, undefined)).toBe(one);
  expect(itemToShow([one, two], { item: "two" }, one, undefined)).toBe(two);
});

test("one that another person has answered stays until its reader moves on", () => {
  expect(itemToShow([two], {}, one, undefined)).toBe(one);
  expect(itemToShow([two], { item: "one" }, one, undefined)).toBe(one);
  expect(itemToShow([two], { item: "two" }, one, undefined)).toBe(two);
});

test("one that was answered here gives way to the oldest, one that a filter leaves out too", () => {
  expect(itemToShow([two], { item: "one" }, one, one)).toBe(two);
  expect(itemToShow([other], { workflowId: "post" }, one, undefined)).toBe(other);
  expect(itemToShow([other, one], {}, one, undefined)).toBe(one);
});

test("an address of one that is not there shows no other in its place", () => {
  expect(itemToShow([one, two], { item: "gone" }, undefined, undefined)).toBeUndefined();
  expect(itemToShow([one, two], { item: "gone" }, one, two)).toBeUndefined();
});

test("after an answer comes the next one, and after the last the one before it", () => {
  expect(nextAfter([one, two, other], two)).toBe(other);
  expect(nextAfter([one, two], two)).toBe(one);
  expect(nextAfter([one], one)).toBeUndefined();
  expect(nextAfter([two, other], one)).toBe(two);
});

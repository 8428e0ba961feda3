// The followers of executions: their events, their end, and how much they may keep.
import { expect, test } from "vitest";
import type { JournalEvent } from "../../journal/events.ts";
import { Feed, type Follower, type LiveText } from "./feed.ts";

const event: JournalEvent = { type: "workflow-complete", timestamp: 1, sequence: 1, result: "1" };
const text: LiveText = { timestamp: 1, path: "a", stepIndex: 0, stepType: "andAgent", delta: "hi" };

function follower(): Follower & { readonly heard: unknown[] } {
  const heard: unknown[] = [];
  return {
    heard,
    receive: (events) => heard.push(events),
    receiveLive: (said) => heard.push(said),
    reached: (sequence, ended) => heard.push([sequence, ended]),
    stop: () => heard.push("stopped"),
  };
}

test("followers receive the events of their execution, until they leave", () => {
  const feed = new Feed();
  const [one, two, other] = [follower(), follower(), follower()];
  feed.follow("e", one);
  feed.follow("e", two);
  feed.follow("f", other);
  expect([feed.size, feed.keys(), feed.has("e"), feed.has("g")]).toEqual([3, ["e", "f"], true, false]);
  feed.publish("e", [event]);
  feed.publishLive("e", text);
  feed.nudge("e", 7, true);
  feed.publish("g", [event]);
  feed.publishLive("g", text);
  feed.nudge("g", 7, true);
  const all = [[event], text, [7, true]];
  expect([one.heard, two.heard, other.heard]).toEqual([all, all, []]);
  feed.unfollow("e", one);
  feed.show("e", [event]);
  feed.unfollow("g", one);
  expect([one.heard, two.heard]).toEqual([all, [...all, [event]]]);
  feed.unfollow("e", two);
  expect([feed.size, feed.keys(), feed.has("e")]).toEqual([1, ["f"], false]);
});

test("who follows all executions receives commits before the others, and nothing that is only shown", () => {
  const feed = new Feed();
  const order: string[] = [];
  feed.follow("e", { ...follower(), receive: () => order.push("one") });
  feed.followAll((executionId, events) => order.push(`all of ${executionId}: ${events.length}`));
  feed.publish("e", [event]);
  feed.show("e", [event]);
  expect(order).toEqual(["all of e: 1", "one", "one"]);
});

test("a deletion stops the followers of one execution, and the end of the process all", () => {
  const feed = new Feed();
  const [one, other] = [follower(), follower()];
  feed.follow("e", one);
  feed.follow("f", other);
  feed.close("e");
  feed.close("g");
  feed.publish("e", [event]);
  expect([one.heard, other.heard, feed.has("e")]).toEqual([["stopped"], [], false]);
  feed.stop();
  feed.publish("f", [event]);
  expect([one.heard, other.heard, feed.size]).toEqual([["stopped"], ["stopped"], 0]);
});

test("followers share a room, which is never less than nothing", () => {
  const feed = new Feed(10);
  expect(feed.room).toBe(10);
  feed.buffered = 4;
  expect(feed.room).toBe(6);
  feed.buffered = 11;
  expect(feed.room).toBe(0);
});

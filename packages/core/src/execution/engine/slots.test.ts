// Who may take a free slot while others wait for one.
import { expect, test } from "vitest";
import { TestClock } from "../../test-kit/test-clock.ts";
import { Slots, type SlotUser } from "./slots.ts";

interface Held {
  users: SlotUser[];
  waiting: SlotUser[];
}

/** Four slots, of which one user may hold two while others wait. */
function slotsFor(held: Held, limit = 4) {
  const clock = new TestClock({ start: 0 });
  const released: number[] = [];
  const slots = new Slots({
    ...{ limit, userShare: 0.5, clock },
    taken: () => held.users.length,
    users: () => held.users,
    waiting: () => held.waiting,
    released: () => released.push(clock.now()),
  });
  return Object.assign(slots, { clock, released });
}

test("room is the slots neither taken nor reserved; limits have a tenth more", () => {
  const held: Held = { users: ["ada"], waiting: [] };
  const slots = slotsFor(held, 15);
  expect([slots.limit, slots.room, slots.roomForLimits]).toEqual([15, 14, 16]);
  const giveBack = slots.reserve(4);
  expect([slots.room, slots.roomForLimits]).toEqual([10, 12]);
  expect(slots.reserve(-3)).toBeTypeOf("function");
  expect(slots.room).toBe(10);
  giveBack();
  giveBack();
  expect(slots.room).toBe(14);
});

test("a full node refuses every start, and slots freed within the next five seconds are for users who hold less", () => {
  const held: Held = { users: ["ada", "ada", "ada", "bob"], waiting: [] };
  const slots = slotsFor(held);
  expect(() => slots.checkStart("eve")).toThrow(expect.objectContaining({ code: "capacity" }));
  held.users = ["ada", "ada", "ada"];
  expect(() => slots.checkStart("ada")).toThrow(expect.objectContaining({ code: "user-share" }));
  expect(() => slots.checkStart("eve")).not.toThrow();
  slots.clock.advance(4999);
  expect([slots.usersOverShare(), slots.released]).toEqual([new Set(["ada"]), []]);
  // She tries again.
  slots.waits("eve");
  slots.clock.advance(1);
  expect([slots.usersOverShare(), slots.released]).toEqual([new Set(["ada"]), []]);
  slots.clock.advance(4998);
  expect(slots.released).toEqual([]);
  slots.clock.advance(1);
  expect([slots.usersOverShare(), slots.released]).toEqual([new Set(), [9999]]);
  expect(() => slots.checkStart("ada")).not.toThrow();
});

test("a user with its full share who is refused limits no others, and a stop ends the watch", () => {
  const held: Held = { users: ["ada", "ada", "bob", "bob"], waiting: [] };
  const slots = slotsFor(held);
  expect(() => slots.checkStart("ada")).toThrow(expect.objectContaining({ code: "capacity" }));
  expect(slots.usersOverShare()).toEqual(new Set());
  slots.waits("eve");
  expect(slots.usersOverShare()).toEqual(new Set(["ada", "bob"]));
  slots.stop();
  slots.clock.advance(5000);
  expect(slots.released).toEqual([]);
});

test("of a single slot one user may hold one", () => {
  const slots = slotsFor({ users: ["ada"], waiting: ["eve"] }, 1);
  expect(slots.usersOverShare()).toEqual(new Set(["ada"]));
});

test("users who hold their share wait while a user who holds less waits here", () => {
  const held: Held = { users: ["ada", "ada", "bob"], waiting: [] };
  const slots = slotsFor(held);
  expect(slots.usersOverShare()).toEqual(new Set());
  held.waiting = ["ada"];
  expect(slots.usersOverShare()).toEqual(new Set());
  held.waiting = ["ada", "bob"];
  expect(slots.usersOverShare()).toEqual(new Set(["ada"]));
  expect(() => slots.checkStart("ada")).toThrow(expect.objectContaining({ code: "user-share" }));
  expect(() => slots.checkStart("bob")).not.toThrow();
  expect(() => slots.checkStart(null)).not.toThrow();
});

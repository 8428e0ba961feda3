// Who may take a free slot while others wait for one.
import { expect, test } from "vitest";
import { TestClock } from "../../test-kit/test-clock.ts";
import { Slots, type SlotUser } from "./slots.ts";

/** Four slots, of which one user may hold two while others wait. */
function slotsFor(held: { users: SlotUser[]; waiting: SlotUser[] }) {
  return new Slots({
    limit: 4,
    userShare: 0.5,
    clock: new TestClock(),
    taken: () => held.users.length,
    users: () => held.users,
    waiting: () => held.waiting,
    released: () => undefined,
  });
}

test("users who hold their share stand back while a user who holds less waits here", () => {
  const held: { users: SlotUser[]; waiting: SlotUser[] } = { users: ["ada", "ada", "bob"], waiting: [] };
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

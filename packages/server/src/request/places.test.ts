// Places: free ones are for all clients; when all are taken, a client below its share takes one of the largest holder.
import { expect, test, vi } from "vitest";
import { StreamLimitError } from "../errors/request-errors.ts";
import { Places } from "./places.ts";

const placesFor = (limit: number, share: number) =>
  new Places({ limit, share, refusal: (most) => new StreamLimitError({ limit: most }) });

test("one client may take all places, and is refused beyond them", () => {
  const places = placesFor(3, 0.34);
  const [first] = [1, 2, 3].map(() => places.take("one", () => undefined));
  expect(() => places.take("one", () => undefined)).toThrow("limit 3");
  first?.end();
  first?.end();
  places.take("one", () => undefined);
  expect(() => places.take("one", () => undefined)).toThrow("limit 3");
});

test("a client below its share takes the newest place of the one that holds most", () => {
  const places = placesFor(10, 0.2);
  const cuts = Array.from({ length: 7 }, () => vi.fn());
  const held = cuts.map((cut) => places.take("greedy", cut));
  for (let n = 0; n < 3; n++) places.take("modest", () => expect.unreachable());
  const cutOnes = () => cuts.map(({ mock }) => mock.calls.length).join("");
  places.take("late");
  expect(cutOnes()).toBe("0000001");
  const second = places.take("late");
  expect(cutOnes()).toBe("0000011");
  // The client has reached its share.
  expect(() => places.take("late")).toThrow("limit 10");
  // Ending a place that another client has taken frees none.
  held[6]?.end();
  expect(() => places.take("late")).toThrow("limit 10");
  second.end();
  places.take("late");
  expect([cutOnes(), places.count]).toEqual(["0000011", 10]);
});

test("those that hold no more than their share keep it", () => {
  const places = placesFor(4, 0.5);
  for (const client of ["a", "a", "b", "b"]) places.take(client, () => expect.unreachable());
  expect(() => places.take("c")).toThrow("limit 4");
});

test("a place that cannot be cut is not given to another", () => {
  const places = placesFor(2, 0.5);
  places.take("one");
  const cut = vi.fn();
  const other = places.take("one", cut);
  other.cut = undefined;
  expect(() => places.take("two")).toThrow("limit 2");
  other.cut = cut;
  places.take("two");
  expect(cut).toHaveBeenCalledOnce();
});

test("a share of 1 lets one client keep all, a limit of 0 refuses everyone", () => {
  const all = placesFor(2, 1);
  all.take("one", () => expect.unreachable());
  all.take("one", () => expect.unreachable());
  expect(() => all.take("two")).toThrow("limit 2");
  expect(() => placesFor(0, 0.5).take("one")).toThrow("limit 0");
});

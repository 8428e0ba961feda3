// Leases do not depend on the machine's clock.
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { execution } from "../../../store-cases/store-cases.ts";
import { migrate } from "../migrate.ts";
import { claimAbandoned } from "./claim-abandoned.ts";
import { create } from "./create.ts";
import { heartbeat } from "./heartbeat.ts";

let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(":memory:");
  migrate(database);
});
afterEach(() => {
  vi.restoreAllMocks();
  database.close();
});

const claimed = () =>
  claimAbandoned(database)({
    ...{ owner: "there", key: "key", workflowIds: ["publish"], limit: 1, suspects: false, suspectAfter: 2 },
  });

function beat(lease: number): void {
  create(database)(execution());
  heartbeat(database)({ owner: "here", lease });
}

const hour = 3_600_000;

test.each([hour, -hour])("a lease lasts when the machine's clock is set by %i ms", (jump) => {
  beat(60_000);
  const real = Date.now;
  vi.spyOn(Date, "now").mockImplementation(() => real() + jump);
  expect(claimed()).toEqual([]);
});

test.each([0, hour, -hour])("a lease that has ended stays so when the clock is set by %i ms", (jump) => {
  beat(0);
  const real = Date.now;
  vi.spyOn(Date, "now").mockImplementation(() => real() + jump);
  expect(claimed()).toHaveLength(1);
});

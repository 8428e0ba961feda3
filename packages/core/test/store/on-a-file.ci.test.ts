// Triggers and schedules on a file: the cases that `npm test` runs in memory and on maps.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import { sqliteStore } from "../../src/index.ts";
import { eventCases } from "../events/event-cases.ts";
import { linkCases } from "../links/link-cases.ts";
import { scheduleCases } from "../schedules/schedule-cases.ts";
import { scheduleFaultCases } from "../schedules/schedule-fault-cases.ts";
import { webhookCases } from "../webhooks/webhook-cases.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-on-a-file-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

const place = () => {
  const file = path.join(folder, `${++files}.db`);
  return () => sqliteStore({ path: file });
};
const fileStore = () => place()();

eventCases("a file", fileStore);
linkCases("a file", fileStore);
webhookCases("a file", fileStore);
scheduleCases("a file", place);
scheduleFaultCases("a file", place);

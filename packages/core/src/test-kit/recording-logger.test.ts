// The recording logger: lines with their fields, in order, those of children included.
import { expect, test } from "vitest";
import { RecordingLogger } from "./recording-logger.ts";

test("keeps level, message and fields, also of child loggers", () => {
  const logger = new RecordingLogger();
  logger.info({ port: 1 }, "listening");
  logger.child({ step: "a" }).child({ attempt: 2 }).error({ attempt: 3 }, "failed");
  logger.warn({}, "slow");
  expect(logger.lines).toEqual([
    { level: "info", msg: "listening", port: 1 },
    { level: "error", msg: "failed", step: "a", attempt: 3 },
    { level: "warn", msg: "slow" },
  ]);
  expect(logger.of("info", "warn").map(({ msg }) => msg)).toEqual(["listening", "slow"]);
  expect(logger.messages).toEqual(["failed", "slow"]);
  logger.lines.length = 0;
  logger.debug({}, "again");
  expect(logger.lines).toHaveLength(1);
});

import { expect, test } from "vitest";
import { createLogger } from "../log/create-logger.ts";
import { boundsIn, OtlpExport, type SpanExporter } from "./otlp-export.ts";
import { RecordingSpan } from "./recording-span.ts";

const logger = createLogger({ level: "silent" });
const bounds = { waiting: 4, batch: 2, delay: 60_000 };

function end(receiver: OtlpExport, name: string, traceFlags = 1): void {
  const context = { traceId: "1".repeat(32), spanId: "2".repeat(16), traceFlags };
  const resource = { attributes: {} };
  const rest = { parent: undefined, scope: "test", now: Date.now };
  new RecordingSpan({ name, context, resource, ...rest, ended: (span) => receiver.onEnd(span) }).end();
}

test("spans beyond the bound of the queue are dropped and counted, the others arrive in order", async () => {
  const arrived: string[] = [];
  const taken = Promise.withResolvers<void>();
  const exporter: SpanExporter = {
    export: (spans, report) => {
      arrived.push(...spans.map(({ name }) => name));
      void taken.promise.then(() => report({ code: 0 }));
    },
    shutdown: async () => {},
  };
  const queue = new OtlpExport(Promise.resolve(exporter), bounds, logger);
  for (const name of ["a", "b"]) end(queue, name);
  await expect.poll(() => arrived).toEqual(["a", "b"]);
  // The collector has not answered: four wait, the fifth has no place.
  for (const name of ["c", "d", "e", "f", "lost"]) end(queue, name);
  end(queue, "not sampled", 0);
  expect(queue.dropped).toBe(1);
  taken.resolve();
  await queue.shutdown();
  expect(arrived).toEqual(["a", "b", "c", "d", "e", "f"]);
  expect(queue.dropped).toBe(1);
});

test.each<[string, SpanExporter["export"]]>([
  ["reports a failure", (_, report) => report({ code: 1, error: new Error("refused") })],
  [
    "throws",
    () => {
      throw new Error("broken");
    },
  ],
])("spans of an exporter that %s are counted, and later ones are sent", async (_, fail) => {
  const arrived: string[] = [];
  let fails = true;
  const exporter: SpanExporter = {
    export: (spans, report) => {
      if (fails) return fail(spans, report);
      arrived.push(...spans.map(({ name }) => name));
      report({ code: 0 });
    },
    shutdown: async () => {},
  };
  const queue = new OtlpExport(Promise.resolve(exporter), bounds, logger);
  end(queue, "a");
  await queue.forceFlush();
  expect(queue.dropped).toBe(1);
  fails = false;
  end(queue, "b");
  await queue.forceFlush();
  expect([arrived, queue.dropped]).toEqual([["b"], 1]);
});

test("the bounds have OpenTelemetry's names and defaults", () => {
  expect(boundsIn({})).toEqual({ waiting: 2048, batch: 512, delay: 5000 });
  expect(boundsIn({ OTEL_BSP_MAX_QUEUE_SIZE: "100", OTEL_BSP_SCHEDULE_DELAY: "soon" })).toEqual({
    waiting: 100,
    batch: 100,
    delay: 5000,
  });
});

// Where the host has a context manager, spans made inside a body nest under its step's span.
import { AsyncLocalStorage } from "node:async_hooks";
import { createWorkflow } from "@andante/core";
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { dataOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { weatherWorkflow } from "../support/weather-workflow.ts";

/** The context manager that every OpenTelemetry SDK for Node registers, in a few lines. */
class StorageContextManager implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active = () => this.#storage.getStore() ?? ROOT_CONTEXT;
  with: ContextManager["with"] = (active, work, receiver, ...args) =>
    this.#storage.run(active, () => Reflect.apply(work, receiver, args));
  bind: ContextManager["bind"] = (_, target) => target;
  enable = () => this;
  disable = () => this;
}

beforeEach(() => {
  context.setGlobalContextManager(new StorageContextManager());
});
afterEach(() => context.disable());

const active = () => trace.getSpanContext(context.active());

test("bodies, also after they have waited, and tools run inside the span that the trace shows", async () => {
  const seen: Record<string, string | undefined> = {};
  const pair = createWorkflow({ id: "pair", input: z.unknown() })
    .andThen({
      id: "at-once",
      execute: () => {
        seen["step at-once"] = active()?.spanId;
        return 1;
      },
    })
    .andThen({
      id: "later",
      execute: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        seen["step later"] = active()?.spanId;
        return 1;
      },
    });
  const lookUp = () => {
    seen["execute_tool weather"] = active()?.spanId;
    return 21;
  };
  const server = await serveForTest({ workflows: { pair, forecast: weatherWorkflow({ lookUp }) } });
  const shown: Record<string, string> = {};
  for (const workflow of ["pair", "forecast"]) {
    const answer = await server.post(`/workflows/${workflow}/execute`, { input: { city: "Paris" } });
    const traceId = answer.headers.get("traceparent")?.split("-")[1];
    const { spans } = dataOf(await server.get(`/api/traces/${traceId}`));
    for (const { name, spanId } of z.array(z.object({ name: z.string(), spanId: z.string() })).parse(spans))
      shown[name] = spanId;
  }
  expect(Object.keys(seen)).toHaveLength(3);
  for (const [name, spanId] of Object.entries(seen)) expect(spanId, name).toBe(shown[name]);
});

test("with tracing off no span is active", async () => {
  let spanContext: unknown = "not run";
  const look = createWorkflow({ id: "look", input: z.unknown() }).andThen({
    id: "look",
    execute: () => {
      spanContext = active();
      return 1;
    },
  });
  const server = await serveForTest({ workflows: { look }, tracing: false });
  await server.post("/workflows/look/execute", { input: {} });
  expect(spanContext).toBeUndefined();
});

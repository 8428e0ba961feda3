// A collector of OpenTelemetry's protocol on loopback: reads traces and metrics as JSON, and traces as protobuf.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { cleanup } from "./cleanup.ts";

const attributes = z
  .array(
    z.object({
      key: z.string(),
      value: z.looseObject({ stringValue: z.string().optional(), intValue: z.coerce.number().optional() }),
    }),
  )
  .default([])
  .transform((list) =>
    Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue ?? value.intValue])),
  );

const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes,
  status: z.object({ code: z.number().optional() }),
  events: z.array(z.object({ name: z.string() })),
});
const scope = z.object({ name: z.string().optional() });
const traces = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes }),
      scopeSpans: z.array(z.object({ scope, schemaUrl: z.string().optional(), spans: z.array(span) })),
    }),
  ),
});
const metric = z.object({
  name: z.string(),
  unit: z.string().optional(),
  histogram: z
    .object({ dataPoints: z.array(z.object({ attributes, sum: z.number(), count: z.coerce.number() })) })
    .optional(),
});
const measurements = z.object({
  resourceMetrics: z.array(
    z.object({
      scopeMetrics: z.array(z.object({ schemaUrl: z.string().optional(), metrics: z.array(metric) })),
    }),
  ),
});

/** A span with the attributes of its resource and the schema of its scope. */
export type CollectedSpan = z.output<typeof span> & {
  readonly service: unknown;
  readonly schemaUrl: string | undefined;
};
export type CollectedMetric = z.output<typeof metric> & { readonly schemaUrl: string | undefined };

export class OtlpCollector {
  readonly spans: CollectedSpan[] = [];
  readonly metrics: CollectedMetric[] = [];
  /** The names of spans that came as protobuf. */
  readonly protobufNames: string[] = [];
  readonly headers: NodeJS.Dict<string | string[]>[] = [];
  /** The status of the response, for a collector in trouble. */
  status = 200;
  url = "";
  readonly #waiting = new Set<() => void>();

  static async start(): Promise<OtlpCollector> {
    const collector = new OtlpCollector();
    const server = createServer(async (incoming, answer) => {
      const body = Buffer.concat(await incoming.toArray());
      collector.headers.push(incoming.headers);
      if (collector.status === 200)
        collector.#read(incoming.url ?? "", incoming.headers["content-type"] ?? "", body);
      answer.writeHead(collector.status, { "content-type": incoming.headers["content-type"] });
      answer.end(incoming.headers["content-type"] === "application/json" ? "{}" : "");
      for (const look of collector.#waiting) look();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanup(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    collector.url = `http://127.0.0.1:${port}`;
    return collector;
  }

  /** Resolves with the value once `find` returns one: it is called after each request. */
  until<T>(find: (collector: OtlpCollector) => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const look = () => {
        const found = find(this);
        if (found === undefined) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  named(name: string): CollectedSpan[] {
    return this.spans.filter((each) => each.name === name);
  }

  #read(path: string, type: string, body: Buffer): void {
    if (type === "application/x-protobuf") {
      // ExportTraceServiceRequest.resource_spans.scope_spans.spans.name
      this.protobufNames.push(...at(body, [1, 2, 2, 5]).map(String));
    } else if (path.endsWith("/v1/traces")) {
      for (const { resource, scopeSpans } of traces.parse(JSON.parse(String(body))).resourceSpans)
        for (const { schemaUrl, spans } of scopeSpans)
          this.spans.push(
            ...spans.map((each) => ({ ...each, schemaUrl, service: resource.attributes["service.name"] })),
          );
    } else if (path.endsWith("/v1/metrics")) {
      const scopes = measurements
        .parse(JSON.parse(String(body)))
        .resourceMetrics.flatMap((each) => each.scopeMetrics);
      for (const { schemaUrl, metrics } of scopes)
        this.metrics.push(...metrics.map((each) => ({ ...each, schemaUrl })));
    }
  }
}

/** The fields of a protobuf message at this path of field numbers. */
function at(message: Buffer, [field, ...path]: readonly number[]): Buffer[] {
  if (field === undefined) return [message];
  const found: Buffer[] = [];
  let position = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(position++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return Number(value);
    }
  };
  while (position < message.length) {
    const tag = varint();
    const length = { 0: 0, 1: 8, 5: 4 }[tag & 7] ?? varint();
    if ((tag & 7) === 0) varint();
    if (tag >> 3 === field) found.push(...at(message.subarray(position, position + length), path));
    position += length;
  }
  return found;
}

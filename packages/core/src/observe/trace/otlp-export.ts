// Export by the environment: where OTEL_EXPORTER_OTLP_ENDPOINT names a collector and the host has no SDK of its own.
//
// The wire formats, headers, compression and retries are those of OpenTelemetry's exporter, which the host installs. The
// queue is ours, because a span that the SDK's own queue drops is reported nowhere.
import type { Logger } from "../log/logger.ts";
import { ifInstalled } from "./if-installed.ts";
import { isRegistered, traceFlags } from "./otel-api.ts";
import type { ReadableSpan, SpanProcessor } from "./readable-span.ts";

/** An exporter of OpenTelemetry's SDK 2 or 3. */
export interface SpanExporter {
  export(spans: readonly ReadableSpan[], report: (result: ExportResult) => void): void;
  shutdown(): Promise<void>;
}

interface ExportResult {
  /** 0 for success. */
  readonly code: number;
  readonly error?: Error;
}

/** The bounds of the queue, in spans, and the longest wait of a span, in milliseconds. */
interface QueueBounds {
  readonly waiting: number;
  readonly batch: number;
  readonly delay: number;
}

/** The names and defaults of OpenTelemetry's SDK. */
export function boundsIn(environment: NodeJS.ProcessEnv): QueueBounds {
  const number = (name: string, otherwise: number) => {
    const given = Number(environment[name]);
    return given >= 1 ? given : otherwise;
  };
  const waiting = number("OTEL_BSP_MAX_QUEUE_SIZE", 2048);
  const batch = Math.min(waiting, number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512));
  return { waiting, batch, delay: number("OTEL_BSP_SCHEDULE_DELAY", 5000) };
}

/** Whether the environment asks for an export over OTLP, as OpenTelemetry defines its variables. */
export function isExportWanted(environment: NodeJS.ProcessEnv): boolean {
  const { OTEL_SDK_DISABLED = "", OTEL_TRACES_EXPORTER = "otlp" } = environment;
  if (OTEL_SDK_DISABLED.trim().toLowerCase() === "true") return false;
  if (!OTEL_TRACES_EXPORTER.split(",").some((name) => name.trim() === "otlp")) return false;
  return Boolean(environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || environment.OTEL_EXPORTER_OTLP_ENDPOINT);
}

const json = "@opentelemetry/exporter-trace-otlp-http";
const protobuf = "@opentelemetry/exporter-trace-otlp-proto";

/** The exporter for the protocol of the environment. Throws where its package is not installed. */
export async function loadExporter(environment: NodeJS.ProcessEnv): Promise<SpanExporter> {
  const { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: ofTraces, OTEL_EXPORTER_OTLP_PROTOCOL: ofAll } = environment;
  const protocol = ofTraces || ofAll || "http/protobuf";
  const name = { "http/json": json, "http/protobuf": protobuf }[protocol];
  if (name === undefined) throw new Error(`OTEL_EXPORTER_OTLP_PROTOCOL: "${protocol}" is not supported`);
  const found = await ifInstalled(name, () =>
    name === json
      ? import("@opentelemetry/exporter-trace-otlp-http")
      : import("@opentelemetry/exporter-trace-otlp-proto"),
  );
  if (found === undefined) throw new Error(`install ${name}`);
  return new found.OTLPTraceExporter();
}

export class OtlpExport implements SpanProcessor {
  readonly #exporter: Promise<SpanExporter | undefined>;
  readonly #bounds: QueueBounds;
  readonly #logger: Logger;
  #waiting: ReadableSpan[] = [];
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dropped = 0;

  constructor(exporter: Promise<SpanExporter>, bounds: QueueBounds, logger: Logger) {
    this.#bounds = bounds;
    this.#logger = logger;
    this.#exporter = exporter.catch((err: unknown) => {
      logger.warn({ err }, "spans are not exported, although OTEL_EXPORTER_OTLP_ENDPOINT is set");
      return undefined;
    });
  }

  /** The number of spans that did not fit, or that the collector did not take. */
  get dropped(): number {
    return this.#dropped;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    // A provider that the host registers exports them.
    if (isRegistered("trace") || (span.spanContext().traceFlags & traceFlags.sampled) === 0) return;
    if (this.#waiting.length >= this.#bounds.waiting) {
      this.#drop(1, undefined);
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= this.#bounds.batch) void this.forceFlush();
    else this.#timer ??= setTimeout(() => void this.forceFlush(), this.#bounds.delay).unref();
  }

  forceFlush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#send();
    return this.#sending;
  }

  async shutdown(): Promise<void> {
    await this.forceFlush();
    await (await this.#exporter)?.shutdown();
  }

  async #send(): Promise<void> {
    const exporter = await this.#exporter;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#bounds.batch);
      const { code, error } = await exported(exporter, batch);
      if (code !== 0) this.#drop(batch.length, error);
    }
    // With the check above and not a microtask later, when further spans may wait.
    this.#sending = undefined;
  }

  #drop(count: number, err: Error | undefined): void {
    this.#dropped += count;
    // A collector that is gone is one line for each time it is missed, not one for each span.
    if (err !== undefined)
      this.#logger.warn({ err, count }, "spans were dropped: the collector did not take them");
  }
}

/** Resolves in any case: the loop that sends must continue. */
function exported(exporter: SpanExporter | undefined, batch: readonly ReadableSpan[]): Promise<ExportResult> {
  // The constructor has logged why there is no exporter.
  if (exporter === undefined) return Promise.resolve({ code: 1 });
  return new Promise<ExportResult>((resolve) => exporter.export(batch, resolve)).catch((thrown: unknown) => ({
    code: 1,
    error: thrown instanceof Error ? thrown : new Error(String(thrown)),
  }));
}

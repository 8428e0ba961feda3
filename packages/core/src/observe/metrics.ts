// The metrics of one Andante in Prometheus' text format. Its registry is its own: two in one process do not mix.
//
// Labels are bounded: workflows, agents and models are those that the host registered, routes are patterns. No id and no raw
// path ever is a label.

import { monitorEventLoopDelay } from "node:perf_hooks";
import { endStatus, type JournalEvent } from "../journal/events.ts";
import { Counter, Histogram, heading, type MetricFamily, ReadMetric, sample } from "./metric-families.ts";
import { processMetrics } from "./process-metrics.ts";

/** Where the current metrics are read. */
export interface MetricsSources {
  running(): number;
  /** Streams that follow an execution. */
  streams(): number;
  suspended(): Promise<number>;
  /** Log lines and spans that were lost. */
  dropped(): number;
}

const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600];
const responseTimes = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class Metrics {
  /** By name, in the order in which they are written. */
  readonly #families = new Map<string, MetricFamily>();
  readonly #delay: EventLoopDelay;
  readonly #started = this.#counter("executions_started_total", "Executions that were started", ["workflow"]);
  readonly #ended = this.#counter("executions_ended_total", "Executions that ended, by how", [
    "workflow",
    "status",
  ]);
  readonly #suspensions = this.#counter(
    "execution_suspensions_total",
    "Times that executions were suspended",
    ["workflow"],
  );
  readonly #resumes = this.#counter("execution_resumes_total", "Times that executions were resumed", [
    "workflow",
  ]);
  readonly #recoveries = this.#counter(
    "execution_recoveries_total",
    "Executions recovered where another process left them",
    ["workflow"],
  );
  readonly #retries = this.#counter(
    "step_retries_total",
    "Attempts of steps that failed and were tried again",
    ["workflow"],
  );
  readonly #failures = this.#counter("step_failures_total", "Steps that failed", ["workflow"]);
  readonly #tokens = this.#counter("model_tokens_total", "Tokens that model calls used", [
    "agent",
    "model",
    "type",
  ]);
  readonly #modelCalls = this.#counter("model_calls_total", "Calls of models", ["agent", "model"]);
  readonly #occurrences = this.#counter(
    "schedule_occurrences_total",
    "Occurrences of schedules that this process has decided, by outcome",
    ["outcome"],
  );
  readonly #storageFailures = this.#counter(
    "storage_failures_total",
    "Calls of the store that failed because the storage was in trouble",
    [],
  );
  readonly #duration = this.#register(
    new Histogram(
      "andante_execution_duration_seconds",
      "From the start of an execution to its end, waiting included",
      ["workflow", "status"],
      durations,
    ),
  );
  readonly #requests = this.#counter("http_requests_total", "Requests, by route pattern", [
    "method",
    "route",
    "status",
  ]);
  readonly #requestDuration = this.#register(
    new Histogram(
      "andante_http_request_duration_seconds",
      "From a request to the head of its response",
      ["method", "route"],
      responseTimes,
    ),
  );

  constructor(sources: MetricsSources) {
    this.gauge("executions_running", "Executions that run in this process", () => sources.running());
    this.gauge("executions_suspended", "Executions in the store that wait to be resumed", () =>
      sources.suspended(),
    );
    this.gauge("stream_clients", "Streams that follow an execution", () => sources.streams());
    this.#register(
      new ReadMetric(
        "andante_observations_dropped_total",
        "Log lines and spans that were lost",
        () => [{ value: sources.dropped() }],
        "counter",
      ),
    );
    this.#delay = this.#register(new EventLoopDelay());
    for (const family of processMetrics()) this.#register(family);
  }

  /** All of it, for `GET /metrics`. */
  async text(): Promise<string> {
    const texts = await Promise.all([...this.#families.values()].map((family) => family.text()));
    return texts.filter((text) => text !== "").join("\n");
  }

  readonly contentType = "text/plain; version=0.0.4; charset=utf-8";

  /** Adds a metric that is read with each `text()`; its name begins with `andante_`. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    this.#register(new ReadMetric(`andante_${name}`, help, async () => [{ value: await read() }]));
  }

  /** Events of an execution were committed. `startAt` is 0 where it is not known. */
  receive(workflow: string, startAt: number, events: readonly JournalEvent[]): void {
    for (const event of events) this.#count(workflow, startAt, event);
  }

  #count(workflow: string, startAt: number, event: JournalEvent): void {
    switch (event.type) {
      case "workflow-start":
        return this.#started.add([workflow]);
      case "workflow-suspended":
        return this.#suspensions.add([workflow]);
      case "step-error":
        return this.#failures.add([workflow]);
      case "step-retry":
        return this.#retries.add([workflow]);
      case "workflow-complete":
      case "workflow-error":
      case "workflow-cancelled": {
        const status = endStatus[event.type];
        this.#ended.add([workflow, status]);
        if (startAt > 0) this.#duration.observe([workflow, status], (event.timestamp - startAt) / 1000);
        return;
      }
      default:
        return;
    }
  }

  /** Occurrences of a schedule were decided. */
  occurrence(outcome: string, count: number): void {
    this.#occurrences.add([outcome], count);
  }

  resumed(workflow: string): void {
    this.#resumes.add([workflow]);
  }

  /** Executions of a workflow were recovered; 0 shows that none were so far, so that the first are seen as an increase. */
  recovered(workflow: string, count = 1): void {
    this.#recoveries.add([workflow], count);
  }

  storageFailed(): void {
    this.#storageFailures.add([]);
  }

  tokens(agent: string, model: string, usage: { readonly input: number; readonly output: number }): void {
    this.#modelCalls.add([agent, model]);
    this.#tokens.add([agent, model, "input"], usage.input);
    this.#tokens.add([agent, model, "output"], usage.output);
  }

  /** A response was sent. `route` is a pattern, never an address. */
  request(method: string, route: string, status: number, seconds: number): void {
    this.#requests.add([method, route, `${Math.floor(status / 100)}xx`]);
    this.#requestDuration.observe([method, route], seconds);
  }

  close(): void {
    this.#delay.close();
  }

  #counter<const Names extends readonly string[]>(name: string, help: string, labels: Names) {
    return this.#register(new Counter(`andante_${name}`, help, labels));
  }

  #register<Family extends MetricFamily>(family: Family): Family {
    this.#families.set(family.name, family);
    return family;
  }
}

/**
 * How late the event loop is: quantiles since the last reading, and a sum and a count that only grow, as a summary
 * has them.
 */
class EventLoopDelay implements MetricFamily {
  readonly name = "andante_event_loop_delay_seconds";
  readonly #delay = monitorEventLoopDelay({ resolution: 10 });
  #sum = 0;
  #count = 0;

  constructor() {
    this.#delay.enable();
  }

  text(): string {
    const delay = this.#delay;
    const seconds = (nanoseconds: number) => nanoseconds / 1e9;
    let lines = heading(this.name, "Delay of the event loop since the last reading", "summary");
    lines += sample(this.name, 'quantile="0.5"', seconds(delay.percentile(50)));
    lines += sample(this.name, 'quantile="0.99"', seconds(delay.percentile(99)));
    lines += sample(this.name, 'quantile="1"', seconds(delay.max));
    // Without a measurement the mean is not a number.
    if (delay.count > 0) this.#sum += seconds(delay.mean) * delay.count;
    this.#count += delay.count;
    delay.reset();
    lines += sample(`${this.name}_sum`, "", this.#sum);
    return lines + sample(`${this.name}_count`, "", this.#count);
  }

  close(): void {
    this.#delay.disable();
  }
}

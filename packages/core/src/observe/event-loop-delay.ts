// How late the event loop is: quantiles since the last reading, and a sum and a count that only grow, as a summary has them.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { heading, type MetricFamily, sample } from "./metric-families.ts";

export class EventLoopDelay implements MetricFamily {
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

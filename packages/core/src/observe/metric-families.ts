// Counters, histograms and gauges, and how they are written in Prometheus' text format.
//
// Plain code in place of a library: counting is on the way of every request, and the format is three kinds of lines.
import { StoreUnavailableError } from "../errors/index.ts";

/** The interface of a metric for the registry: its lines, with those that describe it. */
export interface MetricFamily {
  readonly name: string;
  text(): string | Promise<string>;
}

/** One value for each name of a label. */
export type LabelValues<Names extends readonly string[]> = { readonly [Index in keyof Names]: string };

/** A number that only grows, for each set of labels. */
export class Counter<const Names extends readonly string[]> implements MetricFamily {
  readonly name: string;
  readonly #help: string;
  readonly #labels: Names;
  readonly #series = new SeriesMap<{ readonly values: readonly string[]; value: number }>();

  constructor(name: string, help: string, labels: Names) {
    this.name = name;
    this.#help = help;
    this.#labels = labels;
    // Without labels there is one series, and it is there from the start.
    if (labels.length === 0) this.#series.add({ values: [], value: 0 });
  }

  add(values: LabelValues<Names>, amount = 1): void {
    const series = this.#series.get(values);
    if (series === undefined) this.#series.add({ values, value: amount });
    else series.value += amount;
  }

  text(): string {
    let lines = heading(this.name, this.#help, "counter");
    for (const { values, value } of this.#series.values())
      lines += sample(this.name, labelText(this.#labels, values), value);
    return lines;
  }
}

interface Distribution {
  readonly values: readonly string[];
  /** How many observations fell into each bucket, the last for those above all bounds. */
  readonly counts: number[];
  sum: number;
}

/** How often a number was at most each of some bounds, for each set of labels. */
export class Histogram<const Names extends readonly string[]> implements MetricFamily {
  readonly name: string;
  readonly #help: string;
  readonly #labels: Names;
  readonly #bounds: readonly number[];
  readonly #series = new SeriesMap<Distribution>();

  /** `bounds` grow from the first to the last. */
  constructor(name: string, help: string, labels: Names, bounds: readonly number[]) {
    this.name = name;
    this.#help = help;
    this.#labels = labels;
    this.#bounds = bounds;
  }

  observe(values: LabelValues<Names>, value: number): void {
    let series = this.#series.get(values);
    if (series === undefined) {
      series = { values, counts: new Array(this.#bounds.length + 1).fill(0), sum: 0 };
      this.#series.add(series);
    }
    let bucket = 0;
    for (const bound of this.#bounds) {
      if (value <= bound) break;
      bucket++;
    }
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
  }

  text(): string {
    let lines = heading(this.name, this.#help, "histogram");
    for (const { values, counts, sum } of this.#series.values()) {
      const labels = labelText(this.#labels, values);
      const rest = labels === "" ? "" : `,${labels}`;
      let total = 0;
      for (const [index, count] of counts.entries()) {
        total += count;
        lines += sample(`${this.name}_bucket`, `le="${this.#bounds[index] ?? "+Inf"}"${rest}`, total);
      }
      lines += sample(`${this.name}_sum`, labels, sum);
      lines += sample(`${this.name}_count`, labels, total);
    }
    return lines;
  }
}

/** One value of a gauge, with the text of its labels. */
export interface GaugeSample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric whose value is read on demand. */
export class ReadMetric implements MetricFamily {
  readonly name: string;
  readonly #help: string;
  readonly #type: "counter" | "gauge";
  readonly #read: () => readonly GaugeSample[] | Promise<readonly GaugeSample[]>;

  constructor(
    name: string,
    help: string,
    read: () => readonly GaugeSample[] | Promise<readonly GaugeSample[]>,
    type: "counter" | "gauge" = "gauge",
  ) {
    this.name = name;
    this.#help = help;
    this.#read = read;
    this.#type = type;
  }

  /** Empty while it needs a store that is not available: the other metrics are read then, too. */
  async text(): Promise<string> {
    let samples: readonly GaugeSample[];
    try {
      samples = await this.#read();
    } catch (error) {
      if (error instanceof StoreUnavailableError) return "";
      throw error;
    }
    let lines = heading(this.name, this.#help, this.#type);
    for (const { labels = {}, value } of samples) {
      lines += sample(this.name, labelText(Object.keys(labels), Object.values(labels)), value);
    }
    return lines;
  }
}

/** The two lines that describe a metric. */
export function heading(name: string, help: string, type: string): string {
  const written = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return `# HELP ${name} ${written}\n# TYPE ${name} ${type}\n`;
}

/** The line of one value; `labels` is their text, without braces. */
export function sample(name: string, labels: string, value: number): string {
  return labels === "" ? `${name} ${numberText(value)}\n` : `${name}{${labels}} ${numberText(value)}\n`;
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}

/** The series of a family by the values of their labels. */
class SeriesMap<Series extends { readonly values: readonly string[] }> {
  readonly #byKey = new Map<string, Series>();
  /** The series of the last call, which is often that of the next: no key is made for it. */
  #last: Series | undefined;

  get(values: readonly string[]): Series | undefined {
    const last = this.#last;
    if (last !== undefined && isSame(last.values, values)) return last;
    this.#last = this.#byKey.get(seriesKey(values));
    return this.#last;
  }

  add(series: Series): void {
    this.#byKey.set(seriesKey(series.values), series);
  }

  values(): Iterable<Series> {
    return this.#byKey.values();
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}

function seriesKey(values: readonly string[]): string {
  return values.length === 1 ? (values[0] ?? "") : values.join("\0");
}

function labelText(names: readonly string[], values: readonly string[]): string {
  let text = "";
  for (const [index, name] of names.entries()) {
    if (index > 0) text += ",";
    text += `${name}="${escaped(values[index] ?? "")}"`;
  }
  return text;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

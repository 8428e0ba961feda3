// The rules of `promtool check metrics`, and those of the text format itself, for machines without promtool.

interface Family {
  readonly name: string;
  help?: string;
  type?: string;
  readonly samples: Sample[];
}

interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

const metricName = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const label = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"`;
const sampleLine = new RegExp(`^(${metricName})(?:\\{(${label}(?:,${label})*)\\})? (\\S+)$`);
const types = ["counter", "gauge", "histogram", "summary", "untyped"];

/** Units that have a base unit, and words that repeat the type. */
const baseUnits: Readonly<Record<string, string>> = {
  milliseconds: "seconds",
  microseconds: "seconds",
  nanoseconds: "seconds",
  minutes: "seconds",
  hours: "seconds",
  days: "seconds",
  kilobytes: "bytes",
  megabytes: "bytes",
  bits: "bytes",
  percent: "ratio",
};
const abbreviations = ["s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb"];
const typeWords = ["counter", "gauge", "histogram", "summary"];

/** The faults in a text of metrics, one line each. */
export function lintMetrics(text: string): string[] {
  const problems: string[] = [];
  if (!text.endsWith("\n")) problems.push("the last line does not end");
  const families = familiesOf(text, problems);
  for (const family of families.values()) problems.push(...problemsOf(family));
  return problems;
}

/** The names of all metrics, those of a histogram's and a summary's series included. */
export function metricNames(text: string): Set<string> {
  const names = new Set<string>();
  for (const { name, type } of familiesOf(text, []).values()) {
    names.add(name);
    if (type === "histogram") names.add(`${name}_bucket`);
    if (type === "histogram" || type === "summary") names.add(`${name}_sum`).add(`${name}_count`);
  }
  return names;
}

function familiesOf(text: string, problems: string[]): Map<string, Family> {
  const families = new Map<string, Family>();
  let current: Family | undefined;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, keyword, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (keyword !== undefined) {
      if (current?.name !== name) {
        if (families.has(name)) problems.push(`${name}: its lines are not together`);
        current = families.get(name) ?? { name, samples: [] };
        families.set(name, current);
      }
      const field = keyword === "HELP" ? "help" : "type";
      if (current[field] !== undefined) problems.push(`${name}: two lines of ${keyword}`);
      current[field] = rest;
      continue;
    }
    const [, sampleName = "", labels = "", value = ""] = sampleLine.exec(line) ?? [];
    if (sampleName === "") problems.push(`not a line of the format: ${line}`);
    else if (current === undefined || !belongs(sampleName, current)) problems.push(`${line}: of no metric`);
    else current.samples.push({ name: sampleName, labels: labelsIn(labels), value: numberIn(value) });
  }
  return families;
}

function belongs(sample: string, { name, type }: Family): boolean {
  const suffixes = { histogram: ["_bucket", "_sum", "_count"], summary: ["", "_sum", "_count"] };
  const allowed = type === "histogram" || type === "summary" ? suffixes[type] : [""];
  return allowed.some((suffix) => sample === name + suffix);
}

function labelsIn(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(/([^=,]+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = "", value = ""]) => [name, value]),
  );
}

function numberIn(text: string): number {
  return text === "+Inf"
    ? Number.POSITIVE_INFINITY
    : text === "-Inf"
      ? Number.NEGATIVE_INFINITY
      : Number(text);
}

function problemsOf({ name, help, type = "", samples }: Family): string[] {
  const problems: string[] = [];
  const wrong = (problem: string) => problems.push(`${name}: ${problem}`);
  const words = name.split("_");
  if (!help) wrong("no help text");
  if (!types.includes(type)) wrong(`the type is "${type}"`);
  if (type === "counter" && !name.endsWith("_total")) wrong('counter metrics should have "_total" suffix');
  if (type !== "counter" && name.endsWith("_total"))
    wrong('non-counter metrics should not have "_total" suffix');
  if (/_(bucket|count|sum)$/.test(name)) wrong("the suffix is that of a histogram's series");
  if (name.includes(":")) wrong('metric names should not contain ":"');
  if (/[a-z][A-Z]/.test(name)) wrong("metric names should be written in snake_case");
  for (const word of words) {
    if (baseUnits[word] !== undefined) wrong(`use base unit "${baseUnits[word]}" instead of "${word}"`);
    if (typeWords.includes(word)) wrong(`metric name should not include type "${word}"`);
  }
  if (abbreviations.includes(words.at(-1) ?? "")) wrong("metric names should not contain abbreviated units");
  const seen = new Set<string>();
  for (const { name: sample, labels, value } of samples) {
    const series = `${sample}${JSON.stringify([...labels].sort())}`;
    if (seen.has(series)) wrong(`two values of ${series}`);
    seen.add(series);
    if (Number.isNaN(value)) wrong(`${series} has no number`);
    if (type === "counter" && value < 0) wrong(`${series} is below 0`);
    if (type !== "histogram" && labels.has("le")) wrong('non-histogram metrics should not have "le" label');
    if (type !== "summary" && labels.has("quantile"))
      wrong('non-summary metrics should not have "quantile" label');
    if ([...labels.keys()].some((key) => /[a-z][A-Z]/.test(key))) wrong("labels should be in snake_case");
  }
  if (type === "histogram") problems.push(...bucketProblems(name, samples));
  return problems;
}

/** Buckets hold those below them too, and the last holds all. */
function bucketProblems(name: string, samples: readonly Sample[]): string[] {
  const problems: string[] = [];
  const totals = new Map<string, number>();
  const infinite = new Set<string>();
  for (const { name: sample, labels, value } of samples) {
    const series = JSON.stringify([...labels].filter(([key]) => key !== "le"));
    const before = totals.get(series) ?? 0;
    if (sample === `${name}_bucket`) {
      if (value < before) problems.push(`${name}: a bucket of ${series} is smaller than the one before`);
      totals.set(series, value);
      if (labels.get("le") === "+Inf") infinite.add(series);
    } else if (sample === `${name}_count`) {
      if (!infinite.has(series)) problems.push(`${name}: ${series} has no bucket +Inf`);
      if (value !== before) problems.push(`${name}: the count of ${series} is not that of its last bucket`);
    }
  }
  return problems;
}

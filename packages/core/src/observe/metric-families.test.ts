// The lines of metrics in Prometheus' text format.
import { expect, test } from "vitest";
import { StoreUnavailableError } from "../errors/index.ts";
import { Counter, Histogram, ReadMetric } from "./metric-families.ts";

test("a counter has one line for each set of labels, in the order in which they came", () => {
  const counter = new Counter("jobs_total", "Jobs", ["queue", "status"]);
  counter.add(["mail", "done"]);
  counter.add(["mail", "failed"], 2.5);
  counter.add(["mail", "done"]);
  expect(counter.text()).toBe(
    '# HELP jobs_total Jobs\n# TYPE jobs_total counter\njobs_total{queue="mail",status="done"} 2\n' +
      'jobs_total{queue="mail",status="failed"} 2.5\n',
  );
});

test("a counter without labels is there before it counts", () => {
  const counter = new Counter("failures_total", "Failures", []);
  expect(counter.text()).toBe(
    "# HELP failures_total Failures\n# TYPE failures_total counter\nfailures_total 0\n",
  );
  counter.add([]);
  expect(counter.text()).toContain("\nfailures_total 1\n");
});

test("labels that differ only in where they end are not mixed, and reserved characters are escaped", () => {
  const counter = new Counter("x", 'a\\b\n"c"', ["one", "two"]);
  counter.add(["a", 'b"'], 1);
  counter.add(["ab", '"'], 2);
  counter.add(["back\\slash", "line\nbreak"], 3);
  expect(counter.text()).toBe(
    '# HELP x a\\\\b\\n"c"\n# TYPE x counter\nx{one="a",two="b\\""} 1\nx{one="ab",two="\\""} 2\n' +
      'x{one="back\\\\slash",two="line\\nbreak"} 3\n',
  );
});

test("a histogram counts values of at most a bound, in buckets that include those below", () => {
  const histogram = new Histogram("wait_seconds", "Waiting", ["queue"], [0.5, 1]);
  for (const value of [0.25, 0.5, 0.75, 8]) histogram.observe(["mail"], value);
  expect(histogram.text()).toBe(
    [
      "# HELP wait_seconds Waiting",
      "# TYPE wait_seconds histogram",
      'wait_seconds_bucket{le="0.5",queue="mail"} 2',
      'wait_seconds_bucket{le="1",queue="mail"} 3',
      'wait_seconds_bucket{le="+Inf",queue="mail"} 4',
      'wait_seconds_sum{queue="mail"} 9.5',
      'wait_seconds_count{queue="mail"} 4',
      "",
    ].join("\n"),
  );
});

test("a metric that is read on demand has the values of that moment", async () => {
  let values = [{ value: 1 }];
  const metric = new ReadMetric("size", "Size", () => values);
  expect(await metric.text()).toBe("# HELP size Size\n# TYPE size gauge\nsize 1\n");
  values = [];
  expect(await metric.text()).toBe("# HELP size Size\n# TYPE size gauge\n");
  const infinite = new ReadMetric(
    "size",
    "Size",
    async () => [{ labels: { of: "all" }, value: Infinity }],
    "counter",
  );
  expect(await infinite.text()).toBe('# HELP size Size\n# TYPE size counter\nsize{of="all"} +Inf\n');
});

test("a metric of a store that is not available is left out, and any other failure is one", async () => {
  const failing = (error: Error) => new ReadMetric("size", "Size", () => Promise.reject(error));
  expect(await failing(new StoreUnavailableError({ cause: new Error("away") })).text()).toBe("");
  await expect(failing(new TypeError("wrong")).text()).rejects.toThrow("wrong");
});

// The simulation of `npm run bench:scale` against formulas of queueing theory, so that its tables can be believed.
import { expect, test } from "vitest";
import { simulateCell } from "../../bench/scale/simulation.ts";

/** Erlang's formula C: the share of arrivals that wait, with `load` processors busy of `width`. */
function shareThatWaits(load: number, width: number): number {
  let term = 1;
  let sum = 0;
  for (let n = 0; n < width; n++) {
    sum += term;
    term = (term * load) / (n + 1);
  }
  const all = term / (1 - load / width);
  return all / (sum + all);
}

const within = (value: number, expected: number, share: number) =>
  expect(Math.abs(value / expected - 1)).toBeLessThan(share);

test.each([
  { width: 1, load: 0.5 },
  { width: 1, load: 0.8 },
  { width: 4, load: 3.2 },
  { width: 16, load: 14.4 },
])(
  "with exponential times, $load of $width processors busy, the mean wait is Erlang's",
  ({ width, load }) => {
    const { meanWait, executions } = simulateCell({
      seed: 1,
      arrivals: load * 100,
      duration: 60_000 / (load * 100),
      nodes: { count: 1, width, time: 0.01 },
      times: "exponential",
    });
    within(executions, 60_000, 0.02);
    within(meanWait, (shareThatWaits(load, width) * 0.01) / (width - load), 0.08);
  },
);

test.each([0.5, 0.8, 0.9])("with fixed times and a load of %d, the mean wait is that of M/D/1", (load) => {
  const { meanWait } = simulateCell({
    seed: 2,
    arrivals: load * 100,
    duration: 2500,
    nodes: { count: 1, width: 1, time: 0.01 },
    times: "fixed",
  });
  within(meanWait, (load * 0.01) / (2 * (1 - load)), 0.05);
});

test("two stations with exponential times wait as each of them alone does (Burke's theorem)", () => {
  const { meanWait } = simulateCell({
    seed: 3,
    arrivals: 60,
    duration: 2000,
    nodes: { count: 1, width: 1, time: 0.01 },
    database: { width: 2, time: 0.02 },
    times: "exponential",
  });
  const node = (shareThatWaits(0.6, 1) * 0.01) / (1 - 0.6);
  const database = (shareThatWaits(1.2, 2) * 0.02) / (2 - 1.2);
  within(meanWait, node + database, 0.05);
});

test("after an outage the backlog is drained in the time that the spare capacity needs", () => {
  const { drained, backlog } = simulateCell({
    seed: 4,
    arrivals: 600,
    duration: 200,
    nodes: { count: 4, width: 1, time: 0.001 },
    database: { width: 1, time: 0.001 },
    times: "exponential",
    loss: { of: "database", at: 50, lease: 10, outage: 20 },
  });
  within(backlog, 600 * 20, 0.05);
  // 20 s of arrivals at 600/s, taken at 1000 - 600 a second, after the outage itself.
  within(drained, 20 + (20 * 600) / 400, 0.1);
});

test("executions of a lost node wait for the lease and end elsewhere, and a seed repeats a run", () => {
  const options = {
    seed: 5,
    arrivals: 1000,
    duration: 30,
    nodes: { count: 4, width: 1, time: 0.002 },
    bodies: 0.5,
    times: "exponential",
    loss: { of: "node", at: 10, lease: 3, outage: 20 },
  } as const;
  const lost = simulateCell(options);
  const { loss: _, ...calm } = options;
  // Little's law: 250 arrivals a second at each node, for half a second in bodies and 4 ms before them.
  within(lost.orphans, 250 * 0.504, 0.15);
  // The lease, the bodies, and the time that three nodes with a load of 2/3 need for the others.
  within(lost.takeOver, 3 + 0.5 + (lost.orphans * 0.002) / 3 / (1 - 2 / 3), 0.1);
  within(lost.executions, simulateCell(calm).executions, 0.02);
  expect(simulateCell(options)).toEqual(lost);
});

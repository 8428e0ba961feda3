// How much a validation may cost, and how long its message may be: callers choose the values.
import { Script } from "node:vm";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { threadWorks } from "../../test/support/thread-works.ts";
import { maxValidation, type Schema, validate } from "./schema.ts";
import { requestTries } from "./within-limit.ts";

const detailOf = async (schema: Schema, value: unknown) => {
  const result = await validate(schema, value);
  return result.ok ? undefined : result.detail;
};

/** A schema of another library. */
function standard(check: Schema["~standard"]["validate"]): Schema {
  const jsonSchema = { input: () => ({}), output: () => ({}) };
  return { "~standard": { version: 1, vendor: "ours", validate: check, jsonSchema } };
}

test("five issues are described, more are counted", async () => {
  const problem = "Invalid input: expected string, received number";
  const list = z.object({ list: z.array(z.string()) });
  expect(await detailOf(list, { list: [1, 2] })).toBe(`list.0: ${problem}; list.1: ${problem}`);
  expect(await detailOf(list, { list: Array(5).fill(1) })).toMatch(/; list\.4: [^;]*$/);
  expect(await detailOf(list, { list: Array(6).fill(1) })).toMatch(/list\.4: [^;]*; and 1 more$/);
  expect(await detailOf(list, { list: Array(450).fill(1) })).toMatch(/list\.4: [^;]*; and 445 more$/);
});

test("keys that a caller chose do not make a long message", async () => {
  const key = "k".repeat(100_000);
  expect((await detailOf(z.record(z.string(), z.number()), { [key]: "x" }))?.length).toBeLessThan(500);
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`key-${index}`, 1]));
  expect((await detailOf(z.strictObject({}), many))?.length).toBeLessThan(500);
});

test("of a large list the first wrong element ends the validation", async () => {
  let looked = 0;
  const counted = z.string().refine(() => ++looked > 0);
  const list = z.object({ list: z.array(z.union([counted, z.boolean()])) });
  const values = Array.from({ length: 50_000 }, (_, index) => (index < 10 ? "right" : index));
  expect(await detailOf(list, { list: values })).toBe("list.10: Invalid input");
  expect(looked).toBe(10);
  const right = { list: Array(50_000).fill("right") };
  expect(await validate(list, right)).toEqual({ ok: true, value: right });
});

test("a large value is the output of its schema, also when that is asynchronous", async () => {
  const values = Array.from({ length: 50_000 }, (_, index) => index);
  const doubled = z.array(z.number().transform((n) => n * 2));
  expect(await validate(doubled, values)).toEqual({ ok: true, value: values.map((n) => n * 2) });
  const slowly = z.array(z.number()).refine(async (list) => list.length < 50_001, "too many");
  expect(await validate(slowly, values)).toEqual({ ok: true, value: values });
  expect(await detailOf(slowly, [...values, 1])).toBe("too many");
});

test.each<[string, Schema]>([
  ["each element", z.object({ list: z.array(z.string().refine(async () => true)) })],
  ["the whole", z.object({ list: z.array(z.string()) }).refine(async () => true)],
  [
    "one kind of element",
    z.object({ list: z.array(z.union([z.string().refine(async () => true), z.null()])) }),
  ],
])(
  "a large list with an asynchronous check of %s is validated up to its first wrong element",
  async (_, list) => {
    const right = { list: Array(20_001).fill("right") };
    expect(await validate(list, right)).toEqual({ ok: true, value: right });
    expect(await detailOf(list, { list: [...right.list, ...Array(600_000).fill(1)] })).toMatch(
      /^list\.20001: [^;]{1,100}$/,
    );
  },
);

test("the issues of an asynchronous schema of another library are described in few words", async () => {
  const issues = Array.from({ length: 100_000 }, () => ({ message: "m".repeat(1000) }));
  const late = standard(async () => ({ issues }));
  const detail = await detailOf(late, Array(50_000).fill(1));
  expect(detail).toMatch(/; and 99995 more$/);
  expect(detail?.length).toBeLessThan(1600);
  const right = standard(async (value) => ({ value }));
  expect(await validate(right, [1])).toEqual({ ok: true, value: [1] });
});

/** A schema whose validation has no end, and how often it was begun. */
function endless() {
  const begun = { count: 0 };
  const schema = standard(() => {
    begun.count += 1;
    for (;;);
  });
  return { schema, begun };
}

test.each([
  ["large", 500],
  ["huge", 50_000],
])("a validation of a %s value that takes too long is given up after one try", async (_, length) => {
  threadWorks(0.8 * maxValidation);
  const { schema, begun } = endless();
  expect(await detailOf(schema, Array(length).fill(1))).toBe(
    `it could not be validated within ${maxValidation} ms`,
  );
  expect(begun.count).toBe(1);
});

test("a value whose validation got little of the processor is not refused for it: callers are to try again", async () => {
  threadWorks(0.7 * maxValidation);
  const { schema, begun } = endless();
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await expect(validate(schema, Array(500).fill(1), requestTries)).rejects.toMatchObject({
    code: "schema-busy",
    status: 503,
    retryAfter: 1,
  });
  clearInterval(timer);
  // On a busy machine the time of a try may be over before the validation begins.
  expect(begun.count).toBeLessThanOrEqual(3);
  expect(turns).toBeGreaterThanOrEqual(2);
});

test("a validation that got little of the processor at first succeeds later", async () => {
  threadWorks(1);
  let tries = 0;
  const late = standard((value) => {
    tries += 1;
    while (tries < 2);
    return { value };
  });
  expect(await validate(late, Array(500).fill(1))).toMatchObject({ ok: true });
});

/** A thread with this steady share of a processor, and a validation that takes so many milliseconds of it. */
function steadyShare(share: number, needed: number) {
  let worked = 0;
  const walls: number[] = [];
  const usage = vi
    .spyOn(process, "threadCpuUsage")
    .mockImplementation(() => ({ user: worked * 1000, system: 0 }));
  const run = Script.prototype.runInContext;
  const script = vi.spyOn(Script.prototype, "runInContext").mockImplementation(function (
    this: Script,
    ...given
  ) {
    const wall = Number(given[1]?.timeout);
    walls.push(wall);
    worked += Math.min(needed, share * wall);
    if (share * wall >= needed) return run.apply(this, given);
    throw Object.assign(new Error("interrupted"), { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" });
  });
  onTestFinished(() => {
    usage.mockRestore();
    script.mockRestore();
  });
  return walls;
}

test.each([
  [0.5, requestTries, [500, 1000]],
  [0.25, requestTries, [500, 1000, 2000]],
  [0.04, undefined, [500, 1000, 2000, 4000, 8000, 12_500]],
])(
  "with a steady share of %d a value of 390 ms of the processor is validated",
  async (share, tries, expected) => {
    const walls = steadyShare(share, 390);
    const right = standard((value) => ({ value }));
    expect(await validate(right, Array(500).fill(1), tries)).toMatchObject({ ok: true });
    expect(walls).toEqual(expected);
  },
);

test("a value that costs too much is refused also with a small share of the processor", async () => {
  const walls = steadyShare(0.25, 1000);
  const { schema } = endless();
  expect(await detailOf(schema, Array(500).fill(1))).toMatch(/could not be validated/);
  expect(walls).toEqual([500, 1000, 2000]);
});

test("huge values are validated in different turns of the event loop, smaller ones at once", async () => {
  // A turn is full by the time that validations took: here they take none, however busy the machine is.
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const validated: number[] = [];
  const noted = standard((value) => {
    validated.push(turn);
    return { value };
  });
  const work = async (length: number) => {
    const began = turn;
    await validate(noted, Array(length).fill(1));
    return turn - began;
  };
  const [one, other] = await Promise.all([work(10_001), work(10_001)]);
  expect(new Set(validated).size).toBe(2);
  // The caller has another turn than the validation.
  expect(Math.min(one, other)).toBeGreaterThan(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await Promise.all([work(9000), work(9000)])).toEqual([0, 0]);
  isOver = true;
});

test("a small value has no time limit", async () => {
  const slow = standard((value) => {
    const end = performance.now() + maxValidation + 100;
    while (performance.now() < end);
    return { value };
  });
  expect(await validate(slow, Array(499).fill(1))).toMatchObject({ ok: true });
});

const objectOf = (length: number, key = "key") =>
  Object.fromEntries(Array.from({ length }, (_, index) => [`${key}${index}`, 1]));

test.each([
  ["elements", Array(490).fill(1), Array(500).fill(1)],
  ["properties", objectOf(450), objectOf(500)],
  ["characters", "x".repeat(49_000), "x".repeat(50_000)],
  ["characters of keys", objectOf(40, "k".repeat(900)), objectOf(50, "k".repeat(900))],
])("a value is large by its %s: then a list ends at its first wrong element", async (_, small, large) => {
  const schema = z.object({ list: z.array(z.string()), rest: z.unknown() });
  expect(await detailOf(schema, { list: [1, 2], rest: small })).toContain("; list.1: ");
  expect(await detailOf(schema, { list: [1, 2], rest: large })).not.toContain("; ");
});

test("a list of medium length stops at its first wrong element, also of a union", async () => {
  const shapes = ["a", "b", "c"].map((type) => z.object({ type: z.literal(type), n: z.number() }));
  const list = z.array(z.union(shapes));
  expect(await detailOf(list, Array(600).fill({}))).toBe("0: Invalid input");
});

test.each([5, 5000, 50_000])(
  "an error of a schema's own is a rejection, as it is: %i elements",
  async (length) => {
    const broken = standard(() => {
      throw new TypeError("broken schema");
    });
    await expect(validate(broken, Array(length).fill(1))).rejects.toThrow(new TypeError("broken schema"));
  },
);

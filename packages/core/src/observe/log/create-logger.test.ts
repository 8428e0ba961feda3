import { stripVTControlCharacters } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createLogger, defaultLogger, type LoggerOptions } from "./create-logger.ts";

function written(options: LoggerOptions = {}) {
  const lines: string[] = [];
  const logger = createLogger({ ...options, destination: { write: (line) => lines.push(line) } });
  return { logger, lines };
}

describe("JSON lines", () => {
  test("hold level, time, message and fields, of children too", () => {
    const { logger, lines } = written({ format: "json" });
    logger.child({ executionId: "e1" }).child({ stepPath: "a/b" }).info({ n: 1 }, "done");
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      executionId: "e1",
      stepPath: "a/b",
      n: 1,
      msg: "done",
    });
  });

  test("hold no secret: in fields, in a child's fields, in a message", () => {
    const { logger, lines } = written({ format: "json" });
    const child = logger.child({ apiKey: "hidden" }).child({ headers: { cookie: "hidden" } });
    child.warn({ token: "hidden", err: new Error("GET /x?token=hidden") }, "at /ws?token=hidden");
    expect(lines.join("")).not.toContain("hidden");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      apiKey: "[redacted]",
      msg: "at /ws?token=[redacted]",
    });
  });

  test("may be a message alone, as pino takes it", () => {
    const { logger, lines } = written({ format: "json" });
    for (const each of [logger, logger.child({ executionId: "e1" })])
      Reflect.apply(each.info, each, ["alone"]);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { msg: "alone" },
      { executionId: "e1", msg: "alone" },
    ]);
  });

  test("of children of children without end hold each field once, the latest", () => {
    const { logger, lines } = written({ format: "json" });
    let child = logger.child({ first: true });
    for (let depth = 0; depth < 20_000; depth++) child = child.child({ depth });
    child.info({ n: 1 }, "deep");
    expect(lines[0]).toMatch(/"first":true,"depth":19999,"n":1,"msg":"deep"}\n$/);
  });

  test("below the level nothing is written", () => {
    const { logger, lines } = written({ level: "warn", format: "json" });
    logger.info({}, "no");
    logger.error({}, "yes");
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(["yes"]);
    expect([logger.isLevelEnabled?.("info"), logger.isLevelEnabled?.("warn")]).toEqual([false, true]);
  });

  test("are the default where standard output is no terminal", () => {
    const { logger, lines } = written();
    logger.info({}, "x");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ msg: "x" });
  });
});

test("a pretty line shows time, level, message and fields, the stack below, and no control characters of others", () => {
  const { logger, lines } = written({ format: "pretty" });
  logger.warn({ executionId: "e1", evil: "\u001b[2J\n", err: new Error("boom") }, "careful");
  const plain = stripVTControlCharacters(lines[0] ?? "");
  expect(plain).toMatch(/^\d\d:\d\d:\d\d\.\d{3} warn {2}careful executionId=e1 evil=/);
  expect(plain).toContain("\n    Error: boom\n    at ");
  expect(lines[0]).not.toContain("\u001b[2J");
});

describe("the default level", () => {
  afterEach(() => vi.unstubAllEnvs());

  /** The output of the default logger in this environment. */
  function levelsIn(environment: Record<string, string | undefined>): string[] {
    vi.stubEnv("NODE_ENV", undefined);
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const lines: string[] = [];
    const logger = defaultLogger({ write: (line) => lines.push(line) });
    for (const level of ["debug", "info", "warn", "error"] as const) logger[level]({}, "line");
    return lines.map((line) => JSON.parse(line).level);
  }

  test("is info", () => {
    expect(levelsIn({})).toEqual(["info", "warn", "error"]);
    expect(levelsIn({ NODE_ENV: "production" })).toEqual(["info", "warn", "error"]);
  });

  test("is silent inside a test, of Vitest or of Node's own runner", () => {
    expect(levelsIn({ NODE_ENV: "test" })).toEqual([]);
    expect(levelsIn({ NODE_TEST_CONTEXT: "child-v8" })).toEqual([]);
  });

  test("is that of ANDANTE_LOG_LEVEL, inside a test too", () => {
    expect(levelsIn({ ANDANTE_LOG_LEVEL: "warn" })).toEqual(["warn", "error"]);
    expect(levelsIn({ NODE_ENV: "test", ANDANTE_LOG_LEVEL: "error" })).toEqual(["error"]);
    expect(levelsIn({ ANDANTE_LOG_LEVEL: "silent" })).toEqual([]);
  });

  test("a level that does not exist is refused", () => {
    expect(() => levelsIn({ ANDANTE_LOG_LEVEL: "loud" })).toThrow(
      'Option ANDANTE_LOG_LEVEL: "loud" is not one of debug, info, warn, error, silent',
    );
  });

  test("a logger that the host makes writes in tests too", () => {
    const { logger, lines } = written();
    logger.info({}, "line");
    expect(lines).toHaveLength(1);
  });
});

test("a level or a format that does not exist is refused before the first line", () => {
  expect(() => Reflect.apply(createLogger, undefined, [{ format: "colourful" }])).toThrow(
    'Option format: "colourful" is not one of pretty, json',
  );
  expect(() => Reflect.apply(createLogger, undefined, [{ level: "loud" }])).toThrow(
    'Option level: "loud" is not one of debug, info, warn, error, silent',
  );
});

test("a proxy around it, an object made of it and a method on its own work as pino's do", () => {
  const { logger, lines } = written();
  const proxy = new Proxy(logger, { get: (target, name, receiver) => Reflect.get(target, name, receiver) });
  proxy.info({}, "1");
  proxy.child({ a: 1 }).info({}, "2");
  Object.create(logger).info({}, "3");
  ({ ...logger }).info({}, "4");
  const { info } = logger;
  info({}, "5");
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(["1", "2", "3", "4", "5"]);
});

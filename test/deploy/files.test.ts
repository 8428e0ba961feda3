// The files in deploy/ name ports, paths, files, variables, limits and metrics that exist.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { timeoutsOf } from "../../packages/server/src/connection-timeouts.ts";
import { installedProgram } from "../support/installed-program.ts";
import { metricNames } from "../support/lint-metrics.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const folder = path.resolve(import.meta.dirname, "../../deploy");
const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
/** Milliseconds after SIGTERM by which a node has ended: `grace` and two seconds. */
const closing = 12_000;
/** `limits.body`. */
const bodyLimit = 4 * 1024 * 1024;
/** The environment variables of `serve`, as the page on operating lists them. */
const variables = [
  ...readFileSync(path.join(folder, "../docs/operating.md"), "utf8").matchAll(/^\| (`[A-Z].*?) \|/gm),
].flatMap(([, names = ""]) => names.replaceAll("`", "").split(", "));

const list = z.array(z.string());
const compose = z.object({
  services: z.object({
    andante: z.object({
      build: z.object({ context: z.string(), dockerfile: z.string() }),
      environment: z.record(z.string(), z.string()),
      ports: z.tuple([z.string()]),
      volumes: z.tuple([z.string()]),
      stop_grace_period: z.string(),
      read_only: z.literal(true),
    }),
  }),
  volumes: z.record(z.string(), z.null()),
});

/** The instructions of a Dockerfile, continued lines joined. */
function instructions(text: string): [string, string][] {
  const lines = text.replaceAll("\\\n", " ").split("\n");
  return lines
    .filter((line) => /^[A-Z]+ /.test(line))
    .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1).trim()]);
}

function argumentOf(steps: readonly [string, string][], name: string): string {
  return steps.findLast(([instruction]) => instruction === name)?.[1] ?? "";
}

/** Variables of glibc, with which the attacks are measured. */
const allocator = ["MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_"];

test("the image is built in two stages, ends without rights, and starts Node itself", () => {
  const steps = instructions(read("Dockerfile"));
  const images = steps.filter(([name]) => name === "FROM").map(([, image]) => image);
  expect(images).toEqual(["node:24-slim AS build", "node:24-slim"]);
  const final = steps.slice(steps.findLastIndex(([name]) => name === "FROM"));
  expect(argumentOf(final, "USER")).toBe("node");
  const after = final.slice(final.findIndex(([name]) => name === "USER")).map(([name]) => name);
  expect(after).toEqual(["USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD"]);
  expect(list.parse(JSON.parse(argumentOf(final, "CMD")))[0]).toBe("node");
  // The other file admits everything that is copied from the application's folder.
  const copied = steps.filter(([name, what]) => name === "COPY" && !what.startsWith("--from"));
  const files = copied.flatMap(([, what]) => what.split(" ").slice(0, -1));
  const allowed = [...read("Dockerfile.dockerignore").matchAll(/^!(.*)$/gm)].map(([, name]) => name);
  expect(files).toEqual(allowed);
});

test("the image's variables are ones that serve reads, and its check asks a path that exists", async () => {
  const steps = instructions(read("Dockerfile"));
  const pairs = argumentOf(steps, "ENV")
    .split(" ")
    .map((pair) => pair.split("="));
  const environment = Object.fromEntries(pairs);
  expect(environment).toMatchObject({ HOST: "0.0.0.0", PORT: argumentOf(steps, "EXPOSE") });
  expect(variables).toEqual(expect.arrayContaining(["PORT", "HOST", "ANDANTE_DB"]));
  expect(
    Object.keys(environment).filter((name) => !["NODE_ENV", ...allocator, ...variables].includes(name)),
  ).toEqual([]);
  expect(path.posix.dirname(environment.ANDANTE_DB)).toBe(argumentOf(steps, "VOLUME"));
  const check = list.parse(JSON.parse(argumentOf(steps, "HEALTHCHECK").replace(/^.*?CMD /, "")));
  const server = await serveForTest();
  const { port } = new URL(server.url);
  const exitCode = async () => {
    const child = spawn(process.execPath, check.slice(1), { env: { PORT: port }, stdio: "ignore" });
    return (await once(child, "exit"))[0];
  };
  expect(await exitCode()).toBe(0);
  await server.close();
  expect(await exitCode()).toBe(1);
});

test("compose.yaml has one node, its file in the volume, and time to stop", () => {
  const { services, volumes } = compose.parse(parse(read("compose.yaml")));
  const { andante } = services;
  const context = path.resolve(folder, andante.build.context);
  expect(existsSync(path.join(context, andante.build.dockerfile))).toBe(true);
  expect(andante.ports[0]).toBe(`127.0.0.1:3141:${andante.environment.PORT}`);
  const [name = "", mount] = andante.volumes[0].split(":");
  expect(Object.keys(volumes)).toEqual([name]);
  expect(path.posix.dirname(andante.environment.ANDANTE_DB ?? "")).toBe(mount);
  expect(Object.keys(andante.environment).filter((key) => !variables.includes(key))).toEqual([]);
  expect(Number.parseInt(andante.stop_grace_period, 10) * 1000).toBeGreaterThan(closing);
});

test("the systemd unit runs without rights, writes only its own folder, and waits for the end", () => {
  const settings = read("andante.service")
    .split("\n")
    .filter((line) => /^\w+=/.test(line))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
  const one = Object.fromEntries(settings);
  const environment = settings
    .filter(([name]) => name === "Environment")
    .flatMap(([, value]) => value.split(" "));
  const names = environment.map((pair) => pair.split("=")[0] ?? "");
  expect(names.filter((name) => !["NODE_ENV", ...allocator, ...variables].includes(name))).toEqual([]);
  expect(environment).toContain(`ANDANTE_DB=/var/lib/${one.StateDirectory}/andante.db`);
  expect(one).toMatchObject({ DynamicUser: "yes", ProtectSystem: "strict", KillMode: "mixed" });
  expect(Number(one.TimeoutStopSec) * 1000).toBeGreaterThan(closing);
  // The same file as the image, and as `npm create andante` writes it.
  const image = list.parse(JSON.parse(argumentOf(instructions(read("Dockerfile")), "CMD"))).slice(1);
  expect(one.ExecStart?.split(" ").slice(1)).toEqual(image);
  const template = path.join(folder, "../packages/create-andante/template/common");
  const file = image.at(-1) ?? "";
  expect(existsSync(path.join(template, file))).toBe(true);
  expect(JSON.parse(readFileSync(path.join(template, "package.json"), "utf8")).scripts.start).toContain(
    ` ${file}`,
  );
  const scaffolded = instructions(readFileSync(path.join(template, "Dockerfile"), "utf8"));
  expect(list.parse(JSON.parse(argumentOf(scaffolded, "CMD"))).slice(1)).toEqual(image);
});

test("the proxies keep connections shorter than the node, and let bodies through that it takes", () => {
  const { keepAliveTimeout = 0 } = timeoutsOf();
  const nginx = read("nginx.conf");
  expect(nginx).toMatch(/^ {4}proxy_buffering off;$/m);
  // nginx keeps connections to upstreams for 60 s unless keepalive_timeout sets another time.
  expect(nginx).not.toContain("keepalive_timeout");
  expect(keepAliveTimeout).toBeGreaterThan(60_000);
  expect(Number(/client_max_body_size (\d+)m;/.exec(nginx)?.[1]) * 1024 * 1024).toBe(bodyLimit);
  const caddy = read("Caddyfile");
  expect(caddy).toMatch(/^\t\tflush_interval -1$/m);
  expect(Number(/keepalive (\d+)s/.exec(caddy)?.[1]) * 1000).toBeLessThan(keepAliveTimeout);
  expect(Number(/max_size (\d+)MiB/.exec(caddy)?.[1]) * 1024 * 1024).toBe(bodyLimit);
});

test("every metric that the alert rules and the dashboard name is on /metrics, with its labels' values", async () => {
  const rules = z.object({
    groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
  });
  const { groups } = rules.parse(parse(read("prometheus/alerts.yml")));
  const panel = z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) });
  const { panels } = z.object({ panels: z.array(panel) }).parse(JSON.parse(read("grafana/andante.json")));
  const expressions = [
    ...groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  expect(expressions.length).toBeGreaterThan(25);
  const { text } = await (await serveForTest()).get("/metrics");
  const known = metricNames(text);
  const named = expressions.flatMap((expr) => expr.match(/\b(?:andante|process|nodejs)_\w+/g) ?? []);
  expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
  const statuses = expressions.flatMap((expr) =>
    [...expr.matchAll(/status="(\w+)"/g)].map(([, value]) => value),
  );
  expect([...new Set(statuses)].sort()).toEqual(["5xx", "error"]);
});

test("promtool, where it is installed, sees every alert fire when it should and not otherwise", () => {
  const cases = path.join(import.meta.dirname, "alerts.yml");
  const { rule_files } = z
    .object({ rule_files: z.tuple([z.string()]) })
    .parse(parse(readFileSync(cases, "utf8")));
  expect(path.resolve(import.meta.dirname, rule_files[0])).toBe(path.join(folder, "prometheus/alerts.yml"));
  const promtool = installedProgram("promtool");
  if (promtool === undefined) return;
  expect(execFileSync(promtool, ["test", "rules", cases], { encoding: "utf8" })).toContain("SUCCESS");
});

test("promtool, where it is installed, takes the rules and the configuration", () => {
  const promtool = installedProgram("promtool");
  const files = ["prometheus/alerts.yml", "prometheus/prometheus.yml"];
  for (const [index, file] of files.entries()) {
    // Without promtool at least the form is checked: a document that a parser of YAML takes.
    expect(parse(read(file))).toHaveProperty(index === 0 ? "groups" : "scrape_configs");
    if (promtool === undefined) continue;
    const check = index === 0 ? "rules" : "config";
    expect(execFileSync(promtool, ["check", check, path.join(folder, file)], { encoding: "utf8" })).toContain(
      "SUCCESS",
    );
  }
});

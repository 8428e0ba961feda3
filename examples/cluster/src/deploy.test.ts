// The files in deploy/ name ports, paths, files and variables that exist.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { memoryStore } from "@andante/core";
import { createApp } from "@andante/server";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";

const folder = path.join(import.meta.dirname, "..", "deploy");
const root = path.join(import.meta.dirname, "..", "..", "..");
const read = (name: string) => readFileSync(path.join(folder, name), "utf8");

const composeNode = z.object({
  build: z.object({ context: z.string(), dockerfile: z.string() }),
  environment: z.object({
    DATABASE_URL: z.string(),
    // Compose refuses to start without it.
    JWT_SECRET: z.string().startsWith("${JWT_SECRET:?"),
    HOST: z.string(),
    PORT: z.string(),
  }),
  depends_on: z.object({ postgres: z.object({ condition: z.literal("service_healthy") }) }),
  stop_grace_period: z.string(),
  healthcheck: z.object({ test: z.array(z.string()) }),
  ports: z.array(z.string()),
});
const compose = z.object({
  services: z.object({
    postgres: z.object({
      environment: z.record(z.string(), z.string()),
      healthcheck: z.object({ test: z.array(z.string()) }),
    }),
    "node-1": composeNode,
    "node-2": composeNode,
    "node-3": composeNode,
  }),
});

const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.literal("http") }) });
const deployment = z.object({
  kind: z.literal("Deployment"),
  spec: z.object({
    replicas: z.literal(3),
    template: z.object({
      metadata: z.object({ labels: z.object({ app: z.string() }) }),
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        containers: z.tuple([
          z.object({
            env: z.array(z.object({ name: z.string(), value: z.string().optional() })),
            ports: z.tuple([z.object({ name: z.literal("http"), containerPort: z.number() })]),
            startupProbe: probe,
            livenessProbe: probe,
            readinessProbe: probe,
          }),
        ]),
      }),
    }),
  }),
});

/** Milliseconds after SIGTERM by which a node has ended: its `grace` and two seconds. */
const closing = 12_000;

async function statusOf(route: string): Promise<number> {
  const app = createApp({ store: memoryStore() });
  await app.andante.ready();
  const response = await app.fetch(new Request(`http://127.0.0.1${route}`));
  await app.close({ grace: 0 });
  return response.status;
}

test("docker-compose.yml starts three nodes on one database, with ports and a check that exist", async () => {
  const { services } = compose.parse(parse(read("docker-compose.yml"), { merge: true }));
  const { postgres, ...nodes } = services;
  const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = postgres.environment;
  const published = new Set<string>();
  for (const node of Object.values(nodes)) {
    const { DATABASE_URL, HOST, PORT } = node.environment;
    expect(DATABASE_URL).toBe(
      `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres:5432/${POSTGRES_DB}`,
    );
    expect(HOST).toBe("0.0.0.0");
    const [, outside, inside] = /^127\.0\.0\.1:(\d+):(\d+)$/.exec(node.ports[0] ?? "") ?? [];
    expect(inside).toBe(PORT);
    published.add(outside ?? "");
    const checked = /http:\/\/127\.0\.0\.1:(\d+)(\/\w+)/.exec(node.healthcheck.test.join(" "));
    expect(checked?.[1]).toBe(PORT);
    expect(await statusOf(checked?.[2] ?? "")).toBe(200);
    expect(Number.parseInt(node.stop_grace_period, 10) * 1000).toBeGreaterThan(closing);
    const context = path.resolve(folder, node.build.context);
    expect(context).toBe(root);
    expect(existsSync(path.join(context, node.build.dockerfile))).toBe(true);
  }
  expect(published.size).toBe(3);
});

test.each(["DATABASE_URL", "JWT_SECRET"])("a node that is deployed without %s names it and ends", (name) => {
  const settings = { ...process.env, DATABASE_URL: "postgres://localhost/none", JWT_SECRET: "s" };
  const env = Object.fromEntries(Object.entries(settings).filter(([key]) => key !== name));
  const node = path.join(import.meta.dirname, "node.ts");
  const args = ["--conditions=andante-source", node];
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  expect([status, stderr]).toEqual([1, expect.stringContaining(`${name} is not set`)]);
});

test("kubernetes.yaml probes paths that exist on the port that the node listens on", async () => {
  const documents = parseAllDocuments(read("kubernetes.yaml")).map((document) => document.toJS());
  expect(documents.map(({ kind }) => kind)).toEqual(["Deployment", "Service", "PodDisruptionBudget"]);
  const { template } = deployment.parse(documents[0]).spec;
  const [container] = template.spec.containers;
  const environment = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
  const fromSecrets = { DATABASE_URL: undefined, JWT_SECRET: undefined };
  expect(environment).toEqual({ ...fromSecrets, HOST: "0.0.0.0", PORT: "3141" });
  expect(String(container.ports[0].containerPort)).toBe(environment.PORT);
  expect(container.livenessProbe.httpGet.path).toBe("/health");
  expect(container.startupProbe.httpGet.path).toBe("/health");
  expect(container.readinessProbe.httpGet.path).toBe("/ready");
  for (const route of ["/health", "/ready"]) expect(await statusOf(route)).toBe(200);
  expect(template.spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(closing);
  for (const { spec } of documents.slice(1)) {
    const selected = spec.selector.matchLabels ?? spec.selector;
    expect(selected).toEqual(template.metadata.labels);
  }
});

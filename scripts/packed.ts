// Installs the packages as a user would, from tarballs into fresh folders, beside the newest and the oldest versions of
// the dependencies they share with a host; type-checks an application there, runs it, and counts the installed packages.
//
// Needs the package registry and nothing else. It is not part of `npm test`: it installs some hundred packages.
import assert from "node:assert/strict";
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildPackages, npmFile, pack, packages, root, run, tool } from "./packages.ts";

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

interface Scenario {
  readonly name: string;
  /** The packages installed beside ours. */
  readonly beside: readonly string[];
  /** The file of test/packed that is type-checked and run. */
  readonly main: "plain" | "exporter-2" | "exporter-3";
  /** Whether agents have spans: with @ai-sdk/otel. */
  readonly agentSpans: boolean;
}

const work = mkdtempSync(path.join(tmpdir(), "andante-packed-"));
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));
const manifests = packages.map(manifestOf);

/** The lowest versions that the ranges allow. */
const lowest = new Map(
  manifests
    .flatMap(({ dependencies, peerDependencies }) => Object.entries({ ...dependencies, ...peerDependencies }))
    .filter(([name]) => !manifests.some((own) => own.name === name))
    .map(([name, range]) => [name, range.replace(/^\^(\S+).*$/, "$1")]),
);
const atLowest = (name: string) => `${name}@${lowest.get(name)}`;

const versionsOf = (name: string): readonly string[] =>
  JSON.parse(run(`versions of ${name}`, work, [npmFile(), "view", name, "versions", "--json"]));

/**
 * The newest `ai` and the newest `@ai-sdk/otel` that belong together: the last number of their versions is the same, and
 * one of the two is published earlier than the other.
 */
function newestWithSpans(): readonly string[] {
  const published = new Set(versionsOf("ai"));
  const last = versionsOf("@ai-sdk/otel")
    .flatMap((version) => /^1\.0\.(\d+)$/.exec(version)?.slice(1) ?? [])
    .filter((number) => published.has(`7.0.${number}`))
    .reduce((highest, number) => Math.max(highest, Number(number)), 0);
  return [`ai@7.0.${last}`, `@ai-sdk/otel@1.0.${last}`];
}

const scenarios: readonly Scenario[] = [
  { name: "the newest ai and zod", beside: ["ai", "zod"], main: "plain", agentSpans: false },
  {
    name: "the lowest ai and zod",
    beside: [atLowest("ai"), atLowest("zod")],
    main: "plain",
    agentSpans: false,
  },
  {
    name: "the lowest of everything, with exporters of OpenTelemetry's SDK 2.0",
    beside: [
      ...[...lowest.keys()].filter((name) => !/^@ai-sdk\/otel$|-otlp-/.test(name)).map(atLowest),
      "@opentelemetry/sdk-trace-base@2.0.0",
      "@opentelemetry/exporter-trace-otlp-http@0.200.0",
    ],
    main: "exporter-2",
    agentSpans: false,
  },
  {
    name: "the newest exporter and the newest @ai-sdk/otel",
    beside: [
      ...newestWithSpans(),
      ...["zod", "@opentelemetry/sdk-trace", "@opentelemetry/resources"],
      "@opentelemetry/exporter-trace-otlp-http",
    ],
    main: "exporter-3",
    agentSpans: true,
  },
  {
    // The last number of its version is that of the `ai` that it pins.
    name: "the lowest @ai-sdk/otel",
    beside: [atLowest("@ai-sdk/otel"), `ai@7.0.${lowest.get("@ai-sdk/otel")?.split(".")[2]}`, "zod"],
    main: "plain",
    agentSpans: true,
  },
];

function install(folder: string, what: readonly string[]): void {
  const how = ["--no-audit", "--no-fund", "--loglevel=error", "--strict-peer-deps"];
  const names = what.map((name) => path.basename(name)).join(" ");
  run(`install ${names}`, folder, [npmFile(), "install", ...how, ...what]);
}

/** The folders of installed packages, as npm counts them. */
function installed(folder: string): string[] {
  const lock: unknown = JSON.parse(
    readFileSync(path.join(folder, "node_modules/.package-lock.json"), "utf8"),
  );
  return Object.keys(Object(lock).packages);
}

function megabytes(folder: string): string {
  const files = globSync("node_modules/**/*", { cwd: folder }).map((file) =>
    statSync(path.join(folder, file)),
  );
  const onDisk = files.reduce((sum, { blocks }) => sum + blocks * 512, 0);
  return (onDisk / 1_000_000).toFixed(1);
}

function freshFolder(): string {
  const folder = mkdtempSync(path.join(work, "application-"));
  writeFileSync(path.join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  return folder;
}

function play({ name, beside, main, agentSpans }: Scenario, tarballs: readonly string[]): void {
  console.log(`\n== ${name}`);
  const folder = freshFolder();
  install(folder, [...tarballs, ...beside]);
  // For the compiler and not for run time; the AI SDK's declarations import @types/json-schema and do not bring it.
  install(folder, ["--save-dev", `@types/node@${rootVersion("@types/node")}`, "@types/json-schema"]);
  const copies = installed(folder).filter((place) => place.endsWith("node_modules/ai"));
  // @ai-sdk/otel pins an `ai` of its own, which only its own types need.
  const expected = copies.filter((place) => !place.startsWith("node_modules/@ai-sdk/otel/"));
  assert.deepEqual(expected, ["node_modules/ai"], "one copy of the AI SDK");
  const version = (of: string) =>
    JSON.parse(readFileSync(path.join(folder, "node_modules", of, "package.json"), "utf8")).version;
  console.log(
    `ai ${version("ai")}, zod ${version("zod")}, @opentelemetry/api ${version("@opentelemetry/api")}`,
  );

  for (const file of ["application", "collector", main])
    cpSync(path.join(root, "test/packed", `${file}.ts`), path.join(folder, `${file}.ts`));
  const compilerOptions = {
    ...{ target: "es2024", module: "nodenext", types: ["node"], strict: true, skipLibCheck: false },
    ...{ noEmit: true, allowImportingTsExtensions: true, verbatimModuleSyntax: true },
  };
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: [`${main}.ts`] }),
  );
  run("tsc --strict, libraries included", folder, [tool("typescript/bin/tsc"), "--project", folder]);

  const seen: unknown = JSON.parse(run("run the application", folder, [`${main}.ts`]));
  const { spans, lines, exported = spans } = seen as Record<"spans" | "lines" | "exported", string[]>;
  assert(spans.includes("invoke_workflow publish"));
  assert.equal(spans.includes("invoke_agent writer"), agentSpans, "spans of agents");
  assert.deepEqual(exported.toSorted(), spans.toSorted(), "what is exported is what the traces show");
  const about = lines.filter((line) => line.includes("@ai-sdk/otel"));
  assert.equal(about.length, agentSpans ? 0 : 1, "the log says once that a package is missing");
}

function rootVersion(name: string): string {
  return Object(JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"))).devDependencies[name];
}

process.once("exit", () => rmSync(work, { recursive: true, force: true }));
buildPackages();
const tarballs = packages.map((folder) => pack(folder, work));
for (const scenario of scenarios) play(scenario, tarballs);

console.log("\n== packages installed with @andante/core and @andante/server (with @andante/console)");
const folder = freshFolder();
const brought = tarballs.filter(
  (tarball) => !/demo-model|client|postgres|restate/.test(path.basename(tarball)),
);
install(folder, [...brought, "ai", "zod"]);
const [count, size] = [installed(folder).length, megabytes(folder)];
console.log(`${count} packages, ${size} MB on disk`);
assert(count <= 40, "at most 40 packages");
assert(Number(size) <= 45, "at most 45 MB");

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { memoryStore } from "@andante/core";
import { afterEach, expect, test, vi } from "vitest";
import { chooseStore } from "./choose-store.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

test("a store that the host gives is used, though the environment names another", async () => {
  vi.stubEnv("ANDANTE_DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing");
  const store = memoryStore();
  expect((await chooseStore(store)).store).toBe(store);
});

test.each([undefined, ""])("a file without ANDANTE_DATABASE_URL: %j", async (url) => {
  vi.stubEnv("ANDANTE_DATABASE_URL", url);
  vi.stubEnv("ANDANTE_DB", "/nowhere/some.db");
  expect((await chooseStore(undefined)).store.location).toBe("/nowhere/some.db");
});

test("PostgreSQL at ANDANTE_DATABASE_URL, in the schema andante; the location has no password", async () => {
  vi.stubEnv("ANDANTE_DATABASE_URL", "postgres://me:secret@127.0.0.1:5433/app");
  const { store } = await chooseStore(undefined);
  expect(store.location).toBe("postgres://127.0.0.1:5433/app (schema andante)");
});

test("an address that is not one is a clear error that does not repeat it", async () => {
  vi.stubEnv("ANDANTE_DATABASE_URL", "mysql://me:secret@127.0.0.1/app");
  await expect(chooseStore(undefined)).rejects.toThrow(
    /^Option ANDANTE_DATABASE_URL: expected postgres:\/\/user:password@host:port\/database$/,
  );
});

test("Restate at ANDANTE_RESTATE_URL; the location has no part of an address that may be secret", async () => {
  vi.stubEnv("ANDANTE_RESTATE_URL", "http://me:secret@restate-0:8080, http://restate-1:8080");
  vi.stubEnv("ANDANTE_RESTATE_ENDPOINT_URL", "http://andante.internal:9080");
  const { store } = await chooseStore(undefined);
  expect(store.location).toBe("restate://restate-0:8080,restate-1:8080 (namespace andante)");
});

test.each([
  [{ ANDANTE_RESTATE_URL: "restate-0" }, "Option ANDANTE_RESTATE_URL: expected http://host:port"],
  [{ ANDANTE_RESTATE_ADMIN_URL: "admin" }, "Option ANDANTE_RESTATE_ADMIN_URL: expected http://host:port"],
  [{ ANDANTE_RESTATE_ENDPOINT_URL: "" }, "Option ANDANTE_RESTATE_ENDPOINT_URL: expected http://host:port"],
  [
    { ANDANTE_RESTATE_ENDPOINT_PORT: "http" },
    "Option ANDANTE_RESTATE_ENDPOINT_PORT: expected a whole number from 1 to 65535",
  ],
  [
    { ANDANTE_DATABASE_URL: "postgres://127.0.0.1/app" },
    "Option ANDANTE_RESTATE_URL: ANDANTE_DATABASE_URL names another store: unset one of them",
  ],
])("a mistake in the variables of Restate is named by its variable: %j", async (fields, message) => {
  vi.stubEnv("ANDANTE_RESTATE_URL", "http://restate-0:8080");
  vi.stubEnv("ANDANTE_RESTATE_ENDPOINT_URL", "http://andante.internal:9080");
  for (const [name, value] of Object.entries(fields)) vi.stubEnv(name, value);
  await expect(chooseStore(undefined)).rejects.toMatchObject({ message });
});

test.each([
  ["@andante/postgres", { ANDANTE_DATABASE_URL: "postgres://127.0.0.1:1/app" }],
  ["@andante/restate", { ANDANTE_RESTATE_URL: "http://127.0.0.1:1" }],
])("without %s the error names the package to install", async (name, settings) => {
  // Resolved from a folder without packages, as on a host where the package is not installed.
  const script = `
    import { registerHooks } from "node:module";
    registerHooks({ resolve: (specifier, context, next) =>
      next(specifier, specifier === "${name}" ? { ...context, parentURL: "file:///nowhere/a.js" } : context) });
    const { serve } = await import("@andante/server");
    await serve({ port: 0 }).then(() => console.log("listening"), (error) => console.log(error.message));
    process.exit();`;
  const args = ["--conditions=andante-source", "--input-type=module", "--eval", script];
  const env = { ...process.env, ...settings };
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, env });
  const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const [variable] = Object.keys(settings);
  expect(output.trim()).toBe(
    `Option ${variable}: ${name} is not installed: run \`npm install ${name}\`, or unset the variable to use a SQLite file`,
  );
});

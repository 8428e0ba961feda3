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

test("without @andante/postgres the error names the package to install", async () => {
  // Resolved from a folder without packages, as on a host where the package is not installed.
  const script = `
    import { registerHooks } from "node:module";
    registerHooks({ resolve: (specifier, context, next) =>
      next(specifier, specifier === "@andante/postgres" ? { ...context, parentURL: "file:///nowhere/a.js" } : context) });
    const { serve } = await import("@andante/server");
    await serve({ port: 0 }).then(() => console.log("listening"), (error) => console.log(error.message));
    process.exit();`;
  const args = ["--conditions=andante-source", "--input-type=module", "--eval", script];
  const env = { ...process.env, ANDANTE_DATABASE_URL: "postgres://127.0.0.1:1/app" };
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, env });
  const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(output.trim()).toBe(
    "Option ANDANTE_DATABASE_URL: @andante/postgres is not installed: run `npm install @andante/postgres`, or unset the variable to use a SQLite file",
  );
});

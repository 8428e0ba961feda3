// Links to decisions: the cases on memory, a file and maps, and options of the host.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createAndante, memoryStore, sqliteStore } from "../../src/index.ts";
import { plainStore } from "../store/plain-store.ts";
import { linkCases, links, secret } from "./link-cases.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-links-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

linkCases("memory", memoryStore);
linkCases("a file", () => sqliteStore({ path: path.join(folder, `${++files}.db`) }));
linkCases("maps", plainStore);

describe("options of the host", () => {
  test.each([
    [{ url: "app.example.com", secret }, "links.url"],
    [{ url: "https://app.example.com/?x=1", secret }, "links.url"],
    [{ url: links.url, secret: "short" }, "links.secret"],
    [{ url: links.url, secret: [] }, "links.secret"],
    [{ ...links, secrets: [] }, "secrets"],
  ])("%j is refused at the start", (options, name) => {
    const make = () => createAndante({ store: memoryStore(), links: options });
    expect(make).toThrow(name);
  });
});

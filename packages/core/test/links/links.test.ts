// Links to decisions: the cases in memory and on maps, and options of the host.
import { describe, expect, test } from "vitest";
import { createAndante, memoryStore } from "../../src/index.ts";
import { plainStore } from "../store/plain-store.ts";
import { linkCases, links, secret } from "./link-cases.ts";

linkCases("memory", memoryStore);
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

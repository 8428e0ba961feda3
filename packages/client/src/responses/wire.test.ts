import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { wireFile, wireTypes } from "../../../../scripts/wire.ts";

test("the types of responses are those of the server's schemas and errors; `npm run wire` writes them", async () => {
  expect(readFileSync(wireFile, "utf8")).toBe(await wireTypes());
});

import { expect, test } from "vitest";
import { pascalCase, SchemaRegistry } from "./schema-registry.ts";

test("definitions become schemas of their own, and references follow them", () => {
  const shelf = new SchemaRegistry([]);
  const reference = shelf.add("TreeInput", {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      root: { $ref: "#/$defs/a~1node" },
      self: { $ref: "#" },
      inner: { $ref: "#/properties/root" },
    },
    $defs: {
      "a/node": {
        type: "object",
        properties: { next: { $ref: "#/$defs/a~1node" }, $ref: { type: "string" } },
      },
    },
  });
  expect(reference).toEqual({ $ref: "#/components/schemas/TreeInput" });
  expect(shelf.schemas).toEqual({
    TreeInput: {
      type: "object",
      properties: {
        root: { $ref: "#/components/schemas/TreeInputANode" },
        self: { $ref: "#/components/schemas/TreeInput" },
        inner: { $ref: "#/components/schemas/TreeInput/properties/root" },
      },
    },
    TreeInputANode: {
      type: "object",
      properties: { next: { $ref: "#/components/schemas/TreeInputANode" }, $ref: { type: "string" } },
    },
  });
});

test("data that only looks like a reference is left alone, and one that leads outside is dropped", () => {
  const shelf = new SchemaRegistry([]);
  shelf.add("Data", {
    const: { $ref: "#/$defs/x" },
    items: { $ref: "https://example.com/schema", type: "string" },
  });
  expect(shelf.schemas.Data).toEqual({ const: { $ref: "#/$defs/x" }, items: { type: "string" } });
});

test("a name that is taken gets a number", () => {
  const shelf = new SchemaRegistry(["Suspension"]);
  expect(shelf.add("Suspension", {})).toEqual({ $ref: "#/components/schemas/Suspension2" });
  expect(shelf.add("Suspension", {})).toEqual({ $ref: "#/components/schemas/Suspension3" });
});

test.each([
  ["nightly-batch", "NightlyBatch"],
  ["readFile", "ReadFile"],
  ["it's <b>", "ItSB"],
  ["日本", ""],
])("%s is called %s", (id, name) => {
  expect(pascalCase(id)).toBe(name);
});

test("properties that are named like a keyword hold schemas all the same", () => {
  const shelf = new SchemaRegistry([]);
  const tree = { $ref: "#/$defs/tree" };
  shelf.add("Odd", {
    properties: { default: tree, examples: { type: "array", items: tree }, $id: { type: "string" } },
    $defs: { tree: { type: "object" } },
  });
  const moved = { $ref: "#/components/schemas/OddTree" };
  expect(shelf.schemas.Odd).toEqual({
    properties: { default: moved, examples: { type: "array", items: moved }, $id: { type: "string" } },
  });
});

test("a name with a percent sign in it", () => {
  const shelf = new SchemaRegistry([]);
  shelf.add("Share", { properties: { of: { $ref: "#/$defs/100%" } }, $defs: { "100%": { type: "number" } } });
  expect(shelf.schemas.Share).toEqual({ properties: { of: { $ref: "#/components/schemas/Share100" } } });
});

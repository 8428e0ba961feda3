// The type of a server includes its workflows.
import { Agent, createWorkflow, memoryStore } from "@andante/core";
import { ToolLoopAgent } from "ai";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { createApp } from "./app.ts";
import { type RunningServer, serve } from "./serve.ts";

const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) }).andThen({
  id: "times-two",
  execute: ({ data }) => data.n * 2,
});

test("serve and createApp give an Andante that checks ids and input", async () => {
  const server = await serve({ workflows: { twice: double } });
  expectTypeOf((await server.andante.execute("double", { n: 1 })).result).toEqualTypeOf<number | null>();
  // @ts-expect-error "twice" is its key, "double" its id
  server.andante.execute("twice", { n: 1 });
  const { andante } = createApp({ workflows: { double }, store: memoryStore() });
  // @ts-expect-error n is a number
  andante.execute("double", { n: "1" });
  expectTypeOf(server).toExtend<RunningServer>();
});

test("their results carry the types that a client reads", async () => {
  const writer = new Agent({ id: "writer", model: "any/model" });
  const foreign = new ToolLoopAgent({ model: "any/model" });
  const server = await serve({ workflows: { twice: double }, agents: { first: writer, foreign } });
  type Types = NonNullable<(typeof server.andante)["~types"]>;
  expectTypeOf<Types["agents"]>().toEqualTypeOf<"writer" | "foreign">();
  expectTypeOf<keyof Types["workflows"]>().toEqualTypeOf<"double">();
  expectTypeOf<Types["workflows"]["double"]>().toEqualTypeOf<{
    readonly input: { n: number };
    readonly result: number;
    readonly resume: unknown;
    readonly stepId: "times-two";
  }>();
});

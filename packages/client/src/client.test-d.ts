// A client's knowledge of its host: a wrong id, input or resume value is a compile error.
import { Agent, type Andante, createAndante, createWorkflow, memoryStore } from "@andante/core";
import { createApp, type RunningServer, serve } from "@andante/server";
import { ToolLoopAgent } from "ai";
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { AndanteApiError, ApiErrorCode } from "./api-error.ts";
import { chatTransport } from "./chat/chat-transport.ts";
import { createClient } from "./client.ts";
import { useExecution } from "./react/use-execution.ts";
import { useInbox } from "./react/use-inbox.ts";
import type { ErrorCode } from "./responses/wire.ts";

const publish = createWorkflow({
  id: "publish",
  input: z.object({ topic: z.string(), size: z.number().default(1) }),
})
  .andThen({ id: "draft", execute: ({ data }) => ({ text: data.topic, at: new Date() }) })
  .andThen({
    id: "approve",
    resumeSchema: z.object({ approved: z.boolean() }),
    execute: ({ data, resumeData, suspend }) => (resumeData ? { ...data, ...resumeData } : suspend("?")),
  });
const count = createWorkflow({ id: "count", input: z.array(z.string()) }).andThen({
  id: "all",
  execute: ({ data }) => data.length,
});
const writer = new Agent({ id: "writer", model: "any/model" });
const foreign = new ToolLoopAgent({ model: "any/model" });

const app = createApp({
  workflows: { publish, counting: count },
  agents: { first: writer, foreign },
  store: memoryStore(),
});
const andante = createClient<typeof app>({ baseUrl: "http://localhost:3141" });
type Published = { text: string; at: string; approved: boolean };

describe("workflows", () => {
  test("ids are those of the workflows, not their keys", () => {
    andante.workflow("publish");
    andante.workflow("count");
    // @ts-expect-error there is no workflow "publsh"
    andante.workflow("publsh");
    // @ts-expect-error "counting" is its key, "count" its id
    andante.workflow("counting");
    // @ts-expect-error there is no such workflow to list executions of
    andante.executions({ workflowId: "nothing" });
  });

  test("input has the input type of the schema", () => {
    andante.workflow("publish").execute({ topic: "rivers" });
    andante.workflow("publish").start({ topic: "rivers", size: 2 });
    // @ts-expect-error topic is a string
    andante.workflow("publish").execute({ topic: 5 });
    // @ts-expect-error topic is missing
    andante.workflow("publish").start({});
    // @ts-expect-error that is the input of another one
    andante.workflow("publish").stream(["a"]);
  });

  test("the result is the output of the last step, through JSON", async () => {
    const settled = await andante.workflow("publish").execute({ topic: "rivers" });
    expectTypeOf(settled.result).toEqualTypeOf<Published | null>();
    if (settled.status === "completed") expectTypeOf(settled.result).toEqualTypeOf<Published>();
    if (settled.status === "suspended") expectTypeOf(settled.suspension.suspensionId).toBeString();
    // @ts-expect-error there may be none
    else settled.suspension.suspensionId;
    const execution = await andante.workflow("count").start(["a"]);
    expectTypeOf((await execution.state()).result).toEqualTypeOf<number | null>();
    expectTypeOf((await execution.state()).input).toEqualTypeOf<string[]>();
  });

  test("events are a union by their type, with the events of one's own", async () => {
    for await (const event of andante.workflow("publish").stream({ topic: "rivers" })) {
      if (event.type === "workflow-complete") expectTypeOf(event.result).toEqualTypeOf<Published>();
      if (event.type === "workflow-result") expectTypeOf(event.result).toEqualTypeOf<Published | null>();
      if (event.type === "step-start") expectTypeOf(event.from).toBeString();
      if (event.type === "workflow-suspended") expectTypeOf(event.suspension.reason).toBeString();
      // @ts-expect-error it is not said that there is such an event
      if (event.type === "progress") return;
    }
    const stream = andante.workflow("publish").stream<{ progress: { percent: number } }>({ topic: "rivers" });
    for await (const event of stream)
      if (event.type === "progress") expectTypeOf(event.data.percent).toBeNumber();
  });

  test("resume data is the input type of a resume schema, a replay starts at a top-level step", async () => {
    const execution = andante.workflow("publish").execution("1");
    const resumed = await execution.resume({ approved: true }, { stepId: "approve" });
    expectTypeOf(resumed.result).toEqualTypeOf<Published | null>();
    // @ts-expect-error approved is a boolean
    execution.resume({ approved: "yes" });
    // @ts-expect-error approved is a boolean
    execution.startResume({ approved: "yes" });
    execution.replay({ stepId: "draft" });
    // @ts-expect-error publish has no step "all"
    execution.replay({ stepId: "all" });
  });

  test("queries about a workflow name an existing one", () => {
    andante.inbox({ workflowId: "publish" });
    // @ts-expect-error there is no such workflow to wait for
    andante.inbox({ workflowId: "publsh" });
    // @ts-expect-error there is no such workflow to count
    andante.activity({ workflowId: "publsh" });
    andante.stepActivity("publish");
    // @ts-expect-error there is no such workflow to count
    andante.stepActivity("publsh");
    useInbox(andante, { workflowId: "publish" });
    // @ts-expect-error there is no such workflow to wait for
    useInbox(andante, { workflowId: "publsh" });
    const any = createClient({ baseUrl: "" });
    any.stepActivity("whatever");
    useInbox(any, { workflowId: "whatever" });
  });

  test("of an execution by its id alone nothing is known", async () => {
    const execution = andante.execution("1");
    execution.resume("anything");
    expectTypeOf((await execution.state()).result).toBeUnknown();
  });
});

describe("agents", () => {
  test("ids are those of the agents; one without an id has its key", async () => {
    andante.agent("writer");
    andante.agent("foreign");
    // @ts-expect-error "first" is its key, "writer" its id
    andante.agent("first");
    // @ts-expect-error there is no such agent to list conversations of
    andante.conversations({ agentId: "nobody" });
    for (const { id } of await andante.agents()) expectTypeOf(id).toEqualTypeOf<"writer" | "foreign">();
    chatTransport(andante, "writer");
    // @ts-expect-error there is no such agent to chat with
    chatTransport(andante, "first");
    const none = createClient<RunningServer<{ publish: typeof publish }, Record<never, never>>>({
      baseUrl: "",
    });
    // @ts-expect-error there are none
    none.agent("writer");
    createClient({ baseUrl: "" }).agent("whoever");
    chatTransport(createClient({ baseUrl: "" }), "whoever");
  });

  test("an object has the type of its schema", async () => {
    const found = await andante.agent("writer").object("?", z.object({ n: z.number() }));
    expectTypeOf(found).toEqualTypeOf<{ n: number }>();
    expectTypeOf(await andante.agent("writer").object("?", { type: "object" })).toBeUnknown();
  });

  test("hooks take a client, or one of its workflows, which has the types", () => {
    expectTypeOf(useExecution(andante, "1").state?.result).toBeUnknown();
    const { state } = useExecution(andante.workflow("publish"), "1");
    if (state?.status === "completed") expectTypeOf(state.result).toEqualTypeOf<Published>();
    expectTypeOf(useInbox(andante).items[0]?.executionId).toEqualTypeOf<string | undefined>();
  });
});

test("the code of an error has a type with every code of the server, and room for those of later releases", () => {
  expectTypeOf<"workflow-not-found">().toExtend<ErrorCode>();
  // @ts-expect-error there is no such code
  expectTypeOf<"workflow-not-fond">().toExtend<ErrorCode>();
  expectTypeOf<AndanteApiError["code"]>().toEqualTypeOf<ApiErrorCode | undefined>();
  expectTypeOf<string>().toExtend<ApiErrorCode>();
});

describe("hosts", () => {
  test("the results of serve and createAndante are hosts too, and promises of them", async () => {
    const serving = serve({ workflows: { publish } });
    createClient<typeof serving>({ baseUrl: "" }).workflow("publish").execute({ topic: "rivers" });
    // @ts-expect-error there is no such workflow
    createClient<typeof serving>({ baseUrl: "" }).workflow("count");
    const alone = createAndante({ workflows: { count }, store: memoryStore() });
    createClient<typeof alone>({ baseUrl: "" }).workflow("count").execute(["a"]);
    // @ts-expect-error there is no such workflow
    createClient<typeof alone>({ baseUrl: "" }).workflow("publish");
  });

  test("without one every id and value is accepted", async () => {
    for (const any of [createClient({ baseUrl: "" }), createClient<Andante>({ baseUrl: "" })]) {
      const { result } = await any.workflow("whatever").execute({ anything: true });
      expectTypeOf(result).toBeUnknown();
      any.workflow("whatever").execution("1").resume(5);
    }
  });
});

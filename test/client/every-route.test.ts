// Every row of the server's route table has a method of the client, or a reason why not.
import { createClient } from "@andante/client";
import { expect, test } from "vitest";
import { routes } from "../../packages/server/src/routes/index.ts";

/** Rows that are not for programs. */
const pages = {
  "GET /": "the landing page",
  "GET /ui": "the interactive page",
  "GET /ui/:file": "its assets",
  "GET /decide/:token": "the page of a link",
  "POST /decide/:token": "its form",
  "POST /receive/:receiver": "for other services",
};

test("every route is called by some method", async () => {
  const called = new Set<string>();
  const stream = { headers: { "content-type": "text/event-stream" } };
  const andante = createClient({
    baseUrl: "http://andante.example/base/",
    fetch: async (input, init) => {
      const { pathname } = new URL(String(input));
      called.add(`${init?.method} ${pathname.replace(/^\/base/, "")}`);
      if (init?.method === "POST" && /\/(stream|chat|stream-object|playground)$/.test(pathname))
        return new Response(
          'data: {"type":"workflow-result"}\n\ndata: {"type":"finish"}\n\ndata: [DONE]\n\n',
          stream,
        );
      if (pathname.endsWith("/changes")) return new Response('data: {"type":"open"}\n\n', stream);
      if (init?.method === "GET" && pathname.endsWith("/stream")) return new Response(null, { status: 204 });
      if (pathname.endsWith("/doc")) return new Response("{}");
      return Response.json({ success: true, data: { executionId: "e", workflowId: "w" } });
    },
  });
  const workflow = andante.workflow("w");
  const execution = workflow.execution("e");
  const agent = andante.agent("a");
  const conversation = andante.conversation("c");
  await Promise.all([
    ...[andante.workflows(), workflow.details(), workflow.example(), workflow.execute({})],
    ...[workflow.executions(), andante.executions(), execution.state(), execution.events()],
    ...[execution.suspend(), execution.resume(), execution.cancel(), execution.replay({ stepId: "s" })],
    ...[andante.execution("e").state(), andante.execution("e").events(), andante.execution("e").cancel()],
    ...[andante.execution("e").explain(), andante.search("ord_77120")],
    conversation.decide({ approvalId: "a", approved: true }),
    conversation.resume({ suspensionId: "s" }),
    conversation.removeSummary("m"),
    ...[conversation.facts.read(), conversation.facts.change({})],
    ...[andante.factsOf("u").read(), andante.factsOf("u").change({}), andante.factsOf("u").remove()],
    ...[andante.usage({ by: "day" }), andante.budgets()],
    ...[
      andante.schedules.list(),
      andante.schedules.get("s"),
      andante.schedules.set("s", { workflowId: "w" }),
    ],
    ...[andante.schedules.pause("s"), andante.schedules.resume("s"), andante.schedules.trigger("s")],
    ...[andante.schedules.backfill("s", { from: "", to: "" }), andante.schedules.occurrences("s")],
    ...[andante.schedules.preview({}), andante.schedules.remove("s")],
    ...[andante.send("order.paid", {}), andante.events.list(), andante.events.types()],
    andante.events.sendAll([{ name: "order.paid", data: {} }]).catch(() => []),
    ...[andante.endpoints.list(), andante.endpoints.get("n"), andante.endpoints.set("n", { url: "" })],
    ...[andante.endpoints.remove("n"), andante.endpoints.rotate("n"), andante.endpoints.enable("n")],
    ...[andante.endpoints.test("n"), andante.deliveries.list()],
    ...[andante.deliveries.get("d"), andante.deliveries.redeliver("d")],
    ...[andante.agents(), agent.details(), agent.text("hi"), agent.start("hi"), agent.object("hi", {})],
    ...[
      agent.attach("c"),
      agent.stop("c"),
      agent.queue("c"),
      agent.withdraw("c", "m"),
      agent.playground(),
      andante.conversations(),
      conversation.details(),
    ],
    ...[conversation.messages(), conversation.rename("t"), conversation.remove()],
    ...[conversation.fork(), conversation.export()],
    ...[
      andante.inbox(),
      andante.activity(),
      andante.stepActivity("w"),
      andante.failures(),
      andante.executionCounts(),
      andante.server(),
      andante.nodes(),
      andante.definitions("w"),
      andante.logs(),
      andante.traces(),
    ],
    ...[andante.trace("t"), andante.metrics(), andante.description(), andante.health(), andante.ready()],
  ]);
  const streams = [workflow.stream({}), execution.stream(), agent.stream("hi"), agent.streamObject("hi", {})];
  const chats = [agent.chat("hi"), agent.chat("hi", { playground: { temperature: 0 } })];
  for (const each of [...streams, ...chats]) for await (const _ of each);
  for await (const _ of andante.changes()) break;
  const names = {
    id: "[aw]",
    executionId: "e",
    conversationId: "c",
    traceId: "t",
    messageId: "m",
    userId: "u",
    scheduleId: "s",
    eventName: "order.paid",
    endpointId: "n",
    deliveryId: "d",
  };
  const missing = routes
    .map(({ method, path }) => `${method} ${path}`)
    .filter((row) => !(row in pages))
    .filter((row) => {
      const pattern = Object.entries(names).reduce((text, [name, id]) => text.replace(`:${name}`, id), row);
      return ![...called].some((call) => new RegExp(`^${pattern}$`).test(call));
    });
  expect(missing).toEqual([]);
});

// Events, deliveries and links on PostgreSQL: the cases of every store.
import { type AndanteOptions, createAndante, createWorkflow } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { eventCases } from "../../core/test/events/event-cases.ts";
import { linkCases } from "../../core/test/links/link-cases.ts";
import { webhookCases } from "../../core/test/webhooks/webhook-cases.ts";
import { startPostgres } from "./postgres-server.ts";

const server = await startPostgres();
afterAll(() => server.remove());

let schemas = 0;
const makeStore = () => postgresStore({ url: server.url, schema: `t${++schemas}`, writers: 1, readers: 2 });

eventCases("PostgreSQL", makeStore);
webhookCases("PostgreSQL", makeStore);
linkCases("PostgreSQL", makeStore);

/** The writes of an execution that waits and is resumed, a line for each: the statement and its table. */
async function writesOf(options: Pick<AndanteOptions, "endpoints">): Promise<readonly string[]> {
  const plain = createWorkflow({ id: "plain", input: z.object({}), search: false })
    .andThen({ id: "ask", execute: ({ resumeData, suspend }) => resumeData ?? suspend("Go on?") })
    .andThen({ id: "end", execute: () => "done" });
  const andante = createAndante({ workflows: { plain }, store: makeStore(), ...options });
  await andante.ready();
  await andante.settled();
  const query = vi.spyOn(pg.Client.prototype, "query");
  const { executionId } = await andante.execute("plain", {});
  await andante.resume("plain", executionId, "yes");
  const texts = query.mock.calls.map(([given]: readonly unknown[]) =>
    typeof given === "object" && given !== null && "text" in given ? String(given.text) : String(given),
  );
  query.mockRestore();
  await andante.close({ grace: 0 });
  return texts.flatMap((text) => {
    // Leases and the index of values have a rhythm of their own.
    if (/^\s*(insert into|update|delete from) \S*(owners|search_)/.test(text)) return [];
    const [, verb = "", table = ""] =
      /^\s*(insert into|update|delete from|with given)\s*(?:\S+\.)?(\w*)/.exec(text) ?? [];
    return verb === "" ? [] : [verb === "with given" ? "a commit in one statement" : `${verb} ${table}`];
  });
}

test("an application without triggers has the same commits and statements as before there were any", async () => {
  const quick = "a commit in one statement";
  const write = ["update executions", "insert into journal"];
  const expected = [
    quick,
    ...["insert into suspensions", ...write],
    ...["delete from suspensions", ...write],
    quick,
    quick,
  ];
  expect(await writesOf({})).toEqual(expected);
  // None is set.
  expect(await writesOf({ endpoints: {} })).toEqual(expected);
});

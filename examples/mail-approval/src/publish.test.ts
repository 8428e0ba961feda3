// Approval by mail: opening the link decides nothing, its button does, once; without an answer nothing is published.
import { memoryStore } from "@andante/core";
import { TestClock } from "@andante/core/test";
import { serve } from "@andante/server";
import { expect, onTestFinished, test } from "vitest";
import { publishWith } from "./publish.ts";

const links = { url: "https://press.example.com", secret: "a secret of the tests, long enough to be one" };
const input = { text: "Rivers rise", editor: "ada@example.com" };

async function open() {
  const mails: string[] = [];
  const published: string[] = [];
  const publish = publishWith({
    mail: async ({ text }) => void mails.push(text),
    publish: async (text) => void published.push(text),
  });
  const clock = new TestClock({ skipSleeps: false });
  const server = await serve({
    ...{ workflows: { publish }, links, store: memoryStore(), clock },
    ...{ port: 0, handleSignals: false },
  });
  onTestFinished(() => server.close());
  const { andante, url } = server;
  const { executionId } = await andante.start("publish", input);
  await andante.settled();
  // The mail has the public address; the test asks the server behind it.
  const page = url + new URL(/https:\S+$/.exec(mails[0] ?? "")?.[0] ?? url).pathname;
  const state = () => andante.state("publish", executionId);
  return { andante, clock, mails, page, published, state };
}

/** Presses a button of the page. */
async function press(page: string, fields: Readonly<Record<string, string>>): Promise<number> {
  const html = await (await fetch(page)).text();
  const form = /name="form" value="([\w-]+)"/.exec(html)?.[1] ?? "";
  return (await fetch(page, { method: "POST", body: new URLSearchParams({ form, ...fields }) })).status;
}

test("a program that opens the link of the mail decides nothing", async () => {
  const { page, published, state } = await open();
  for (let times = 0; times < 3; times++) expect((await fetch(page)).status).toBe(200);
  expect((await state()).status).toBe("suspended");
  expect(published).toEqual([]);
});

test("the editor agrees by the button of the page, once", async () => {
  const { andante, mails, page, published, state } = await open();
  expect(await press(page, { "value.approved": "true", "value.note": "Fine" })).toBe(200);
  await andante.settled();
  expect(await state()).toMatchObject({ status: "completed", result: { published: true, note: "Fine" } });
  await press(page, { "value.approved": "false" });
  await andante.settled();
  expect([published, mails.length]).toEqual([["Rivers rise"], 1]);
});

test("without an answer in three days nothing is published, and the link has expired", async () => {
  const { andante, clock, page, published, state } = await open();
  clock.advance("3d");
  await andante.settled();
  expect((await state()).result).toEqual({ published: false, note: "no answer in three days" });
  expect((await fetch(page)).status).toBe(410);
  expect(published).toEqual([]);
});

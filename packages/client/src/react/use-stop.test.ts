// useStop: the server's reply first, then the reader.
import { expect, test } from "vitest";
import { useStop } from "./use-stop.ts";

const chatOf = (calls: string[]) => ({ id: "c", stop: async () => void calls.push("stop reading") });

test("the reply is stopped at the server before the chat stops reading", async () => {
  const calls: string[] = [];
  const stop = async (id: string) => calls.push(`stop ${id}`) > 0;
  expect(await useStop({ stop }, chatOf(calls))()).toBe(true);
  expect(calls).toEqual(["stop c", "stop reading"]);
});

test("the chat stops reading, too, when the server does not respond", async () => {
  const calls: string[] = [];
  const stop = async () => Promise.reject(new Error("gone"));
  await expect(useStop({ stop }, chatOf(calls))()).rejects.toThrow("gone");
  expect(calls).toEqual(["stop reading"]);
});

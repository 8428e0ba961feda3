// An agent with the tools of an MCP server over HTTP, for tests.
import { onTestFinished } from "vitest";
import { z } from "zod";
import type { Agent } from "../../src/agent/agent.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { controlledModel, type Said } from "../support/controlled-model.ts";
import { inTime } from "../support/in-time.ts";
import { startHttp } from "../support/mcp-server.ts";

export const call = (name: string, input: object = {}) => ({ calls: [{ name, input }] });
export const adding = call("add", { one: 2, two: 3 });

/** A model that follows its script at each step, and then repeats the output of the last tool. */
export function relay(...script: Said[]) {
  return controlledModel(({ prompt }) => {
    const step = prompt.filter(({ role }) => role === "assistant").length;
    return script[step] ?? { text: [JSON.stringify(prompt.at(-1)?.content)] };
  });
}

export async function server(heard?: (name: string) => void, port = 0) {
  const http = await startHttp(port, heard);
  const { port: given } = z.object({ port: z.number() }).parse(http.address());
  const url = `http://127.0.0.1:${given}/mcp`;
  const stop = async () => {
    const closed = new Promise((resolve) => http.close(resolve));
    http.closeAllConnections();
    await closed;
    // The pool of connections has noticed as soon as a request was refused.
    await fetch(url).catch(() => undefined);
  };
  onTestFinished(stop);
  return { port: given, url, stop };
}

export function open(agent: Agent) {
  const logger = new RecordingLogger();
  const andante = createAndante({ agents: { agent }, store: memoryStore(), logger });
  onTestFinished(() => andante.close());
  const text = async () => (await inTime(andante.agents.text(agent.id, "go"), "the reply")).text;
  return { andante, logger, text };
}

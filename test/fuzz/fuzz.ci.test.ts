// Thousands of random requests: every response is one that was designed.
import { memoryStore } from "@andante/core";
import { type App, createApp } from "@andante/server";
import { afterEach, expect, test } from "vitest";
import { createRandom } from "../../packages/core/test/support/random.ts";
import { adder, echo } from "../support/agents.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { bearer, tokenFor } from "../support/tokens.ts";
import { problemOf } from "./expectations.ts";
import { modes, workflows } from "./modes.ts";
import { requestMaker } from "./requests.ts";

// The same requests each time, so that a failure points to the change; `npm run fuzz` generates others.
const seed = Number(process.env.FUZZ_SEED ?? 1);
const perMode = Number(process.env.FUZZ_REQUESTS ?? 2500);

let service: App | undefined;
afterEach(() => service?.close({ grace: 0 }));

test.each(Object.entries(modes))(
  `no answer is outside the contract ${"%s"} (seed ${seed})`,
  async (_, options) => {
    service = createApp({
      workflows,
      agents: { echo, adder },
      store: memoryStore(),
      logger: silentLogger,
      ...options,
    });
    const good = await tokenFor("ada");
    const executions = await someExecutions(service, good);
    const tokens = [
      good,
      good,
      await tokenFor("eve"),
      await tokenFor("ada", { expiresIn: "-1s" }),
      "a.b.c",
      "",
      "x",
    ];
    const words = {
      workflows: [...service.andante.workflows().map(({ id }) => id), "unknown"],
      agents: [...(await service.andante.agents.list()).map(({ id }) => id), "unknown"],
      executions,
      tokens,
    };
    const next = requestMaker(createRandom(seed), words);
    const statuses = new Map<number, number>();
    for (let sent = 0; sent < perMode; sent += 1) {
      const request = next();
      const what = `seed ${seed}, request ${sent}: ${request.method} ${request.url}`;
      const response = await service.fetch(request.clone());
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      check(request, response, await read(request, response), what);
    }
    // The requests went everywhere: into handlers, past them, and against the gate.
    const expected = [200, 204, 400, 404, 415, ...("auth" in options ? [401] : [])];
    expect([...statuses.keys()]).toEqual(expect.arrayContaining(expected));
    expect(statuses.get(200)).toBeGreaterThan(perMode / 30);
  },
);

/** The whole response. A client that attaches to a suspended execution waits for it, so those streams are not read. */
async function read(request: Request, response: Response): Promise<string> {
  const live =
    request.method === "GET" && response.headers.get("content-type")?.startsWith("text/event-stream");
  if (!live) return response.text();
  await response.body?.cancel();
  return "";
}

function check(request: Request, response: Response, text: string, what: string): void {
  const contentType = response.headers.get("content-type") ?? "";
  const { pathname } = new URL(request.url);
  const problem = problemOf({ method: request.method, pathname, status: response.status, contentType, text });
  expect(problem, what).toBeUndefined();
}

/** Ids of executions that are suspended, ended, failed, and of one that never was. */
async function someExecutions({ fetch }: App, token: string): Promise<string[]> {
  const ids = ["known", "unknown"];
  for (const id of ["sum", "approval", "twice", "failing", "mirror"]) {
    const body = JSON.stringify({ input: { a: 1, topic: "t" } });
    const headers = { "content-type": "application/json", ...bearer(token) };
    const response = await fetch(
      new Request(`http://fuzz.example/workflows/${id}/execute`, { method: "POST", headers, body }),
    );
    ids.push(response.headers.get("x-execution-id") ?? "");
  }
  return ids;
}

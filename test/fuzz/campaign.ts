// A campaign of the fuzzer: requests and socket sessions against a served process in each mode, and the checks after it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createRandom } from "../../packages/core/test/support/random.ts";
import { routes } from "../../packages/server/src/routes/index.ts";
import { SocketClient } from "../support/socket-client.ts";
import { bearer, tokenFor } from "../support/tokens.ts";
import { Connection, type Exchange } from "./connection.ts";
import { problemOf } from "./expectations.ts";
import { goodPlanMaker } from "./good-requests.ts";
import { hostileRequests, sendAlone } from "./hostile-sizes.ts";
import { Ledger } from "./ledger.ts";
import { chooseManner, mayStaySilent } from "./manners.ts";
import { modes, workflows } from "./modes.ts";
import { planMaker, type Vocabulary } from "./requests.ts";
import { Service } from "./service.ts";
import { Sessions } from "./sessions.ts";

export interface FuzzOptions {
  readonly seed: number;
  /** Over all modes. */
  readonly requests: number;
  readonly sessions: number;
  /** Requests of hostile sizes, one at a time, over all modes. */
  readonly hostile: number;
  onMode?(mode: string, ledger: Ledger): void;
}

/** Connections that send requests at once. */
const lanes = 16;
/** Connections that run socket sessions at once. */
const sessionLanes = 4;
/** The part of the requests that have nothing wrong with them. */
const goodShare = 0.25;
/** A campaign that finds this many problems stops. */
const maxProblems = 20;
/**
 * Bytes that memory may grow by between a tenth of the requests and the last one; 8 MiB at most were seen over 12 000. The
 * scripted models keep their prompts, which is a part of it.
 */
const maxGrowth = 96 * 1024 * 1024;

export async function runFuzz(options: FuzzOptions): Promise<Ledger> {
  const ledger = new Ledger(routes.map((row) => `${row.method} ${row.path}`));
  const names = Object.keys(modes);
  const folder = mkdtempSync(path.join(tmpdir(), "andante-fuzz-"));
  try {
    for (const [index, mode] of names.entries()) {
      const service = await Service.start(mode, path.join(folder, `${index}.db`));
      try {
        await new Attack(service, mode, ledger, options, index, names.length).run();
      } finally {
        await service.kill();
      }
      options.onMode?.(mode, ledger);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const row of ledger.unvisited()) ledger.blame(`no request came near ${row}`);
  return ledger;
}

class Attack {
  readonly #service: Service;
  readonly #mode: string;
  readonly #ledger: Ledger;
  readonly #seed: number;
  #requests: number;
  #sessions: number;
  /** The hostile sizes of this mode: the first of them, and how many. */
  readonly #hostile: { readonly first: number; readonly count: number };
  #words: Vocabulary = { workflows: [], agents: [], executions: [], tokens: [] };

  constructor(
    service: Service,
    mode: string,
    ledger: Ledger,
    options: FuzzOptions,
    index: number,
    of: number,
  ) {
    this.#service = service;
    this.#mode = mode;
    this.#ledger = ledger;
    this.#seed = options.seed + index * 1000;
    this.#requests = Math.ceil(options.requests / of);
    this.#sessions = Math.ceil(options.sessions / of);
    const count = Math.ceil(options.hostile / of);
    this.#hostile = { first: index * count, count };
  }

  async run(): Promise<void> {
    this.#words = await this.#vocabulary();
    const [requests, sessions] = [this.#requests, this.#sessions];
    if (!(await this.#sendHostile())) return;
    await this.#wave(requests / 10, sessions / 10, 0);
    const before = await this.#service.memory();
    await this.#wave(requests - requests / 10, sessions - sessions / 10, 500);
    if (this.#service.ended !== undefined) return this.#blame(`the process ended: ${this.#service.ended}`);
    const after = await this.#service.memory();
    this.#ledger.remember(this.#mode, before, after);
    const growth = after.heapUsed + after.external - before.heapUsed - before.external;
    if (growth > maxGrowth) this.#blame(`its memory grew by ${Math.round(growth / 1024 / 1024)} MiB`);
    await this.#stillServes();
    const end = await this.#service.stop();
    if (end !== 0) this.#blame(`SIGTERM ended it with ${end}`);
    for (const line of this.#service.complaints) this.#blame(`it wrote: ${line}`);
  }

  /** Before the waves: nothing is under way that the cost could be of. False when the service ends or hangs. */
  async #sendHostile(): Promise<boolean> {
    const kinds = hostileRequests(this.#words);
    const { first, count } = this.#hostile;
    for (let number = first; number < first + count && this.#goesOn(); number++) {
      const request = kinds[number % kinds.length]?.();
      if (request === undefined) continue;
      const { name, method, target } = request;
      const what = `hostile size, ${name}: ${method} ${target.slice(0, 200)}`;
      const { response, text, problem } = await sendAlone(this.#service, request, this.#ledger);
      if (problem !== undefined) this.#blame(`${what}: ${problem}`);
      if (response === undefined && problem !== undefined) return false;
      if (response === undefined) continue;
      const { status, headers } = response;
      // Node itself refuses requests that it cannot parse.
      if (text === "" && [400, 414, 431].includes(status)) continue;
      const contentType = headers.get("content-type") ?? "";
      const wrong = problemOf({ method, pathname: pathOf(target), status, contentType, text });
      if (wrong !== undefined) this.#blame(`${what}: ${status}, ${wrong}`);
    }
    return true;
  }

  /** So many requests and sessions; each lane has a seed of its own, so that its requests do not depend on time. */
  async #wave(requests: number, sessions: number, offset: number): Promise<void> {
    this.#requests = Math.round(requests);
    this.#sessions = Math.round(sessions);
    const numbers = (count: number) => Array.from({ length: count }, (_, lane) => this.#seed + offset + lane);
    await Promise.all([
      ...numbers(lanes).map((seed) => this.#sendRequests(seed)),
      ...numbers(sessionLanes).map((seed) => this.#runSessions(seed + lanes)),
    ]);
  }

  async #sendRequests(seed: number): Promise<void> {
    const random = createRandom(seed);
    const [broken, good] = [planMaker(random, this.#words), goodPlanMaker(random, this.#words)];
    const { port, url } = this.#service;
    const connection = new Connection(port);
    for (let number = 1; this.#requests > 0 && this.#goesOn(); number++) {
      this.#requests--;
      const plan = random.chance(goodShare) ? good() : broken();
      const manner = chooseManner(random, plan, new URL(url).host);
      const what = `lane ${seed}, request ${number}, ${manner.name}: ${plan.method} ${plan.target.slice(0, 200)}`;
      try {
        // Some garbage is a request after all, for the landing page.
        const [method, target] = manner.name === "garbage" ? ["GET", "/"] : [plan.method, plan.target];
        const exchange = await connection.send(manner, method);
        this.#ledger.count("request", exchange, plan.near);
        if (exchange.kind === "silence" && !mayStaySilent(manner)) this.#blame(`${what}: no response`);
        else this.#check(what, method, target, exchange);
      } catch (error) {
        this.#blame(`${what}: ${error}`);
        connection.close();
      }
    }
    connection.close();
  }

  async #runSessions(seed: number): Promise<void> {
    const sessions = new Sessions(this.#service.port, createRandom(seed), this.#words);
    for (let number = 1; this.#sessions > 0 && this.#goesOn(); number++) {
      this.#sessions--;
      try {
        const { method, target, exchange } = await sessions.run();
        this.#ledger.count("session", exchange);
        this.#check(`lane ${seed}, session ${number}: ${method} ${target}`, method, target, exchange);
      } catch (error) {
        this.#blame(`lane ${seed}, session ${number}: ${error}`);
      }
    }
    sessions.close();
  }

  #check(what: string, method: string, target: string, exchange: Exchange): void {
    if (exchange.kind !== "response" || exchange.response.status === 101) return;
    const { status, headers, body } = exchange.response;
    // Node itself refuses requests that it cannot parse.
    if (body.length === 0 && [400, 408, 413, 414, 417, 431].includes(status)) return;
    const pathname = pathOf(target);
    const contentType = headers.get("content-type") ?? "";
    const problem = problemOf({ method, pathname, status, contentType, text: body.toString() });
    if (problem !== undefined) this.#blame(`${what}: ${status}, ${problem}`);
  }

  /** After all that: a workflow runs, a socket echoes, and the service reports that it is healthy. */
  async #stillServes(): Promise<void> {
    const { url } = this.#service;
    const headers = { "content-type": "application/json", ...bearer(await tokenFor("ada")) };
    const init = { method: "POST", headers, body: JSON.stringify({ input: { a: 1, b: 2 } }) };
    const executed = await fetch(`${url}/workflows/sum/execute`, init);
    const text = await executed.text();
    if (executed.status !== 200 || !text.includes('"status":"completed"'))
      this.#blame(`it does not execute any more: ${executed.status} ${text}`);
    const health = await fetch(`${url}/health`, { headers });
    if (health.status !== 200) this.#blame(`its health is ${health.status}: ${await health.text()}`);
    const client = await SocketClient.connect(this.#service, "/ws", headers);
    await client.next();
    client.send("1");
    const { data } = await client.next();
    if (data !== 1) this.#blame("its socket does not echo any more");
    client.socket.terminate();
  }

  /** Ids of executions that are suspended, ended, failed, and of one that never was. */
  async #vocabulary(): Promise<Vocabulary> {
    const good = await tokenFor("ada");
    const headers = { "content-type": "application/json", ...bearer(good) };
    const executions = ["known", "unknown"];
    for (const id of ["sum", "approval", "twice", "failing", "mirror"]) {
      const init = { method: "POST", headers, body: JSON.stringify({ input: { a: 1, topic: "t" } }) };
      const response = await fetch(`${this.#service.url}/workflows/${id}/execute`, init);
      executions.push(response.headers.get("x-execution-id") ?? "");
    }
    const tokens = [
      good,
      good,
      await tokenFor("eve"),
      await tokenFor("ada", { expiresIn: "-1s" }),
      "a.b.c",
      "",
      "x",
    ];
    const agents = [
      "echo",
      "adder",
      "careful",
      "asking",
      "object",
      "failing",
      "cut",
      "silent",
      "deaf",
      "foreign",
    ];
    const ids = Object.values(workflows).map(({ id }) => id);
    return { workflows: [...ids, "unknown"], agents: [...agents, "unknown"], executions, tokens };
  }

  #goesOn(): boolean {
    return this.#service.ended === undefined && this.#ledger.problems.length < maxProblems;
  }

  #blame(problem: string): void {
    this.#ledger.blame(`${this.#mode}, ${problem}`);
  }
}

/** The path as the server reads it. */
function pathOf(target: string): string {
  const path = `/${target.replace(/^\//, "")}`;
  return URL.canParse(`http://fuzz.example${path}`) ? new URL(`http://fuzz.example${path}`).pathname : path;
}

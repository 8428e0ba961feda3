// The attacks: each sends requests that once took the memory or the time of the server or passed its checks, and counts the
// responses. Hostile markdown blocks only the page of the console that shows it: the tests of its blocks measure that.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { deniedWorkflow, filesHost, post, type Target } from "./target.ts";

/** One attack under way. */
export interface Fight extends Target {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  /** Counts a response by its status, or by the error in place of one. */
  note(outcome: string | number): void;
  /** The server broke a rule. */
  broken(what: string): void;
}

export interface Attack {
  readonly name: string;
  run(fight: Fight): Promise<void>;
}

const mebibyte = 1024 * 1024;

/** `size` bytes of JSON: a list of the same element. */
const listOf = (element: string, size: number) =>
  `[${Array(Math.floor(size / (element.length + 1)))
    .fill(element)
    .join()}]`;

/** 3.9 MB of different fields, in one object or in a list of smaller ones. */
function fields(count: number, each = count): string {
  const length = Math.floor(3_900_000 / count) - '"":1,'.length;
  const field = (n: number) => `"${n.toString(36).padStart(length, "k")}":1`;
  const objects = Array.from(
    { length: count / each },
    (_, index) => `{${Array.from({ length: each }, (_, n) => field(index * each + n))}}`,
  );
  return objects.length === 1 ? `${objects}` : `[${objects}]`;
}

interface Repeat {
  readonly user?: "mallory" | "trudy";
  /** Requests at a time. Default: 2. */
  readonly lanes?: number;
  /** Milliseconds before each request but the first ones. Default: 0. */
  readonly pause?: number;
}

/** Sends the same JSON text again and again. */
async function repeat(
  fight: Fight,
  path: string,
  text: string,
  { user = "mallory", lanes = 2, pause = 0 }: Repeat = {},
): Promise<void> {
  const body = Buffer.from(text);
  const headers = { "content-type": "application/json", ...fight.users[user] };
  const lane = async () => {
    while (!fight.signal.aborted) {
      try {
        const response = await fetch(fight.url + path, { method: "POST", headers, body });
        await response.arrayBuffer();
        fight.note(response.status);
      } catch {
        if (!fight.signal.aborted) fight.note("cut");
        await delay(50);
      }
      await delay(pause, undefined, { signal: fight.signal }).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** A connection that sends `text`; counts the status of its first response. */
function open(fight: Fight, text: string): Socket {
  const { port, hostname } = new URL(fight.url);
  const socket = connect(Number(port), hostname).on("error", () => socket.destroy());
  socket.once("data", (chunk) => fight.note(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1] ?? "?"));
  socket.write(text);
  return socket;
}

const request = (path: string, headers: Record<string, string> = {}) =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${Object.entries(headers)
    .map((header) => `${header.join(": ")}\r\n`)
    .join("")}\r\n`;

/** Opens sockets in rounds, so many at once, holds each round for a while and closes it. */
async function rounds(
  fight: Fight,
  count: number,
  textOf: (index: number) => string,
  { reads, hold }: { reads: boolean; hold: number },
): Promise<void> {
  while (!fight.signal.aborted) {
    const sockets: Socket[] = [];
    for (let n = 0; n < count && !fight.signal.aborted; n++) {
      const socket = open(fight, textOf(n));
      sockets.push(socket);
      if (reads) socket.resume();
      else socket.once("data", () => socket.pause());
      // Faster than the process accepts connections would be a flood of TCP, which takes a firewall.
      if (n % 50 === 49) await delay(100);
    }
    await delay(hold, undefined, { signal: fight.signal }).catch(() => undefined);
    for (const socket of sockets) socket.destroy();
  }
}

const anonymous: readonly Attack[] = [
  {
    name: "1 000 connections ask for pages and scripts",
    run: (fight) => {
      const paths = ["/ui/swagger-ui-bundle.js", "/doc", "/", "/ui/swagger-ui.css", "/console"];
      const text = (n: number) => request(paths[n % paths.length] ?? "/", { "accept-encoding": "gzip" });
      return rounds(fight, 1000, text, { reads: true, hold: 3000 });
    },
  },
  {
    name: "1 000 connections ask for a script and read nothing",
    run: (fight) =>
      rounds(fight, 1000, () => request("/ui/swagger-ui-bundle.js"), { reads: false, hold: 3000 }),
  },
  {
    name: "abandoned requests",
    run: async (fight) => {
      const headers = fight.users.mallory;
      const paths = ["/api/executions?limit=500", "/api/activity", "/api/traces", "/api/logs?limit=1000"];
      while (!fight.signal.aborted) {
        const sockets = Array.from({ length: 100 }, (_, n) =>
          open(fight, request(paths[n % paths.length] ?? "/", headers)),
        );
        await delay(5);
        for (const socket of sockets) socket.destroy();
        fight.note("left");
        await delay(500);
      }
    },
  },
  {
    name: "4 000 pipelined reads",
    run: async (fight) => {
      const text = request("/api/executions?limit=500", fight.users.mallory).repeat(4000);
      await rounds(fight, 2, () => text, { reads: true, hold: 5000 });
    },
  },
];

const holding: readonly Attack[] = [
  {
    name: "one user opens 1 000 streams",
    run: async (fight) => {
      const text = request("/api/changes", fight.users.mallory);
      await rounds(fight, 1000, () => text, { reads: true, hold: 3000 });
    },
  },
  {
    name: "400 exports that are not read",
    run: async (fight) => {
      const path = `/api/conversations/${fight.conversationId}/export`;
      const text = request(path, fight.users.mallory);
      await rounds(fight, 400, () => text, { reads: false, hold: 3000 });
    },
  },
];

const bodies: readonly Attack[] = [
  ...([65_000, 3_900_000] as const).map((size) => ({
    name: `a message of ${size} bytes with parts of an unknown type`,
    run: (fight: Fight) => {
      const parts = listOf('{"type":"x"}', size);
      return repeat(fight, "/agents/echo/chat", `{"input":[{"id":"m","role":"user","parts":${parts}}]}`);
    },
  })),
  {
    name: "2.6 MB of wrong elements in an option",
    run: (fight) =>
      repeat(
        fight,
        "/agents/echo/text",
        `{"input":"a","options":{"stopSequences":${listOf("1", 2_600_000)}}}`,
      ),
  },
  // 52 428 are accepted.
  ...[390_000, 52_400].flatMap((count) => [
    {
      name: `a context of ${count} fields`,
      run: (fight: Fight) =>
        repeat(fight, "/agents/echo/text", `{"input":"a","options":{"context":${fields(count)}}}`),
    },
    {
      name: `an input of ${count} different fields in objects of a hundred`,
      run: (fight: Fight) => repeat(fight, "/workflows/sum/execute", `{"input":${fields(count, 100)}}`),
    },
  ]),
  {
    name: "2.6 MB of wrong elements in a workflow's input",
    run: (fight) =>
      repeat(fight, "/workflows/numbers/execute", `{"input":{"items":${listOf('""', 2_600_000)}}}`),
  },
  {
    name: "100 complete bodies of 4.1 MB at once",
    run: async (fight) => {
      // A character beyond Latin-1 makes a text of two bytes for each of its characters.
      const text = `{"input":{"items":${listOf(`"${"x".repeat(59)}\u0100"`, 4_100_000)}}}`;
      // In waves: without a pause they would take the processor of the server, and nothing else would be measured.
      const of = { user: "trudy", lanes: 100, pause: 10_000 } as const;
      await repeat(fight, "/workflows/numbers/execute", text, of);
    },
  },
  ...["/nowhere", "/custom"].map((path) => ({
    name: `bodies of 300 MB to ${path}`,
    run: async (fight: Fight) => {
      while (!fight.signal.aborted) {
        const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n`;
        const socket = open(fight, head).resume();
        const block = Buffer.from(`${mebibyte.toString(16)}\r\n${"x".repeat(mebibyte)}\r\n`);
        for (let n = 0; n < 300 && !socket.destroyed && !fight.signal.aborted; n++)
          await Promise.race([new Promise((resolve) => socket.write(block, resolve)), delay(1000)]);
        socket.destroy();
      }
    },
  })),
];

/** Once each: the results stay on the disk. */
const copies: readonly Attack[] = [
  {
    name: "60 forks of a conversation of 15 MB",
    run: async (fight) => {
      const path = `${fight.url}/api/conversations/${fight.conversationId}/fork`;
      await sixty(fight, path, {});
    },
  },
  {
    name: "60 replays of an execution of 15 MB",
    run: async (fight) => {
      const path = `${fight.url}/workflows/large/executions/${fight.executionId}/replay`;
      await sixty(fight, path, { stepId: "last" });
    },
  },
];

async function sixty(fight: Fight, path: string, body: object): Promise<void> {
  const headers = fight.users.mallory;
  let made = 0;
  const all = Array.from({ length: 60 }, async () => {
    const { status } = await post(path, body, headers).catch(() => ({ status: "cut" }));
    fight.note(status);
    if (status === 200) made += 1;
  });
  await Promise.all(all);
  if (made === 0) fight.broken("no copy was made");
}

/** Sends the same request again and again: the server must forbid it, also while it is busy. */
async function forbidden(fight: Fight, text: string): Promise<void> {
  while (!fight.signal.aborted) {
    const socket = open(fight, text);
    const [chunk] = await Promise.race([once(socket, "data"), delay(1000, [""])]);
    const status = /^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1] ?? "503";
    if (status !== "403" && status !== "503") fight.broken(`the response was ${status}`);
    socket.destroy();
    await delay(100);
  }
}

const others: readonly Attack[] = [
  {
    name: "20 files of 100 MiB by URL, eight calls at once",
    run: async (fight) => {
      const piece = Buffer.alloc(mebibyte);
      let asked = 0;
      const files = createServer(async (_, response) => {
        asked += 1;
        // Without a length, which would let the server refuse it before a byte is read.
        response.writeHead(200, { "content-type": "image/png" });
        for (let n = 0; n < 100 && !response.destroyed; n++)
          await Promise.race([new Promise((resolve) => response.write(piece, resolve)), delay(1000)]);
        response.end();
      }).listen(0, "127.0.0.1");
      await once(files, "listening");
      const { port } = files.address() as AddressInfo;
      const parts = Array.from({ length: 20 }, (_, n) => ({
        type: "file",
        mediaType: "image/png",
        url: `http://${filesHost}:${port}/${n}.png`,
      }));
      const input = [{ id: "m", role: "user", parts: [{ type: "text", text: "Look" }, ...parts] }];
      await repeat(fight, "/agents/echo/chat", JSON.stringify({ input }), { lanes: 8 });
      if (asked === 0) fight.broken("the files were not asked for");
      files.closeAllConnections();
      files.close();
    },
  },
  ...["resume", "cancel"].map((command) => ({
    name: `commands of another site with a body of one space: ${command}`,
    run: (fight: Fight) => {
      const path = `/workflows/twice/executions/${fight.waitingId}/${command}`;
      const from = "origin: http://evil.example\r\nsec-fetch-site: cross-site\r\ncontent-type: text/plain";
      const text = `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${from}\r\ncontent-length: 1\r\n\r\n `;
      return forbidden(fight, text);
    },
  })),
  {
    name: "reads by a page whose name leads to the server",
    run: (fight) => {
      const text = request("/api/executions", fight.users.mallory);
      return forbidden(fight, text.replace("host: localhost", "host: rebound.example"));
    },
  },
  {
    name: "reads of a workflow that the host denies",
    run: async (fight) => {
      const { mallory: headers } = fight.users;
      const ofOne = `/api/executions/${fight.executionId}`;
      const paths = [ofOne, `${ofOne}/events`, "/api/executions?limit=500", "/api/activity", "/api/traces"];
      while (!fight.signal.aborted)
        for (const path of paths) {
          const response = await fetch(fight.url + path, { headers, signal: fight.signal }).catch(
            () => undefined,
          );
          const text = await response?.text().catch(() => "");
          if (response !== undefined) fight.note(response.status);
          if (text?.includes(deniedWorkflow)) fight.broken(`${path} shows the workflow`);
          await delay(100);
        }
    },
  },
];

export const attacks: readonly Attack[] = [...bodies, ...anonymous, ...holding, ...copies, ...others];

// A real listening server for a test, with the calls that tests make; it is closed when the test is over.
import { type RunningServer, type ServeOptions, serve } from "@andante/server";
import { inTime } from "../../packages/core/test/support/in-time.ts";
import { agents } from "./agents.ts";
import { cleanup } from "./cleanup.ts";
import { EventReader } from "./event-reader.ts";
import { call, postOf, responseTime, type TestResponse } from "./responses.ts";
import { silentLogger } from "./silent-logger.ts";
import { storeForTest } from "./store-for-test.ts";
import { workflows } from "./workflows.ts";

export interface TestServer extends RunningServer {
  get(path: string, headers?: Record<string, string>): Promise<TestResponse>;
  /** Sends a JSON body; none when it is left out. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse>;
  /** Sends with any method. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse>;
  /** Opens a stream: by POST with a body, else by GET. */
  stream(path: string, body?: unknown, headers?: Record<string, string>): Promise<EventReader>;
}

/**
 * Serves the sample workflows and agents, unless others are given, on any free port. In a test the server is closed
 * after it; where tests are declared, after the last of them. A test may close it before.
 */
export async function serveForTest(options: Partial<ServeOptions> = {}): Promise<TestServer> {
  const serving = serve({
    workflows,
    agents,
    store: storeForTest(),
    port: 0,
    hostname: "127.0.0.1",
    handleSignals: false,
    grace: 100,
    logger: silentLogger,
    ...options,
  });
  cleanup(async () => (await serving).close());
  const server = await serving;
  const get = (path: string, headers: Record<string, string> = {}) => call(server.url + path, { headers });
  const post = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
    call(server.url + path, postOf(body, headers));
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    call(server.url + path, { ...postOf(body, headers), method });
  const stream = async (path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const init = body === undefined ? { headers } : postOf(body, headers);
    const response = await inTime(fetch(server.url + path, init), `the stream of ${path}`, responseTime);
    const framing = body === undefined ? "with-ids" : "plain";
    return new EventReader(response, /\/(chat|playground)/.test(path) ? "chat" : framing);
  };
  return { ...server, get, post, send, stream };
}

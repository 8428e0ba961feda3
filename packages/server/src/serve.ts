// serve: runs the app on a port until a signal or `close`.
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Andante, Store } from "@andante/core";
import { OptionError } from "@andante/core/errors";
import {
  type AgentRecord,
  checkKnownOptions,
  type EventRecord,
  type KnownOptions,
  type WorkflowRecord,
} from "@andante/core/internal";
import { type App, beginApp, type ConsoleAccess } from "./app.ts";
import { type AppOptions, knownAppOptions } from "./app-options.ts";
import { chooseStore } from "./choose-store.ts";
import { type ConnectionTimeouts, timeoutsOf } from "./connection-timeouts.ts";

export interface ServeOptions<
  W extends WorkflowRecord = WorkflowRecord,
  A extends AgentRecord = AgentRecord,
  E extends EventRecord = EventRecord,
> extends Omit<AppOptions<W, A, E>, "store"> {
  /**
   * The store of all data. Default: PostgreSQL at the address in ANDANTE_DATABASE_URL (schema `andante`, with
   * `@andante/postgres` installed), Restate at the address in ANDANTE_RESTATE_URL (with `@andante/restate` installed),
   * else a SQLite file, `./andante.db` or the path in ANDANTE_DB.
   */
  readonly store?: Store;
  /** Default: PORT from the environment, else 3141. 0 takes any free port. */
  readonly port?: number;
  /** The address to listen on. Default: HOST from the environment, else 127.0.0.1. */
  readonly hostname?: string;
  /** Close on SIGTERM and SIGINT, then end the process. Default: true. */
  readonly handleSignals?: boolean;
  /**
   * Milliseconds for running steps to finish when the server closes; a signal ends the process at most 2 s later.
   * Default: 10 000.
   */
  readonly grace?: number;
  /** The timeouts of connections. Default: see each field. */
  readonly timeouts?: ConnectionTimeouts;
}

const knownOptions: KnownOptions<ServeOptions> = {
  ...knownAppOptions,
  port: true,
  hostname: true,
  handleSignals: true,
  grace: true,
  timeouts: true,
};

/** Milliseconds for clients to read their last responses. */
const readingTime = 1000;
/** Milliseconds after the grace period by which a signal has ended the process. */
const maxClosing = 1900;

export interface RunningServer<
  W extends WorkflowRecord = WorkflowRecord,
  A extends AgentRecord = AgentRecord,
  E extends EventRecord = EventRecord,
> {
  /** The URL with the base path, such as http://127.0.0.1:3141 */
  readonly url: string;
  /** The workflows and their executions, without HTTP. */
  readonly andante: Andante<W, A, E>;
  /**
   * Starts nothing new, lets running steps finish within the grace period, and closes the store. The port stays open
   * until then: `/ready` and requests that would start work get a 503.
   */
  close(): Promise<void>;
}

/**
 * Serves agents and workflows over HTTP, server-sent events and WebSocket. Resolves when the server is ready; the port
 * opens earlier, and requests wait for the store. Rejects when the port is in use or the store cannot be opened.
 *
 * @example
 * ```ts
 * import { createWorkflow } from "@andante/core";
 * import { serve } from "@andante/server";
 * import { z } from "zod";
 *
 * const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) })
 *   .andThen({ id: "times-two", execute: ({ data }) => data.n * 2 });
 * const server = await serve({ workflows: { double } });
 * console.log(`Listening on ${server.url}`);
 * ```
 */
export function serve<
  W extends WorkflowRecord = Record<never, never>,
  A extends AgentRecord = Record<never, never>,
  E extends EventRecord = Record<never, never>,
>(options: ServeOptions<W, A, E>): Promise<RunningServer<W, A, E>>;
export async function serve(options: ServeOptions): Promise<RunningServer> {
  checkKnownOptions("serve", options, knownOptions);
  const {
    store: given,
    hostname = process.env.HOST ?? "127.0.0.1",
    port = portFromEnvironment() ?? 3141,
    handleSignals = true,
    grace = 10_000,
    timeouts,
    ...appOptions
  } = options;
  const connectionOptions = timeoutsOf(timeouts);
  const { store, log: logChoice } = await chooseStore(given);
  const { andante, build } = beginApp({ ...appOptions, store });
  const { logger } = andante;
  // Throw the cause of the failed start, not the error of closing a store that is not open.
  const giveUp = (opened: Pick<App, "close">) =>
    opened.close({ grace: 0 }).catch((err) => logger.error({ err }, "closing failed"));
  let service: App;
  try {
    service = build();
  } catch (error) {
    await giveUp(andante);
    throw error;
  }
  // The store's thread is starting; this thread loads the listener in parallel.
  const { createListener } = await import("./listener.ts");
  const { basePath } = service;
  let closing: Promise<void> | undefined;
  const isDirect = (appOptions.middleware ?? []).length === 0;
  const isClosing = () => closing !== undefined;
  const server = createListener(service, { connections: connectionOptions, isDirect, isClosing });
  const connections = trackConnections(server);
  const cutOff = () => connections.forEach((connection) => void connection.destroy());
  const close = () => {
    closing ??= shutDown();
    return closing;
  };
  const stopOn = (signal: NodeJS.Signals) => {
    logger.info({ signal }, "closing");
    const stop = (err: unknown) => {
      logger.error({ err }, "closing failed");
      process.exit(1);
    };
    // The sender of the signal expects the process to end; commits are durable, and the next start recovers the rest.
    setTimeout(
      () => stop(new Error(`it took longer than ${grace + maxClosing} ms`)),
      grace + maxClosing,
    ).unref();
    close().then(() => process.exit(0), stop);
  };
  try {
    // Before the store is open: a request that needs the store waits, as in an app behind another listener.
    await listen(server, port, hostname);
    // Without a handler an error, such as a connection that could not be accepted, would end the process.
    server.on("error", (err) => logger.error({ err }, "the listener reported an error"));
    // From here on requests start steps, which a signal must let finish.
    if (handleSignals) {
      process.on("SIGTERM", stopOn);
      process.on("SIGINT", stopOn);
    }
    await logChoice(logger);
    await andante.ready();
  } catch (error) {
    leaveSignals();
    server.close();
    cutOff();
    await giveUp(service);
    throw error;
  }
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  const url = `http://${host}:${portOf(server)}${basePath}`;
  const bytes = await store.health().then(
    (health) => health.bytes,
    () => null,
  );
  const where = { url, ...consoleField(url, service.console), store: store.location };
  if (!isClosing()) logger.info({ ...where, ...(bytes !== null && { bytes }) }, "Andante is listening");
  return { url, andante, close };

  async function shutDown(): Promise<void> {
    const closed = Promise.withResolvers<void>();
    // Not earlier: until then requests, such as a load balancer's probe, must see that this node stops.
    const stopListening = () => server.close(() => closed.resolve());
    // Responses to waiting callers are being sent; a client that does not read them within a second is disconnected.
    const late = setTimeout(() => {
      stopListening();
      cutOff();
    }, grace + readingTime);
    await service.close({ grace });
    stopListening();
    const unread = setTimeout(cutOff, readingTime);
    await closed.promise;
    clearTimeout(late);
    clearTimeout(unread);
    // Until here a second signal is ignored: a terminal sends it to the whole process group.
    leaveSignals();
  }

  function leaveSignals(): void {
    process.off("SIGTERM", stopOn);
    process.off("SIGINT", stopOn);
  }
}

/** The console's URL for the log; with every route private, the option that makes it reachable. */
function consoleField(url: string, access: ConsoleAccess): { readonly console?: string } {
  if (access === "off") return {};
  const hint = ' (needs a token: list "GET /console*" in publicRoutes)';
  return { console: `${url}/console${access === "protected" ? hint : ""}` };
}

/** Every connection, including upgraded ones and refused upgrades, which the server itself does not track. */
function trackConnections(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  server.on("connection", (connection: Socket) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
  });
  return connections;
}

/**
 * The accept backlog. With Node's 511 the system drops connections while a thousand clients connect at once, and these
 * retry only after seconds. With many more, a busy process would accept clients that disconnected long ago.
 */
const maxWaitingConnections = 1024;

function listen(server: Server, port: number, hostname: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => {
      const busy = error.code === "EADDRINUSE";
      const problem = busy ? `port ${port} on ${hostname} is already in use` : error.message;
      reject(new OptionError({ option: "port", problem }));
    };
    server.once("error", refused);
    server.listen({ port, host: hostname, backlog: maxWaitingConnections }, () => {
      server.off("error", refused);
      resolve();
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function portFromEnvironment(): number | undefined {
  const value = process.env.PORT;
  if (value === undefined || value === "") return undefined;
  const port = Number(value);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new OptionError({ option: "PORT", problem: `"${value}" is not a port number` });
}

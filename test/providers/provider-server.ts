// A provider on loopback: it speaks one of the wire formats, behaves as the test directs, and records its requests.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { z } from "zod";
import { cleanup } from "../support/cleanup.ts";

/** Is in every message of a provider about its failures, and in its keys. It must not reach a caller. */
export const canary = "canary-7f3a";

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** A search that the provider runs itself; its result is the page of the query. */
export interface Search {
  readonly id: string;
  readonly query: string;
}

/** A good answer. */
export interface Said {
  /** Only Anthropic's format has them. */
  readonly searches?: readonly Search[];
  /** In the pieces in which it streams. */
  readonly text?: readonly string[];
  readonly calls?: readonly ToolCall[];
}

/** The provider's behaviour for one request. */
export type Behaviour =
  | ({ readonly kind: "answer" } & Said)
  /** An error in the provider's own format. */
  | { readonly kind: "refuse"; readonly status: number; readonly headers?: Record<string, string> }
  /** Sends this much and closes the connection: in the middle of the protocol, or of the transport too. */
  | { readonly kind: "cut"; readonly text: readonly string[]; readonly how: "ended" | "destroyed" }
  /** Something that is no answer where the whole one is expected. */
  | { readonly kind: "garbage" }
  /** Something that is no event after these pieces. */
  | { readonly kind: "garbage-inside"; readonly text: readonly string[] }
  /** The provider's own event for an error after these pieces. */
  | { readonly kind: "error-inside"; readonly text: readonly string[] }
  /** Sends this much and then nothing, for as long as the connection lives. */
  | { readonly kind: "stall"; readonly text: readonly string[] };

/** A provider's wire format. */
export interface Wire {
  /** The whole answer as JSON. */
  whole(said: Said): unknown;
  /** The events of a streamed answer; `begin` and the pieces come before `end`. */
  begin(): string;
  piece(text: string, index: number): string;
  end(said: Said): string;
  /** The body of an error, and the event of one. */
  error(message: string): unknown;
  errorEvent(message: string): string;
}

export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ProviderServer {
  readonly url: string;
  readonly received: Received[];
  /** Resolves when a client has closed a connection on which the provider stalls. */
  readonly abandoned: () => Promise<void>;
  behave(script: (request: Received, number: number) => Behaviour): void;
}

/** It is gone when the tests that it was started for are over. */
export async function startProvider(wire: Wire): Promise<ProviderServer> {
  const received: Received[] = [];
  let script: (request: Received, number: number) => Behaviour = () => ({ kind: "answer", text: ["ok"] });
  let abandoned = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const body = z.record(z.string(), z.unknown()).parse(JSON.parse(await textOf(request)));
    const one = { path: request.url ?? "", headers: request.headers, body };
    received.push(one);
    const behaviour = script(one, received.length);
    if (behaviour.kind === "stall") response.once("close", () => abandoned.resolve());
    response.setHeader("x-provider-secret", canary);
    if (body.stream === true) stream(wire, behaviour, response);
    else whole(wire, behaviour, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanup(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return {
    url: urlOf(server.address()),
    received,
    abandoned: () => abandoned.promise,
    behave: (next) => {
      script = next;
      received.length = 0;
      abandoned = Promise.withResolvers();
    },
  };
}

/** An address without a listener. */
export async function refusedAddress(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = urlOf(server.address());
  server.close();
  await once(server, "close");
  return url;
}

function urlOf(address: ReturnType<ReturnType<typeof createServer>["address"]>): string {
  if (typeof address !== "object" || address === null) throw new Error("the provider does not listen");
  return `http://127.0.0.1:${address.port}`;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) text += chunk;
  return text;
}

function refuse(wire: Wire, { status, headers }: { status: number; headers?: object }, to: ServerResponse) {
  to.writeHead(status, { "content-type": "application/json", ...headers });
  to.end(JSON.stringify(wire.error(`${canary}: the key sk-${canary} is no good`)));
}

function whole(wire: Wire, behaviour: Behaviour, to: ServerResponse): void {
  if (behaviour.kind === "refuse") return refuse(wire, behaviour, to);
  if (behaviour.kind === "stall") return;
  to.writeHead(200, { "content-type": "application/json" });
  if (behaviour.kind === "answer") to.end(JSON.stringify(wire.whole(behaviour)));
  else if (behaviour.kind === "error-inside") to.end(JSON.stringify(wire.error(canary)));
  else if (behaviour.kind === "cut")
    breakOff(to, JSON.stringify(wire.whole(behaviour)).slice(0, -20), behaviour.how);
  else to.end(`<html>${canary}</html>`);
}

function stream(wire: Wire, behaviour: Behaviour, to: ServerResponse): void {
  if (behaviour.kind === "refuse") return refuse(wire, behaviour, to);
  to.writeHead(200, { "content-type": "text/event-stream" });
  if (behaviour.kind === "garbage") {
    to.end(`<html>${canary}</html>`);
    return;
  }
  const { text = [] } = behaviour;
  const said = wire.begin() + text.map((piece, index) => wire.piece(piece, index)).join("");
  switch (behaviour.kind) {
    case "answer":
      to.end(said + wire.end(behaviour));
      return;
    case "cut":
      breakOff(to, said, behaviour.how);
      return;
    case "garbage-inside":
      to.end(`${said}data: {"${canary}\n\n${wire.end({ text })}`);
      return;
    case "error-inside":
      to.end(said + wire.errorEvent(canary));
      return;
    // "stall": the end does not come.
    default:
      to.write(said);
  }
}

function breakOff(to: ServerResponse, said: string, how: "ended" | "destroyed"): void {
  if (how === "ended") to.end(said);
  // Once it is on its way, so that the client has the beginning of it.
  else to.write(said, () => to.destroy());
}

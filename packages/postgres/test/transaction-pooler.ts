// A pooler that gives a client another connection for each transaction, as PgBouncer does with `pool_mode = transaction`.
//
// The session state of a client (a prepared statement, `LISTEN`, a setting) is gone, or is another client's.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface TransactionPooler {
  readonly port: number;
  close(): Promise<void>;
}

/** The connections to the database are shared in turn. The server has to ask for a plain password. */
export async function startPooler(options: {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly connections: number;
}): Promise<TransactionPooler> {
  const free: Backend[] = [];
  const waiting: Client[] = [];
  const release = (backend: Backend) => {
    const next = waiting.shift();
    if (next === undefined) free.push(backend);
    else next.take(backend);
  };
  for (let n = 0; n < options.connections; n++) free.push(await Backend.open(options, release));
  const clients = new Set<Socket>();
  const server = createServer((socket) => {
    clients.add(socket);
    new Client(socket, (client) => {
      const backend = free.shift();
      if (backend === undefined) waiting.push(client);
      else client.take(backend);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    async close() {
      for (const socket of clients) socket.destroy();
      server.close();
      await once(server, "close");
      for (const backend of free) backend.end();
    },
  };
}

/** Cuts a stream into messages: a letter, the length, and that many bytes. */
class Messages {
  #rest: Buffer = Buffer.alloc(0);

  *add(chunk: Buffer): Generator<Buffer> {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 5) {
      const length = this.#rest.readUInt32BE(1) + 1;
      if (this.#rest.length < length) return;
      yield this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
    }
  }
}

function message(letter: string, ...parts: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(`${part}\0`) : part)),
  );
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

class Backend {
  readonly #socket: Socket;
  readonly #release: (backend: Backend) => void;
  #client: Client | undefined;
  #unanswered = 0;

  private constructor(socket: Socket, release: (backend: Backend) => void) {
    this.#socket = socket;
    this.#release = release;
  }

  static async open(
    { port, user, password, database }: { port: number; user: string; password: string; database: string },
    release: (backend: Backend) => void,
  ): Promise<Backend> {
    const socket = connect(port, "127.0.0.1");
    const backend = new Backend(socket, release);
    const messages = new Messages();
    const ready = Promise.withResolvers<void>();
    let isReady = false;
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      for (const each of messages.add(chunk)) {
        const letter = String.fromCharCode(each[0] ?? 0);
        if (isReady) backend.#receive(letter, each);
        else if (letter === "R" && each.readUInt32BE(5) === 3) socket.write(message("p", password));
        else if (letter === "Z") {
          isReady = true;
          ready.resolve();
        }
      }
    });
    const startup = message(" ", number(196_608), "user", user, "database", database, Buffer.alloc(1));
    socket.write(startup.subarray(1));
    await ready.promise;
    return backend;
  }

  serve(client: Client): void {
    this.#client = client;
  }

  send(bytes: Buffer): void {
    const letter = String.fromCharCode(bytes[0] ?? 0);
    if (letter === "S" || letter === "Q") this.#unanswered++;
    this.#socket.write(bytes);
  }

  end(): void {
    this.#socket.destroy();
  }

  #receive(letter: string, bytes: Buffer): void {
    this.#client?.socket.write(bytes);
    if (letter !== "Z" || --this.#unanswered > 0 || bytes[5] !== "I".charCodeAt(0)) return;
    // No transaction is open any more: the next one may go anywhere.
    this.#client?.leave();
    this.#client = undefined;
    this.#release(this);
  }
}

class Client {
  readonly socket: Socket;
  readonly #ask: (client: Client) => void;
  readonly #messages = new Messages();
  #backend: Backend | undefined;
  #pending: Buffer[] = [];
  #greeted = false;

  constructor(socket: Socket, ask: (client: Client) => void) {
    this.socket = socket;
    this.#ask = ask;
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      if (this.#greeted) return this.#receive(chunk);
      this.#greeted = true;
      // A process number that no server process has.
      const key = message("K", number(7), number(7));
      const hello = [message("R", number(0)), message("S", "client_encoding", "UTF8"), key];
      socket.write(Buffer.concat([...hello, message("Z", Buffer.from("I"))]));
    });
  }

  take(backend: Backend): void {
    this.#backend = backend;
    backend.serve(this);
    for (const each of this.#pending.splice(0)) backend.send(each);
  }

  leave(): void {
    this.#backend = undefined;
  }

  #receive(chunk: Buffer): void {
    for (const each of this.#messages.add(chunk)) {
      if (each[0] === "X".charCodeAt(0)) return void this.socket.end();
      if (this.#backend !== undefined) this.#backend.send(each);
      else if (this.#pending.push(each) === 1) this.#ask(this);
    }
  }
}

// Turns of the event loop for long synchronous work, such as parsing a long body.
//
// Parsing and checking a body of 4 MB takes up to 200 ms: clients that send eight at once must not block all others for
// all eight. And Node accepts one new connection per turn: with such a body in every turn, new clients would wait for
// as many bodies. So a long body waits for a turn without another one, after pending connections.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setImmediate as turn } from "node:timers/promises";

/** Maximum connections that are accepted before one long body. */
const maxConnections = 256;

/** The turns of one server. */
export class OwnTurns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves in a turn reserved for the caller, after pending connections were accepted. */
  next(): Promise<void> {
    this.#last = this.#last.then(connectionsFirst);
    return this.#last;
  }
}

async function connectionsFirst(): Promise<void> {
  let accepted = 0;
  const count = () => {
    accepted += 1;
  };
  subscribe("net.server.socket", count);
  let before: number;
  do {
    before = accepted;
    await turn();
  } while (accepted > before && accepted < maxConnections);
  unsubscribe("net.server.socket", count);
}

// Turns of the event loop for long synchronous work, such as parsing a long body.
//
// Parsing and checking a body of 4 MB takes up to 200 ms: clients that send eight at once must not block all others for
// all eight. And Node accepts one new connection per turn: with such a body in every turn, new clients would wait for
// as many bodies. So a long body waits for a turn without another one, after pending connections.
import { subscribe } from "node:diagnostics_channel";
import { setImmediate as turn } from "node:timers/promises";

/** Maximum connections that are accepted before one long body. */
const maxConnections = 256;

// Module state, because all servers of the process share one event loop.
let accepted = 0;
let last: Promise<void> = Promise.resolve();
subscribe("net.server.socket", () => {
  accepted += 1;
});

/** Resolves in a turn reserved for the caller, after pending connections were accepted. */
export function ownTurn(): Promise<void> {
  last = last.then(connectionsFirst);
  return last;
}

async function connectionsFirst(): Promise<void> {
  const most = accepted + maxConnections;
  let before: number;
  do {
    before = accepted;
    await turn();
  } while (accepted > before && accepted < most);
}

// Turns of the event loop for work that takes long, such as parsing a long body.
//
// Parsing and checking a body of 4 MB takes up to 200 ms: clients that send eight at once must not keep all others waiting
// for all of them. And Node accepts one new connection in each turn: with such a body in each of them new clients wait
// for as many bodies. So a long body waits for a turn without another one, and lets clients connect first.
import { subscribe } from "node:diagnostics_channel";
import { setImmediate as turn } from "node:timers/promises";

/** Connections that go before one long body at most. */
const maxConnections = 256;

// The event loop is one for all servers of the process, and so are these.
let accepted = 0;
let last: Promise<void> = Promise.resolve();
subscribe("net.server.socket", () => {
  accepted += 1;
});

/** Resolves in a turn that belongs to the caller, after turns in which connections were accepted. */
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

// Three nodes, a proxy and PostgreSQL on this machine: kill nodes with the keys 1, 2 and 3, and see that nothing is
// lost. With --restate: three Restate servers in place of PostgreSQL.
//
// Without a terminal: `--seconds 15 --kills 3` kills nodes itself, prints the counters and exits with 1 for lost
// orders.
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Customers } from "./customers.ts";
import { freePorts } from "./free-ports.ts";
import { ClusterNode } from "./nodes.ts";
import { type Killable, startDatabase } from "./postgres.ts";
import { startProxy } from "./proxy.ts";
import { startRestate } from "./restate.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "0" },
    kills: { type: "string", default: "0" },
    customers: { type: "string", default: "20" },
    restate: { type: "boolean", default: false },
  },
});
const [seconds, kills, customerCount] = [values.seconds, values.kills, values.customers].map(Number);
if (![seconds, kills, customerCount].every(Number.isFinite))
  throw new Error("--seconds, --kills and --customers are numbers");

/** Starts of a process after which it counts as impossible. */
const maxStarts = 10;

console.log(values.restate ? "Starting three Restate servers …" : "Starting PostgreSQL …");
const database = values.restate ? await startRestate(await freePorts(3)) : await startDatabase();
const nodes = [0, 1, 2].map((place) => new ClusterNode(database.settings(place)));
/** Everything that a key kills: the nodes, then the servers. */
const targets: readonly Killable[] = [...nodes, ...database.servers];
/** No process is started any more. */
let isOver = false;
try {
  console.log("Starting three nodes …");
  await Promise.all(nodes.map(startUntilUp));
  const proxy = await startProxy(() => nodes.flatMap(({ url }) => url ?? []));
  console.log(`The cluster is at ${proxy.url}, its console at ${proxy.url}/console`);
  const customers = new Customers(proxy.url);
  customers.begin(customerCount ?? 0);
  if (seconds) await killSome(seconds * 1000, kills ?? 0);
  else await letThePlayerKill(() => lineOf(customers));
  console.log("Waiting for the orders that are under way …");
  await Promise.all(targets.map(startUntilUp));
  await customers.stop();
  console.log(lineOf(customers));
  if (customers.counters.lost > 0) process.exitCode = 1;
  await proxy.close();
} finally {
  isOver = true;
  await Promise.all(nodes.map((node) => node.kill()));
  await database.remove();
}

/** Kills one after the other, each down for a second. */
async function killSome(duration: number, count: number): Promise<void> {
  const share = duration / (count + 1);
  for (let kill = 0; kill < count; kill++) {
    await pause(share);
    const place = kill % targets.length;
    await targets[place]?.kill();
    console.log(`Killed ${place < nodes.length ? "node" : "server"} ${place + 1}`);
    void restart(place, 1000);
  }
  await pause(share);
}

async function restart(place: number, after: number): Promise<void> {
  await pause(after);
  const target = targets[place];
  if (target) await startUntilUp(target).catch((error: unknown) => console.error(error));
}

/** Starts a process again and again until it is up, as a supervisor does. */
async function startUntilUp(target: Killable): Promise<void> {
  for (let attempt = 1; !isOver; attempt++)
    try {
      return await target.start();
    } catch (error) {
      if (attempt === maxStarts) throw error;
      console.log(`Starting it again: ${error instanceof Error ? error.message : error}`);
      await pause(1000);
    }
}

/** Reads keys until q or the end of the input. */
async function letThePlayerKill(line: () => string): Promise<void> {
  const { stdin, stdout } = process;
  const servers = database.servers.map((_, place) => place + nodes.length + 1).join(", ");
  const more = servers === "" ? "" : ` ${servers}: a server of Restate.`;
  console.log(`1, 2, 3: kill that node, again: start it.${more} q: end.`);
  const show = setInterval(() => stdout.write(`\r\x1b[K${line()}`), 200);
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  for await (const keys of stdin) {
    for (const key of String(keys)) {
      const target = targets[Number(key) - 1];
      if (target?.status === "down") void restart(Number(key) - 1, 0);
      else await target?.kill();
    }
    // A raw terminal passes Control-C and Control-D as characters.
    if (["q", "\u0003", "\u0004"].some((end) => String(keys).includes(end))) break;
  }
  clearInterval(show);
  if (stdin.isTTY) stdin.setRawMode(false);
  stdin.destroy();
  stdout.write("\n");
}

function lineOf({ counters }: Customers): string {
  const states = targets.map(({ status }, place) => `${place + 1} ${status}`).join(", ");
  const { started, ended, lost } = counters;
  return `started ${started}  ended ${ended}  lost ${lost}  (nodes: ${states})`;
}

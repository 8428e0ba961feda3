// One life of a situation, in a process of its own: `child.ts <situation> <number of the life> <database> <log>`.
import { situations } from "./situations/index.ts";
import { die, Stage } from "./stage.ts";

// Stacks are kept in logs: the paths of one machine have no place in a fixture.
Error.stackTraceLimit = 0;

const [name = "", number = "", database = "", log = ""] = process.argv.slice(2);
const life = situations[name]?.lives[Number(number)];
if (life === undefined) throw new Error(`there is no life ${number} of "${name}"`);

const stage = new Stage({ database, log, changed: life.changed === true });
// A life that waits for its end must not run dry: timers of the engine keep no process alive.
const alive = setInterval(() => undefined, 60_000);
await stage.andante.ready();
await life.act(stage);
if (life.end === "kill") die();
clearInterval(alive);
await stage.andante.close();

// npm run chaos [kills]: kills executions of every kind at every boundary, at random and while they are recovered, and
// checks that nothing is lost. Without a number it makes a thousand kills.
//
// ANDANTE_CHAOS_SEED repeats the choices of an earlier campaign; ANDANTE_CHAOS_TRIAL repeats one trial that it printed;
// ANDANTE_CHAOS_WORKERS is the number of processes at once (default: 2); ANDANTE_CHAOS_SCENARIOS names some of the
// scenarios, with commas (default: all of them). ANDANTE_CHAOS_CHAT names one of the chats, which then gets all kills.

import { runCampaign, type Totals } from "./campaign.ts";
import { runChats } from "./chats/campaign.ts";
import { editorChat } from "./chats/editor-chat.ts";
import { fiveToolsChat } from "./chats/five-tools-chat.ts";
import { scenarioNames } from "./scenarios/index.ts";
import { type TrialResult, trialPlanSchema } from "./trial.ts";
import { openWorkspace } from "./workspace.ts";

const kills = Number(process.argv[2] ?? 1000);
const seed = Number(process.env.ANDANTE_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const workers = Number(process.env.ANDANTE_CHAOS_WORKERS ?? 2);
if (![kills, seed, workers].every((number) => Number.isInteger(number) && number >= 0)) {
  throw new Error(
    "usage: npm run chaos [kills], with whole numbers in ANDANTE_CHAOS_SEED and ANDANTE_CHAOS_WORKERS",
  );
}

const repeated = process.env.ANDANTE_CHAOS_TRIAL;
const only = repeated === undefined ? undefined : trialPlanSchema.parse(JSON.parse(repeated));

const scenarios = process.env.ANDANTE_CHAOS_SCENARIOS?.split(",") ?? scenarioNames;

const workspace = openWorkspace();

say(`chaos: ${kills} kills, ANDANTE_CHAOS_SEED=${seed}`);
const began = performance.now();
let said = 0;
const onlyChat = process.env.ANDANTE_CHAOS_CHAT;
const none: Totals = { kills: 0, target: 0, executions: 0, passed: 0, failed: 0 };
const campaign = () =>
  runCampaign({
    kills,
    seed,
    workers,
    only,
    scenarios: only?.scenarios ?? scenarios,
    folder: workspace.folder,
    onResult(result, soFar) {
      tellFailures(result);
      if (soFar.kills - said < 25) return;
      said = soFar.kills;
      say(`${seconds()}: ${summary(soFar)}`);
    },
  });
const totals = onlyChat === undefined ? await campaign() : none;
// A fifth as many for a chat whose tools have side effects, and three tenths for one that waits, is steered, falls back to its
// second model and uses up a budget, where all scenarios are asked for.
const isWhole = only === undefined && process.env.ANDANTE_CHAOS_SCENARIOS === undefined;
let lostInChats = false;
for (const [name, chat, share] of [
  ["five tools", fiveToolsChat, 0.2],
  ["waits", editorChat, 0.3],
] as const) {
  if (onlyChat === undefined ? !isWhole : onlyChat !== name) continue;
  const killed = onlyChat === undefined ? Math.ceil(kills * share) : kills;
  let told = 0;
  const onTrial = (made: number) => {
    if (made - told < 10) return;
    told = made;
    say(`${seconds()}: ${made} of ${killed} kills of a chat with ${name}`);
  };
  const chats = await runChats(chat, { folder: workspace.folder, kills: killed, seed, onTrial });
  for (const problem of chats.problems) say(`FAILED chat with ${name}: ${problem}`);
  lostInChats ||= chats.problems.length > 0;
  say(`${seconds()}: ${chats.kills} kills of a chat with ${name} in ${chats.trials} trials`);
}
const ok =
  totals.failed === 0 &&
  !lostInChats &&
  (only !== undefined || onlyChat !== undefined || totals.kills >= kills);
if (totals.failed === 0 && !lostInChats) workspace.remove();
say(`${seconds()}: ${ok ? "nothing was lost" : `FAILED, see ${workspace.folder}`}`);
say(summary(totals));
process.exitCode = ok ? 0 : 1;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function seconds(): string {
  return `${Math.round((performance.now() - began) / 1000)} s`;
}

function summary({ kills: hit, target, executions, passed, failed }: Totals): string {
  const of = target > hit ? ` of ${target}` : "";
  return `${hit}${of} kills, ${executions} executions, ${passed} passed, ${failed} failed`;
}

function tellFailures({ executions, plan, folder: kept }: TrialResult): void {
  const failures = [...executions].filter(([, problems]) => problems.length > 0);
  if (failures.length === 0) return;
  for (const [executionId, problems] of failures) {
    say(`FAILED ${executionId} in ${kept}`);
    for (const problem of problems) say(`  ${problem}`);
  }
  say(`  again: ANDANTE_CHAOS_TRIAL='${JSON.stringify(plan)}'`);
}

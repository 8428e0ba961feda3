// Costs that must not grow faster than the work: each is measured small and large in one run, and the ratio counts.
import { inTemporaryFolder } from "../measure.ts";
import { isRecorded } from "../pace.ts";
import { printBudgets, recordBudgets } from "../results.ts";
import { definitions } from "./definitions.ts";
import { disk } from "./disk.ts";
import { fanOuts } from "./fan-outs.ts";
import { gates } from "./gates.ts";
import { loops } from "./loops.ts";
import { rows } from "./rows.ts";
import { search } from "./search.ts";
import { states } from "./states.ts";

const budgets = await inTemporaryFolder(async (folder) => [
  ...(await loops(folder)),
  await gates(folder),
  await fanOuts(folder),
  definitions(),
  await states(folder),
  ...(await disk(folder)),
  ...(await rows(folder)),
  ...(await search(folder)),
]);
printBudgets("Growth", budgets);
if (isRecorded) recordBudgets("Growth", "npm run bench:growth", budgets);
process.exitCode = budgets.every((budget) => budget.held) ? 0 : 1;

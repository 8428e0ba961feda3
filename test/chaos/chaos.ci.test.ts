// The short version of `npm run chaos`, and the proof that its checks can fail.
import { afterAll, describe, expect, it } from "vitest";
import { runCampaign } from "./campaign.ts";
import { runChats } from "./chats/campaign.ts";
import { editorChat } from "./chats/editor-chat.ts";
import { fiveToolsChat } from "./chats/five-tools-chat.ts";
import type { Kill } from "./instructions.ts";
import { runTrial, type TrialResult } from "./trial.ts";
import { openWorkspace } from "./workspace.ts";

const scenarios = [
  "chain",
  "agent",
  "tools",
  "nested",
  "gate",
  "gates-at-once",
  "rewind",
  "pause-over-gate",
  "for-each",
  "loop",
  "retry",
  "deadline",
];

describe("chaos", () => {
  const seed = Number(process.env.ANDANTE_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const { folder, remove } = openWorkspace();

  afterAll(remove);

  it(`loses nothing when its process is killed (ANDANTE_CHAOS_SEED=${seed})`, {
    timeout: 600_000,
  }, async () => {
    const failures: unknown[] = [];
    const totals = await runCampaign({
      kills: 8,
      seed,
      scenarios,
      only: undefined,
      folder,
      workers: 2,
      onResult: (result) => failures.push(...failuresOf(result)),
    });
    expect(failures).toEqual([]);
    expect(totals.kills).toBeGreaterThanOrEqual(8);
  });

  it.each([
    ["runs tools", fiveToolsChat],
    ["waits, is steered, falls back to its second model and uses up a budget", editorChat],
  ])("a chat that %s loses nothing", { timeout: 600_000 }, async (_, chat) => {
    const { kills, problems } = await runChats(chat, { folder, kills: 8, seed });
    expect(problems).toEqual([]);
    expect(kills).toBeGreaterThanOrEqual(8);
  });

  it("notices a chat whose commit was acknowledged and forgotten", { timeout: 600_000 }, async () => {
    const kill = { kind: "lie", number: 6 } as const;
    const { problems } = await runChats(editorChat, { folder, kills: 1, seed: 0, kill });
    expect(problems.join()).toContain("look happened again after its commit was acknowledged");
  });

  it("recovers several megabytes though it is killed while it does", { timeout: 600_000 }, async () => {
    const recovering: Kill[] = [20, 60].map((milliseconds) => ({
      kind: "outside",
      since: "opening",
      milliseconds,
    }));
    const result = await runTrial(
      {
        name: "large",
        scenarios: ["large", "gate"],
        seed,
        world: "eager",
        kills: [{ kind: "body", number: 12 }, ...recovering],
      },
      { folder, endings: new Map() },
    );
    expect(failuresOf(result)).toEqual([]);
    expect([result.kills, result.lastLife.kind]).toEqual([3, "done"]);
  });

  it("notices a store that acknowledges a commit and forgets it", async () => {
    const result = await runTrial(
      { name: "chain", scenarios: ["chain"], seed, world: "eager", kills: [{ kind: "lie", number: 3 }] },
      { folder, endings: new Map() },
    );
    expect([...result.executions.values()].flat().join()).toContain("its start was not committed");
  });
});

function failuresOf({ plan, executions }: TrialResult): unknown[] {
  return [...executions]
    .filter(([, problems]) => problems.length > 0)
    .map(([executionId, problems]) => ({ executionId, problems, plan }));
}

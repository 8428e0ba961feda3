// Begins a turn: one write keeps the message and creates the execution that replies to it, which then runs here.
import { randomUUID } from "node:crypto";
import type { TurnToBegin } from "../../agent/turn/turn-host.ts";
import { ShuttingDownError } from "../../errors/index.ts";
import { encodeEvent, encodeEvents } from "../../journal/codec.ts";
import { Journal } from "../../journal/journal.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import type { BeginTurnResult } from "../../store/store.ts";
import type { Engine } from "../engine/engine.ts";
import { nothingKept } from "../run/execution-fold.ts";
import type { TurnKind } from "./turn-kind.ts";

/** The parts of the engine that a turn begins with. */
export type BeginTurnParts = Pick<
  Engine,
  "closing" | "clock" | "prepare" | "admit" | "discard" | "store" | "storage"
>;

export async function beginTurn(
  engine: BeginTurnParts,
  kind: TurnKind,
  { message, before, ...turn }: TurnToBegin,
): Promise<BeginTurnResult> {
  if (engine.closing) throw new ShuttingDownError();
  const token = randomUUID();
  const startAt = engine.clock.now();
  const { input } = turn;
  const values = new KeptValues(input);
  const nothing = { suspensions: [], timers: [], sequence: 0, stepIndex: 0, paused: false, timeoutAt: null };
  const execution = {
    startAt,
    lastAt: startAt,
    kept: nothingKept,
    workflow: kind.workflow,
    token,
    input,
    journal: new Journal(),
    bytes: 0,
    values,
  };
  const row = { ...turn, workflowId: "", trace: null, links: null };
  const { driver, claim } = engine.prepare(kind, row, { ...execution, ...nothing });
  const nothingMore = { input: undefined, traceparent: undefined, replayOf: undefined };
  const first = encodeEvent({ type: "workflow-start", timestamp: startAt, ...nothingMore });
  const stored = [first, ...encodeEvents(driver.takeFirstEvents(2))];
  const [events] = values.write(stored);
  let result: BeginTurnResult;
  try {
    result = await engine.store.beginTurn({ message, before, turn: { ...turn, startAt, claim, events } });
    engine.storage.wrote();
  } catch (error) {
    engine.discard(driver);
    engine.storage.failed(error);
    throw error;
  }
  if (result.kind === "begun") {
    values.recorded(stored, 1);
    engine.admit(driver);
    // The process stops meanwhile: the turn does not run here, and is left to the next one.
    if (engine.closing) throw new ShuttingDownError();
  } else engine.discard(driver);
  return result;
}

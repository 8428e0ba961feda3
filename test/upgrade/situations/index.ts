// Every situation, by the name of its database.
import type { Situation } from "../situation.ts";
import { conversations } from "./conversations.ts";
import { ended } from "./ended.ts";
import { history } from "./history.ts";
import { inFlight } from "./in-flight.ts";
import { killed } from "./killed.ts";
import { parked } from "./parked.ts";
import { suspended } from "./suspended.ts";
import { waiting } from "./waiting.ts";

export const situations: Readonly<Record<string, Situation>> = {
  suspended,
  waiting,
  killed,
  "in-flight": inFlight,
  ended,
  parked,
  conversations,
  history,
};

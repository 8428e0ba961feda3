// The names of createAndante's options: what is none of them is refused.

import type { AndanteLimits, JournalLimits } from "../execution/body/limits.ts";
import type { RetentionOptions } from "../execution/engine/retention.ts";
import type { LogOptions } from "../observe/log/log-options.ts";
import type { TracingOptions } from "../observe/trace/tracing-options.ts";
import { checkKnownOptions, type KnownOptions } from "../values/check-options.ts";
import type { AndanteOptions } from "./create-andante.ts";

const known: KnownOptions<AndanteOptions> = {
  workflows: true,
  agents: true,
  store: true,
  logger: true,
  logs: true,
  tracing: true,
  limits: true,
  retention: true,
  clock: true,
};

const limits: KnownOptions<AndanteLimits> = {
  running: true,
  input: true,
  resumeData: true,
  output: true,
  result: true,
  journal: true,
};

const journal: KnownOptions<JournalLimits> = { events: true, bytes: true };
const logs: KnownOptions<LogOptions> = { level: true, maxAge: true, maxCount: true };
const retention: KnownOptions<RetentionOptions> = { maxAge: true, maxCount: true };

const tracing: KnownOptions<TracingOptions> = {
  processors: true,
  resource: true,
  sample: true,
  content: true,
  maxAge: true,
  maxCount: true,
};

export function checkAndanteOptions(options: AndanteOptions): void {
  checkKnownOptions("createAndante", options, known);
  checkKnownOptions("limits", options.limits, limits);
  checkKnownOptions("limits.journal", options.limits?.journal, journal);
  checkKnownOptions("logs", options.logs, logs);
  checkKnownOptions("retention", options.retention, retention);
  if (options.tracing !== false) checkKnownOptions("tracing", options.tracing, tracing);
}

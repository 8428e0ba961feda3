// A plugin for Stryker: writes a line for each fault as soon as it was tried, so that a run that is ended early is not lost.
import { appendFileSync } from "node:fs";
import path from "node:path";
import type { MutantResult } from "@stryker-mutator/api/core";
import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

const report = {
  onMutantTested({ status, fileName, location, mutatorName, replacement, statusReason }: MutantResult): void {
    // Not in the sample.
    if (status === "CompileError") return;
    const place = `${path.relative(process.cwd(), fileName)}:${location.start.line}:${location.start.column}`;
    const what = JSON.stringify(replacement.slice(0, 200));
    const [why = ""] = (statusReason ?? "").split("\n");
    appendFileSync(
      process.env.ANDANTE_MUTATE_LINES ?? "",
      `${status} ${place} ${mutatorName} ${what} ${why}\n`,
    );
  },
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Reporter, "verdict-lines", report)];

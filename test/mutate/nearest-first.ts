// The order of test files: those that tell a standstill in words first, which others can only tell by waiting; then those
// nearest to the fault, those that drive a server, and the random ones last. The first failure ends a trial.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const order = [
  /\/replies\.test\.ts$/,
  /\/settles\.test\.ts$/,
  /\/packages\/[^/]+\/src\//,
  /\/packages\/[^/]+\/test\//,
  /\/test\//,
];

export class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const fault = fileOf(this.ctx.getProvidedContext().activeMutant)?.split("/") ?? [];
    const rank = ({ moduleId }: TestSpecification) =>
      moduleId.endsWith("/properties.test.ts")
        ? order.length
        : order.findIndex((pattern) => pattern.test(moduleId));
    /** The folders that a test has in common with the fault, and one more for the test beside its file. */
    const nearness = ({ moduleId }: TestSpecification) => {
      const parts = path.relative(this.ctx.config.root, moduleId).replace(".test.ts", ".ts").split("/");
      const common = parts.findIndex((part, index) => part !== fault[index]);
      return common === -1 ? parts.length : common;
    };
    return files.toSorted(
      (left, right) =>
        rank(left) - rank(right) ||
        nearness(right) - nearness(left) ||
        left.moduleId.localeCompare(right.moduleId),
    );
  }
}

/** The file of the fault with this number, as the checker has written it down. */
function fileOf(fault: string | undefined): string | undefined {
  const places = `${process.env.ANDANTE_MUTATE_SAMPLE}.places`;
  if (fault === undefined || !existsSync(places)) return undefined;
  return JSON.parse(readFileSync(places, "utf8"))[fault];
}

// The order of test files: those that tell a standstill in words first, which others can only tell by waiting; then those
// beside the sources, and those that drive a server last. The first failure ends a trial.
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
    const rank = ({ moduleId }: TestSpecification) => order.findIndex((pattern) => pattern.test(moduleId));
    return files.toSorted(
      (left, right) => rank(left) - rank(right) || left.moduleId.localeCompare(right.moduleId),
    );
  }
}

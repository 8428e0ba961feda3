// Which failures another attempt would not mend.
import {
  BudgetReachedError,
  CheckpointUseError,
  DefinitionError,
  OutputLimitError,
  PermanentError,
  ReplyIncompleteError,
  StepPlaceError,
  StepSchemaError,
  UnserializableError,
} from "../../errors/index.ts";

const permanentKinds = [
  PermanentError,
  DefinitionError,
  StepSchemaError,
  UnserializableError,
  StepPlaceError,
  OutputLimitError,
  CheckpointUseError,
  ReplyIncompleteError,
  BudgetReachedError,
];

/** True when the host says so, or the step is written in a way that cannot work. */
export function isPermanent(thrown: unknown): boolean {
  return permanentKinds.some((kind) => thrown instanceof kind);
}

// The progress of an execution: finished steps in green, the current one in the colour of its status.
import { toneOf } from "../format/status.ts";

export function StepsBar({
  status,
  stepIndex,
  stepsCount,
}: {
  readonly status: string;
  readonly stepIndex: number;
  readonly stepsCount: number;
}) {
  const steps = Math.max(1, stepsCount);
  const done = status === "completed" ? steps : Math.min(stepIndex, steps);
  const at = status === "completed" || status === "cancelled" ? 0 : 1;
  const share = (part: number) => `${(100 * part) / steps}%`;
  const words = status === "completed" ? "all steps done" : `${done} of ${steps} steps done`;
  return (
    <span className="steps-bar" role="img" aria-label={words} title={words}>
      <i data-done={done === steps || undefined} style={{ width: share(done) }} />
      {at > 0 && done < steps && (
        <i data-tone={toneOf(status)} style={{ width: share(Math.min(1, steps)) }} />
      )}
    </span>
  );
}

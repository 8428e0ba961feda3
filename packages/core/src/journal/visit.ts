// Identifies the waits of one step: a decision counts for one of them. A wait is identified before it begins by its
// predecessor, and by its own id while it lasts.

/** The wait with this id. */
export function waitOf(suspensionId: string): string {
  return `is ${suspensionId}`;
}

/** The wait that follows the one with this id. */
export function afterWait(suspensionId: string): string {
  return `after ${suspensionId}`;
}

/** The first wait after a rewind, by the number of resumes at the rewind; 0: after the start. */
export function afterRewind(resumes: number): string {
  return afterWait(rewindOf(resumes));
}

/** In place of the id of a suspension: the execution was rewound to its step. */
export function rewindOf(resumes: number): string {
  return `rewind ${resumes}`;
}

// What the work on callers' schemas is held to, for those who ask for it and need not load a validator.

/** The limit of time is wall time: on a busy machine a check that got little of the processor is repeated. */
export const maxTries = 5;

// TEMPORARY
export const known = { sameIds: true, spoil: true, pauseTimeout: true };

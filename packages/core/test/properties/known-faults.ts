// TEMPORARY
export const known = { sameIds: true, spoil: false, pauseTimeout: false };

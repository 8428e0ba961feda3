// TEMPORARY
export const known = {
  sameIds: true,
  spoil: true,
  hashSuspensions: true,
  checkpointRetry: false,
  budgetSpin: true,
  pauseTimeout: true,
};

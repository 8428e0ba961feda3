// TEMPORARY
export const known = {
  sameIds: true,
  spoil: true,
  hashSuspensions: true,
  checkpointRetry: true,
  budgetSpin: true,
};

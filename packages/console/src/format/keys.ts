// How keys are named on the user's machine.

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

// How keys are named on the machine of whoever looks.

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

// The names of keys on the user's platform.

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

// The token of the signed-in user: kept for this browser tab and the next visit.

const key = "andante-token";
let token: string | null = read();
const listeners = new Set<() => void>();

/** Whether a request can carry it: a header has room for plain characters alone. */
export function canBeSent(value: string): boolean {
  return /^[\x21-\x7e]+$/.test(value);
}

function read(): string | null {
  try {
    const kept = localStorage.getItem(key);
    return kept !== null && canBeSent(kept) ? kept : null;
  } catch {
    return null;
  }
}

export function currentToken(): string | null {
  return token;
}

export function keepToken(value: string | null): void {
  token = value;
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Without storage the token lives as long as the page.
  }
  for (const listener of listeners) listener();
}

/** Who signs out, or in, in one tab does so in all of them. */
export function followOtherTabs(): void {
  addEventListener("storage", (event) => {
    // Without a key everything was removed.
    if (event.key !== key && event.key !== null) return;
    token = read();
    for (const listener of listeners) listener();
  });
}

export function onTokenChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

// The token of the signed-in user, stored for all tabs and the next visit.
import { Shared, useShared } from "./shared.ts";

const key = "andante-token";
const token = new Shared(read());

/** Whether a header can contain the token: only printable ASCII characters are allowed. */
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

export const currentToken = token.get;
export const onTokenChange = token.follow;
export const useToken = () => useShared(token);

/** The end of a JWT in milliseconds since 1970; undefined for a token of another kind, and for one without an end. */
export function expiryOf(value: string): number | undefined {
  try {
    const payload = (value.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const { exp } = JSON.parse(atob(payload));
    return typeof exp === "number" ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}

export function keepToken(value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Without storage the token lasts as long as the page.
  }
  token.set(value);
}

/** Applies a sign-in or sign-out in another tab to this one. */
export function followOtherTabs(): void {
  addEventListener("storage", (event) => {
    // A null key means that the whole storage was cleared.
    if (event.key !== key && event.key !== null) return;
    token.set(read());
  });
}

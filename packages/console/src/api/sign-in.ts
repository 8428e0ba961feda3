// Signing in on a page of the host: the way there, and the way back with a token.
import { newId } from "./new-id.ts";
import { Shared } from "./shared.ts";
import { canBeSent, keepToken, onTokenChange } from "./token.ts";

const key = "andante-sign-in";

/** The page of the host, from `signInUrl` of the server's authentication; undefined without one. */
export const signInUrl = document.querySelector<HTMLMetaElement>('meta[name="sign-in-url"]')?.content;

/** The reason why the token in the address was not kept. */
export const signInProblem = new Shared<string | undefined>(undefined);

/** The address of the host's page, which leads back to the current one. The tab keeps its `state`. */
export function signInAddress(): string {
  const state = newId();
  try {
    sessionStorage.setItem(key, state);
  } catch {
    // The browser keeps nothing: a host that signs in with a cookie works without.
  }
  const address = new URL(signInUrl ?? "", location.origin);
  address.searchParams.set("return_to", location.href.replace(/#.*/, ""));
  address.searchParams.set("state", state);
  return address.href;
}

/** Opens the host's page in another tab. Only that tab has the `state` then, and it has no access to this one. */
export function openSignIn(address: string): void {
  // With `noopener` the tab would get no copy of the state.
  const tab = window.open("about:blank");
  if (tab === null) return;
  tab.opener = null;
  tab.location.href = address;
  takeState();
}

/**
 * Keeps the token with which the host's page leads back, and removes it from the address. Only a sign-in that this tab
 * has begun counts: with another `state` a link could sign its reader in as another user.
 */
export function takeToken(): void {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  if (token === null) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  if (canBeSent(token) && isExpected(given.get("state"))) return keepToken(token);
  signInProblem.set("The sign-in was not begun in this tab, or its token is not whole. Sign in again.");
  // The next sign-in or sign-out ends the problem.
  onTokenChange(() => signInProblem.set(undefined));
}

function isExpected(state: string | null): boolean {
  const expected = takeState();
  return state !== null && state === expected;
}

/** Each state counts once. */
function takeState(): string | null {
  try {
    const state = sessionStorage.getItem(key);
    sessionStorage.removeItem(key);
    return state;
  } catch {
    return null;
  }
}

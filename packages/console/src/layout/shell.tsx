// The frame around every page: side bar, palette, the live feed, and the sign-in when the server asks for a token.
import { AndanteApiError } from "@andante/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { type FormEvent, lazy, Suspense, useEffect, useState } from "react";
import { consoleRoot } from "../api/andante.ts";
import { startLive } from "../api/live.ts";
import { inboxQuery, serverQuery } from "../api/queries.ts";
import { canBeSent, currentToken, keepToken } from "../api/token.ts";
import { useKeys } from "../components/use-keys.ts";
import { closePalette, openPalette, usePaletteOpen } from "./palette-state.ts";
import { SideBar } from "./side-bar.tsx";

const Palette = lazy(() => import("./palette.tsx"));

export function Shell() {
  const { error, isPending } = useQuery(serverQuery);
  const [refusal, setRefusal] = useState<string>();
  const isRefused = error instanceof AndanteApiError && error.status === 401;
  // Typed text stays while the status is read again, which happens whenever the tab gets the focus.
  const now = isRefused ? error.message : isPending ? refusal : undefined;
  if (now !== refusal) setRefusal(now);
  if (now !== undefined) return <SignIn refusal={isPending ? undefined : now} />;
  if (isPending) return null;
  return <SignedIn />;
}

function SignedIn() {
  const client = useQueryClient();
  const paletteOpen = usePaletteOpen();
  useEffect(() => startLive(client), [client]);
  useWaitingIcon();
  useKeys((event) => {
    if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    openPalette();
  });
  return (
    <div className="app">
      <SideBar />
      <main>
        <Outlet />
      </main>
      {paletteOpen && (
        <Suspense fallback={null}>
          <Palette onClose={closePalette} />
        </Suspense>
      )}
    </div>
  );
}

/** Makes the page's icon amber while the inbox has items. */
function useWaitingIcon(): void {
  const { data } = useQuery(inboxQuery);
  const waits = (data?.items.length ?? 0) > 0;
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    icon?.setAttribute("href", `${consoleRoot}${waits ? "icon-waiting.svg" : "icon.svg"}`);
  }, [waits]);
}

/** Sign-in with a token, when the server asks for one. `refusal` is undefined while a token is being checked. */
function SignIn({ refusal }: { readonly refusal: string | undefined }) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string>();
  const message = problem ?? (currentToken() === null ? undefined : refusal);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const given = token.trim().replace(/^Bearer\s+/i, "");
    if (!canBeSent(given))
      return setProblem("This is not a whole token: it has a character that cannot be in one.");
    setProblem(undefined);
    keepToken(given);
  };
  return (
    <main className="sign-in">
      <title>Sign in · Andante</title>
      <div className="brand">
        <img src={`${consoleRoot}icon.svg`} alt="" />
        <span>Andante</span>
      </div>
      <form onSubmit={submit} className="card" style={{ padding: 20 }}>
        <h1 style={{ fontSize: 15 }}>Sign in</h1>
        <p className="muted" style={{ margin: "4px 0 16px" }}>
          This server asks for a token. Whoever runs it can give you one; it stays in this browser.
        </p>
        {message !== undefined && (
          <p className="problem" role="alert" style={{ marginBottom: 12 }}>
            {message}
          </p>
        )}
        <label htmlFor="token" style={{ fontWeight: 560 }}>
          Token
        </label>
        <input
          id="token"
          className="field mono"
          type="password"
          autoComplete="off"
          placeholder="eyJhbGciOi…"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <button
          type="submit"
          className="btn primary"
          style={{ marginTop: 16 }}
          disabled={token.trim() === ""}
        >
          Sign in
        </button>
      </form>
    </main>
  );
}

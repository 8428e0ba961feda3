// The frame around every page: side bar, palette, the live feed, and the sign-in when the server asks for a token.
import { AndanteApiError } from "@andante/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { consoleRoot } from "../api/andante.ts";
import { startLive } from "../api/live.ts";
import { inboxQuery, serverQuery } from "../api/queries.ts";
import { focusAtEnd } from "../components/focus-at-end.ts";
import { DialogNotLoaded } from "../components/late-code.tsx";
import { useKeys } from "../components/use-keys.ts";
import { PageSkeleton } from "./page.tsx";
import { closePalette, openPalette, usePaletteOpen } from "./palette-state.ts";
import { Foot, SideBar } from "./side-bar.tsx";
import { Expiry, SignIn } from "./sign-in.tsx";

const notLoaded = () => ({ default: DialogNotLoaded });
const Palette = lazy(() => import("./palette.tsx").catch(notLoaded));
const Keys = lazy(() => import("./keys.tsx").catch(notLoaded));

export function Shell() {
  const { data, error, isPending } = useQuery(serverQuery);
  const [refusal, setRefusal] = useState<string>();
  const isRefused = error instanceof AndanteApiError && error.status === 401;
  // Typed text stays while the status is read again, which happens whenever the tab gets the focus.
  const now = isRefused ? error.message : isPending ? refusal : undefined;
  if (now !== refusal) setRefusal(now);
  // With data the user was signed in before: the page stays, with a bar that takes a new token.
  if (now !== undefined && data === undefined) return <SignIn refusal={isPending ? undefined : now} />;
  return <Frame isPending={isPending} isRefused={isRefused} />;
}

/** `isPending`: it is not known yet whether the server asks for a token. */
function Frame({ isPending, isRefused }: { readonly isPending: boolean; readonly isRefused: boolean }) {
  const main = useRef<HTMLElement>(null);
  const [keysOpen, setKeysOpen] = useState(false);
  const paletteOpen = usePaletteOpen();
  // Also before the status is known: a key that is pressed early opens its dialog as soon as it may be shown.
  useKeys((event, field) => {
    if (event.key === "?" && field === null) setKeysOpen(true);
    if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    openPalette();
  });
  return (
    <div className="app">
      <button type="button" className="btn skip" onClick={() => main.current?.focus()}>
        Go to the content
      </button>
      <SideBar />
      <main ref={main} tabIndex={-1}>
        <Expiry isRefused={isRefused} />
        {isPending ? <PageSkeleton /> : <Outlet />}
      </main>
      <Foot />
      {paletteOpen && <PaletteWithText mayShow={!isPending} />}
      {!isPending && (
        // A sign-in by cookie changes no token: the feed begins again with it.
        <SignedIn key={String(isRefused)} keysOpen={keysOpen} onCloseKeys={() => setKeysOpen(false)} />
      )}
    </div>
  );
}

/** The live feed, and the dialogs that a key opens on any page. */
function SignedIn({
  keysOpen,
  onCloseKeys,
}: {
  readonly keysOpen: boolean;
  readonly onCloseKeys: () => void;
}) {
  const client = useQueryClient();
  useEffect(() => startLive(client), [client]);
  useWaitingIcon();
  return <Suspense fallback={null}>{keysOpen && <Keys onClose={onCloseKeys} />}</Suspense>;
}

/** The palette, with all text that is typed from the key that opens it: also while its code is on its way. */
function PaletteWithText({ mayShow }: { readonly mayShow: boolean }) {
  const [text, setText] = useState("");
  const early = (
    <input
      ref={focusAtEnd}
      className="hidden-label"
      aria-label="Search or run a command"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => event.key === "Escape" && closePalette()}
    />
  );
  if (!mayShow) return early;
  return (
    <Suspense fallback={early}>
      <Palette text={text} onText={setText} onClose={closePalette} />
    </Suspense>
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

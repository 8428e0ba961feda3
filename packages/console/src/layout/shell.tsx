// The frame around every page: side bar, palette, the live feed, and the sign-in when the server asks for a token.
import { AndanteApiError } from "@andante/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { consoleRoot } from "../api/andante.ts";
import { startLive } from "../api/live.ts";
import { inboxQuery, serverQuery } from "../api/queries.ts";
import { useKeys } from "../components/use-keys.ts";
import { closePalette, openPalette, usePaletteOpen } from "./palette-state.ts";
import { SideBar } from "./side-bar.tsx";
import { SignIn } from "./sign-in.tsx";

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

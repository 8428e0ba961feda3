// The side bar: navigation, the number of inbox items, and the state of the live feed.
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useMatchRoute } from "@tanstack/react-router";
import { Moon, Sun } from "lucide-react";
import { Fragment, useEffect, useRef, useState } from "react";
import { consoleRoot } from "../api/andante.ts";
import { useLiveState } from "../api/live.ts";
import { inboxQuery, serverQuery } from "../api/queries.ts";
import { keepToken, useToken } from "../api/token.ts";
import { scrollIntoSight } from "../components/scroll-into-sight.ts";
import { bytes, count, plural } from "../format/numbers.ts";
import { navigation } from "./navigation.ts";

const current = { className: "go active", "aria-current": "page" } as const;

export function SideBar() {
  const bar = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const matchRoute = useMatchRoute();
  const { data: inbox } = useQuery(inboxQuery);
  const digits = count(inbox?.counts?.total ?? 0).length;
  const waits = (inbox?.items.length ?? 0) > 0;
  // On a phone the bar is one row that scrolls, and the number of inbox items takes room in it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the link of the new page is marked after the navigation
  useEffect(() => {
    scrollIntoSight(bar.current, bar.current?.querySelector("[aria-current]"));
  }, [pathname, waits, digits]);
  return (
    <nav ref={bar} className="side" aria-label="Main">
      <div className="brand">
        <img src={`${consoleRoot}icon.svg`} alt="" />
        <span>Andante</span>
      </div>
      {navigation.map(({ name, to, Icon, ...page }) => (
        <Fragment key={to}>
          {"heading" in page && <div className="group">{page.heading}</div>}
          <Link
            to={to}
            className="go"
            activeProps={{ ...current, className: "active" }}
            activeOptions={{ exact: to === "/", includeSearch: false }}
            {...("also" in page && matchRoute({ to: page.also }) !== false && current)}
          >
            <Icon />
            {name}
            {to === "/inbox" && <Waiting />}
          </Link>
        </Fragment>
      ))}
    </nav>
  );
}

/** The number of inbox items. */
function Waiting() {
  const { data: inbox } = useQuery(inboxQuery);
  if (inbox === undefined || inbox.items.length === 0) return null;
  return (
    <span className="count">
      {count(inbox.counts?.total ?? 0)}
      {inbox.counts?.complete === false && "+"}
      <span className="hidden-label"> waiting</span>
    </span>
  );
}

const words = {
  starting: "Connecting…",
  connecting: "Connection lost, trying again",
  live: "Live",
  off: "Not live",
} as const;

/** The state of the connection, the store, the user and the theme: below the side bar, on a phone below the page. */
export function Foot() {
  const live = useLiveState();
  const { data: server } = useQuery(serverQuery);
  const token = useToken();
  const [theme, toggle] = useTheme();
  const who = server?.user?.name ?? server?.user?.id;
  return (
    <footer className="foot">
      <div role="status">
        <i className="live" data-state={live} />
        {words[live]}
      </div>
      {server && (
        <div className="cut store" title={server.store.name}>
          {server.store.name}
          {server.store.bytes !== null && ` · ${bytes(server.store.bytes)}`}
          {server.store.nodes !== null && ` · ${plural(server.store.nodes, "node")}`}
        </div>
      )}
      {server?.authentication && (
        <div className="cut">
          {who === undefined ? "signed in" : `as ${who}`}
          {/* The console cannot remove a cookie of the host. */}
          {token !== null && (
            <>
              {" · "}
              <button type="button" className="text-button" onClick={() => keepToken(null)}>
                sign out
              </button>
            </>
          )}
        </div>
      )}
      <button type="button" className="text-button theme-switch" onClick={toggle}>
        {theme === "dark" ? <Sun aria-hidden="true" /> : <Moon aria-hidden="true" />}
        {theme === "dark" ? "Light" : "Dark"}
      </button>
    </footer>
  );
}

type Theme = "light" | "dark";

/** Light or dark: the system's theme, until the user chooses. public/theme.js sets it before the first paint. */
function useTheme(): [theme: Theme, toggle: () => void] {
  const [theme, setTheme] = useState<Theme>(
    document.documentElement.dataset.theme === "dark" ? "dark" : "light",
  );
  const toggle = () => {
    const next = theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("andante-theme", next);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    setTheme(next);
  };
  return [theme, toggle];
}

// The side bar: navigation, the number of inbox items, and the state of the live feed.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot, Braces, House, Inbox, List, Moon, ScrollText, Sun, Waypoints, Workflow } from "lucide-react";
import { type ReactNode, useState } from "react";
import { consoleRoot } from "../api/andante.ts";
import { useLiveState } from "../api/live.ts";
import { inboxQuery, serverQuery } from "../api/queries.ts";
import { keepToken } from "../api/token.ts";
import { bytes, plural } from "../format/numbers.ts";

function Go({
  to,
  icon,
  children,
  exact = false,
}: {
  readonly to: string;
  readonly icon: ReactNode;
  readonly children: ReactNode;
  readonly exact?: boolean;
}) {
  return (
    <Link
      to={to}
      className="go"
      activeProps={{ className: "active", "aria-current": "page" }}
      activeOptions={{ exact, includeSearch: false }}
    >
      {icon}
      {children}
    </Link>
  );
}

export function SideBar() {
  const { data: inbox } = useQuery(inboxQuery);
  const waiting = inbox?.items.length ?? 0;
  return (
    <nav className="side" aria-label="Main">
      <div className="brand">
        <img src={`${consoleRoot}icon.svg`} alt="" />
        <span>Andante</span>
      </div>
      <Go to="/" exact icon={<House />}>
        Home
      </Go>
      <Go to="/inbox" icon={<Inbox />}>
        Inbox
        {waiting > 0 && (
          <span className="count">
            {waiting}
            {inbox?.more && "+"}
            <span className="hidden-label"> waiting</span>
          </span>
        )}
      </Go>
      <Go to="/executions" icon={<List />}>
        Executions
      </Go>
      <div className="group">Definitions</div>
      <Go to="/workflows" icon={<Workflow />}>
        Workflows
      </Go>
      <Go to="/agents" icon={<Bot />}>
        Agents
      </Go>
      <div className="group">Observe</div>
      <Go to="/logs" icon={<ScrollText />}>
        Logs
      </Go>
      <Go to="/traces" icon={<Waypoints />}>
        Traces
      </Go>
      <div className="group">Develop</div>
      <Go to="/api" icon={<Braces />}>
        API
      </Go>
      <Foot />
    </nav>
  );
}

const words = {
  starting: "Connecting…",
  connecting: "Connection lost, trying again",
  live: "Live",
  off: "Not live",
} as const;

function Foot() {
  const live = useLiveState();
  const { data: server } = useQuery(serverQuery);
  const [theme, toggle] = useTheme();
  const who = server?.user?.name ?? server?.user?.id;
  return (
    <div className="foot">
      <div role="status">
        <i className="live" data-state={live} />
        {words[live]}
      </div>
      {server && (
        <div className="cut" title={server.store.name}>
          {server.store.name}
          {server.store.bytes !== null && ` · ${bytes(server.store.bytes)}`}
          {server.store.nodes !== null && ` · ${plural(server.store.nodes, "node")}`}
        </div>
      )}
      {server?.authentication && (
        <div className="cut">
          {who === undefined ? "signed in" : `as ${who}`} ·{" "}
          <button type="button" className="text-button" onClick={() => keepToken(null)}>
            sign out
          </button>
        </div>
      )}
      <button type="button" className="text-button theme-switch" onClick={toggle}>
        {theme === "dark" ? <Sun aria-hidden="true" /> : <Moon aria-hidden="true" />}
        {theme === "dark" ? "Light" : "Dark"}
      </button>
    </div>
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

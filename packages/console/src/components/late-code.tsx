// Code of the console that is loaded on demand. After a restart or a deploy its files may be missing for a while, or for
// good: the page is loaded again as soon as the server responds.
import { type ComponentType, lazy, useEffect } from "react";
import { consoleRoot } from "../api/andante.ts";

/** Minimum milliseconds between two automatic reloads: two servers behind one address may have different files. */
const reloadEvery = 10_000;
/** Milliseconds between two requests for the page. */
const askEvery = 1000;
const key = "andante-reloaded";

/** A component loaded on first use. */
export function lazyPart<Props>(load: () => Promise<{ readonly default: ComponentType<Props> }>) {
  return lazy<ComponentType<Props>>(() => load().catch(() => ({ default: NotLoaded })));
}

/** In place of a component whose code cannot be loaded. */
export function NotLoaded() {
  useEffect(() => {
    const ended = new AbortController();
    void reloadWhenServed(ended.signal);
    return () => ended.abort();
  }, []);
  return (
    <div className="padded">
      <div className="problem" role="alert">
        <b>This part of the console could not be loaded</b>
        <div>The server is restarting, or serves a newer console.</div>
        <div className="muted">The page is loaded again as soon as the server responds.</div>
      </div>
    </div>
  );
}

/** The same for a dialog: the page below it may contain unsaved text, so that only a click loads it again. */
export function DialogNotLoaded() {
  return (
    <div className="toast" role="alert">
      The server is restarting, or serves a newer console.{" "}
      <button type="button" className="btn" onClick={() => location.reload()}>
        Load the page again
      </button>
    </div>
  );
}

async function reloadWhenServed(signal: AbortSignal): Promise<void> {
  const last = Number(storage()?.getItem(key) ?? 0);
  await pause(Math.max(0, last + reloadEvery - Date.now()));
  while (!signal.aborted) {
    const isServed = await fetch(consoleRoot, { cache: "no-store", signal }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isServed && !signal.aborted) {
      storage()?.setItem(key, String(Date.now()));
      return location.reload();
    }
    await pause(askEvery);
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Undefined where the browser forbids it. */
function storage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

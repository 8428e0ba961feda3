// The pages for an error and for an unknown address. The frame around them stays.
import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { Problem } from "../components/problem.tsx";
import { Page } from "./page.tsx";

/** Shows the error and a retry button. */
export function Broken({ error }: ErrorComponentProps) {
  return (
    <div className="padded">
      <Problem error={error} what="This page could not be shown" />
      <p style={{ marginTop: 12 }}>
        <button type="button" className="btn" onClick={() => location.reload()}>
          Try again
        </button>
      </p>
    </div>
  );
}

export function NotFound() {
  return (
    <Page title="Nothing here">
      <div className="empty">
        <h2>This address leads nowhere</h2>
        <p>
          It may be mistyped.{" "}
          <Link className="link" to="/">
            Home
          </Link>{" "}
          shows what there is.
        </p>
      </div>
    </Page>
  );
}

// The page for an unknown address.
import { Link } from "@tanstack/react-router";
import { Page } from "./page.tsx";

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
